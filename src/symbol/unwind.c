/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/unwind.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "symbol/expression.h"
#include "symbol/internal.h"

/* Registers that a caller expects back, and its pc. */
static const uint8_t kept[] = {ST_DWARF_RBX, ST_DWARF_RBP, ST_DWARF_R12, ST_DWARF_R13,
                               ST_DWARF_R14, ST_DWARF_R15, ST_DWARF_RSP, ST_DWARF_PC};
enum { N_KEPT = sizeof kept / sizeof *kept };

enum how { SAME, UNDEFINED, AT_CFA, CFA_PLUS, EXPRESSION };

struct rule {
	enum how how;
	int64_t offset; /* AT_CFA, CFA_PLUS */
	Dwarf_Op *ops;  /* EXPRESSION */
	size_t n;
};

/* The unwind rules at one offset of the code. */
struct row {
	uint64_t offset;
	bool known, interrupted, outermost;
	int cfa_register; /* -1: the CFA is an expression */
	struct rule cfa;
	struct rule rules[N_KEPT];
};

struct sym_unwind {
	Dwarf_CFI *frames, *debug; /* .eh_frame, .debug_frame */
	ST_VEC(struct row) rows;
	struct st_hashmap index; /* of rows, by offset */
};

bool
st_stack_read(const struct st_stack_copy *stack, uint64_t address, uint64_t *value)
{
	uint64_t at = address - stack->base;
	if (address < stack->base || stack->size < 8 || at > stack->size - 8)
		return false;
	memcpy(value, stack->bytes + at, 8);
	return true;
}

/* Keeps an expression: what libdw returns may lie in a buffer of the caller's. */
static struct rule
expression(const Dwarf_Op *ops, size_t n)
{
	struct rule rule = {.how = EXPRESSION, .n = n, .ops = calloc(n ? n : 1, sizeof *ops)};
	if (rule.ops)
		memcpy(rule.ops, ops, n * sizeof *ops);
	else
		rule.how = UNDEFINED;
	return rule;
}

static struct rule
read_rule(Dwarf_Frame *frame, int number)
{
	Dwarf_Op buffer[3], *ops;
	size_t n;
	if (dwarf_frame_register(frame, number, buffer, &ops, &n) != 0)
		return (struct rule){.how = UNDEFINED};
	if (n == 0)
		return (struct rule){.how = ops ? UNDEFINED : SAME};
	if (ops[0].atom != DW_OP_call_frame_cfa || n > 3)
		return expression(ops, n);
	struct rule rule = {.how = AT_CFA};
	for (size_t i = 1; i < n; i++) {
		if (ops[i].atom == DW_OP_plus_uconst)
			rule.offset = (int64_t)ops[i].number;
		else if (ops[i].atom == DW_OP_stack_value)
			rule.how = CFA_PLUS;
		else
			return expression(ops, n);
	}
	return rule;
}

static void
read_cfa(Dwarf_Frame *frame, struct row *row)
{
	Dwarf_Op *ops;
	size_t n;
	row->cfa_register = -1;
	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0) {
		row->known = false;
		return;
	}
	if (n == 1 && ops[0].atom == DW_OP_bregx) {
		row->cfa_register = (int)ops[0].number;
		row->cfa.offset = (int64_t)ops[0].number2;
	} else if (n == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		row->cfa_register = ops[0].atom - DW_OP_breg0;
		row->cfa.offset = (int64_t)ops[0].number;
	} else {
		row->cfa = expression(ops, n);
	}
	if (row->cfa_register >= ST_DWARF_PC)
		row->known = false;
}

static void
unwind_fill_row(struct sym_unwind *u, struct row *row, uint64_t offset)
{
	Dwarf_Frame *frame = NULL;
	*row = (struct row){.offset = offset};
	if ((!u->frames || dwarf_cfi_addrframe(u->frames, offset, &frame) != 0) &&
	    (!u->debug || dwarf_cfi_addrframe(u->debug, offset, &frame) != 0))
		return;
	Dwarf_Addr start, end;
	bool signal = false;
	row->known = true;
	/* The return address is rule 16 in every CIE for this machine. */
	if (dwarf_frame_info(frame, &start, &end, &signal) != ST_DWARF_PC)
		row->known = false;
	row->interrupted = signal;
	read_cfa(frame, row);
	for (size_t i = 0; i < N_KEPT; i++)
		row->rules[i] = read_rule(frame, kept[i]);
	/* rsp is the CFA unless somebody says otherwise, as signal frames do. */
	struct rule *rsp = &row->rules[N_KEPT - 2], *pc = &row->rules[N_KEPT - 1];
	if (rsp->how == SAME || rsp->how == UNDEFINED)
		*rsp = (struct rule){.how = CFA_PLUS};
	row->outermost = pc->how == UNDEFINED || pc->how == SAME;
	free(frame);
}

static struct sym_unwind *
open_unwind(struct st_image *image)
{
	if (image->unwind)
		return image->unwind;
	image->unwind = calloc(1, sizeof *image->unwind);
	if (!image->unwind)
		return NULL;
	image->unwind->frames = dwarf_getcfi_elf(image->main.elf);
	if (!image->unwind->frames && sym_dwarf(image))
		image->unwind->debug = dwarf_getcfi(sym_dwarf(image));
	return image->unwind;
}

static const struct row *
symbol_unwind_row_at(struct st_image *image, uint64_t offset)
{
	struct sym_unwind *u = open_unwind(image);
	const uint32_t hash = st_hash_number(offset);
	uint32_t at = u ? ST_HASHMAP_FIND(&u->index, hash, i, u->rows.v[i].offset == offset)
	                : ST_HASHMAP_NONE;
	if (at == ST_HASHMAP_NONE) {
		struct row *new = u ? ST_PUSH(&u->rows) : NULL;
		if (!new)
			return NULL;
		unwind_fill_row(u, new, offset);
		at = (uint32_t)u->rows.n - 1;
		if (st_hashmap_add(&u->index, hash, at))
			return NULL;
	}
	return u->rows.v[at].known ? &u->rows.v[at] : NULL;
}

static bool
unwind_apply(const struct rule *rule, int number, const struct sym_expression *at, uint64_t *value)
{
	switch (rule->how) {
	case CFA_PLUS:
		*value = at->cfa + (uint64_t)rule->offset;
		return true;
	case AT_CFA:
		/* Below rsp: an epilogue has popped it already, which compilers do not say. */
		*value = at->registers[number];
		return at->cfa + (uint64_t)rule->offset < at->registers[ST_DWARF_RSP] ||
		       st_stack_read(at->stack, at->cfa + (uint64_t)rule->offset, value);
	case EXPRESSION:
		return sym_evaluate(at, rule->ops, rule->n, true, value);
	default:
		*value = at->registers[number];
		return true;
	}
}

enum st_unwind
st_image_unwind(struct st_image *image, uint64_t offset, uint64_t registers[ST_DWARF_REGISTERS],
                const struct st_stack_copy *stack, bool *interrupted)
{
	const struct row *row = symbol_unwind_row_at(image, offset);
	uint64_t next[ST_DWARF_REGISTERS];
	struct sym_expression at = {.registers = registers, .stack = stack};
	if (!row)
		return ST_UNWIND_UNKNOWN;
	*interrupted = row->interrupted;
	if (row->outermost)
		return ST_UNWIND_OUTERMOST;
	if (row->cfa_register >= 0)
		at.cfa = registers[row->cfa_register] + (uint64_t)row->cfa.offset;
	else if (!sym_evaluate(&at, row->cfa.ops, row->cfa.n, false, &at.cfa))
		return ST_UNWIND_LOST;
	memcpy(next, registers, sizeof next);
	for (size_t i = 0; i < N_KEPT; i++)
		if (!unwind_apply(&row->rules[i], kept[i], &at, &next[kept[i]]))
			return ST_UNWIND_LOST;
	memcpy(registers, next, sizeof next);
	return ST_UNWIND_CALLER;
}

bool
st_image_frame(struct st_image *image, uint64_t offset, uint64_t sp, uint64_t bp, uint64_t *slot)
{
	const struct row *row = symbol_unwind_row_at(image, offset);
	if (!row || row->interrupted || row->outermost ||
	    (row->cfa_register != ST_DWARF_RSP && row->cfa_register != ST_DWARF_RBP))
		return false;
	uint64_t base = row->cfa_register == ST_DWARF_RSP ? sp : bp;
	*slot = base + (uint64_t)row->cfa.offset - 8;
	return true;
}

bool
st_image_has_handlers(const struct st_image *image)
{
	return !sym_elf_has_section(&image->main, ".eh_frame") ||
	       sym_elf_has_section(&image->main, ".gcc_except_table");
}

void
sym_unwind_free(struct st_image *image)
{
	struct sym_unwind *u = image->unwind;
	if (!u)
		return;
	for (size_t i = 0; i < u->rows.n; i++) {
		free(u->rows.v[i].cfa.ops);
		for (size_t k = 0; k < N_KEPT; k++)
			free(u->rows.v[i].rules[k].ops);
	}
	dwarf_cfi_end(u->frames);
	free(u->rows.v);
	st_hashmap_free(&u->index);
	free(u);
	image->unwind = NULL;
}
