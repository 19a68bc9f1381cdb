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
	const bool is_known = from < d->threads.n - 1;
	*t = (struct st_debt_thread){.id = id, .paid = is_known ? d->threads.v[from].paid : d->all};
	return d->threads.n - 1;
}

/* Returns the CPU time in the function that is to be charged; below 0 if too much was. */
static double
time_in_function(struct st_debt_thread *t, double seconds)
{
	double time = 0;
	if (t->state == ST_DEBT_RUNS) {
		t->seen += seconds;
		t->seen_within += t->in_function ? seconds : 0;
		time = t->in_function ? seconds * (1 - t->idle) : 0;
		t->ahead += time;
	}
	if (t->ran <= 0)
		return time;
	if (t->seen > 0) {
		t->share = t->seen_within / t->seen;
		t->idle = fmax(1 - t->ran / t->seen, 0);
	}
	time += t->share * t->ran - t->ahead;
	t->seen = t->seen_within = t->ahead = 0;
	return time;
}

/* A thread does not owe the time for which it runs the function itself. */
static void
charge_function(struct st_debts *d, double seconds)
{
	for (size_t i = 0; i < d->threads.n; i++) {
		struct st_debt_thread *t = &d->threads.v[i];
		if (t->state == ST_DEBT_GONE)
			continue;
		const double saved = d->speedup * time_in_function(t, seconds);
		d->all += saved;
		t->paid += saved;
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
	charge_function(d, seconds);
	for (size_t i = 0; i < d->threads.n; i++)
		if (d->threads.v[i].state == ST_DEBT_STANDS)
			d->threads.v[i].paid += seconds;
	const double least = least_paid(d);
	for (size_t i = 0; i < d->threads.n && isfinite(least); i++)
		if (d->threads.v[i].state == ST_DEBT_BLOCKED)
			d->threads.v[i].paid = fmax(d->threads.v[i].paid, least);
}

void
st_debt_wake(struct st_debts *d, size_t thread)
{
	const double least = least_paid(d);
	struct st_debt_thread *t = &d->threads.v[thread];
	if (isfinite(least))
		t->paid = fmax(t->paid, least);
}

void
st_debts_free(struct st_debts *d)
{
	free(d->threads.v);
	*d = (struct st_debts){0};
}
