/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine.h"

#include "env.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* enter.S */
extern uint8_t fz_xin[FZ_XSAVE_MAX], fz_xout[FZ_XSAVE_MAX];
extern uint64_t fz_in[18], fz_out[18], fz_host_fs, fz_code_fs, fz_rfbm;
void fz_enter(void);
void fz_exit(void);
void fz_abort(void);

fz_step_fn *fz_on_step;
fz_fault_fn *fz_on_fault;

enum { X87, SSE, AVX, OPMASK = 5, ZMM_HIGH, ZMM16, NCOMPONENTS };
static uint32_t offset[NCOMPONENTS];

static const struct fz_gen *running; /* NULL: not in random code */
static struct fz_result *result;
static uint8_t handler_stack[1 << 17] __attribute__((aligned(64)));

static const int greg_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};

/* Plain loops: a handler runs with FS pointing anywhere. */
static void
copy(void *to, const void *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/* Takes the components out of an XSAVE image. One that is not present is in its initial state:
 * zero. */
static void
take_vectors(struct fz_vectors *v, const uint8_t *image)
{
	uint64_t present = *(const uint64_t *)(image + 512) & fz_rfbm;
	static const struct {
		uint8_t component;
		uint16_t at, size;
	} parts[] = {
	        {AVX, offsetof(struct fz_vectors, ymm_high), sizeof v->ymm_high},
	        {OPMASK, offsetof(struct fz_vectors, opmask), sizeof v->opmask},
	        {ZMM_HIGH, offsetof(struct fz_vectors, zmm_high), sizeof v->zmm_high},
	        {ZMM16, offsetof(struct fz_vectors, zmm16), sizeof v->zmm16},
	};

	for (size_t i = 0; i < sizeof *v; i++)
		((volatile uint8_t *)v)[i] = 0;
	copy(v->fxsave, image, 416);
	if (!(present & 1)) {
		for (unsigned i = 0; i < 160; i++)
			if (i < 24 || i >= 32)
				((volatile uint8_t *)v->fxsave)[i] = 0;
		v->fxsave[0] = 0x7f;
		v->fxsave[1] = 3;
	}
	if (!(present & 2))
		for (unsigned i = 160; i < 416; i++)
			((volatile uint8_t *)v->fxsave)[i] = 0;
	for (unsigned i = 6; i < 24; i++)
		((volatile uint8_t *)v->fxsave)[i] = 0;
	for (unsigned i = 0; i < 4; i++)
		if (present >> parts[i].component & 1)
			copy((uint8_t *)v + parts[i].at, image + offset[parts[i].component],
			     parts[i].size);
}

static void
record(int sig, const siginfo_t *si, const ucontext_t *uc)
{
	struct fz_fault *f = &result->faults[result->nfaults++];
	const greg_t *regs = uc->uc_mcontext.gregs;

	f->sig = sig;
	f->code = si->si_code;
	f->address = (uint64_t)si->si_addr;
	f->rip = (uint64_t)regs[REG_RIP];
	if (running->opt->loose_signals)
		return;
	for (unsigned i = 0; i < 16; i++)
		f->gpr[i] = (uint64_t)regs[greg_of[i]];
	f->flags = (uint64_t)regs[REG_EFL];
	f->err = (uint64_t)regs[REG_ERR];
	f->trapno = (uint64_t)regs[REG_TRAPNO];
	f->cr2 = f->trapno == 14 ? (uint64_t)regs[REG_CR2] : 0;
	take_vectors(&f->vec, (const uint8_t *)uc->uc_mcontext.fpregs);
}

/*
 * A jump, call or return to a non-canonical address, natively at the instruction, under an engine
 * perhaps at its target: docs/engine.md allows that.
 */
static bool
is_transfer_beyond(const greg_t *regs)
{
	uint64_t rip = (uint64_t)regs[REG_RIP];
	const uint8_t *p = (const uint8_t *)rip;
	enum { PREFIXES = 14 };

	if (regs[REG_TRAPNO] != 13)
		return false;
	if ((uint64_t)((int64_t)(rip << 16) >> 16) != rip)
		return true;
	for (unsigned i = 0; i < PREFIXES; i++, p++)
		if ((*p & 0xf0) != 0x40 && *p != 0x66 && *p != 0x67 && *p != 0xf2 && *p != 0xf3 &&
		    *p != 0x2e && *p != 0x36 && *p != 0x3e && *p != 0x26 && *p != 0x64 &&
		    *p != 0x65)
			break;
	if (*p == 0xff)
		return (p[1] >> 3 & 7) == 2 || (p[1] >> 3 & 7) == 4;
	return *p == 0xc2 || *p == 0xc3;
}

/* The start of the next unit after the place of the signal; 0: there is none. */
static uint64_t
resume_point(int sig, uint64_t rip)
{
	uint64_t at = rip - running->code.base;

	if (!running->resume || at >= running->code.len || result->nfaults == FZ_MAX_FAULTS)
		return 0;
	for (unsigned i = 0; i < running->nbounds; i++)
		if (running->bounds[i].offset > at ||
		    (sig == SIGTRAP && running->bounds[i].offset == at))
			return running->code.base + running->bounds[i].offset;
	return 0;
}

static void
on_signal(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;
	greg_t *regs = uc->uc_mcontext.gregs;

	if (!running) {
		signal(sig, SIG_DFL); /* our own bug: die of it */
		return;
	}
	if (fz_on_step && sig == SIGTRAP && si->si_code == TRAP_TRACE) {
		uint64_t rip = (uint64_t)regs[REG_RIP];

		if (!fz_on_step(rip, (uint64_t *)&regs[REG_RSP]) || rip == (uint64_t)fz_exit)
			regs[REG_EFL] &= ~0x100;
		return;
	}
	if (fz_on_fault)
		fz_on_fault();
	result->beyond = is_transfer_beyond(regs);
	if (!result->beyond)
		record(sig, si, uc);
	uint64_t to = result->beyond ? 0 : resume_point(sig, (uint64_t)regs[REG_RIP]);

	if (!to) {
		result->left = false;
		regs[REG_RIP] = (greg_t)fz_abort;
		regs[REG_EFL] &= ~0x100;
		return;
	}
	regs[REG_RIP] = (greg_t)to;
	if ((uint64_t)regs[REG_RSP] - fz_arena.stack - 0x400 >= FZ_STACK_SIZE - 0x800)
		regs[REG_RSP] = (greg_t)running->gpr[RSP];
}

static int
install_handlers(void)
{
	static const int sigs[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	stack_t ss = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigfillset(&sa.sa_mask);
	if (sigaltstack(&ss, NULL) != 0)
		return -1;
	for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
		if (sigaction(sigs[i], &sa, NULL) != 0)
			return -1;
	return 0;
}

int
fz_machine_init(enum fz_isa isa)
{
	uint32_t a, b, c, d, low, high;

	if (!__get_cpuid_count(1, 0, &a, &b, &c, &d) || !(c >> 27 & 1) || !(c >> 28 & 1)) {
		fprintf(stderr,
		        "insnfuzz: this CPU or system has no AVX; it cannot be tested here\n");
		return -1;
	}
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	fz_rfbm = isa == FZ_ISA_ALL && (low & 0xe0) == 0xe0 ? 0xe7 : 7;
	for (unsigned k = AVX; k < NCOMPONENTS; k++)
		if (fz_rfbm >> k & 1) {
			__cpuid_count(0xd, k, a, b, c, d);
			offset[k] = b;
		}
	if (isa == FZ_ISA_AVX2)
		offset[AVX] = 576;
	if (syscall(SYS_arch_prctl, ARCH_GET_FS, &fz_host_fs) != 0 || install_handlers() != 0) {
		fprintf(stderr, "insnfuzz: cannot prepare: %s\n", strerror(errno));
		return -1;
	}
	return 0;
}

int
fz_place(const struct fz_gen *g)
{
	uint64_t slot = g->region->base + (g->rwx ? FZ_R_RWX : FZ_R_CODE) + g->slot * FZ_SLOT;
	void *p = (void *)slot;

	if (!g->rwx) {
		/* Now and then new pages instead of old ones. */
		int how = g->seed % 4 == 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED : 0;

		if (how && mmap(p, FZ_SLOT, PROT_READ | PROT_WRITE, how, -1, 0) != p)
			return -1;
		if (!how && mprotect(p, FZ_SLOT, PROT_READ | PROT_WRITE) != 0)
			return -1;
	}
	memset(p, 0xcc, g->code.base - slot);
	memcpy((void *)g->code.base, g->code.bytes, g->code.len);
	memset((void *)(g->code.base + g->code.len), 0xcc, 64);
	return g->rwx ? 0 : mprotect(p, FZ_SLOT, PROT_READ | PROT_EXEC);
}

static void
fill_vectors(struct fz_rng *rng)
{
	uint64_t *words = (uint64_t *)fz_xin;
	size_t n = fz_rfbm == 7 ? 832 / 8 : (offset[ZMM16] + 1024u) / 8;

	memset(fz_xin, 0, n * 8);
	for (size_t i = 0; i < n; i++) {
		uint64_t v = fz_next(rng);

		/* Random bits, small integers, ordinary numbers and zeros. */
		words[i] = v % 7 == 0   ? v >> 56
		           : v % 7 == 1 ? 0
		           : v % 7 == 2 ? 0x3ff0000000000000 + (v >> 10)
		           : v % 7 == 3 ? 0x3f8000003f800000 + (v & 0x7fffff007fffff)
		                        : v;
	}
	memset(fz_xin, 0, 32);
	memset(fz_xin + 416, 0, 160);
	uint16_t fcw = (uint16_t)(fz_chance(rng, 80) ? 0x37f : 0x37f & ~(fz_below(rng, 4) << 8));
	uint16_t fsw = (uint16_t)(fz_below(rng, 8) << 11);
	uint32_t mxcsr = fz_chance(rng, 80)
	                         ? 0x1f80
	                         : 0x1f80u | fz_below(rng, 4) << 13 | fz_below(rng, 2) << 6;

	memcpy(fz_xin, &fcw, 2);
	memcpy(fz_xin + 2, &fsw, 2);
	fz_xin[4] = (uint8_t)(fz_chance(rng, 50) ? fz_below(rng, 256) : 0);
	memcpy(fz_xin + 24, &mxcsr, 4);
	for (unsigned i = 0; i < 8; i++)
		memset(fz_xin + 32 + 16 * i + 10, 0, 6);
	memcpy(fz_xin + 512, &fz_rfbm, 8);
}

void
fz_run(const struct fz_gen *g, unsigned round, struct fz_result *r)
{
	struct fz_rng rng = {.state = g->seed ^ (round * 0x100000001b3u + 7)};
	uint64_t *ctrl = (uint64_t *)(g->region->base + FZ_R_CTRL);

	fz_arena_fill(g->region, fz_next(&rng));
	memcpy(ctrl, g->ctrl, sizeof g->ctrl);
	ctrl[FZ_CTRL_EXIT] = (uint64_t)fz_exit;
	uint64_t out = g->code.base + g->bounds[g->nbounds ? g->nbounds - 1 : 0].offset;

	for (unsigned i = 0; i < 4; i++) /* a plain return leads out as well */
		memcpy((void *)(g->gpr[RSP] + 8 * i), &out, 8);
	fill_vectors(&rng);
	memcpy(fz_in, g->gpr, sizeof g->gpr);
	fz_in[16] = g->flags ^ (round ? fz_next(&rng) & 0x8d5 : 0) ^ (fz_on_step ? 0x100 : 0);
	fz_in[17] = g->code.base;
	fz_code_fs = g->uses_fs ? fz_arena.fs : 0;
	r->nfaults = 0;
	memset(r->faults, 0, sizeof r->faults);
	r->left = true;
	r->beyond = false;
	result = r;
	running = g;
	fz_enter();
	running = NULL;
	memcpy(r->gpr, fz_out, sizeof r->gpr);
	r->flags = fz_out[16];
	take_vectors(&r->vec, fz_xout);
	fz_env_mask((uint8_t *)fz_arena.env);
}

/* Four independent lanes, or the multiplications would wait for each other. */
uint64_t
fz_hash_bytes(uint64_t h, const void *p, size_t n)
{
	const uint64_t *w = p;
	uint64_t lane[4] = {h, h ^ 1, h ^ 2, h ^ 3};
	size_t i = 0;

	for (; i + 4 <= n / 8; i += 4)
		for (unsigned k = 0; k < 4; k++) {
			lane[k] = (lane[k] ^ w[i + k]) * 0x9ddfea08eb382d69u;
			lane[k] ^= lane[k] >> 32;
		}
	for (; i < n / 8; i++)
		lane[0] = fz_mix(lane[0] ^ w[i]);
	return fz_mix(lane[0] + fz_mix(lane[1] + fz_mix(lane[2] + fz_mix(lane[3]))));
}

static void
hash_block(void *arg, const char *name, uint64_t start, size_t size)
{
	uint64_t *h = arg;

	(void)name;
	*h = fz_hash_bytes(*h, (const void *)start, size);
}

uint64_t
fz_hash(const struct fz_gen *g, const struct fz_result *r)
{
	uint64_t h = 1 + r->nfaults + (r->left ? 64 : 0);

	if (r->left) {
		h = fz_hash_bytes(h, r->gpr, sizeof r->gpr);
		h = fz_hash_bytes(h, &r->flags, 8);
		h = fz_hash_bytes(h, &r->vec, sizeof r->vec);
	}
	for (unsigned i = 0; i < r->nfaults; i++)
		h = fz_hash_bytes(h, &r->faults[i], sizeof r->faults[i]);
	if (!r->beyond)
		fz_arena_each(g->region, hash_block, &h);
	return h;
}
