/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_SOURCE = 64 << 20 };

static void
split(struct st_source *s)
{
	char *rest = s->bytes, *line;
	while ((line = strsep(&rest, "\n")) && (rest || *line)) {
		char **slot = ST_PUSH(&s->lines);
		if (slot)
			*slot = line;
	}
}

void
st_source_read(struct st_source *s, const char *path)
{
	struct stat st;
	memset(s, 0, sizeof *s);
	FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < MAX_SOURCE
	                  ? fopen(path, "re")
	                  : NULL;
	if (!f)
		return;
	s->bytes = calloc(1, (size_t)st.st_size + 1);
	if (s->bytes && fread(s->bytes, 1, (size_t)st.st_size, f) == (size_t)st.st_size)
		split(s);
	fclose(f);
}

void
st_source_free(struct st_source *s)
{
	free(s->lines.v);
	free(s->bytes);
}
