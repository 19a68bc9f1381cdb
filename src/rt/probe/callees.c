/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Costs of callees: a row of a kept call has the sums of the costs of the calls that it has made
 * itself, by function. A call that is left without a return adds nothing.
 */
#include "rt/probe/probe.h"

static const struct st_record_function *
recorded_function(const struct st_probe_frame *f)
{
	const struct st_probe_action a = probe_area()->actions[f->function - 1];
	return a.kind == ST_PROBE_RECORD ? probe_at(a.amount) : NULL;
}

/* Takes the row of a kept call for writing; NULL: it keeps another call by now. */
static struct st_record_row *
claim_row_of(const struct st_probe_frame *f)
{
	struct st_record_row *row = probe_at(f->row);
	uint32_t state = ST_RECORD_OPEN;
	if (!__atomic_compare_exchange_n(&row->state, &state, ST_RECORD_BUSY, false,
	                                 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return NULL;
	if (row->slot == f->slot && row->begin == f->begin)
		return row;
	__atomic_store_n(&row->state, ST_RECORD_OPEN, __ATOMIC_RELEASE);
	return NULL;
}

/* The place of a callee among those of the function. It is the same in all rows. */
static uint32_t
place_of_callee(struct st_record_function *r, uint32_t action)
{
	for (uint32_t i = 0; i < ST_RECORD_MOST_NAMED; i++) {
		uint32_t is = __atomic_load_n(&r->callees[i], __ATOMIC_RELAXED);
		if (is == action ||
		    (!is && (__atomic_compare_exchange_n(&r->callees[i], &is, action, false,
		                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		             is == action)))
			return i;
	}
	return ST_RECORD_MOST_NAMED;
}

/* What the totals of the thread were when the callee began. */
static uint64_t *
totals_since(const struct st_record_function *r, struct st_record_row *row)
{
	return (uint64_t *)row + r->row_words - ST_RECORD_METRIC_COUNT;
}

static uint64_t
tally_at(struct st_probe_thread *t, uint32_t metric, uint64_t net)
{
	return metric == ST_RECORD_LOCK_HELD ? probe_lock_held(t, net) : t->tallies.v[metric];
}

void
probe_begin_callee(struct st_probe_thread *t, const uint64_t *slot)
{
	struct st_probe_frame *f = &t->frames[t->depth - 1];
	const struct st_probe_frame *caller = f - 1;
	/* A call that is not timed has no frame. */
	const struct st_record_function *r =
	        f->slot == (uint64_t)slot && caller->row ? recorded_function(caller) : NULL;
	if (!r)
		return;
	const uint64_t begin = probe_ticks();
	struct st_record_row *row = claim_row_of(caller);
	if (!row)
		return;
	const uint64_t net = probe_net(t, begin);
	for (uint32_t i = ST_RECORD_ALLOCATED; i < ST_RECORD_METRIC_COUNT; i++)
		totals_since(r, row)[i] = tally_at(t, i, net);
	__atomic_store_n(&row->state, ST_RECORD_OPEN, __ATOMIC_RELEASE);
	probe_charge(t, f, begin);
}

/* A callee holds a lock no longer than it runs. */
static uint64_t
callee_cost(uint32_t metric, uint64_t cost, uint64_t taken)
{
	const uint64_t most = (int64_t)taken > 0 ? taken : 0;
	return metric == ST_RECORD_LOCK_HELD && cost > most ? most : cost;
}

static void
add_callee(struct st_probe_thread *t, struct st_record_function *r, struct st_record_row *row,
           uint32_t action, uint64_t taken, uint64_t net)
{
	uint64_t *sum = (uint64_t *)row + r->callees_at +
	                place_of_callee(r, action) * (uint64_t)r->callee_words;
	*sum++ += 1;
	for (uint32_t i = 0; i < ST_RECORD_METRIC_COUNT; i++)
		if (r->metrics & ST_RECORD_OF_CALLEES & 1u << i)
			*sum++ +=
			        i == ST_RECORD_TIME
			                ? taken
			                : callee_cost(i,
			                              tally_at(t, i, net) - totals_since(r, row)[i],
			                              taken);
}

void
probe_end_callee(struct st_probe_thread *t, const struct st_probe_frame *f, uint64_t taken)
{
	struct st_probe_frame *caller = &t->frames[t->depth - 1];
	struct st_record_function *r = (struct st_record_function *)recorded_function(caller);
	if (!r || !r->callee_words || !recorded_function(f))
		return;
	const uint64_t begin = probe_ticks();
	struct st_record_row *row = claim_row_of(caller);
	if (row) {
		add_callee(t, r, row, f->function, taken, probe_net(t, begin));
		__atomic_store_n(&row->state, ST_RECORD_OPEN, __ATOMIC_RELEASE);
	}
	probe_charge(t, caller, begin);
}
