/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/text.h"
#include "report/report.h"

static const char *
stream_name(const void *streams, size_t i)
{
	const struct st_profile_stream *s = streams;
	return s[i].file ? s[i].name : NULL;
}

static void
unknown_stream(const struct st_profile *p, const char *stream, struct st_error *e)
{
	const char *near = st_nearest(stream, p->streams.n, stream_name, p->streams.v);
	if (near)
		st_cause(e, ST_EXIT_USAGE, "the profile has no rows of '%s'; did you mean '%s'?",
		         stream, near);
	else
		st_cause(e, ST_EXIT_USAGE, "the profile has no rows of '%s'%s%s", stream,
		         p->streams.n ? "; its first stream: " : "",
		         p->streams.n ? p->streams.v[0].name : "");
}

char *
st_find_rows(const struct st_profile *p, const char *profile, const char *stream,
             struct st_error *e)
{
	const struct st_profile_stream *s = NULL;
	for (size_t i = 0; i < p->streams.n && !s; i++)
		if (!strcmp(p->streams.v[i].name, stream))
			s = &p->streams.v[i];
	if (!s || !s->file) {
		unknown_stream(p, stream, e);
		return NULL;
	}
	const char *slash = strrchr(profile, '/');
	char *path = NULL;
	if (asprintf(&path, "%.*s%s", slash ? (int)(slash - profile) + 1 : 0, profile,
	             st_base_name(s->file)) < 0)
		path = NULL;
	if (path && !access(path, R_OK))
		return path;
	free(path);
	path = strdup(s->file);
	if (!path)
		st_cause(e, ST_EXIT_FAILED, "no memory left to read the rows");
	return path;
}
