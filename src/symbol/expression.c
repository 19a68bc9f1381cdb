/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/expression.h"

#include <dwarf.h>

enum { DEPTH = 16 };

struct machine {
	const struct sym_expression *at;
	uint64_t stack[DEPTH];
	size_t n;
	bool is_value, failed;
};

static void
symbol_expression_push(struct machine *m, uint64_t value)
{
	if (m->n == DEPTH)
		m->failed = true;
	else
		m->stack[m->n++] = value;
}

static uint64_t
symbol_expression_pop(struct machine *m)
{
	if (m->n == 0) {
		m->failed = true;
		return 0;
	}
	return m->stack[--m->n];
}

static void
push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	if (number > ST_DWARF_PC)
		m->failed = true;
	else
		symbol_expression_push(m, m->at->registers[number] + offset);
}

static bool
expression_is_number(const Dwarf_Op *op)
{
	return (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts) || op->atom == DW_OP_addr;
}

/* Operations on the two topmost values. */
static bool
combine(struct machine *m, unsigned atom)
{
	if (m->n < 2)
		return false;
	uint64_t b = m->stack[m->n - 1], a = m->stack[m->n - 2], c;
	switch (atom) {
	case DW_OP_plus:
		c = a + b;
		break;
	case DW_OP_minus:
		c = a - b;
		break;
	case DW_OP_mul:
		c = a * b;
		break;
	case DW_OP_and:
		c = a & b;
		break;
	case DW_OP_or:
		c = a | b;
		break;
	case DW_OP_shl:
		c = b < 64 ? a << b : 0;
		break;
	case DW_OP_shr:
		c = b < 64 ? a >> b : 0;
		break;
	case DW_OP_ge:
		c = (int64_t)a >= (int64_t)b;
		break;
	case DW_OP_eq:
		c = a == b;
		break;
	default:
		return false;
	}
	m->n--;
	m->stack[m->n - 1] = c;
	return true;
}

static void
dereference(struct machine *m)
{
	uint64_t value = 0;
	if (!st_stack_read(m->at->stack, symbol_expression_pop(m), &value))
		m->failed = true;
	symbol_expression_push(m, value);
}

static void
symbol_expression_execute(struct machine *m, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		symbol_expression_push(m, op->atom - DW_OP_lit0);
	else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		push_register(m, op->atom - DW_OP_breg0, op->number);
	else if (op->atom == DW_OP_bregx)
		push_register(m, op->number, op->number2);
	else if (expression_is_number(op))
		symbol_expression_push(m, op->number);
	else if (op->atom == DW_OP_call_frame_cfa)
		symbol_expression_push(m, m->at->cfa);
	else if (op->atom == DW_OP_plus_uconst)
		symbol_expression_push(m, symbol_expression_pop(m) + op->number);
	else if (op->atom == DW_OP_deref)
		dereference(m);
	else if (op->atom == DW_OP_dup && m->n)
		symbol_expression_push(m, m->stack[m->n - 1]);
	else if (op->atom == DW_OP_stack_value)
		m->is_value = true;
	else if (op->atom != DW_OP_nop && !combine(m, op->atom))
		m->failed = true;
}

bool
sym_evaluate(const struct sym_expression *at, const Dwarf_Op *ops, size_t n, bool location,
             uint64_t *value)
{
	struct machine m = {.at = at};
	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg0 + ST_DWARF_PC) {
		*value = at->registers[ops[0].atom - DW_OP_reg0];
		return true;
	}
	if (n == 1 && ops[0].atom == DW_OP_regx && ops[0].number <= ST_DWARF_PC) {
		*value = at->registers[ops[0].number];
		return true;
	}
	for (size_t i = 0; i < n && !m.failed; i++)
		symbol_expression_execute(&m, &ops[i]);
	if (location && !m.is_value)
		dereference(&m);
	*value = symbol_expression_pop(&m);
	return !m.failed;
}
