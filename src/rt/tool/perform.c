/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Actions that are not made by translated code but here: at returns, and at accesses of several
 * pieces. The program's registers are those of the moment. */
#include "rt/tool/tool.h"

static uint64_t
operand_value(struct thread *t, const strobe_operand *o, const struct access_piece *piece)
{
	uint64_t v = 0;
	switch (o->kind) {
	case OPERAND_CONSTANT:
		return o->value;
	case OPERAND_TIMESTAMP:
		return rt_tsc_forbidden ? 0 : rt_tsc();
	case OPERAND_THREAD:
		return t->number;
	case OPERAND_REGISTER:
		return t->regs.r[o->detail & 15];
	case OPERAND_RETURN_TO:
		strobe_read(&v, t->regs.r[RSP], 8);
		return v;
	case OPERAND_ADDRESS:
		return piece ? piece->address : 0;
	case OPERAND_SIZE:
		return piece ? piece->bytes : 0;
	case OPERAND_VALUE:
		return piece ? piece->value : 0;
	default:
		return 0;
	}
}

static bool
relation_holds(struct thread *t, const struct relation *r, const struct access_piece *piece)
{
	uint64_t x = operand_value(t, &r->a, piece), y = operand_value(t, &r->b, piece);
	switch ((enum strobe_relation)r->relation) {
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

static bool
all_hold(struct thread *t, const struct action *a, const struct access_piece *piece)
{
	for (unsigned i = 0; i < a->n_relations; i++)
		if (!relation_holds(t, &a->relations[i], piece))
			return false;
	return true;
}

void
perform_action(struct thread *t, const struct action *a, const struct access_piece *piece)
{
	uint64_t values[STROBE_MOST_COLUMNS];
	uint64_t *counter = thread_counter(t, a->id);
	if (!all_hold(t, a, piece))
		return;
	for (unsigned i = 0; i < a->n; i++)
		values[i] = operand_value(t, &a->operand[i], piece);
	switch ((enum action_kind)a->kind) {
	case ACTION_COUNTER:
		*counter += 1;
		break;
	case ACTION_ADD:
		*counter += values[0];
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
