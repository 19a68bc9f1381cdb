/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DWARF expressions, those that call frame information has. */
#include "rt/unwind/cfi_bytes.h"

enum { DEPTH = 16, MOST_STEPS = 1000 };

/* DWARF's own names. */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_SWAP = 0x16,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	const uint64_t *registers;
	struct cfi_bytes code;
	uint64_t begin;
	uint64_t stack[DEPTH];
	unsigned n;
	bool failed;
};

static void
expression_push(struct machine *m, uint64_t value)
{
	if (m->n < DEPTH)
		m->stack[m->n++] = value;
	else
		m->failed = true;
}

static uint64_t
expression_pop(struct machine *m)
{
	if (m->n)
		return m->stack[--m->n];
	m->failed = true;
	return 0;
}

static void
expression_push_register(struct machine *m, uint64_t number)
{
	uint64_t offset = (uint64_t)cfi_sleb(&m->code);
	if (number < CFI_REGISTERS)
		expression_push(m, m->registers[number] + offset);
	else
		m->failed = true;
}

static void
expression_load(struct machine *m, unsigned bytes)
{
	uint64_t value = 0, from = expression_pop(m);
	if (bytes > 8 || !cfi_read(&value, from, bytes))
		m->failed = true;
	expression_push(m, value);
}

static void
jump(struct machine *m, bool taken)
{
	uint64_t to = cfi_signed(&m->code, 2) + m->code.at;
	if (!taken)
		return;
	if (to < m->begin || to > m->code.end)
		m->failed = true;
	else
		m->code.at = to;
}

static uint64_t
expression_combine(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	switch (op) {
	case OP_AND:
		return a & b;
	case OP_MINUS:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_OR:
		return a | b;
	case OP_PLUS:
		return a + b;
	case OP_SHL:
		return b < 64 ? a << b : 0;
	case OP_SHR:
		return b < 64 ? a >> b : 0;
	case OP_SHRA:
		return b < 63 ? (uint64_t)(sa >> b) : sa < 0 ? ~0ull : 0;
	case OP_XOR:
		return a ^ b;
	case OP_EQ:
		return sa == sb;
	case OP_GE:
		return sa >= sb;
	case OP_GT:
		return sa > sb;
	case OP_LE:
		return sa <= sb;
	case OP_LT:
		return sa < sb;
	case OP_NE:
		return sa != sb;
	default:
		m->failed = true;
		return 0;
	}
}

/* Operations that copy and reorder values on the stack. */
static bool
arrange(struct machine *m, uint8_t op)
{
	uint64_t a, b;
	switch (op) {
	case OP_DUP:
		a = expression_pop(m);
		expression_push(m, a);
		expression_push(m, a);
		return true;
	case OP_DROP:
		expression_pop(m);
		return true;
	case OP_OVER:
		b = expression_pop(m);
		a = expression_pop(m);
		expression_push(m, a);
		expression_push(m, b);
		expression_push(m, a);
		return true;
	case OP_SWAP:
		b = expression_pop(m);
		a = expression_pop(m);
		expression_push(m, b);
		expression_push(m, a);
		return true;
	case OP_NEG:
		expression_push(m, -expression_pop(m));
		return true;
	case OP_NOT:
		expression_push(m, ~expression_pop(m));
		return true;
	default:
		return false;
	}
}

/* Operations with an operand. */
static bool
with_operand(struct machine *m, uint8_t op)
{
	switch (op) {
	case OP_ADDR:
		expression_push(m, cfi_fixed(&m->code, 8));
		return true;
	case OP_CONSTU:
		expression_push(m, cfi_uleb(&m->code));
		return true;
	case OP_CONSTS:
		expression_push(m, (uint64_t)cfi_sleb(&m->code));
		return true;
	case OP_PLUS_UCONST:
		expression_push(m, expression_pop(m) + cfi_uleb(&m->code));
		return true;
	case OP_BREGX:
		expression_push_register(m, cfi_uleb(&m->code));
		return true;
	case OP_DEREF_SIZE:
		expression_load(m, cfi_u8(&m->code));
		return true;
	case OP_SKIP:
		jump(m, true);
		return true;
	case OP_BRA:
		jump(m, expression_pop(m) != 0);
		return true;
	default:
		return false;
	}
}

static void
expression_execute(struct machine *m, uint8_t op)
{
	if (op >= OP_LIT0 && op < OP_LIT0 + 32) {
		expression_push(m, op - (uint64_t)OP_LIT0);
	} else if (op >= OP_BREG0 && op < OP_BREG0 + 32) {
		expression_push_register(m, op - (uint64_t)OP_BREG0);
	} else if (op >= OP_CONST1U && op < OP_CONSTU) {
		unsigned bytes = 1u << ((op - OP_CONST1U) / 2);
		bool is_signed = (op - OP_CONST1U) % 2;
		expression_push(m, is_signed ? cfi_signed(&m->code, bytes)
		                             : cfi_fixed(&m->code, bytes));
	} else if (op == OP_DEREF) {
		expression_load(m, 8);
	} else if (op != OP_NOP && !with_operand(m, op) && !arrange(m, op)) {
		uint64_t b = expression_pop(m), a = expression_pop(m);
		expression_push(m, expression_combine(m, op, a, b));
	}
}

bool
cfi_evaluate(const struct cfi_rule *rule, const uint64_t registers[CFI_REGISTERS],
             const uint64_t *first, uint64_t *value)
{
	struct machine m = {.registers = registers,
	                    .begin = rule->number,
	                    .code = cfi_bytes(rule->number, rule->number + rule->bytes)};
	if (first)
		expression_push(&m, *first);
	for (unsigned i = 0; !m.failed && cfi_left(&m.code); i++) {
		if (i == MOST_STEPS)
			return false;
		expression_execute(&m, cfi_u8(&m.code));
	}
	*value = expression_pop(&m);
	return !m.failed && !m.code.failed;
}
