/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses of which data decides where they go (arch/x86_64/pieces.h). What the tools ask for there
 * is no code of its own but a plan, which one call carries out for each piece. The runtime uses
 * general registers only, so the vectors still hold what the program has put there.
 */
#include <cpuid.h>

#include "rt/program.h"
#include "rt/tool/events.h"

enum { MAX_PLANS = 1 << 16, MOST_ACTIONS = 8 };

struct element_plan {
	uint64_t pc; /* of the instruction */
	struct st_insn in;
	struct st_access access;
	uint8_t code[16];
	uint32_t n;
	struct action actions[MOST_ACTIONS];
};

static struct element_plan *plans;
static uint32_t n_plans;
static strobe_map known;        /* by what tells an access of a tool from others: index + 1 */
static struct element_plan now; /* the one that is being made */
static uint64_t key;

/* ---- when code is translated ---- */

bool
elements_begin(const struct strobe_access *a, unsigned tool)
{
	now.pc = event_address(a->b, a->index);
	const uint8_t *code = program_code(now.pc);
	now.in = a->b->insn[a->index];
	if (!st_access_has_pieces(&now.in, code, &a->access))
		return false;
	memset(now.code, 0, sizeof now.code);
	memcpy(now.code, code, now.in.len);
	now.access = a->access;
	now.n = 0;
	key = now.pc << 8 | (uint64_t)a->which << 4 | tool;
	return true;
}

struct action *
elements_new_action(void)
{
	if (now.n == MOST_ACTIONS)
		return NULL;
	struct action *a = &now.actions[now.n++];
	memset(a, 0, sizeof *a);
	return a;
}

/* Translated once more, it is the same as a rule; the one before may be being carried out. */
static bool
is_now(const struct element_plan *p)
{
	return p->pc == now.pc && p->n == now.n &&
	       memcmp(p->code, now.code, sizeof now.code) == 0 &&
	       memcmp(p->actions, now.actions, now.n * sizeof now.actions[0]) == 0;
}

uint32_t
elements_plan(void)
{
	if (!now.n)
		return 0;
	if (!plans)
		plans = rt_map_table(MAX_PLANS * sizeof *plans);
	uint64_t *at = plans ? strobe_map_at(&known, key) : NULL;
	if (at && *at && is_now(&plans[*at - 1]))
		return (uint32_t)*at;
	if (!at || n_plans == MAX_PLANS)
		return 0;
	plans[n_plans] = now;
	*at = ++n_plans;
	return n_plans;
}

/* ---- the processor ---- */

static struct {
	bool known, avx, avx512, long_masks, tells_use;
	struct st_xsave xsave;
} cpu;

static uint64_t
xgetbv(uint32_t which)
{
	uint32_t low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(which));
	return (uint64_t)high << 32 | low;
}

static void
learn_xsave(void)
{
	unsigned a, b, c, d;
	struct st_xsave *x = &cpu.xsave;
	x->enabled = xgetbv(0);
	__cpuid_count(0xd, 1, a, b, c, d);
	cpu.tells_use = a >> 2 & 1;
	for (unsigned i = 2; i < ST_XSAVE_PARTS; i++) {
		if (!(x->enabled >> i & 1))
			continue;
		__cpuid_count(0xd, i, a, b, c, d);
		x->bytes[i] = a;
		x->offset[i] = b;
		x->aligned |= (uint64_t)(c >> 1 & 1) << i;
	}
}

static void
learn_cpu(void)
{
	unsigned a, b, c, d;
	__cpuid(1, a, b, c, d);
	if (c >> 27 & 1) { /* the system uses xsave */
		learn_xsave();
		cpu.avx = (c >> 28 & 1) && (cpu.xsave.enabled & 6) == 6;
		__cpuid_count(7, 0, a, b, c, d);
		cpu.avx512 = cpu.avx && (b >> 16 & 1) && (cpu.xsave.enabled & 0xe0) == 0xe0;
		cpu.long_masks = cpu.avx512 && (b >> 30 & 1);
	}
	__atomic_store_n(&cpu.known, true, __ATOMIC_RELEASE);
}

/* ---- vectors ---- */

#define EACH_16(F)                                                                                 \
	F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
#define LATER_16(F)                                                                                \
	F(16)                                                                                      \
	F(17) F(18) F(19) F(20) F(21) F(22) F(23) F(24) F(25) F(26) F(27) F(28) F(29) F(30) F(31)
#define EACH_8(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)

static void
read_zmm(unsigned n, uint8_t *to)
{
	switch (n) {
#define R(n)                                                                                       \
	case n:                                                                                    \
		__asm__ volatile("vmovdqu64 %%zmm" #n ", (%0)" ::"r"(to) : "memory");              \
		break;
		EACH_16(R) LATER_16(R)
#undef R
	}
}

static void
read_ymm(unsigned n, uint8_t *to)
{
	switch (n) {
#define R(n)                                                                                       \
	case n:                                                                                    \
		__asm__ volatile("vmovdqu %%ymm" #n ", (%0)" ::"r"(to) : "memory");                \
		break;
		EACH_16(R)
#undef R
	}
}

static void
read_xmm(unsigned n, uint8_t *to)
{
	switch (n) {
#define R(n)                                                                                       \
	case n:                                                                                    \
		__asm__ volatile("movdqu %%xmm" #n ", (%0)" ::"r"(to) : "memory");                 \
		break;
		EACH_16(R)
#undef R
	}
}

static void
read_mm(unsigned n, uint8_t *to)
{
	switch (n) {
#define R(n)                                                                                       \
	case n:                                                                                    \
		__asm__ volatile("movq %%mm" #n ", (%0)" ::"r"(to) : "memory");                    \
		break;
		EACH_8(R)
#undef R
	}
}

static uint64_t
read_short_k(unsigned n)
{
	uint32_t v = 0;
	switch (n) {
#define R(n)                                                                                       \
	case n:                                                                                    \
		__asm__ volatile("kmovw %%k" #n ", %0" : "=r"(v));                                 \
		break;
		EACH_8(R)
#undef R
	}
	return v;
}

static uint64_t
read_k(unsigned n)
{
	uint64_t v = 0;
	switch (n) {
#define R(n)                                                                                       \
	case n:                                                                                    \
		__asm__ volatile("kmovq %%k" #n ", %0" : "=r"(v));                                 \
		break;
		EACH_8(R)
#undef R
	}
	return v;
}

static void
read_vector(const struct st_insn *in, int n, uint8_t *to)
{
	if (n < 0)
		return;
	if (in->flags & ST_I_EVEX)
		read_zmm((unsigned)n, to);
	else if (in->flags & ST_I_VEX)
		read_ymm((unsigned)n, to);
	else
		read_xmm((unsigned)n, to);
}

/* False: this processor does not have such an instruction. */
static bool
read_vectors(const struct element_plan *p, struct st_state *s)
{
	struct st_vectors v = st_access_vectors(&p->in, p->code, &p->access);
	if (((p->in.flags & ST_I_VEX) && !cpu.avx) || ((p->in.flags & ST_I_EVEX) && !cpu.avx512))
		return false;
	read_vector(&p->in, v.index, s->index);
	read_vector(&p->in, v.mask, s->mask);
	if (v.mmx >= 0)
		read_mm((unsigned)v.mmx, s->mask);
	if (v.k >= 0)
		s->k = cpu.long_masks ? read_k((unsigned)v.k) : read_short_k((unsigned)v.k);
	return true;
}

/* ---- when it is executed ---- */

static uint64_t
fs_base(void)
{
	uint64_t base;
	if (tools.has_rdfsbase)
		__asm__ volatile("rdfsbase %0" : "=r"(base));
	else /* where C libraries keep it */
		__asm__ volatile("mov %%fs:0, %0" : "=r"(base));
	return base;
}

/* The first element that a string instruction reads, or writes; of others it is not told. */
static uint64_t
first_value(const struct thread *t, const struct element_plan *p)
{
	const struct st_access *a = &p->access;
	bool stores = a->kind == ST_ACCESS_RDI && a->write;
	uint64_t from = t->regs.r[a->kind == ST_ACCESS_RDI && !a->write ? RDI : RSI], v = 0;
	unsigned bytes = a->bytes < 8 ? a->bytes : 8;
	if (!a->rep && (a->masked || a->vsib || a->write))
		return 0;
	if (a->rep && stores && (p->code[p->in.op_off] & 0xfe) == 0xaa)
		v = t->regs.r[RAX];
	else if (a->rep)
		strobe_read(&v, p->in.flags & ST_I_ADDR32 ? (uint32_t)from : from, bytes);
	return bytes < 8 ? v & ((1ull << 8 * bytes) - 1) : v;
}

void
elements_access(strobe_thread *handle, const uint64_t *values)
{
	struct thread *t = (struct thread *)handle;
	const struct element_plan *p = &plans[values[0] - 1];
	struct st_piece pieces[ST_MOST_PIECES];
	struct st_state s = {.gpr = t->regs.r,
	                     .flags = t->regs.rflags,
	                     .next = p->pc + p->in.len,
	                     .read = strobe_read};
	struct st_xsave xsave;
	if (!__atomic_load_n(&cpu.known, __ATOMIC_ACQUIRE))
		learn_cpu();
	if (p->access.variable && cpu.xsave.enabled) {
		xsave = cpu.xsave;
		xsave.in_use = cpu.tells_use ? xgetbv(1) : xsave.enabled;
		s.xsave = &xsave;
	}
	if (p->in.flags & ST_I_FSSEG)
		s.fs_base = fs_base();
	if (!read_vectors(p, &s))
		return;
	unsigned n = st_pieces(&p->in, p->code, &p->access, &s, pieces);
	for (unsigned i = 0; i < n; i++) {
		struct access_piece piece = {pieces[i].address, pieces[i].bytes, first_value(t, p)};
		for (uint32_t k = 0; k < p->n; k++)
			perform_action(t, &p->actions[k], &piece);
	}
}

void
elements_forget(void)
{
	map_clear(&known);
	n_plans = 0;
}
