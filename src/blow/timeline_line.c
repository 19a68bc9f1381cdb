/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the lines that record.c writes, from the process of the run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blow/timeline.h"

#define TIMELINE "timeline "

bool
st_blow_is_timeline_line(const char *line)
{
	return !strncmp(line, TIMELINE, strlen(TIMELINE));
}

static st_status
read_timeline_name(struct st_blow *b, struct st_blow_timeline *t, const char *text)
{
	char *copy = strndup(text, strcspn(text, "\n")), *rest = copy;
	const char *kind = strsep(&rest, "\t"), *image = rest ? strsep(&rest, "\t") : NULL;
	struct st_blow_named *f = copy && rest ? ST_PUSH(&t->functions) : NULL;
	if (f)
		*f = (struct st_blow_named){.name = st_blow_text(b, rest),
		                            .image = st_blow_text(b, image),
		                            .kind = (enum st_blow_kind)(*kind - '0')};
	const bool good = f && f->name && f->image && kind[0] >= '0' &&
	                  kind[0] < '0' + ST_BLOW_KINDS && !kind[1];
	free(copy);
	return good ? ST_OK : ST_FAILED;
}

static st_status
read_timeline_slice(struct st_blow_timeline *t, const char *text)
{
	struct st_blow_slice s;
	if (sscanf(text, "%" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64,
	           &s.thread, &s.level, &s.function, &s.begin_ns, &s.end_ns, &s.calls) != 6)
		return ST_FAILED;
	if (s.thread >= t->threads.n || s.end_ns < s.begin_ns ||
	    (s.function >= t->functions.n && s.function != ST_LANE_SEVERAL))
		return ST_FAILED;
	struct st_blow_slice *slot = ST_PUSH(&t->slices);
	if (slot)
		*slot = s;
	return slot ? ST_OK : ST_FAILED;
}

static st_status
read_timeline_thread(struct st_blow_timeline *t, const char *text)
{
	int64_t *tid = ST_PUSH(&t->threads);
	if (tid)
		*tid = strtoll(text, NULL, 10);
	return tid ? ST_OK : ST_FAILED;
}

st_status
st_blow_read_timeline_line(struct st_blow *b, struct st_blow_timeline *t, const char *line)
{
	const char *what = line + strlen(TIMELINE), *text = what + strcspn(what, " ");
	const size_t length = (size_t)(text - what);
	text += *text == ' ';
	if (!strncmp(what, "name", length))
		return read_timeline_name(b, t, text);
	if (!strncmp(what, "slice", length))
		return read_timeline_slice(t, text);
	if (!strncmp(what, "thread", length))
		return read_timeline_thread(t, text);
	return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &t->calls, &t->width_ns,
	              &t->too_deep, &t->lost) == 4
	               ? ST_OK
	               : ST_FAILED;
}
