/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/tool/rest.h"

#include "rt/os/outside.h"
#include "rt/tool/budget.h"
#include "rt/tool/share.h"

enum {
	FEW = 8,           /* new blocks in a tick */
	LONGEST_SHIFT = 6, /* of a rest, in ticks: 1 << 6 */
};

void
rest_end(struct thread *t)
{
	t->rest = t->rests = 0;
}

static void
begin_rest(struct thread *t)
{
	t->rest = 1u << t->rests;
	if (t->rests < LONGEST_SHIFT)
		t->rests++;
	budget_pause(t);
}

static void
wake(struct thread *t)
{
	t->rest = 0;
	if (budget_allows(t))
		budget_resume(t);
}

void
rest_tick(struct thread *t, bool begins)
{
	bool late = share_is_late();
	if (t->rest) {
		if (--t->rest == 0 || late)
			wake(t);
		return;
	}
	if (t->spent || begins)
		return;
	if (t->rate >= FEW)
		t->rests = 0;
	else if (!late && outside_may(t))
		begin_rest(t);
}
