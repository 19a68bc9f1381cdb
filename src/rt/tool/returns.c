/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Returns of functions. A function whose return some tool waits for is put on a list of its thread
 * when it is entered, with the stack pointer; a return instruction that finds that stack pointer is
 * its return, whoever executes it. What was left by longjmp or an exception lies deeper in the
 * stack than where they land, and is dropped there.
 */
#include "rt/tool/tool.h"
#include "tools/cells.h"

enum { MAX_PLANS = 1 << 16, FIRST_DEPTH = 1024, MAX_DEPTH = 16 << 20, MOST_ACTIONS = 8 };

/* The actions for the return of a function, and for its entry if that has no separate action. */
struct plan {
	uint64_t function;
	strobe_callee *entered; /* NULL: nothing */
	uint32_t tool;          /* whose that is */
	uint32_t n;
	struct action actions[MOST_ACTIONS];
};
struct returns {
	uint32_t n, capacity;
	struct entered {
		uint64_t sp;
		uint32_t plan;
	} * entered;
};

static struct plan *plans;
static uint32_t n_plans;
static strobe_map by_function; /* the one made last: index + 1 */
static struct plan current;    /* the one that is being made */

void
returns_begin(uint64_t function)
{
	current.function = function;
	current.entered = NULL;
	current.tool = 0;
	current.n = 0;
}

void
strobe_enter_and_return(strobe_function *f, strobe_callee *entered, strobe_callee *returned)
{
	const strobe_operand operands[2] = {strobe_constant(strobe_function_address(f)),
	                                    strobe_register_value(STROBE_RSP)};
	const uint32_t n = current.n;
	strobe_invoke_with(strobe_at_return(f), returned, 2, operands);
	if (current.n == n)
		return;
	current.entered = entered;
	current.tool = tool_current();
}

struct action *
returns_new_action(void)
{
	if (current.n == MOST_ACTIONS)
		return NULL;
	struct action *a = &current.actions[current.n++];
	memset(a, 0, sizeof *a);
	return a;
}

static bool
return_is_current(const struct plan *p)
{
	return p->n == current.n && p->entered == current.entered && p->tool == current.tool &&
	       memcmp(p->actions, current.actions, current.n * sizeof current.actions[0]) == 0;
}

/* A function that is translated again wants the same as a rule; of the plan before, threads may be
 * about to carry it out. */
uint32_t
returns_plan(void)
{
	if (!current.n)
		return 0;
	if (!plans)
		plans = rt_map_table(MAX_PLANS * sizeof *plans);
	uint64_t *at = plans ? strobe_map_at(&by_function, current.function) : NULL;
	if (at && *at && return_is_current(&plans[*at - 1]))
		return (uint32_t)*at;
	if (!at || n_plans == MAX_PLANS)
		return 0;
	plans[n_plans] = current;
	*at = ++n_plans;
	return n_plans;
}

/* Drops the frames below the stack pointer. */
static void
drop_below(struct thread *t, struct returns *r, uint64_t sp)
{
	while (r->n && r->entered[r->n - 1].sp < sp)
		r->n--;
	t->returns_at = r->n ? 0 - r->entered[r->n - 1].sp : 0;
}

static bool
grow(struct returns *r)
{
	const uint32_t capacity = r->capacity ? 2 * r->capacity : FIRST_DEPTH;
	struct entered *more =
	        capacity <= MAX_DEPTH ? rt_map_memory(capacity * sizeof *more) : NULL;
	if (!more)
		return false;
	if (r->capacity) {
		memcpy(more, r->entered, r->n * sizeof *more);
		rt_unmap_memory(r->entered, r->capacity * sizeof *more);
	}
	r->entered = more;
	r->capacity = capacity;
	return true;
}

void
returns_entered(strobe_thread *handle, const uint64_t *values)
{
	struct thread *t = (struct thread *)handle;
	uint64_t sp = values[1];
	if (!t->tools.returns)
		t->tools.returns = rt_map_memory(sizeof *t->tools.returns);
	struct returns *r = t->tools.returns;
	if (!r)
		return;
	drop_below(t, r, sp);
	if (r->n == r->capacity && !grow(r))
		return;
	r->entered[r->n++] = (struct entered){.sp = sp, .plan = (uint32_t)values[0]};
	t->returns_at = 0 - sp;
	const struct plan *p = &plans[values[0] - 1];
	if (p->entered)
		tool_call(p->tool, (void (*)(void))p->entered, t,
		          (const uint64_t[]){p->function, sp});
}

void
returns_landed(strobe_thread *handle, const uint64_t *values)
{
	struct thread *t = (struct thread *)handle;
	if (t->tools.returns)
		drop_below(t, t->tools.returns, values[0]);
}

/* ---- what is done at a return: the program is at its return instruction ---- */

void
returns_left(strobe_thread *handle, const uint64_t *values)
{
	struct thread *t = (struct thread *)handle;
	struct returns *r = t->tools.returns;
	uint64_t sp = t->regs.r[RSP];
	(void)values;
	/* One that another has jumped to in its place was entered with the same stack pointer. */
	while (r && r->n && r->entered[r->n - 1].sp == sp) {
		const struct plan *p = &plans[r->entered[--r->n].plan - 1];
		for (uint32_t i = 0; i < p->n; i++)
			perform_action(t, &p->actions[i], NULL);
	}
	if (r)
		t->returns_at = r->n ? 0 - r->entered[r->n - 1].sp : 0;
}

void
returns_forget(struct thread *t)
{
	if (t->tools.returns)
		t->tools.returns->n = 0;
	t->returns_at = 0;
}
