/* SPDX-License-Identifier: GPL-3.0-or-later */
/* growth:PATH: by how many bytes a file grows in a second. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "qos/source.h"

struct growth {
	char *path;
	struct st_qos_growing bytes;
};

static void *
growth_open(const char *text, struct st_error *e)
{
	if (!*text) {
		st_cause(e, ST_EXIT_USAGE, "--qos growth: needs the path of a file");
		return NULL;
	}
	struct growth *g = calloc(1, sizeof *g);
	if (g)
		g->path = strdup(text);
	return g;
}

static enum st_qos_got
growth_poll(void *source, struct st_qos_poll *p)
{
	struct growth *g = source;
	struct stat st;
	if (stat(g->path, &st) != 0) {
		g->bytes.known = false;
		return errno == ENOENT ? st_qos_nothing(p, "there is no such file")
		                       : st_qos_failed(p, "%s", strerror(errno));
	}
	if (!S_ISREG(st.st_mode))
		return st_qos_failed(p, "it is not a regular file");
	return st_qos_grown(&g->bytes, (double)st.st_size, p->now, &p->value)
	               ? ST_QOS_VALUE
	               : st_qos_nothing(p, "the file does not grow");
}

static void
growth_close(void *source)
{
	struct growth *g = source;
	free(g->path);
	free(g);
}

const struct st_qos_kind st_qos_growth = {"growth",     "growth:PATH", growth_open, growth_poll,
                                          growth_close, NULL,          NULL};
