/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "batch/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static const char output_prefix[] = "strobe: ";

st_status
st_output_place_of(struct st_output_place *p, const struct st_campaign *c,
                   const struct st_worker_task *t)
{
	*p = (struct st_output_place){
	        .name = st_text_of("profiles/%zu.%s", t->number, t->worker),
	        .said = st_text_of("%s/said", t->scratch),
	};
	p->path = p->name ? st_campaign_path(c, "%s", p->name) : NULL;
	if (!p->path || !p->said)
		return ST_FAILED;
	unlink(p->path); /* of an attempt of this worker that was interrupted */
	return ST_OK;
}

void
st_output_place_free(struct st_output_place *p)
{
	if (p->said)
		unlink(p->said);
	free(p->name);
	free(p->path);
	free(p->said);
	*p = (struct st_output_place){0};
}

bool
st_output_place_is_made(const struct st_output_place *p)
{
	return p->path && !access(p->path, F_OK);
}

char *
st_output_place_message(const struct st_output_place *p, int exit)
{
	char *line = NULL, *message = NULL;
	size_t room = 0;
	const size_t n = sizeof output_prefix - 1;
	FILE *f = fopen(p->said, "re");
	while (f && getline(&line, &room, f) > 0) {
		if (strncmp(line, output_prefix, n) != 0)
			continue; /* of the program */
		line[strcspn(line, "\n")] = '\0';
		free(message);
		message = strdup(line + n);
	}
	if (f)
		fclose(f);
	free(line);
	return message ? message : st_text_of("strobe ended with exit code %d and no result", exit);
}
