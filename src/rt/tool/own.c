/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tool `records` has beside the tool API: counts of a thread that can be read at any time,
 * and the program's data. */
#include "rt/lib/recordops.h"
#include "rt/tool/tool.h"
#include "tools/cells.h"

/* The id of a counter's own count; one of all threads is enough, as each has its counters. */
static uint32_t own_id;

void
own_forget(void)
{
	own_id = 0;
}

void
strobe_count_own(strobe_point at, strobe_counter *counter, uint64_t amount)
{
	enum { OWN_KEY = 1 }; /* keys of actions have the number of a block above */
	if (!own_id)
		own_id = counter_of(OWN_KEY, counter_cell(counter), 1);
	struct action *a = own_id ? ask_action(at, ACTION_ADD) : NULL;
	if (!a)
		return;
	a->id = own_id;
	a->cell = counter_cell(counter);
	a->n = 1;
	a->operand[0] = strobe_constant(amount);
}

uint64_t
strobe_own_count(strobe_thread *t, const strobe_counter *counter)
{
	(void)counter;
	return own_id ? *thread_counter((struct thread *)t, own_id) : 0;
}

void
strobe_run_ops(strobe_thread *handle, struct st_record_scratch *own, const struct st_record_op *ops,
               uint32_t n)
{
	const uint64_t *r = ((struct thread *)handle)->regs.r;
	const uint64_t registers[] = {r[RDI], r[RSI], r[RDX], r[RCX], r[R8], r[R9]};
	record_run_ops(own, ops, n, (const uint64_t *)r[RSP], registers);
}
