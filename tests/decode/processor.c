/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * processor [-v]: compares st_accesses with what this machine does. Instructions are executed with
 * each of their accesses at the ends of a page between forbidden ones, one byte further, and with
 * the page read-only. What the machine does not have or does not let a program do is counted and
 * left out; so are transfers of control, and accesses of variable size. -v prints these. Exits 77,
 * for "skipped", without AVX-512.
 */
#include <stdio.h>
#include <string.h>

#include "probe.h"
#include "rt/arch/x86_64/operands.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

struct trial {
	uint8_t bytes[24];
	struct st_insn in;
	struct st_access accesses[ST_MAX_ACCESSES];
	unsigned n;
};

static struct probe probe;
static struct {
	unsigned accesses, one_end, none, not_here, wrong;
} total;
static bool verbose;

static unsigned
reg_field(const struct trial *t)
{
	return t->in.modrm_off ? t->bytes[t->in.modrm_off] >> 3 & 7 : 0;
}

static void
report(const struct trial *t, unsigned which, const char *text)
{
	printf("%s, access %u:", text, which);
	for (unsigned i = 0; i < t->in.len; i++)
		printf(" %02x", t->bytes[i]);
	for (unsigned i = 0; i < t->n; i++)
		printf("  %u:%s%s%ux%u", t->accesses[i].kind, t->accesses[i].read ? "r" : "",
		       t->accesses[i].write ? "w" : "", t->accesses[i].bytes, t->accesses[i].count);
	putchar('\n');
}

static void
wrong(const struct trial *t, unsigned which, const char *text)
{
	total.wrong++;
	report(t, which, text);
}

/* Registers that put one access at an address, and all others in scratch memory. */
static struct state
aim(const struct trial *t, const struct st_access *a, uintptr_t at)
{
	uintptr_t scratch = (uintptr_t)probe.scratch;
	struct state s = {.gpr = {[RCX] = 1, /* rep */
	                          [RBX] = scratch,
	                          [RSP] = scratch,
	                          [RBP] = scratch,
	                          [RSI] = scratch,
	                          [RDI] = scratch}};
	static const int base[] = {
	        [ST_ACCESS_MODRM] = RBX, [ST_ACCESS_PUSH] = RSP,  [ST_ACCESS_POP] = RSP,
	        [ST_ACCESS_LEAVE] = RBP, [ST_ACCESS_FRAME] = RBP, [ST_ACCESS_RSI] = RSI,
	        [ST_ACCESS_RDI] = RDI,   [ST_ACCESS_XLAT] = RBX};

	if (t->n == 2 && t->accesses[1].kind == ST_ACCESS_REG)
		s.gpr[reg_field(t)] = a->kind == ST_ACCESS_REG ? at : scratch;
	if (a->kind == ST_ACCESS_MOFFS)
		memcpy(probe.code + t->in.disp_off, &at, sizeof at);
	else if (a->kind == ST_ACCESS_PUSH || a->kind == ST_ACCESS_FRAME)
		s.gpr[base[a->kind]] = at + a->bytes;
	else if (a->kind != ST_ACCESS_REG)
		s.gpr[base[a->kind]] = at;
	return s;
}

static enum probe_end
run_at(const struct trial *t, const struct st_access *a, uintptr_t at)
{
	struct state s = aim(t, a, at);

	return probe_run(&probe, &s);
}

/* One byte beyond each end must be too far, unless the instruction cannot do that. */
static void
try_ends(const struct trial *t, unsigned which, uintptr_t first, uintptr_t last)
{
	const struct st_access *a = &t->accesses[which];
	enum probe_end after = run_at(t, a, last + 1);
	enum probe_end before = run_at(t, a, first - 1);

	if (after == PROBE_DONE)
		wrong(t, which, "fewer bytes");
	else if (before == PROBE_DONE)
		wrong(t, which, "does not begin at its address");
	else if (before == PROBE_FAULT && probe.fault >= first)
		wrong(t, which, "begins behind its address");
	total.one_end += after != PROBE_FAULT;
}

static void
try_direction(const struct trial *t, unsigned which, uintptr_t last)
{
	const struct st_access *a = &t->accesses[which];
	enum probe_end end;

	probe_allow_writes(&probe, false);
	end = run_at(t, a, last);
	probe_allow_writes(&probe, true);
	if (a->write && end == PROBE_DONE)
		wrong(t, which, "not written");
	if (!a->write && end == PROBE_FAULT)
		wrong(t, which, "written");
}

/* As many elements are accessed as indices count. */
static void
try_elements(const struct trial *t, unsigned which, uintptr_t first)
{
	const struct st_access *a = &t->accesses[which];
	unsigned step = t->bytes[t->in.op_off] & 1 ? 2 : 1; /* of 8 bytes, or 4 */

	for (unsigned i = 0; i * step < 16; i++) {
		struct state s = aim(t, a, first);

		s.index[i * step] = PROBE_PAGE;
		if ((probe_run(&probe, &s) == PROBE_FAULT) != (i < a->count)) {
			wrong(t, which, "elements");
			return;
		}
	}
}

/* movsxd to a register of 16 bits: two bytes, as Intel's manual has it, or four on AMD's. */
static bool
processors_differ(const struct trial *t, const struct st_access *a)
{
	return t->bytes[t->in.op_off] == 0x63 && a->bytes == 2;
}

static bool
is_possible(const struct trial *t, const struct st_access *a)
{
	if (a->variable || a->kind == ST_ACCESS_LINE || processors_differ(t, a))
		return false;
	if (t->n == 2 && t->accesses[1].kind == ST_ACCESS_REG)
		return reg_field(t) < RBX;
	return !a->bit_string || reg_field(t) < RBX; /* 0 or 1 */
}

static void
try_access(const struct trial *t, unsigned which)
{
	const struct st_access *a = &t->accesses[which];
	uintptr_t first = (uintptr_t)probe.page, last = first + PROBE_PAGE - a->bytes;
	enum probe_end end = PROBE_OTHER;

	if (!is_possible(t, a))
		return;
	for (int fill = 0; fill < 2 && end == PROBE_OTHER; fill++) {
		probe_fill(&probe, fill);
		end = run_at(t, a, last);
	}
	if (end == PROBE_INVALID || end == PROBE_OTHER) {
		total.not_here++;
		if (verbose)
			report(t, which, end == PROBE_INVALID ? "invalid" : "other exception");
		return;
	}
	total.accesses++;
	if (end == PROBE_FAULT) {
		wrong(t, which, "more bytes");
		return;
	}
	try_ends(t, which, first, last);
	try_direction(t, which, last);
	if (a->vsib)
		try_elements(t, which, first);
}

/* Nothing is accessed at an address that is not allowed. */
static void
try_none(const struct trial *t)
{
	static const struct st_access modrm = {.kind = ST_ACCESS_MODRM};
	enum probe_end end;

	if (t->bytes[t->in.op_off] == 0xae) /* clflush and its kin look whether they may */
		return;
	end = run_at(t, &modrm, (uintptr_t)probe.page - PROBE_PAGE);
	total.none += end == PROBE_DONE;
	if (end == PROBE_FAULT)
		wrong(t, 0, "an access");
}

/* What would take away the C library's thread, and what a mask of zero in an mm register hides. */
static bool
is_out_of_reach(const uint8_t *op, const struct trial *t)
{
	bool map_0f = t->in.op_off && op[-1] == 0x0f;

	if (!map_0f)
		return *op == 0x8e && reg_field(t) == 4; /* mov fs, .. */
	return *op == 0xa1 || *op == 0xb4 ||             /* pop fs, lfs */
	       (*op == 0xf7 && !(t->in.flags & ST_I_OP16));
}

static void
try_bytes(const uint8_t *bytes, unsigned op_off)
{
	struct trial t = {0};

	memcpy(t.bytes, bytes, 16);
	if (!st_decode(t.bytes, 15, &t.in) || t.in.cls != ST_C_NORMAL || t.in.op_off != op_off)
		return;
	t.n = st_accesses(&t.in, t.bytes, t.accesses);
	if (t.in.flags & ST_I_MEM && (t.bytes[op_off + 1] & 7) == 4 && !(t.n && t.accesses->vsib))
		return;
	if (is_out_of_reach(t.bytes + t.in.op_off, &t))
		return;
	probe_put(&probe, t.bytes, t.in.len);
	if (t.n == 0 && t.in.flags & ST_I_MEM)
		try_none(&t);
	for (unsigned i = 0; i < t.n; i++)
		try_access(&t, i);
}

/* The opcode with [rbx], with [rbx+zmm6], and with registers, for every ModRM.reg if that says
 * more. */
static void
try_opcode(const uint8_t *start, unsigned n, unsigned opcode, bool group)
{
	static const uint8_t forms[] = {0x03, 0x04, 0xc1};

	for (unsigned reg = group ? 0 : 1; reg < (group ? 8 : 2); reg++) {
		for (unsigned i = 0; i < sizeof forms; i++) {
			uint8_t bytes[16] = {0};

			memcpy(bytes, start, n);
			bytes[n] = (uint8_t)opcode;
			bytes[n + 1] = (uint8_t)(forms[i] | reg << 3);
			bytes[n + 2] = forms[i] == 4 ? 0x33 : 0;
			try_bytes(bytes, n);
		}
	}
}

static void
try_legacy(void)
{
	static const char prefixes[][4] = {"", "\x66", "\xf3", "\xf2", "\x66\xf3", "\x66\xf2"};
	static const char maps[][4] = {"", "\x0f", "\x0f\x38", "\x0f\x3a"};

	for (unsigned i = 0; i < 6 * 2 * 4; i++) {
		uint8_t start[8];
		unsigned n = (unsigned)strlen(prefixes[i % 6]), map = i / 12;

		memcpy(start, prefixes[i % 6], n);
		if (i / 6 % 2)
			start[n++] = 0x48;
		memcpy(start + n, maps[map], strlen(maps[map]));
		n += (unsigned)strlen(maps[map]);
		for (unsigned opcode = 0; opcode < 256; opcode++)
			try_opcode(start, n, opcode, true);
	}
}

/* VEX and EVEX, each without and with a register in vvvv. */
static void
try_vex(unsigned map, unsigned pp, unsigned w, unsigned l)
{
	for (unsigned vvvv = 0; vvvv < 2; vvvv++) {
		uint8_t start[] = {0xc4, (uint8_t)(0xe0 | map),
		                   (uint8_t)(w << 7 | (vvvv ? 0x78 : 0) | l << 2 | pp)};

		for (unsigned opcode = 0; opcode < 256; opcode++)
			try_opcode(start, 3, opcode, (opcode & 0xf0) == 0xf0);
	}
}

static void
try_evex(unsigned map, unsigned pp, unsigned w, unsigned last)
{
	for (unsigned vvvv = 0; vvvv < 2; vvvv++) {
		uint8_t start[] = {0x62, (uint8_t)(0xf0 | map),
		                   (uint8_t)(w << 7 | (vvvv ? 0x7c : 4) | pp), (uint8_t)last};

		for (unsigned opcode = 0; opcode < 256; opcode++)
			try_opcode(start, 4, opcode, opcode >= 0x71 && opcode <= 0x73);
	}
}

int
main(int argc, char **argv)
{
	verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
		return 77;
	if (!probe_open(&probe))
		return 1;
	try_legacy();
	for (unsigned i = 0; i < 16; i++) { /* pp, W, L */
		for (unsigned map = 1; map <= 3; map++)
			try_vex(map, i & 3, i >> 2 & 1, i >> 3);
		for (unsigned last = 0; last < 16; last++) /* L'L, b, aaa */
			for (unsigned map = 1; map <= 6 && i < 8; map++)
				try_evex(map, i & 3, i >> 2,
				         (last & 6) << 4 | (last & 1) << 4 | 8 | last >> 3);
	}
	printf("%u accesses tried, of %u only one end; %u without access; %u not possible here; "
	       "%u wrong\n",
	       total.accesses, total.one_end, total.none, total.not_here, total.wrong);
	return total.wrong || !total.accesses;
}
