/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decoding a basic block of the program, and which flags are live in it. */
#include "rt/budget/region.h"
#include "rt/budget/unique.h"
#include "rt/jit/jit.h"
#include "rt/maps.h"
#include "rt/tool/tool.h"

static uint8_t
end_of_class(unsigned cls)
{
	switch (cls) {
	case ST_C_JMP:
		return ST_END_JUMP;
	case ST_C_JCC:
	case ST_C_LOOP:
	case ST_C_XBEGIN:
		return ST_END_BRANCH;
	case ST_C_CALL:
		return ST_END_CALL;
	case ST_C_IJMP:
		return ST_END_IJUMP;
	case ST_C_ICALL:
		return ST_END_ICALL;
	case ST_C_RET:
		return ST_END_RETURN;
	case ST_C_SYSCALL:
		return ST_END_SYSCALL;
	default:
		return ST_END_NONE;
	}
}

/* Must this instruction leave the cache for native execution? `int n` other than 0x80 only faults,
 * so it is copied. */
static bool
is_foreign(const struct st_insn *in, const uint8_t *code)
{
	switch (in->cls) {
	case ST_C_FAR:
	case ST_C_GS:
	case ST_C_STEP:
		return true;
	case ST_C_INT:
		return code[in->op_off] != 0xcd || code[in->imm_off] == 0x80;
	default:
		return false;
	}
}

bool
jit_is_foreign(const struct st_insn *in, const uint8_t *code)
{
	return is_foreign(in, code);
}

/*
 * Is it executed where it stands, and nothing else? A breakpoint in the code of a file may be a
 * uprobe, of which the kernel knows by its address what stood there; and so are the fragments of
 * code that the kernel brings for uprobes.
 */
static bool
is_stepped(const struct map *map, const struct st_insn *in)
{
	bool plain = !map->writable && !map->shared && !map->anonymous;
	return map->stepped || (plain && in->cls == ST_C_INT3);
}

/* Integer instructions of the one-byte map that cannot fault when their operands are registers. */
static bool
is_harmless(unsigned op, unsigned modrm)
{
	switch (op) {
	case 0x00 ... 0x3d: /* add .. cmp */
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x80 ... 0x8b:
	case 0x8d:
	case 0x90 ... 0x99:
	case 0x9e ... 0x9f:
	case 0xa8 ... 0xa9:
	case 0xb0 ... 0xc1:
	case 0xc6 ... 0xc7:
	case 0xd0 ... 0xd3:
	case 0xf5:
	case 0xf8 ... 0xf9:
	case 0xfc ... 0xfe:
		return true;
	case 0xf6:
	case 0xf7:
		return (modrm >> 3 & 7) < 6; /* not the divisions */
	case 0xff:
		return (modrm >> 3 & 7) < 2;
	default:
		return false;
	}
}

/* The same for what 0f introduces. */
static bool
is_harmless_0f(unsigned op)
{
	switch (op) {
	case 0x18 ... 0x1f: /* hints and nops; 0f 0d with a register is none on some processors */
	case 0x40 ... 0x4f:
	case 0x90 ... 0x9f:
	case 0xa3 ... 0xa5:
	case 0xab ... 0xad:
	case 0xaf ... 0xb1:
	case 0xb3:
	case 0xb6 ... 0xb8:
	case 0xba ... 0xc1:
	case 0xc8 ... 0xcf:
		return true;
	default:
		return false;
	}
}

bool
jit_may_fault(const struct st_insn *in, const uint8_t *code)
{
	if (in->cls != ST_C_NORMAL || in->gpr_read == 0xffff ||
	    (in->flags & (ST_I_READS_MEM | ST_I_WRITES_MEM | ST_I_LOCK | ST_I_VEX | ST_I_EVEX)))
		return true;
	unsigned op = code[in->op_off], before = in->op_off ? code[in->op_off - 1] : 0;
	if (before == 0x0f)
		return !is_harmless_0f(op);
	return before == 0x38 || before == 0x3a || !is_harmless(op, code[in->op_off + 1]);
}

/* Live flags before each instruction, from the end backwards; at the end every flag may be read. */
static void
analyse_flags(struct build *b)
{
	uint8_t live = SEEDED(10) ? ST_F_DF : ST_F_ARITH | ST_F_DF;
	b->flags_live[b->n] = live;
	for (uint32_t i = b->n; i-- > 0;) {
		const struct st_insn *in = &b->insn[i];
		/* A handler of a fault sees the flags, dead or not. */
		bool seen = jit_may_fault(in, program_code(b->pc + b->at[i]));
		live = (uint8_t)((live & ~in->flags_written) | in->flags_read |
		                 (seen ? ST_F_ARITH : 0));
		b->flags_live[i] = live;
	}
}

/* Where a basic block has to end, whatever its instructions are. */
struct border {
	uint64_t stop; /* 0: by what follows */
	struct unique_bits bits;
	bool seen;
};

/* A basic block ends where a function begins that somebody wants to know of, or tools want it to;
 * with --unique, where code begins that has been measured, or that has not. */
static bool
ends_before(const struct border *border, uint64_t pc)
{
	if (border->stop)
		return pc >= border->stop;
	if (rt.code.cuts && (entry_at(pc) || region_at(pc) || leaders_has(pc)))
		return true;
	return border->bits.bytes &&
	       (pc >= border->bits.end || unique_is_seen(&border->bits, pc) != border->seen);
}

/* Length of the rest of a basic block that was cut short, so that its first fragment can count all
 * of it. */
static void
measure_rest(struct build *b, const struct border *border, uint64_t end)
{
	uint64_t pc = b->pc + b->bytes;
	struct st_insn in;
	while (pc < end && b->whole_insns < MAX_WHOLE_INSNS) {
		if (ends_before(border, pc))
			return;
		const uint8_t *code = program_code(pc);
		if (!st_decode(code, end - pc, &in) || is_foreign(&in, code) || in.cls == ST_C_INT3)
			return;
		pc += in.len;
		b->whole_insns++;
		b->whole_bytes += in.len;
		uint8_t kind = end_of_class(in.cls);
		if (kind != ST_END_NONE) {
			b->end = kind;
			if (in.cls != ST_C_IJMP && in.cls != ST_C_ICALL && in.cls != ST_C_RET)
				b->target = pc + (uint64_t)(int64_t)in.rel;
			return;
		}
	}
}

static uint32_t
most_insns(const struct build *b)
{
	if (b->checked && !SEEDED(17))
		return 1;
	return rt.stress & ST_STRESS_blocks ? 2 : jit.most_insns;
}

/* The program's code at the address. If it may change at any moment, as it is now: so that what is
 * decoded is what later executions are compared with. */
static const uint8_t *
fetch_code(struct build *b, uint64_t at, size_t bytes)
{
	const uint8_t *code = program_code(at);
	if (!b->checked)
		return code;
	memcpy(b->copy, code, bytes < sizeof b->copy ? bytes : sizeof b->copy);
	return b->copy;
}

int
jit_build(struct build *b, uint64_t pc, uint64_t stop)
{
	const struct map *map = maps_find(pc);
	if (!map)
		return -1;
	b->pc = pc;
	b->map = map->index;
	b->n = b->bytes = b->extent = 0;
	b->end = ST_END_NONE;
	b->more = false;
	b->target = 0;
	leaders_find(pc, map);
	b->writable = map->writable || map->shared || map->anonymous;
	b->checked = !pages_guard(pc);
	uint64_t end = maps_run_end(map), guarded = (pc | 4095) + 1;
	struct border border = {.stop = stop, .bits = unique_bits(map)};
	b->tracked = border.bits.bytes != NULL;
	border.seen = b->seen = unique_is_seen(&border.bits, pc);
	for (;;) {
		uint64_t at = pc + b->bytes;
		size_t space = end - at;
		if (space == 0)
			break;
		if (b->n && ends_before(&border, at))
			break;
		if (b->n == most_insns(b) || b->bytes > MAX_BLOCK_BYTES - 15) {
			b->more = true;
			break;
		}
		struct st_insn *in = &b->insn[b->n];
		b->at[b->n] = (uint16_t)b->bytes;
		const uint8_t *code = fetch_code(b, at, space);
		bool decoded = st_decode(code, space, in);
		uint64_t seen = at + (decoded ? in->len : space < 15 ? space : 15);
		if (seen > guarded && !b->checked) {
			if (pages_guard(guarded)) {
				guarded += 4096; /* it may have changed before */
				continue;
			}
			if (b->n) {
				b->more = true;
				break;
			}
			b->checked = true;
			continue;
		}
		if (!decoded) {
			/* Not an instruction, or its end is in another mapping. */
			in->len = 0;
			in->flags_read = ST_F_ARITH;
			in->flags_written = 0;
			in->gpr_read = 0xffff;
			in->gpr_written = 0;
			in->cls = ST_C_INVALID;
			b->extent = space < 15 ? (uint32_t)space : 15;
			b->n++;
			break;
		}
		if (is_stepped(map, in))
			in->cls = ST_C_STEP;
		b->n++;
		b->bytes += in->len;
		uint8_t kind = end_of_class(in->cls);
		if (kind != ST_END_NONE) {
			b->end = kind;
			if (in->cls != ST_C_IJMP && in->cls != ST_C_ICALL && in->cls != ST_C_RET &&
			    in->cls != ST_C_SYSCALL)
				b->target = pc + b->bytes + (uint64_t)(int64_t)in->rel;
			break;
		}
		if (SEEDED(11) && in->flags_written == (ST_F_ARITH & ~ST_F_CF))
			in->flags_written = ST_F_ARITH;
		if (SEEDED(12) && (code[in->op_off] & 0xfe) == 0xd2 && !(in->flags & ST_I_VEX))
			in->flags_written = ST_F_ARITH;
		if (is_foreign(in, code)) {
			b->bytes -= in->len;
			break;
		}
	}
	b->at[b->n] = (uint16_t)b->bytes;
	b->extent += b->bytes;
	b->whole_insns = b->n;
	b->whole_bytes = b->bytes;
	if (b->n && (b->insn[b->n - 1].cls == ST_C_INVALID ||
	             (b->end == ST_END_NONE && !b->more && b->at[b->n - 1] == b->bytes)))
		b->whole_insns--; /* the last one does not execute here */
	if (rt.code.counting)
		analyse_flags(b);
	if (b->more)
		measure_rest(b, &border, end);
	return 0;
}

uint8_t
jit_flags_live_at(uint64_t pc, bool after_call)
{
	const struct map *map = maps_find(pc);
	if (!map || map->writable || map->shared)
		return ST_F_ARITH;
	static const uint32_t stack = ST_I_PUSHPOP | ST_I_WRITES_MEM | ST_I_READS_MEM | ST_I_MODRM;
	uint8_t undecided = ST_F_ARITH, live = 0;
	struct st_insn in;
	for (int i = 0; i < 6 && undecided; i++) {
		const uint8_t *code = program_code(pc);
		if (pc == map->end || !st_decode(code, map->end - pc, &in))
			break;
		bool push = after_call && in.cls == ST_C_NORMAL &&
		            (in.flags & stack) == (ST_I_PUSHPOP | ST_I_WRITES_MEM);
		if (!push && jit_may_fault(&in, code))
			break;
		if (!push && (in.gpr_written >> RSP & 1))
			after_call = false; /* the stack may be another one now */
		live |= undecided & in.flags_read;
		undecided &= (uint8_t) ~(in.flags_read | in.flags_written);
		pc += in.len;
	}
	return live | undecided;
}

/* Those of `undecided` that the instructions at pc, to the next that leads elsewhere, may read. */
static uint8_t
flags_read_at(uint64_t pc, uint8_t undecided)
{
	enum { LOOK_AHEAD = 8 };
	const struct map *map = maps_find(pc);
	if (!map || map->writable || map->shared)
		return undecided;
	uint8_t live = 0;
	struct st_insn in;
	for (int i = 0; i < LOOK_AHEAD && undecided && pc < map->end; i++, pc += in.len) {
		const uint8_t *code = program_code(pc);
		if (!st_decode(code, map->end - pc, &in))
			break;
		live |= undecided & in.flags_read;
		undecided &= (uint8_t) ~(in.flags_read | in.flags_written);
		if (is_foreign(&in, code) || in.cls == ST_C_INT3 ||
		    end_of_class(in.cls) != ST_END_NONE)
			break;
	}
	return live | undecided;
}

uint8_t
jit_flags_read(const struct build *b)
{
	uint8_t undecided = ST_F_ARITH, live = 0;
	for (uint32_t i = 0; i < b->n && undecided; i++) {
		live |= undecided & b->insn[i].flags_read;
		undecided &= (uint8_t) ~(b->insn[i].flags_read | b->insn[i].flags_written);
	}
	uint64_t next = b->pc + b->bytes;
	bool onward = b->more || (b->end == ST_END_NONE && b->n && b->at[b->n - 1] < b->bytes);
	if (!undecided)
		return live;
	if (onward)
		return live | flags_read_at(next, undecided);
	if (b->end == ST_END_JUMP || b->end == ST_END_CALL)
		return live | flags_read_at(b->target, undecided);
	if (b->end == ST_END_BRANCH)
		return live | flags_read_at(b->target, undecided) | flags_read_at(next, undecided);
	return live | undecided;
}
