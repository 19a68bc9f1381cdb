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
#include "rt/arch/x86_64/pieces.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, INDEX = 6 };

struct trial {
	uint8_t bytes[24];
	struct st_insn in;
	struct st_access accesses[ST_MAX_ACCESSES];
	unsigned n;
};

static struct probe probe;
static struct {
	unsigned accesses, one_end, none, not_here, pieces, wrong;
} total;
static bool verbose;
static const unsigned states_each = 4; /* of an access of several pieces */

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

/* All vectors are ones, but for the index of gathers; so are all masks. */
static struct state
plain_state(void)
{
	struct state s = {.flags = 2};

	memset(s.vector, 0xff, sizeof s.vector);
	memset(s.vector[INDEX], 0, sizeof s.vector[INDEX]);
	memset(s.k, 0xff, sizeof s.k);
	return s;
}

/* Registers that put one access at an address, and all others in scratch memory. */
static struct state
aim(const struct trial *t, const struct st_access *a, uintptr_t at)
{
	uintptr_t scratch = (uintptr_t)probe.scratch;
	struct state s = plain_state();
	static const int base[] = {
	        [ST_ACCESS_MODRM] = RBX, [ST_ACCESS_PUSH] = RSP,  [ST_ACCESS_POP] = RSP,
	        [ST_ACCESS_LEAVE] = RBP, [ST_ACCESS_FRAME] = RBP, [ST_ACCESS_RSI] = RSI,
	        [ST_ACCESS_RDI] = RDI,   [ST_ACCESS_XLAT] = RBX};

	s.gpr[RCX] = 1; /* rep */
	s.gpr[RBX] = s.gpr[RSP] = s.gpr[RBP] = s.gpr[RSI] = s.gpr[RDI] = scratch;
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

		s.vector[INDEX][i * step] = PROBE_PAGE;
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

/* ---- accesses of several pieces ---- */

static uint32_t
random_number(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 16);
}

static int
read_here(void *to, uint64_t from, size_t bytes)
{
	memcpy(to, (const void *)from, bytes);
	return 0;
}

/* Masks, indices within a quarter of the page, how often and which way to repeat. */
static struct state
random_state(const struct trial *t, const struct st_access *a, uintptr_t at)
{
	struct state s = aim(t, a, at);
	struct st_vectors v = st_access_vectors(&t->in, t->bytes, a);
	bool wide = t->bytes[t->in.op_off] & 1, few = random_number() & 1;

	if (!a->vsib) /* it may be what is stored */
		memset(s.vector[INDEX], 0xff, sizeof s.vector[INDEX]);
	for (unsigned i = 0; i < 16 && a->vsib; i++)
		s.vector[v.index][i] = wide && (i & 1) ? 0 : random_number() % (PROBE_PAGE / 4);
	for (unsigned i = 0; i < 16 && v.mask >= 0; i++)
		s.vector[v.mask][i] = random_number() & (few ? random_number() : ~0u);
	if (v.k > 0) {
		s.k[v.k] = random_number() | (uint64_t)random_number() << 32;
		if (few)
			s.k[v.k] &= 1ull << random_number() % a->count;
	}
	if (a->rep) {
		s.gpr[RCX] = random_number() % 6;
		s.flags |= few ? 0x400 : 0;
		s.gpr[RAX] = UINT64_MAX;
	}
	return s;
}

static unsigned
pieces_of(const struct trial *t, const struct st_access *a, const struct state *s,
          struct st_piece *pieces)
{
	struct st_vectors v = st_access_vectors(&t->in, t->bytes, a);
	struct st_state state = {.gpr = s->gpr, .flags = s->flags, .read = read_here};

	if (v.index >= 0)
		memcpy(state.index, s->vector[v.index], sizeof state.index);
	if (v.mask >= 0)
		memcpy(state.mask, s->vector[v.mask], sizeof state.mask);
	if (v.k > 0)
		state.k = s->k[v.k];
	return st_pieces(&t->in, t->bytes, a, &state, pieces);
}

/* The first byte and the one behind the last. */
static void
hull_of(const struct st_piece *pieces, unsigned n, uint64_t *first, uint64_t *end)
{
	*first = UINT64_MAX;
	*end = 0;
	for (unsigned i = 0; i < n; i++) {
		*first = pieces[i].address < *first ? pieces[i].address : *first;
		if (pieces[i].address + pieces[i].bytes > *end)
			*end = pieces[i].address + pieces[i].bytes;
	}
}

/* Where what it has written is not what is there, behind page: SIZE_MAX, nowhere. */
static size_t
written_wrongly(const struct st_piece *pieces, unsigned n)
{
	static bool expected[PROBE_PAGE];

	memset(expected, 0, sizeof expected);
	for (unsigned i = 0; i < n; i++)
		memset(expected + (pieces[i].address - (uintptr_t)probe.page), 1, pieces[i].bytes);
	for (size_t i = 0; i < PROBE_PAGE; i++)
		if ((probe.page[i] != 0) != expected[i])
			return i;
	return SIZE_MAX;
}

/* Pages are zeros, and what is stored is not. Some stores ask for bytes that the mask leaves out as
 * if they wrote them: of stores it is seen what has been written. */
static const char *
try_state(const struct trial *t, const struct st_access *a, struct state *s, uint64_t *base)
{
	struct st_piece pieces[ST_MOST_PIECES];
	uint64_t first, end, page = (uintptr_t)probe.page, start = *base;
	unsigned n;

	probe_fill(&probe, 0);
	if (a->rep || a->write)
		memset(probe.scratch - 256, 0xff, 512);
	n = pieces_of(t, a, s, pieces);
	if (a->write) {
		if (probe_run(&probe, s) == PROBE_DONE && written_wrongly(pieces, n) != SIZE_MAX)
			return "other bytes are written";
	} else if (!n) {
		*base = page - PROBE_PAGE;
		return probe_run(&probe, s) == PROBE_FAULT ? "an access, with all left out" : NULL;
	}
	if (!n)
		return NULL;
	hull_of(pieces, n, &first, &end);
	*base = start + (page + PROBE_PAGE - end);
	if (probe_run(&probe, s) == PROBE_FAULT && !a->write)
		return "more bytes, of pieces";
	*base += 1;
	if (probe_run(&probe, s) == PROBE_DONE)
		return "fewer bytes, of pieces";
	*base = start + (page - first) - 1;
	if (probe_run(&probe, s) == PROBE_DONE)
		return "fewer bytes before, of pieces";
	return NULL;
}

/* The register that says where the access is. */
static uint64_t *
base_of(struct state *s, const struct st_access *a)
{
	return &s->gpr[a->kind == ST_ACCESS_RSI ? RSI : a->kind == ST_ACCESS_RDI ? RDI : RBX];
}

static void
try_pieces(const struct trial *t, unsigned which)
{
	const struct st_access *a = &t->accesses[which];

	if (!st_access_has_pieces(&t->in, t->bytes, a) || a->variable)
		return;
	for (unsigned i = 0; i < states_each; i++) {
		struct state s = random_state(t, a, (uintptr_t)probe.page + PROBE_PAGE / 2);
		const char *text = try_state(t, a, &s, base_of(&s, a));

		total.pieces++;
		if (text) {
			wrong(t, which, text);
			return;
		}
	}
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
	try_pieces(t, which);
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
	       "%u states of masks, indices and counts; %u wrong\n",
	       total.accesses, total.one_end, total.none, total.not_here, total.pieces,
	       total.wrong);
	return total.wrong || !total.accesses;
}
