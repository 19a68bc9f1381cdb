/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/debt.h"

#include <math.h>

size_t
st_debt_find(const struct st_debts *d, int64_t id)
{
	for (size_t i = 0; i < d->threads.n; i++)
		if (d->threads.v[i].id == id && d->threads.v[i].state != ST_DEBT_GONE)
			return i;
	return SIZE_MAX;
}

size_t
st_debt_thread(struct st_debts *d, int64_t id, size_t from)
{
	struct st_debt_thread *t = ST_PUSH(&d->threads);
	if (!t)
		return SIZE_MAX;
	t->id = id;
	t->paid = from < d->threads.n - 1 ? d->threads.v[from].paid : d->all;
	return d->threads.n - 1;
}

/* A thread does not owe the time for which it runs the function itself. */
static void
charge_function(struct st_debts *d)
{
	for (size_t i = 0; i < d->threads.n; i++) {
		struct st_debt_thread *t = &d->threads.v[i];
		if (t->state == ST_DEBT_GONE || !t->in_function)
			continue;
		d->all += d->speedup * t->ran;
		t->paid += d->speedup * t->ran;
	}
}

/* The least time paid by a thread that may wake another one. */
static double
least_paid(const struct st_debts *d)
{
	double least = INFINITY;
	for (size_t i = 0; i < d->threads.n; i++) {
		const struct st_debt_thread *t = &d->threads.v[i];
		if (t->state == ST_DEBT_RUNS || t->state == ST_DEBT_STANDS)
			least = fmin(least, t->paid);
	}
	return least;
}

void
st_debt_tick(struct st_debts *d, double seconds)
{
	charge_function(d);
	for (size_t i = 0; i < d->threads.n; i++)
		if (d->threads.v[i].state == ST_DEBT_STANDS)
			d->threads.v[i].paid += seconds;
	const double least = least_paid(d);
	for (size_t i = 0; i < d->threads.n && isfinite(least); i++)
		if (d->threads.v[i].state == ST_DEBT_BLOCKED)
			d->threads.v[i].paid = fmax(d->threads.v[i].paid, least);
}

void
st_debts_free(struct st_debts *d)
{
	free(d->threads.v);
	*d = (struct st_debts){0};
}
