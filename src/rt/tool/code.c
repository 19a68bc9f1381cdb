/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The questions of tools about code, and the operands of actions. */
#include "rt/program.h"
#include "rt/tool/events.h"
#include "tools/cells.h"

static const struct st_insn *
insn_of(const struct build *b, uint32_t index)
{
	return &b->insn[index];
}

static const uint8_t *
insn_code(const struct build *b, uint32_t index)
{
	return program_code(event_address(b, index));
}

/* ---- blocks, instructions ---- */

uint32_t
strobe_block_length(const strobe_block *b)
{
	return b->b->whole_insns;
}

uint64_t
strobe_block_address(const strobe_block *b)
{
	return b->b->pc;
}

uint32_t
strobe_block_bytes(const strobe_block *b)
{
	return b->b->whole_bytes;
}

uint64_t
strobe_insn_address(const strobe_insn *i)
{
	return event_address(i->b, i->index);
}

uint32_t
strobe_insn_bytes(const strobe_insn *i)
{
	return insn_of(i->b, i->index)->len;
}

uint64_t
strobe_insn_code(const strobe_insn *i)
{
	const struct st_insn *in = insn_of(i->b, i->index);
	const uint8_t *code = insn_code(i->b, i->index);
	char text[2 * 15 + 1];
	bool blank_imm = in->cls == ST_C_NORMAL
	                         ? in->imm_len && !in->vex_off && (code[in->op_off] != 0xc2)
	                         : in->imm_len > 0;
	for (unsigned k = 0; k < in->len; k++) {
		uint8_t byte = code[k];
		if (in->disp_off && k >= in->disp_off && k < (unsigned)in->disp_off + in->disp_len)
			byte = 0;
		if (blank_imm && k >= in->imm_off && k < (unsigned)in->imm_off + in->imm_len)
			byte = 0;
		text[2 * k] = "0123456789abcdef"[byte >> 4];
		text[2 * k + 1] = "0123456789abcdef"[byte & 15];
	}
	text[2 * in->len] = 0;
	return text_add(text);
}

/* The register in ModRM's reg field, and in its rm field; 16: that is memory. */
static unsigned
reg_of(const struct st_insn *in, const uint8_t *code)
{
	unsigned rex = in->flags & ST_I_REX ? code[in->rex_off] : 0;
	return (code[in->modrm_off] >> 3 & 7) | (rex & 4) << 1;
}

static unsigned
rm_of(const struct st_insn *in, const uint8_t *code)
{
	unsigned rex = in->flags & ST_I_REX ? code[in->rex_off] : 0;
	return code[in->modrm_off] >> 6 == 3 ? (code[in->modrm_off] & 7) | (rex & 1) << 3 : 16;
}

/* An instruction that computes the new value from rsp or rbp stays on the same stack: unwinders
 * leave frames with `add` of a register, and functions enlarge them with `sub`. */
bool
code_moves_stack(const struct build *b, uint32_t index)
{
	const struct st_insn *in = insn_of(b, index);
	const uint8_t *code = insn_code(b, index);
	if (in->cls != ST_C_NORMAL || !(in->gpr_written >> RSP & 1))
		return 0;
	if (!in->modrm_off) /* pop, xchg with rax; of r12 if there is REX.B */
		return (code[in->op_off] == 0x5c || code[in->op_off] == 0x94) &&
		       !(in->flags & ST_I_REX && code[in->rex_off] & 1);
	unsigned reg = reg_of(in, code), rm = rm_of(in, code);
	switch (code[in->op_off]) {
	case 0x8b: /* mov reg, rm */
		return reg == RSP && rm != RBP;
	case 0x89: /* mov rm, reg */
		return rm == RSP && reg != RBP;
	case 0x87: /* xchg */
		return reg == RSP || rm == RSP;
	case 0x8d: /* lea */
		return reg == RSP && !(in->gpr_read & (1u << RSP | 1u << RBP));
	case 0x01: /* add rm, reg */
		return rm == RSP;
	case 0x03: /* add reg, rm */
		return reg == RSP;
	default:
		return 0;
	}
}

int
strobe_insn_moves_stack(const strobe_insn *i)
{
	return code_moves_stack(i->b, i->index);
}

/* Of the unwinder's last instructions, `mov %rcx,%rsp; pop %rcx; jmp *%rcx`, the first one makes
 * the stack pointer equal to that at the entry of the function that is left: only the second one
 * leaves it. */
int
strobe_insn_lands(const strobe_insn *i)
{
	const struct st_insn *in = insn_of(i->b, i->index);
	if (code_moves_stack(i->b, i->index))
		return 1;
	if (!i->index || in->cls != ST_C_NORMAL || in->modrm_off ||
	    (insn_code(i->b, i->index)[in->op_off] & 0xf8) != 0x58 || !(in->gpr_written >> RSP & 1))
		return 0;
	return strobe_insn_lands(&(strobe_insn){i->b, i->index - 1});
}

/* ---- memory accesses ---- */

uint64_t
strobe_access_insn(const strobe_access *a)
{
	return event_address(a->b, a->index);
}

uint32_t
strobe_access_bytes(const strobe_access *a)
{
	const struct st_access *x = &a->access;
	return x->rep || x->variable || (x->masked && !x->vsib) ? 0 : x->bytes;
}

int
strobe_access_reads(const strobe_access *a)
{
	return a->access.read;
}

int
strobe_access_writes(const strobe_access *a)
{
	return a->access.write;
}

static strobe_operand
operand(enum operand_kind kind, uint32_t detail)
{
	return (strobe_operand){kind, detail, 0};
}

strobe_operand
strobe_access_address(const strobe_access *a)
{
	return operand(OPERAND_ADDRESS, a->which);
}

strobe_operand
strobe_access_size(const strobe_access *a)
{
	bool known = strobe_access_bytes(a) || !asked.elements;
	return known ? strobe_constant(a->access.variable ? 0 : a->access.bytes)
	             : operand(OPERAND_SIZE, a->which);
}

/* A call is left out: the value that it writes is known, and no action can follow it. With a mask
 * or a vector of indices, nothing may be mapped at the address itself. */
strobe_operand
strobe_access_value(const strobe_access *a)
{
	const struct st_insn *in = insn_of(a->b, a->index);
	if (a->access.masked || a->access.vsib)
		return strobe_constant(0);
	if (a->access.kind == ST_ACCESS_PUSH && (in->cls == ST_C_CALL || in->cls == ST_C_ICALL))
		return strobe_constant(event_address(a->b, a->index) + in->len);
	return operand(OPERAND_VALUE, a->which);
}

/* ---- branches, calls ---- */

uint64_t
strobe_branch_address(const strobe_branch *b)
{
	return event_address(b->b, b->index);
}

uint64_t
strobe_branch_next(const strobe_branch *b)
{
	return event_address(b->b, b->index) + insn_of(b->b, b->index)->len;
}

enum strobe_branch_kind
strobe_branch_kind(const strobe_branch *b)
{
	switch (insn_of(b->b, b->index)->cls) {
	case ST_C_JMP:
		return STROBE_JUMP;
	case ST_C_CALL:
		return STROBE_CALL;
	case ST_C_IJMP:
		return STROBE_INDIRECT_JUMP;
	case ST_C_ICALL:
		return STROBE_INDIRECT_CALL;
	case ST_C_RET:
		return STROBE_RETURN;
	default:
		return STROBE_CONDITIONAL;
	}
}

static bool
branch_is_direct(const strobe_branch *b)
{
	return strobe_branch_kind(b) <= STROBE_CALL;
}

uint64_t
strobe_branch_to(const strobe_branch *b)
{
	return branch_is_direct(b)
	               ? strobe_branch_next(b) + (uint64_t)(int64_t)insn_of(b->b, b->index)->rel
	               : 0;
}

const char *
strobe_branch_kind_name(enum strobe_branch_kind kind)
{
	switch (kind) {
	case STROBE_JUMP:
		return "jump";
	case STROBE_CONDITIONAL:
		return "conditional";
	case STROBE_CALL:
		return "call";
	case STROBE_INDIRECT_JUMP:
		return "indirect jump";
	case STROBE_INDIRECT_CALL:
		return "indirect call";
	default:
		return "return";
	}
}

strobe_operand
strobe_branch_target(const strobe_branch *b)
{
	enum strobe_branch_kind kind = strobe_branch_kind(b);
	if (kind == STROBE_JUMP || kind == STROBE_CALL)
		return strobe_constant(strobe_branch_to(b));
	if (kind == STROBE_RETURN)
		return operand(OPERAND_RETURN_TO, 0);
	return operand(OPERAND_TARGET, 0);
}

strobe_operand
strobe_branch_taken(const strobe_branch *b)
{
	if (strobe_branch_kind(b) != STROBE_CONDITIONAL)
		return strobe_constant(1);
	return operand(OPERAND_TAKEN, 0);
}

uint64_t
strobe_call_address(const strobe_call *c)
{
	return event_address(c->b, c->index);
}

uint64_t
strobe_call_next(const strobe_call *c)
{
	return event_address(c->b, c->index) + insn_of(c->b, c->index)->len;
}

uint64_t
strobe_call_to(const strobe_call *c)
{
	const struct st_insn *in = insn_of(c->b, c->index);
	return in->cls == ST_C_CALL ? strobe_call_next(c) + (uint64_t)(int64_t)in->rel : 0;
}

strobe_operand
strobe_call_target(const strobe_call *c)
{
	uint64_t to = strobe_call_to(c);
	return to ? strobe_constant(to) : operand(OPERAND_TARGET, 0);
}

static strobe_operand
argument(unsigned n)
{
	static const uint8_t registers[6] = {RDI, RSI, RDX, RCX, R8, R9};
	return n < 6 ? operand(OPERAND_REGISTER, registers[n]) : strobe_constant(0);
}

strobe_operand
strobe_call_argument(const strobe_call *c, unsigned n)
{
	(void)c;
	return argument(n);
}

/* ---- functions ---- */

uint64_t
strobe_function_address(const strobe_function *f)
{
	return f->address;
}

const char *
strobe_function_name(const strobe_function *f)
{
	return entry_name(f->entry);
}

int
strobe_function_is(const strobe_function *f, const char *name)
{
	bool is = entry_is(f->entry, name);
	asked_note(name, is);
	return is;
}

int
strobe_is_chosen(uint64_t address)
{
	return entries_chosen(address);
}

uint64_t
strobe_function_at(uint64_t address)
{
	return entries_start(address);
}

strobe_operand
strobe_function_argument(const strobe_function *f, unsigned n)
{
	(void)f;
	return argument(n);
}

strobe_operand
strobe_function_caller(const strobe_function *f)
{
	(void)f;
	return operand(OPERAND_RETURN_TO, 0);
}

strobe_operand
strobe_function_result(const strobe_function *f)
{
	(void)f;
	return operand(OPERAND_REGISTER, RAX);
}

/* ---- operands of any point ---- */

strobe_operand
strobe_constant(uint64_t value)
{
	return (strobe_operand){OPERAND_CONSTANT, 0, value};
}

strobe_operand
strobe_timestamp(void)
{
	return operand(OPERAND_TIMESTAMP, 0);
}

strobe_operand
strobe_thread_operand(void)
{
	return operand(OPERAND_THREAD, 0);
}

strobe_operand
strobe_register_value(enum strobe_register r)
{
	return operand(OPERAND_REGISTER, r);
}
