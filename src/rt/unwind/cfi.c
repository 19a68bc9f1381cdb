/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/unwind/cfi.h"

#include "rt/unwind/cfi_bytes.h"

enum { MOST_REMEMBERED = 4 };

/* Encodings of pointers, as in the Linux Standard Base. */
enum {
	PE_ABSPTR = 0x00,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_OMIT = 0xff,
};

static uint64_t
cfi_value_of(struct cfi_bytes *b, uint8_t form)
{
	switch (form) {
	case PE_UDATA2:
		return cfi_fixed(b, 2);
	case PE_SDATA2:
		return cfi_signed(b, 2);
	case PE_UDATA4:
		return cfi_fixed(b, 4);
	case PE_SDATA4:
		return cfi_signed(b, 4);
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return cfi_fixed(b, 8);
	default:
		b->failed = true;
		return 0;
	}
}

/* No image needs other ones than these. */
static uint64_t
pointer(struct cfi_bytes *b, uint8_t encoding, uint64_t header)
{
	uint64_t at = b->at, value = cfi_value_of(b, encoding & 0x0f);
	switch (encoding & 0xf0) {
	case PE_ABSPTR:
		return value;
	case PE_PCREL:
		return value + at;
	case PE_DATAREL:
		return value + header;
	default:
		b->failed = true;
		return 0;
	}
}

/* ---- the table ---- */

void
cfi_open(struct cfi_table *table, uint64_t header)
{
	struct cfi_bytes b = cfi_bytes(header, header + 64);
	uint8_t version = cfi_u8(&b), frames = cfi_u8(&b), count = cfi_u8(&b), form = cfi_u8(&b);
	*table = (struct cfi_table){.header = header};
	if (version != 1 || count == PE_OMIT || form != (PE_DATAREL | PE_SDATA4))
		return;
	if (frames != PE_OMIT)
		pointer(&b, frames, header);
	uint64_t n = pointer(&b, count, header);
	if (b.failed || n > UINT32_MAX)
		return;
	table->entries = b.at;
	table->n = (uint32_t)n;
}

/* The frame description that begins last at the address or before; 0: none does. */
static uint64_t
find_frame(const struct cfi_table *table, uint64_t pc)
{
	struct cfi_entry e, found = {0, 0};
	uint32_t low = 0, high = table->n;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (!cfi_read(&e, table->entries + mid * sizeof e, sizeof e))
			return 0;
		if (table->header + (uint64_t)(int64_t)e.start <= pc) {
			found = e;
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low ? table->header + (uint64_t)(int64_t)found.frame : 0;
}

/* ---- entries ---- */

/* The common part of frame descriptions. */
struct common {
	uint64_t code_unit;
	int64_t data_unit;
	uint64_t program, end; /* instructions */
	uint8_t encoding;      /* of the descriptions' pointers */
	bool augmented, signal;
};

/* The content of an entry; empty when it cannot be read. */
static struct cfi_bytes
cfi_entry_at(uint64_t at)
{
	struct cfi_bytes b = cfi_bytes(at, at + 12);
	uint64_t length = cfi_fixed(&b, 4);
	if (length == UINT32_MAX)
		length = cfi_fixed(&b, 8);
	if (b.failed || length > 1 << 24)
		length = 0;
	return cfi_bytes(b.at, b.at + length);
}

/* Letters say what the augmentation has, in order. False: one is not known. */
static bool
read_letter(struct cfi_bytes *b, struct common *c, uint8_t letter)
{
	switch (letter) {
	case 'R':
		c->encoding = cfi_u8(b);
		return true;
	case 'P':
		cfi_value_of(b, cfi_u8(b) & 0x0f);
		return true;
	case 'L':
		cfi_u8(b);
		return true;
	case 'S':
		c->signal = true;
		return true;
	default:
		return letter == 'B';
	}
}

static bool
read_common(struct common *c, uint64_t at)
{
	struct cfi_bytes b = cfi_entry_at(at), letters;
	*c = (struct common){.encoding = PE_ABSPTR, .end = b.end};
	uint64_t id = cfi_fixed(&b, 4);
	uint8_t version = cfi_u8(&b);
	letters = b;
	while (cfi_u8(&b))
		;
	if (version == 4)
		cfi_fixed(&b, 2); /* sizes of addresses and segments */
	c->code_unit = cfi_uleb(&b);
	c->data_unit = cfi_sleb(&b);
	uint64_t pc = version == 1 ? cfi_u8(&b) : cfi_uleb(&b);
	uint8_t letter = cfi_u8(&letters);
	if (id || b.failed || pc != CFI_PC || (letter && letter != 'z'))
		return false;
	c->augmented = letter == 'z';
	c->program = b.at;
	if (!c->augmented)
		return true;
	uint64_t bytes = cfi_uleb(&b);
	c->program = b.at + bytes;
	while ((letter = cfi_u8(&letters)))
		if (!read_letter(&b, c, letter))
			return false;
	return !b.failed && c->program <= c->end;
}

struct frame {
	struct common common;
	uint64_t start, end;           /* code */
	uint64_t program, program_end; /* instructions */
};

static bool
read_frame(struct frame *f, uint64_t at, uint64_t header)
{
	struct cfi_bytes b = cfi_entry_at(at);
	uint64_t field = b.at, back = cfi_fixed(&b, 4);
	if (b.failed || !back || !read_common(&f->common, field - back))
		return false;
	f->start = pointer(&b, f->common.encoding, header);
	f->end = f->start + cfi_value_of(&b, f->common.encoding & 0x07);
	uint64_t skip = f->common.augmented ? cfi_uleb(&b) : 0;
	f->program = b.at + skip;
	f->program_end = b.end;
	return !b.failed && f->program <= f->program_end;
}

/* ---- a table where there is none ---- */

static void
sift(struct cfi_entry *entries, uint32_t at, uint32_t n)
{
	struct cfi_entry e = entries[at];
	for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && entries[child + 1].start > entries[child].start;
		if (entries[child].start <= e.start)
			break;
		entries[at] = entries[child];
	}
	entries[at] = e;
}

static void
cfi_sort(struct cfi_entry *entries, uint32_t n)
{
	for (uint32_t i = n / 2; i-- > 0;)
		sift(entries, i, n);
	for (uint32_t i = n; i-- > 1;) {
		struct cfi_entry e = entries[0];
		entries[0] = entries[i];
		entries[i] = e;
		sift(entries, 0, i);
	}
}

uint32_t
cfi_make(struct cfi_table *table, uint64_t frames, uint64_t end, struct cfi_entry *entries,
         uint32_t space)
{
	struct frame f;
	uint32_t n = 0;
	for (uint64_t at = frames, next; at < end; at = next) {
		next = cfi_entry_at(at).end;
		if (next <= at + 4) /* the last one is empty */
			break;
		if (!read_frame(&f, at, frames))
			continue;
		if (n < space)
			entries[n] = (struct cfi_entry){.start = (int32_t)(f.start - frames),
			                                .frame = (int32_t)(at - frames)};
		n++;
	}
	uint32_t kept = n < space ? n : space;
	cfi_sort(entries, kept);
	*table = (struct cfi_table){.header = frames, .entries = (uint64_t)entries, .n = kept};
	return n;
}

/* ---- instructions ---- */

enum {
	CFA_ADVANCE = 0x40, /* operand in the low bits, as in the two that follow */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET = 0x01,
	CFA_ADVANCE1 = 0x02,
	CFA_ADVANCE2 = 0x03,
	CFA_ADVANCE4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF = 0x0c,
	CFA_DEF_REGISTER = 0x0d,
	CFA_DEF_OFFSET = 0x0e,
	CFA_DEF_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_SIGNED = 0x11,
	CFA_DEF_SIGNED = 0x12,
	CFA_DEF_OFFSET_SIGNED = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SIGNED = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_ARGUMENTS = 0x2e,
	CFA_OFFSET_NEGATIVE = 0x2f,
};

struct program {
	const struct frame *frame;
	uint64_t header;
	uint64_t pc, at; /* what holds at pc is asked for; what has been read holds from `at` on */
	struct cfi_row *row, initial;
	struct cfi_row remembered[MOST_REMEMBERED];
	unsigned n;
	struct cfi_bytes b;
};

static void
cfi_set(struct program *p, uint64_t number, struct cfi_rule rule)
{
	if (number < CFI_REGISTERS) /* vector registers are of no interest */
		p->row->rules[number] = rule;
}

static void
cfi_restore(struct program *p, uint64_t number)
{
	if (number < CFI_REGISTERS)
		p->row->rules[number] = p->initial.rules[number];
}

static struct cfi_rule
at_offset(const struct program *p, int64_t units, enum cfi_how how)
{
	return (struct cfi_rule){.number = (uint64_t)(units * p->frame->common.data_unit),
	                         .how = (uint8_t)how};
}

static struct cfi_rule
cfi_expression_at(struct program *p, enum cfi_how how)
{
	uint64_t bytes = cfi_uleb(&p->b);
	struct cfi_rule rule = {.number = p->b.at, .bytes = (uint32_t)bytes, .how = (uint8_t)how};
	if (bytes > p->b.end - p->b.at)
		p->b.failed = true;
	else
		p->b.at += bytes;
	return rule;
}

static void
cfi_advance(struct program *p, uint64_t units)
{
	p->at += units * p->frame->common.code_unit;
}

static void
define(struct program *p, uint64_t reg, uint64_t offset)
{
	if (reg >= CFI_PC)
		p->b.failed = true;
	p->row->cfa = (struct cfi_rule){.how = CFI_OFFSET, .reg = (uint8_t)reg, .number = offset};
}

static uint64_t
signed_units(struct program *p)
{
	return (uint64_t)(cfi_sleb(&p->b) * p->frame->common.data_unit);
}

/* The CFA's own rule. */
static bool
execute_cfa(struct program *p, uint8_t op)
{
	uint64_t reg;
	switch (op) {
	case CFA_DEF:
		reg = cfi_uleb(&p->b);
		define(p, reg, cfi_uleb(&p->b));
		return true;
	case CFA_DEF_SIGNED:
		reg = cfi_uleb(&p->b);
		define(p, reg, signed_units(p));
		return true;
	case CFA_DEF_REGISTER:
		define(p, cfi_uleb(&p->b), p->row->cfa.number);
		return true;
	case CFA_DEF_OFFSET:
		define(p, p->row->cfa.reg, cfi_uleb(&p->b));
		return true;
	case CFA_DEF_OFFSET_SIGNED:
		define(p, p->row->cfa.reg, signed_units(p));
		return true;
	case CFA_DEF_EXPRESSION:
		p->row->cfa = cfi_expression_at(p, CFI_EXPRESSION);
		return true;
	default:
		return false;
	}
}

static bool
execute_place(struct program *p, uint8_t op)
{
	switch (op) {
	case CFA_SET:
		p->at = pointer(&p->b, p->frame->common.encoding, p->header);
		return true;
	case CFA_ADVANCE1:
		cfi_advance(p, cfi_u8(&p->b));
		return true;
	case CFA_ADVANCE2:
		cfi_advance(p, cfi_fixed(&p->b, 2));
		return true;
	case CFA_ADVANCE4:
		cfi_advance(p, cfi_fixed(&p->b, 4));
		return true;
	case CFA_REMEMBER:
		if (p->n == MOST_REMEMBERED)
			p->b.failed = true;
		else
			p->remembered[p->n++] = *p->row;
		return true;
	case CFA_RESTORE_STATE:
		if (!p->n)
			p->b.failed = true;
		else
			*p->row = p->remembered[--p->n];
		return true;
	case CFA_ARGUMENTS:
		cfi_uleb(&p->b);
		return true;
	default:
		return op == CFA_NOP;
	}
}

/* A register's rule. */
static void
execute_register(struct program *p, uint8_t op)
{
	uint64_t reg = cfi_uleb(&p->b);
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		cfi_set(p, reg, at_offset(p, (int64_t)cfi_uleb(&p->b), CFI_AT_OFFSET));
		break;
	case CFA_OFFSET_SIGNED:
		cfi_set(p, reg, at_offset(p, cfi_sleb(&p->b), CFI_AT_OFFSET));
		break;
	case CFA_OFFSET_NEGATIVE:
		cfi_set(p, reg, at_offset(p, -(int64_t)cfi_uleb(&p->b), CFI_AT_OFFSET));
		break;
	case CFA_VAL_OFFSET:
		cfi_set(p, reg, at_offset(p, (int64_t)cfi_uleb(&p->b), CFI_OFFSET));
		break;
	case CFA_VAL_OFFSET_SIGNED:
		cfi_set(p, reg, at_offset(p, cfi_sleb(&p->b), CFI_OFFSET));
		break;
	case CFA_RESTORE_EXTENDED:
		cfi_restore(p, reg);
		break;
	case CFA_UNDEFINED:
		cfi_set(p, reg, (struct cfi_rule){.how = CFI_UNDEFINED});
		break;
	case CFA_SAME:
		cfi_set(p, reg, (struct cfi_rule){.how = CFI_SAME});
		break;
	case CFA_REGISTER:
		cfi_set(p, reg,
		        (struct cfi_rule){.how = CFI_REGISTER,
		                          .reg = (uint8_t)(cfi_uleb(&p->b) % CFI_REGISTERS)});
		break;
	case CFA_EXPRESSION:
		cfi_set(p, reg, cfi_expression_at(p, CFI_AT_EXPRESSION));
		break;
	case CFA_VAL_EXPRESSION:
		cfi_set(p, reg, cfi_expression_at(p, CFI_EXPRESSION));
		break;
	default:
		p->b.failed = true;
	}
}

static void
execute_one(struct program *p)
{
	uint8_t op = cfi_u8(&p->b), low = op & 0x3f;
	switch (op & 0xc0) {
	case CFA_ADVANCE:
		cfi_advance(p, low);
		return;
	case CFA_OFFSET:
		cfi_set(p, low, at_offset(p, (int64_t)cfi_uleb(&p->b), CFI_AT_OFFSET));
		return;
	case CFA_RESTORE:
		cfi_restore(p, low);
		return;
	default:
		if (!execute_cfa(p, op) && !execute_place(p, op))
			execute_register(p, op);
	}
}

/* An instruction that goes on to another place changes nothing else. */
static bool
cfi_execute(struct program *p, uint64_t from, uint64_t end)
{
	p->b = cfi_bytes(from, end);
	while (cfi_left(&p->b)) {
		execute_one(p);
		if (p->at > p->pc)
			break;
	}
	return !p->b.failed;
}

bool
cfi_find(const struct cfi_table *table, uint64_t pc, struct cfi_row *row)
{
	struct frame f;
	uint64_t at = table->n ? find_frame(table, pc) : 0;
	if (!at || !read_frame(&f, at, table->header) || pc < f.start || pc >= f.end)
		return false;
	*row = (struct cfi_row){.signal = f.common.signal};
	struct program p = {
	        .frame = &f, .header = table->header, .pc = pc, .at = f.start, .row = row};
	if (!cfi_execute(&p, f.common.program, f.common.end))
		return false;
	p.initial = *row;
	return cfi_execute(&p, f.program, f.program_end);
}

/* ---- a step ---- */

static bool
cfi_apply_rule(const struct cfi_rule *rule, const uint64_t *registers, uint64_t cfa,
               uint64_t *value)
{
	uint64_t at;
	switch (rule->how) {
	case CFI_OFFSET:
		*value = cfa + rule->number;
		return true;
	case CFI_AT_OFFSET:
		at = cfa + rule->number;
		/* Below rsp: an epilogue has popped it already, which compilers do not say. */
		return at < registers[CFI_RSP] || cfi_read(value, at, 8);
	case CFI_REGISTER:
		*value = registers[rule->reg];
		return true;
	case CFI_EXPRESSION:
		return cfi_evaluate(rule, registers, &cfa, value);
	case CFI_AT_EXPRESSION:
		return cfi_evaluate(rule, registers, &cfa, &at) && cfi_read(value, at, 8);
	default:
		return true;
	}
}

static bool
find_cfa(const struct cfi_row *row, const uint64_t *registers, uint64_t *cfa)
{
	if (row->cfa.how == CFI_OFFSET)
		*cfa = registers[row->cfa.reg] + row->cfa.number;
	else
		return row->cfa.how == CFI_EXPRESSION &&
		       cfi_evaluate(&row->cfa, registers, NULL, cfa);
	return true;
}

enum cfi_step
cfi_apply(const struct cfi_row *row, uint64_t registers[CFI_REGISTERS], uint64_t *cfa)
{
	uint64_t next[CFI_REGISTERS];
	uint8_t pc = row->rules[CFI_PC].how;
	if (pc == CFI_UNDEFINED || pc == CFI_SAME)
		return CFI_OUTERMOST;
	if (!find_cfa(row, registers, cfa))
		return CFI_LOST;
	for (unsigned i = 0; i < CFI_REGISTERS; i++) {
		next[i] = registers[i];
		if (!cfi_apply_rule(&row->rules[i], registers, *cfa, &next[i]))
			return CFI_LOST;
	}
	if (row->rules[CFI_RSP].how == CFI_SAME || row->rules[CFI_RSP].how == CFI_UNDEFINED)
		next[CFI_RSP] = *cfa;
	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		registers[i] = next[i];
	return CFI_CALLER;
}
