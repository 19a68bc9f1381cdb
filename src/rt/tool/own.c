/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tool `records` has beside the tool API: counts of a thread that can be read at any time,
 * and the program's data. */
#include "rt/lib/recordops.h"
#include "rt/tool/tool.h"
#include "tools/cells.h"

enum { MOST_OWN = 2 };

/* The ids of own counts; one of all threads is enough, as each has its counters. */
static struct {
	const strobe_counter *counter;
	uint32_t id;
} own_counts[MOST_OWN];

void
own_forget(void)
{
	for (uint32_t i = 0; i < MOST_OWN; i++)
		own_counts[i].counter = NULL;
}

static uint32_t
own_id(const strobe_counter *counter)
{
	for (uint32_t i = 0; i < MOST_OWN; i++)
		if (own_counts[i].counter == counter)
			return own_counts[i].id;
	return 0;
}

/* 0: there are too many. */
static uint32_t
own_new_id(strobe_counter *counter)
{
	uint32_t i = 0;
	while (i < MOST_OWN && own_counts[i].counter)
		i++;
	if (i == MOST_OWN)
		return 0;
	/* Keys of actions have the number of a block above. */
	own_counts[i].id = counter_of(i + 1, counter_cell(counter), 1);
	own_counts[i].counter = own_counts[i].id ? counter : NULL;
	return own_counts[i].id;
}

void
strobe_count_own(strobe_point at, strobe_counter *counter, uint64_t amount)
{
	const uint32_t known = own_id(counter), id = known ? known : own_new_id(counter);
	struct action *a = id ? ask_action(at, ACTION_ADD) : NULL;
	if (!a)
		return;
	a->id = id;
	a->cell = counter_cell(counter);
	a->n = 1;
	a->operand[0] = strobe_constant(amount);
}

uint64_t
strobe_own_count(strobe_thread *t, const strobe_counter *counter)
{
	const uint32_t id = own_id(counter);
	return id ? *thread_counter((struct thread *)t, id) : 0;
}

void
strobe_run_ops(strobe_thread *handle, struct st_record_scratch *own, const struct st_record_op *ops,
               uint32_t n)
{
	const uint64_t *r = ((struct thread *)handle)->regs.r;
	const uint64_t registers[] = {r[RDI], r[RSI], r[RDX], r[RCX], r[R8], r[R9]};
	record_run_ops(own, ops, n, (const uint64_t *)r[RSP], registers);
}
