/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Returns of functions. A function whose return some tool waits for is put on a list of its thread
 * when it is entered, with the stack pointer; a return instruction that finds that stack pointer is
 * its return, whoever executes it. What was left by longjmp or an exception lies deeper in the
 * stack than the function entered next, and is dropped then.
 */
#include "rt/tool/tool.h"

enum { MAX_PLANS = 1 << 16, MAX_DEPTH = 4096, MOST_ACTIONS = 8 };

/* What is to happen when a function returns. */
struct plan {
	uint64_t function;
	uint32_t n;
	struct action actions[MOST_ACTIONS];
};
struct returns {
	uint32_t n;
	struct {
		uint64_t sp;
		uint32_t plan;
	} entered[MAX_DEPTH];
};

static struct plan *plans;
static uint32_t n_plans;
static strobe_map by_function;
static struct plan *current;

void
returns_begin(uint64_t function)
{
	current = NULL;
	if (!plans)
		plans = rt_map_table(MAX_PLANS * sizeof *plans);
	uint64_t *at = plans ? strobe_map_at(&by_function, function) : NULL;
	if (!at || (!*at && n_plans == MAX_PLANS))
		return;
	if (!*at)
		*at = ++n_plans;
	current = &plans[*at - 1];
	current->function = function;
}

struct action *
returns_new_action(void)
{
	if (!current || current->n == MOST_ACTIONS)
		return NULL;
	return &current->actions[current->n++];
}

uint32_t
returns_plan(void)
{
	return current && current->n ? (uint32_t)(current - plans) + 1 : 0;
}

void
returns_entered(strobe_thread *handle, const uint64_t *values)
{
	struct thread *t = (struct thread *)handle;
	uint64_t sp = values[1];
	if (!t->returns)
		t->returns = rt_map_table(sizeof *t->returns);
	struct returns *r = t->returns;
	if (!r)
		return;
	while (r->n && r->entered[r->n - 1].sp < sp)
		r->n--;
	if (r->n == MAX_DEPTH)
		return;
	r->entered[r->n].sp = sp;
	r->entered[r->n].plan = (uint32_t)values[0];
	r->n++;
	t->returns_at = 0 - sp;
}

/* ---- what is done at a return: the program is at its return instruction ---- */

static uint64_t
value_of(struct thread *t, const strobe_operand *o)
{
	uint64_t v = 0;
	switch (o->kind) {
	case OPERAND_CONSTANT:
		return o->value;
	case OPERAND_TIMESTAMP:
		return rt_tsc();
	case OPERAND_THREAD:
		return t->number;
	case OPERAND_REGISTER:
		return t->regs.r[o->detail & 15];
	case OPERAND_RETURN_TO:
		strobe_read(&v, t->regs.r[RSP], 8);
		return v;
	default:
		return 0;
	}
}

static bool
holds(struct thread *t, const struct action *a)
{
	if (!a->relates)
		return true;
	uint64_t x = value_of(t, &a->if_a), y = value_of(t, &a->if_b);
	switch ((enum strobe_relation)a->relation) {
	case STROBE_EQUAL:
		return x == y;
	case STROBE_NOT_EQUAL:
		return x != y;
	case STROBE_BELOW:
		return x < y;
	case STROBE_NOT_BELOW:
		return x >= y;
	case STROBE_ABOVE:
		return x > y;
	case STROBE_NOT_ABOVE:
		return x <= y;
	default:
		return (x & y) != 0;
	}
}

static void
perform(struct thread *t, const struct action *a)
{
	uint64_t values[STROBE_MOST_COLUMNS];
	uint64_t *tally = thread_counter(t, a->id);
	for (unsigned i = 0; i < a->n; i++)
		values[i] = value_of(t, &a->operand[i]);
	switch ((enum action_kind)a->kind) {
	case ACTION_TALLY:
		*tally += 1;
		break;
	case ACTION_ADD:
		*tally += values[0];
		break;
	case ACTION_RECORD:
		stream_append(t, a->stream, a->id, a->n, values);
		break;
	case ACTION_INVOKE:
		tool_call(a->tool, (void (*)(void))a->function, t, values);
		break;
	default: /* walks have no code of theirs there */
		break;
	}
}

void
returns_left(strobe_thread *handle, const uint64_t *values)
{
	struct thread *t = (struct thread *)handle;
	struct returns *r = t->returns;
	uint64_t sp = t->regs.r[RSP];
	(void)values;
	/* One that another has jumped to in its place was entered with the same stack pointer. */
	while (r && r->n && r->entered[r->n - 1].sp == sp) {
		const struct plan *p = &plans[r->entered[--r->n].plan - 1];
		for (uint32_t i = 0; i < p->n; i++)
			if (holds(t, &p->actions[i]))
				perform(t, &p->actions[i]);
	}
	if (r)
		t->returns_at = r->n ? 0 - r->entered[r->n - 1].sp : 0;
}

void
returns_forget(struct thread *t)
{
	if (t->returns)
		t->returns->n = 0;
	t->returns_at = 0;
}
