/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/trace_live.h"

#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "session/session.h"
#include "trace/trace.h"

/* ---- numbers ---- */

/* The view's number of the image; ST_LIVE_NONE: none, or no memory. */
static uint32_t
live_image_of(struct st_trace_live *l, const char *path)
{
	if (!path)
		return ST_LIVE_NONE;
	for (size_t i = 0; i < l->images.n; i++)
		if (!strcmp(l->images.v[i], path))
			return (uint32_t)i;
	char **new = ST_PUSH(&l->images);
	/* It opens none: names are given to it. */
	if (!new || !(*new = strdup(path)) || !ST_PUSH(&l->top.live.images))
		return ST_LIVE_NONE;
	return (uint32_t)l->images.n - 1;
}

/* The function's row; NULL: no memory. */
static struct st_live_item *
row_of_function(struct st_trace_live *l, const struct st_trace_function *f)
{
	struct st_live *live = &l->top.live;
	const uint32_t at = st_live_item(&live->places, live_image_of(l, f->image), f->offset);
	if (at == ST_LIVE_NONE)
		return NULL;
	while (live->names.n <= at)
		if (!ST_PUSH(&live->names))
			return NULL;
	if (!live->names.v[at])
		live->names.v[at] = st_printable(f->name);
	return &live->places.all.v[at];
}

static void
begin_look(struct st_live *live)
{
	for (size_t i = 0; i < live->places.all.n; i++) {
		struct st_live_item *item = &live->places.all.v[i];
		memcpy(item->before, item->now, sizeof item->before);
		memset(item->now, 0, sizeof item->now);
	}
}

static int
tid_order(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static size_t
threads_of(const struct st_trace *t)
{
	int64_t *tids = calloc(t->functions.n + 1, sizeof *tids);
	size_t n = 0;
	for (size_t i = 0; tids && i < t->functions.n; i++)
		tids[i] = t->functions.v[i].tid;
	if (tids && t->functions.n)
		qsort(tids, t->functions.n, sizeof *tids, tid_order);
	for (size_t i = 0; tids && i < t->functions.n; i++)
		n += !i || tids[i] != tids[i - 1];
	free(tids);
	return n;
}

/* Estimates may be less than they were. */
static void
end_look(struct st_live *live)
{
	uint64_t sum[ST_LIVE_NUMBERS] = {0};
	for (size_t i = 0; i < live->places.all.n; i++)
		for (unsigned k = 0; k < ST_LIVE_NUMBERS; k++)
			sum[k] += live->places.all.v[i].now[k];
	for (unsigned k = 0; k < ST_LIVE_NUMBERS; k++) {
		live->since[k] = sum[k] > live->now[k] ? sum[k] - live->now[k] : 0;
		live->now[k] = sum[k];
	}
}

static void
fill_view(struct st_trace_live *l, const struct st_trace *t)
{
	struct st_live *live = &l->top.live;
	begin_look(live);
	for (size_t i = 0; i < t->functions.n; i++) {
		const struct st_trace_function *f = &t->functions.v[i];
		struct st_live_item *row = row_of_function(l, f);
		if (!row)
			continue;
		row->now[ST_LIVE_COUNT] += f->calls + f->lost;
		row->now[ST_LIVE_WORTH] += f->exclusive_ns;
	}
	live->n_threads = threads_of(t);
	end_look(live);
}

/* ---- the view ---- */

struct reading {
	struct st_trace_live *live;
	st_status (*read)(void *from, struct st_trace *t);
	void *from;
};

static void
look_at_trace(void *arg, struct st_live *live)
{
	const struct reading *r = arg;
	struct st_trace t;
	(void)live;
	if (r->read(r->from, &t))
		return;
	fill_view(r->live, &t);
	st_trace_free(&t);
}

static void
watch_trace(void *arg, double elapsed, st_status (*read)(void *from, struct st_trace *t),
            void *from)
{
	struct st_trace_live *l = arg;
	struct reading reading = {l, read, from};
	if (l->top.on)
		st_top_refresh(&l->top, elapsed, look_at_trace, &reading);
}

static void
pause_trace(void *arg, bool begins)
{
	struct st_trace_live *l = arg;
	st_top_pause(&l->top, begins);
}

st_status
st_trace_live_begin(struct st_trace_live *l, const struct st_top_choice *choice,
                    struct st_session *session, struct st_error *e)
{
	struct st_top_choice chosen = *choice;
	*l = (struct st_trace_live){.watcher = {watch_trace, pause_trace, l}};
	chosen.command = "trace";
	chosen.worth = ST_LIVE_TIME;
	chosen.hz = 1e9;
	chosen.only_places = true;
	return st_top_begin(&l->top, &chosen, session->output.name, (uint32_t)session->pid,
	                    &session->region, e);
}

void
st_trace_live_end(struct st_trace_live *l)
{
	st_top_end(&l->top);
	for (size_t i = 0; i < l->images.n; i++)
		free(l->images.v[i]);
	free(l->images.v);
}
