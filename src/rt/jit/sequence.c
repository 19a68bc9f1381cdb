/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/jit/sequence.h"
#include "rt/arch/x86_64/relocate.h"
#include "rt/jit/spill.h"

static void
eseq(struct emit *e, unsigned n, const char *bytes)
{
	ebytes(e, (const uint8_t *)bytes, n);
}

void
emit_align_site(struct emit *e, unsigned opcode_len)
{
	if (!rt.target.threaded)
		return;
	unsigned at = (e->off + opcode_len) & 63;
	if (at <= 60)
		return;
	static const uint8_t nop1[] = {0x90}, nop2[] = {0x66, 0x90}, nop3[] = {0x0f, 0x1f, 0x00};
	switch (64 - at) {
	case 1:
		ebytes(e, nop1, 1);
		break;
	case 2:
		ebytes(e, nop2, 2);
		break;
	default:
		ebytes(e, nop3, 3);
		break;
	}
}

void
emit_add_field(struct emit *e, unsigned reg, uint32_t field)
{
	emit_restore(e, reg, field);
	e8(e, 0x48);
	e8(e, 0x8d);
	e8(e, 0x40 | reg << 3 | reg); /* lea reg, [reg + 1] */
	e8(e, 1);
	emit_save(e, reg, field);
}

/* Of emit_add_field. */
static unsigned
add_field_len(void)
{
	return 2 * emit_field_len(&rt.target) + 4;
}

/* Checks that the code emitted since `from` has the length that recovery assumes. */
static void
check_layout(const struct emit *e, uint32_t from, unsigned bytes)
{
	rt_must(e->off - from == bytes, "code is not laid out as recovery knows it at", e->off);
}

void
sequence_count_spilled(struct emit *e, uint32_t field)
{
	uint32_t from = e->off;
	emit_save(e, RSI, offsetof(struct thread, slot_spill));
	emit_add_field(e, RSI, field);
	check_layout(e, from, emit_field_len(&rt.target) + add_field_len());
	emit_restore(e, RSI, offsetof(struct thread, slot_spill));
}

bool
sequence_recover_count_spilled(const struct thread *t, uint32_t at, struct regs *regs)
{
	if (at > 0)
		regs->r[RSI] = t->slot_spill;
	return at >= emit_field_len(&rt.target) + add_field_len();
}

static void
save_temporaries(struct emit *e, uint32_t count_field)
{
	emit_save(e, RCX, offsetof(struct thread, slot_rcx));
	emit_save(e, RDX, offsetof(struct thread, slot_rdx));
	if (!count_field)
		return;
	emit_add_field(e, RCX, count_field);
}

/* Of save_temporaries. */
static unsigned
temporaries_len(bool counts)
{
	return 2 * emit_field_len(&rt.target) + (counts ? add_field_len() : 0);
}

struct indirect_state
sequence_indirect_at(uint32_t at, bool counts)
{
	unsigned save = emit_field_len(&rt.target);
	return (struct indirect_state){.rcx_saved = at >= save,
	                               .rdx_saved = at >= 2 * save,
	                               .counted = counts && at >= temporaries_len(true)};
}

void
sequence_target(struct emit *e, const struct st_insn *in, uint64_t pc, uint32_t count_field)
{
	save_temporaries(e, count_field);
	/* The operand may use rcx, which the count has changed. */
	if (count_field && (in->gpr_read >> RCX & 1))
		emit_restore(e, RCX, offsetof(struct thread, slot_rcx));
	if (SEEDED(15) && in->cls == ST_C_ICALL)
		eseq(e, 5, "\x48\x8d\x64\x24\xf8"); /* lea rsp, [rsp - 8] */
	relocate_load_target(e, in, program_code(pc), pc, RDX);
	if (SEEDED(15) && in->cls == ST_C_ICALL)
		eseq(e, 5, "\x48\x8d\x64\x24\x08"); /* lea rsp, [rsp + 8] */
}

/* rcx = where the table says that a branch to the program address in rdx has to go. */
static void
emit_lookup(struct emit *e, enum version version, bool returns)
{
	if (version == VERSION_NONE) {
		eseq(e, 3, "\x48\x8b\x0d"); /* mov rcx, [rip + nothing] */
		erel(e, cache_addr(CACHE_NOTHING + 8 * returns), 0);
		return;
	}
	uint64_t table = jit_lookup_table(version, returns);
	eseq(e, 3, "\x0f\xb7\xca");     /* movzx ecx, dx */
	eseq(e, 4, "\x48\x8b\x0c\xcd"); /* mov rcx, [rcx * 8 + table] */
	e32(e, (uint32_t)table);
}

void
sequence_lookup(struct emit *e, enum version version)
{
	if (SEEDED(1))
		eseq(e, 3, "\x48\x85\xd2"); /* test rdx, rdx */
	emit_lookup(e, version, false);
	eseq(e, 2, "\xff\xe1"); /* jmp rcx */
}

bool
sequence_is_lookup_jump(const uint8_t *p)
{
	return p[0] == 0xff && p[1] == 0xe1;
}

/* Bytes of what sequence_return does to take the return address and the immediate off. */
enum { RETURN_LOAD_LEN = 4, RETURN_POP_LEN = 8 };

bool
sequence_return_has_popped(uint32_t at, bool counts)
{
	return at >= temporaries_len(counts) + RETURN_LOAD_LEN + RETURN_POP_LEN;
}

bool
sequence_is_return(const uint8_t *p)
{
	return p[0] == 0xc3;
}

void
sequence_return(struct emit *e, enum version version, const struct st_insn *in, uint64_t pc,
                uint32_t count_field)
{
	uint32_t from = e->off;
	save_temporaries(e, count_field);
	check_layout(e, from, temporaries_len(count_field));
	if (in->imm_len) {
		/* ret imm16: where the return address lay, the program keeps what is there, so no
		 * real ret. */
		uint16_t pop;
		memcpy(&pop, program_code(pc) + in->imm_off, 2);
		if (SEEDED(4))
			pop &= 0xfff8;
		eseq(e, 4, "\x48\x8b\x14\x24"); /* mov rdx, [rsp] */
		eseq(e, 4, "\x48\x8d\xa4\x24"); /* lea rsp, [rsp + 8 + pop] */
		e32(e, 8u + pop);
		check_layout(e, from,
		             temporaries_len(count_field) + RETURN_LOAD_LEN + RETURN_POP_LEN);
		sequence_lookup(e, version);
		return;
	}
	eseq(e, 4, "\x48\x8b\x14\x24"); /* mov rdx, [rsp] */
	emit_lookup(e, version, true);
	eseq(e, 4, "\x48\x89\x0c\x24"); /* mov [rsp], rcx */
	e8(e, 0xc3);
}

void
sequence_call(struct emit *e, uint32_t thunk)
{
	e8(e, 0xe8);
	erel(e, cache_addr(thunk), 0);
}

bool
sequence_is_call(const uint8_t *p)
{
	return p[0] == 0xe8;
}

/* Can the return address be an immediate? */
static bool
is_short_back(uint64_t back)
{
	return back < 0x80000000u;
}

bool
sequence_thunk_wants_constant(uint64_t back)
{
	return !is_short_back(back) && !SEEDED(5);
}

/* Bytes of a thunk: up to where it has replaced the return address by an immediate; where it takes
 * it off the stack, and where it has pushed a constant. */
enum { THUNK_STORE_LEN = 8, THUNK_POP_LEN = 5, THUNK_PUSH_LEN = 6 };

enum thunk_step
sequence_thunk_at(uint64_t back, uint32_t at)
{
	unsigned pushed = is_short_back(back) ? THUNK_STORE_LEN : THUNK_POP_LEN + THUNK_PUSH_LEN;
	if (at > pushed)
		return THUNK_COUNTED;
	if (at == pushed)
		return THUNK_PUSHED;
	return is_short_back(back) || at < THUNK_POP_LEN ? THUNK_CALLED : THUNK_POPPED;
}

void
sequence_call_thunk(struct emit *e, uint64_t back, uint32_t constant)
{
	uint32_t from = e->off;
	if (!constant) {
		eseq(e, 4, "\x48\xc7\x04\x24"); /* mov qword [rsp], back */
		e32(e, (uint32_t)back);
		check_layout(e, from, THUNK_STORE_LEN);
		return;
	}
	eseq(e, 5, "\x48\x8d\x64\x24\x08"); /* lea rsp, [rsp + 8] */
	check_layout(e, from, THUNK_POP_LEN);
	eseq(e, 2, "\xff\x35"); /* push [rip + constant] */
	erel(e, cache_addr(constant), 0);
	check_layout(e, from, THUNK_POP_LEN + THUNK_PUSH_LEN);
}

void
sequence_clear_eax(struct emit *e)
{
	e8(e, 0xb8);
	e32(e, 0);
}

bool
sequence_is_clear_eax(const uint8_t *p)
{
	return p[0] == 0xb8;
}

/* A jump to rt_stub_miss, whose rel32 may be patched, and over which the jrcxz goes that ends at
 * `over`. */
static void
emit_lookup_miss(struct emit *e, uint8_t *over)
{
	emit_align_site(e, 1);
	emit_jmp(e, (uint64_t)rt_stub_miss);
	over[-1] = (uint8_t)(e->p - over);
}

static void
emit_unless_zero_miss(struct emit *e)
{
	eseq(e, 2, "\xe3\x00"); /* jrcxz */
	emit_lookup_miss(e, e->p);
}

static void
give_back_temporaries(struct emit *e)
{
	emit_restore(e, RCX, offsetof(struct thread, slot_rcx));
	emit_restore(e, RDX, offsetof(struct thread, slot_rdx));
}

void
sequence_site(struct emit *e, uint32_t site)
{
	uint32_t field = offsetof(struct thread, slot_site);
	emit_field_prefixes(e);
	e8(e, 0xc7); /* mov dword [slot_site], site */
	emit_field_operand(e, 0, field, 4);
	e32(e, site);
}

/* mov ecx, [slot_site]; lea rcx, [rcx - site]: in bytes, up to the site. */
static unsigned
site_offset(void)
{
	return emit_field_len(&rt.target) - 1 + 3;
}

/* Counts those that come here; up to MANY_FAR, the third byte of their number is 0. */
static void
emit_far(struct emit *e)
{
	uint32_t field = counter_field(ST_FAR_ID);
	emit_add_field(e, RCX, field);
	emit_lookup_miss(e, emit_jump_if_zero(e, field + 2));
}

void
sequence_count_site(struct emit *e, uint32_t site, uint32_t field, bool far)
{
	uint32_t slot = offsetof(struct thread, slot_site);
	emit_field_prefixes(e);
	e8(e, 0x8b);
	emit_field_operand(e, RCX, slot, 0);
	eseq(e, 3, "\x48\x8d\x89");
	e32(e, 0 - site);
	emit_unless_zero_miss(e);
	if (far)
		emit_far(e);
	emit_add_field(e, RCX, field);
	give_back_temporaries(e);
}

bool
sequence_counts_site(uint32_t at)
{
	return *cache_write(at + (rt.target.threaded ? 2 : 0)) == 0x8b;
}

uint32_t
sequence_counted_site(uint32_t at)
{
	uint32_t negative;
	memcpy(&negative, cache_write(at + site_offset()), 4);
	return 0 - negative;
}

uint32_t
sequence_count_hit(uint32_t at)
{
	uint32_t jrcxz = at + site_offset() + 4;
	return jrcxz + 2 + *cache_write(jrcxz + 1);
}

/* Where the site is counted. */
static uint32_t
counting_at(uint32_t at)
{
	uint32_t hit = sequence_count_hit(at), disp;
	unsigned len = emit_field_len(&rt.target);
	memcpy(&disp, cache_write(hit + len - 4), 4);
	if (emitted_field(&rt.target, disp, hit + len) != counter_field(ST_FAR_ID))
		return hit;
	uint32_t jrcxz = hit + add_field_len() + len;
	return jrcxz + 2 + *cache_write(jrcxz + 1);
}

uint32_t
sequence_count_done(uint32_t at)
{
	return counting_at(at) + add_field_len();
}

void
sequence_give_site(uint32_t at, uint32_t site, uint32_t field)
{
	uint32_t counting = counting_at(at), negative = 0 - site;
	struct emit e = cache_emit(counting);
	emit_add_field(&e, RCX, field);
	memcpy(cache_write(at + site_offset()), &negative, 4);
}

void
sequence_jump_table(struct emit *e, unsigned byte, uint64_t pc)
{
	uint64_t table = cache_addr(e->off - JUMP_TABLE_ENTRIES * 8);
	emit_load_byte(e, offsetof(struct thread, slot_site) + byte);
	eseq(e, 3, "\x48\x8d\x15"); /* lea rdx, [rip + table] */
	erel(e, table, 0);
	eseq(e, 4, "\x48\x8b\x0c\xca"); /* mov rcx, [rdx + rcx * 8] */
	emit_mov_imm64(e, RDX, pc);
	eseq(e, 2, "\xff\xe1"); /* jmp rcx */
}

/* PAD_JUMP_ENTRY bytes. */
static void
emit_return_entry(struct emit *e)
{
	eseq(e, PAD_JUMP_ENTRY, "\x48\x89\x54\x24\xf8"); /* mov [rsp - 8], rdx */
}

void
sequence_empty_pad(struct emit *e)
{
	emit_return_entry(e);
	emit_jmp(e, (uint64_t)rt_stub_miss);
}

void
sequence_pad(struct emit *e, uint64_t pc, bool counts)
{
	emit_return_entry(e);
	/* rcx = 0 if rdx is pc, the flags untouched. */
	if (pc < 0x80000000u) {
		eseq(e, 3, "\x48\x8d\x8a"); /* lea rcx, [rdx - pc] */
		e32(e, 0 - (uint32_t)pc);
	} else {
		emit_mov_imm64(e, RCX, 0 - pc);
		eseq(e, 4, "\x48\x8d\x0c\x11"); /* lea rcx, [rcx + rdx] */
	}
	emit_unless_zero_miss(e);
	if (counts)
		sequence_count_site(e, NO_SITE, counter_field(0), false);
	else
		give_back_temporaries(e);
}

uint64_t
sequence_pad_target(uint32_t pad)
{
	const uint8_t *p = cache_write(pad + PAD_JUMP_ENTRY);
	uint32_t small;
	uint64_t large;
	memcpy(&small, p + 3, 4);
	memcpy(&large, p + 2, 8);
	return p[1] == 0x8d ? 0 - small : 0 - large;
}

uint32_t
sequence_pad_check_end(uint32_t pad)
{
	const uint8_t *p = cache_write(pad);
	uint32_t jrcxz = p[PAD_JUMP_ENTRY + 1] == 0x8d ? PAD_JUMP_ENTRY + 7 : PAD_JUMP_ENTRY + 14;
	return jrcxz + 2 + p[jrcxz + 1];
}
