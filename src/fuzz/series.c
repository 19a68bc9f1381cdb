/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/series.h"

enum { MOST_MOMENTS = 2000 };

/* Keeps every second moment. */
static void
thin_series(struct st_fuzz_series *s)
{
	for (size_t i = 0; 2 * i < s->list.n; i++)
		s->list.v[i] = s->list.v[2 * i];
	s->list.n = (s->list.n + 1) / 2;
	s->step *= 2;
}

st_status
st_fuzz_series_add(struct st_fuzz_series *s, const struct st_fuzz_moment *m, bool last)
{
	const struct st_fuzz_moment *before = s->list.n ? &s->list.v[s->list.n - 1] : NULL;
	if (s->step <= 0)
		s->step = 1;
	if (before &&
	    (last ? m->executions <= before->executions : m->seconds < before->seconds + s->step))
		return ST_OK;
	if (s->list.n >= MOST_MOMENTS)
		thin_series(s);
	struct st_fuzz_moment *new = ST_PUSH(&s->list);
	if (!new)
		return ST_FAILED;
	*new = *m;
	return ST_OK;
}
