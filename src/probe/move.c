/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/move.h"

#include <string.h>

enum { RSP = 4, REX_B = 1, TO_JUMP = 4 << 3 /* the ModRM field that makes a jump of ff */ };

/* The memory operand of an indirect call or jump has rsp as its base. */
static bool
rsp_is_base(const struct st_insn *in, const uint8_t *bytes)
{
	unsigned modrm = bytes[in->modrm_off], rex = in->flags & ST_I_REX ? bytes[in->rex_off] : 0;
	if (modrm >> 6 == 3 || (modrm & 7) != 4 || rex & REX_B)
		return false;
	return (bytes[in->modrm_off + 1] & 7) == RSP;
}

static int32_t
operand_displacement(const struct st_insn *in, const uint8_t *bytes)
{
	int32_t wide = 0;
	if (in->disp_len == 1)
		return (int8_t)bytes[in->disp_off];
	if (in->disp_len == 4)
		memcpy(&wide, bytes + in->disp_off, sizeof wide);
	return wide;
}

/* A return address is pushed first, so the target must not come from where that lies, nor from rsp
 * itself. */
static bool
call_is_movable(const struct st_insn *in, const uint8_t *bytes)
{
	unsigned modrm = bytes[in->modrm_off], rex = in->flags & ST_I_REX ? bytes[in->rex_off] : 0;
	if (in->flags & ST_I_ADDR32)
		return false;
	if (modrm >> 6 == 3)
		return (modrm & 7) != RSP || rex & REX_B;
	int32_t displacement = operand_displacement(in, bytes);
	return !rsp_is_base(in, bytes) || (displacement >= 0 && displacement < INT32_MAX - 8);
}

bool
probe_movable(const struct st_insn *in, const uint8_t *bytes)
{
	/* Makers of processors disagree on what a branch with the prefix 66 does. */
	bool narrow = in->flags & ST_I_OP16;
	bool low = in->flags & ST_I_RIPREL && in->flags & ST_I_ADDR32;
	switch (in->cls) {
	case ST_C_NORMAL:
	case ST_C_GS:
		return !low && !probe_is_trap(in, bytes);
	case ST_C_JMP:
	case ST_C_JCC:
	case ST_C_LOOP:
	case ST_C_CALL:
	case ST_C_RET:
	case ST_C_XBEGIN:
		return !narrow;
	case ST_C_IJMP:
		return !narrow && !low;
	case ST_C_ICALL:
		return !narrow && call_is_movable(in, bytes);
	default:
		return false;
	}
}

void
probe_put(struct probe_code *code, const void *bytes, unsigned n)
{
	memcpy(code->p + code->n, bytes, n);
	code->n += n;
}

static void
put_byte(struct probe_code *code, unsigned byte)
{
	code->p[code->n++] = (uint8_t)byte;
}

void
probe_put_distance(struct probe_code *code, uint64_t to, unsigned after)
{
	int64_t distance = (int64_t)(to - (code->pc + code->n + 4 + after));
	int32_t value = (int32_t)distance;
	if (value != distance)
		code->reaches = false;
	probe_put(code, &value, sizeof value);
}

void
probe_put_jump(struct probe_code *code, uint64_t to)
{
	put_byte(code, 0xe9);
	probe_put_distance(code, to, 0);
}

static void
copy_insn(struct probe_code *code, const struct st_insn *in, const uint8_t *bytes, uint64_t at)
{
	if (!(in->flags & ST_I_RIPREL)) {
		probe_put(code, bytes, in->len);
		return;
	}
	unsigned after = in->len - in->disp_off - 4u;
	uint64_t operand = at + in->len + (uint64_t)(int64_t)operand_displacement(in, bytes);
	probe_put(code, bytes, in->disp_off);
	probe_put_distance(code, operand, after);
	probe_put(code, bytes + in->disp_off + 4, after);
}

/* push of a sign-extended 32-bit number, and a move into the upper half where that is not enough:
 * neither changes flags or registers. */
static void
push_address(struct probe_code *code, uint64_t address)
{
	uint32_t low = (uint32_t)address, high = (uint32_t)(address >> 32);
	put_byte(code, 0x68);
	probe_put(code, &low, sizeof low);
	if ((uint64_t)(int64_t)(int32_t)low == address)
		return;
	probe_put(code, "\xc7\x44\x24\x04", 4); /* movl $high, 4(%rsp) */
	probe_put(code, &high, sizeof high);
}

/* jmp *operand, of a call *operand. The push has moved what rsp points to. */
static void
jump_as_called(struct probe_code *code, const struct st_insn *in, const uint8_t *bytes, uint64_t at)
{
	uint8_t copy[15];
	memcpy(copy, bytes, in->len);
	copy[in->modrm_off] = (uint8_t)((copy[in->modrm_off] & 0xc7) | TO_JUMP);
	if (!rsp_is_base(in, bytes)) {
		copy_insn(code, in, copy, at);
		return;
	}
	int32_t displacement = operand_displacement(in, bytes) + 8;
	copy[in->modrm_off] = (uint8_t)((copy[in->modrm_off] & 0x3f) | 2 << 6);
	probe_put(code, copy, in->modrm_off + 2u);
	probe_put(code, &displacement, sizeof displacement);
}

/* loop and jrcxz have a short form only: it jumps over a jump that jumps over the long one. */
static void
move_loop(struct probe_code *code, const struct st_insn *in, const uint8_t *bytes, uint64_t to)
{
	probe_put(code, bytes, in->op_off + 1u);
	probe_put(code, "\x02\xeb\x05", 3); /* over: jmp .+5 */
	probe_put_jump(code, to);
}

void
probe_move(struct probe_code *code, const struct st_insn *in, const uint8_t *bytes, uint64_t at,
           const struct probe_moved *moved)
{
	uint64_t next = at + in->len, to = next + (uint64_t)(int64_t)in->rel;
	if (to == moved->from && in->cls != ST_C_CALL)
		to = moved->to;
	switch (in->cls) {
	case ST_C_JMP:
		probe_put_jump(code, to);
		break;
	case ST_C_JCC:
		put_byte(code, 0x0f);
		put_byte(code, 0x80u | in->cond);
		probe_put_distance(code, to, 0);
		break;
	case ST_C_LOOP:
		move_loop(code, in, bytes, to);
		break;
	case ST_C_CALL:
		push_address(code, next);
		probe_put_jump(code, to);
		break;
	case ST_C_ICALL:
		push_address(code, next);
		jump_as_called(code, in, bytes, at);
		break;
	case ST_C_XBEGIN:
		probe_put(code, bytes, in->imm_off);
		probe_put_distance(code, to, 0);
		break;
	default:
		copy_insn(code, in, bytes, at);
	}
}
