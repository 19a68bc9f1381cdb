/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prose.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole file, a newline before it so that its first line is like any other. */
static char *
read_all(const char *path)
{
	char *bytes = NULL, *all;
	size_t size = 0;
	FILE *f = fopen(path, "re");
	if ((!f && errno != ENOENT) || (f && getdelim(&bytes, &size, '\0', f) < 0 && ferror(f)))
		err(1, "%s", path);
	if (asprintf(&all, "\n%s", bytes ? bytes : "") < 0)
		err(1, "%s", path);
	free(bytes);
	if (f)
		fclose(f);
	return all;
}

static void
add_part(struct prose *p, bool option, char *name)
{
	if (p->n == sizeof p->parts / sizeof *p->parts)
		errx(1, "%s: too many sections and options", p->path);
	size_t length = strcspn(name, "\n");
	p->parts[p->n++] = (struct prose_part){option, name, name + length + (name[length] != 0)};
	name[length] = '\0';
}

void
prose_load(struct prose *p, const char *path)
{
	static const char section[] = "\n.SH ", option[] = "\n@option ";
	*p = (struct prose){.path = path, .bytes = read_all(path)};
	for (char *at = p->bytes, *next; at; at = next) {
		bool is_option = !strncmp(at, option, sizeof option - 1);
		next = strchr(at + 1, '\n');
		if (!is_option && strncmp(at, section, sizeof section - 1))
			continue;
		*at = '\0'; /* ends the part before, which gets its newline back when printed */
		add_part(p, is_option, at + (is_option ? sizeof option : sizeof section) - 1);
	}
}

void
prose_free(struct prose *p)
{
	free(p->bytes);
}

const char *
prose_find(const struct prose *p, bool option, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->parts[i].option == option && !strcmp(p->parts[i].name, name))
			return p->parts[i].text;
	return NULL;
}
