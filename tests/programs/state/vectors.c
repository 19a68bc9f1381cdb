/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vector state through everything that may disturb it: system calls, signals whose handlers
 * overwrite it, indirect calls and code met for the first time. xmm, ymm, zmm, mask registers, x87
 * stack, MXCSR and control word, as the CPU has them; the handler finds them in its frame and may
 * edit them there.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <cpuid.h>
#include <sys/mman.h>
#include <sys/time.h>

#define SIZE (32 * 64 + 8 * 8)

/* All vector registers, as 64 bytes each, and k0 to k7. */
static unsigned char want[SIZE] __attribute__((aligned(64))),
        got[SIZE] __attribute__((aligned(64)));
static int level; /* 0: SSE, 1: AVX, 2: AVX-512 */
static volatile int taken, frames_checked;
static volatile int go_on;

#define ALL16(F)                                                                                   \
	F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
#define HIGH16(F)                                                                                  \
	F(16)                                                                                      \
	F(17) F(18) F(19) F(20) F(21) F(22) F(23) F(24) F(25) F(26) F(27) F(28) F(29) F(30) F(31)
#define MASKS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)

/* One function per level and action: load all, run the disturbance in r12, store all. The
 * disturbance keeps r12, r13. */
#define LOAD0(n) "movdqa " #n "*64(%0), %%xmm" #n "\n"
#define LOAD1(n) "vmovdqa " #n "*64(%0), %%ymm" #n "\n"
#define LOAD2(n) "vmovdqa64 " #n "*64(%0), %%zmm" #n "\n"
#define LOADK(n) "kmovq 32*64+8*" #n "(%0), %%k" #n "\n"
#define STORE0(n) "movdqa %%xmm" #n ", " #n "*64(%1)\n"
#define STORE1(n) "vmovdqa %%ymm" #n ", " #n "*64(%1)\n"
#define STORE2(n) "vmovdqa64 %%zmm" #n ", " #n "*64(%1)\n"
#define STOREK(n) "kmovq %%k" #n ", 32*64+8*" #n "(%1)\n"
/* rdi and rsi are given away in the middle: the addresses are kept on the stack. */
#define AROUND(load, store)                                                                        \
	__asm__ volatile(load "lea -256(%%rsp), %%rsp\npush %0\npush %1\n"                         \
	                      "call *%2\n"                                                         \
	                      "pop %1\npop %0\nlea 256(%%rsp), %%rsp\n" store                      \
	                 : "+r"(from), "+r"(to), "+r"(disturb)                                     \
	                 :                                                                         \
	                 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory",  \
	                   "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",   \
	                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

typedef void disturbance(void);

/* These use general registers only. */
void by_nothing(void), by_syscalls(void), by_waiting(void), by_fresh_code(void), by_fault(void);
unsigned char *fresh_code;
__asm__(".text\n"
        "by_nothing: ret\n"
        "by_syscalls: mov $39, %eax; syscall; mov $110, %eax; syscall; mov $1000, %eax; syscall\n"
        "mov $24, %eax; syscall; ret\n"
        "by_waiting: mov taken(%rip), %eax\n"
        "1: cmp %eax, taken(%rip); je 1b; ret\n"
        "by_fresh_code: mov fresh_code(%rip), %rax; call *%rax; ret\n"
        ".globl fault_at\n"
        "by_fault:\n"
        "fault_at: ud2; ret\n");

static void
run_with(disturbance *disturb)
{
	unsigned char *from = want, *to = got;

	memset(got, 0, sizeof got);
	if (level == 0)
		AROUND(ALL16(LOAD0), ALL16(STORE0));
	if (level == 1)
		AROUND(ALL16(LOAD1), ALL16(STORE1) "vzeroupper\n");
	if (level == 2)
		AROUND(ALL16(LOAD2) HIGH16(LOAD2) MASKS(LOADK),
		       ALL16(STORE2) HIGH16(STORE2) MASKS(STOREK) "vzeroupper\n");
}

static void
compare(const char *what)
{
	static const unsigned width[] = {16, 32, 64};

	for (unsigned r = 0; r < (level == 2 ? 32 : 16); r++)
		CHECK(!memcmp(got + 64 * r, want + 64 * r, width[level]),
		      "%s: vector register %u differs (level %d)", what, r, level);
	if (level == 2)
		CHECK(!memcmp(got + 32 * 64, want + 32 * 64, 64), "%s: mask registers differ",
		      what);
}

static unsigned
xsave_offset(unsigned component)
{
	unsigned a, b, c, d;

	__cpuid_count(0xd, component, a, b, c, d);
	return b;
}

/* Where a byte of register r lies in the signal frame's xsave area. */
static unsigned char *
in_frame(unsigned char *area, unsigned r, unsigned byte)
{
	if (r >= 16)
		return area + xsave_offset(7) + 64 * (r - 16) + byte;
	if (byte < 16)
		return area + 160 + 16 * r + byte;
	if (byte < 32)
		return area + xsave_offset(2) + 16 * r + byte - 16;
	return area + xsave_offset(6) + 32 * r + byte - 32;
}

static void
check_frame(unsigned char *area)
{
	static const unsigned width[] = {16, 32, 64};

	for (unsigned r = 0; r < (level == 2 ? 32 : 16); r++)
		for (unsigned byte = 0; byte < width[level]; byte += 16)
			CHECK(!memcmp(in_frame(area, r, byte), want + 64 * r + byte, 16),
			      "frame shows another register %u at byte %u", r, byte);
	if (level == 2)
		CHECK(!memcmp(area + xsave_offset(5), want + 32 * 64, 64), "frame: mask registers");
	frames_checked++;
}

/* Handlers overwrite all registers. */
static void
clobber(void)
{
	unsigned char *from = got, *to = got;
	static unsigned char junk[SIZE] __attribute__((aligned(64)));

	memset(junk, 0xdb, sizeof junk);
	from = to = junk;
	if (level == 0)
		__asm__ volatile(ALL16(LOAD0)::"r"(from), "r"(to));
	if (level == 1)
		__asm__ volatile(ALL16(LOAD1)::"r"(from), "r"(to));
	if (level == 2)
		__asm__ volatile(ALL16(LOAD2) HIGH16(LOAD2) MASKS(LOADK)::"r"(from), "r"(to));
	__asm__ volatile("fninit; fldpi; fldpi; fldl2e");
}

extern char fault_at[];

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)info;
	if (sig == SIGILL) {
		check_frame((unsigned char *)uc->uc_mcontext.fpregs);
		set_reg(context, REG_RIP, (uintptr_t)fault_at + 2);
		if (go_on) { /* edits for the interrupted code */
			memset(in_frame((unsigned char *)uc->uc_mcontext.fpregs, 3, 0), 0x77, 16);
			memset(want + 64 * 3, 0x77, 16);
		}
	}
	clobber();
	taken++;
}

static void
fill(unsigned seed)
{
	for (unsigned i = 0; i < sizeof want; i++)
		want[i] = (unsigned char)(i * 7 + seed * 13 + i / 64);
}

/* lea 1(%rax), %rax; ... ; ret written anew each time: it must be translated with all registers
 * live. */
static void
write_fresh_code(void)
{
	static unsigned used;
	unsigned char *p = fresh_code = fresh_code + 32 * (used++ > 0);

	for (int i = 0; i < 5; i++)
		memcpy(p + 4 * i, "\x48\x8d\x40\x01", 4);
	p[20] = 0xc3;
}

static void
vectors(void)
{
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};

	for (unsigned i = 0; i < 50; i++) {
		fill(i);
		run_with(by_nothing);
		compare("plain call");
		run_with(by_syscalls);
		compare("system calls");
		write_fresh_code();
		run_with(by_fresh_code);
		compare("fresh code");
		go_on = 0;
		run_with(by_fault);
		compare("fault");
		go_on = 1;
		run_with(by_fault);
		compare("edited frame");
		setitimer(ITIMER_REAL, &often, NULL);
		run_with(by_waiting);
		setitimer(ITIMER_REAL, &never, NULL);
		compare("timer signal");
	}
}

static void
x87(void)
{
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	double values[8];
	unsigned mxcsr = 0x1f80 | 0x6000, now; /* round towards zero */
	uint16_t control = 0xf7f, got_control;

	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 20; i++) {
		__asm__ volatile(
		        "ldmxcsr %2\nfninit\nfldcw "
		        "%3\nfld1\nfldpi\nfldl2e\nfldz\nfld1\nfldln2\nfldpi\n"
		        "fldlg2\ncall by_syscalls\ncall by_waiting\n"
		        "fstpl 0(%4)\nfstpl 8(%4)\nfstpl 16(%4)\nfstpl 24(%4)\nfstpl 32(%4)\n"
		        "fstpl 40(%4)\nfstpl 48(%4)\nfstpl 56(%4)\nstmxcsr %0\nfnstcw %1\n"
		        "fninit\n"
		        : "=m"(now), "=m"(got_control)
		        : "m"(mxcsr), "m"(control), "r"(values)
		        : "rax", "rcx", "r11", "memory", "cc");
		CHECK_EQ(now & ~0x3fu, mxcsr);
		CHECK_EQ(got_control, control);
		CHECK(values[7] == 1.0 && values[4] == 0.0 && values[3] == 1.0 &&
		              values[6] == values[1],
		      "x87 stack differs");
		CHECK(values[6] > 3.14159 && values[6] < 3.1416, "pi is %f", values[6]);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	now = 0x1f80;
	__asm__ volatile("ldmxcsr %0" ::"m"(now));
}

int
main(void)
{
	void *code = NULL;

	CHECK(!posix_memalign(&code, 4096, 65536), "memory");
	fresh_code = code;
	CHECK(!mprotect(code, 65536, 7), "mprotect");
	handle(SIGALRM, on_signal, SA_RESTART);
	handle(SIGILL, on_signal, 0);
	int highest = __builtin_cpu_supports("avx512bw") ? 2
	              : __builtin_cpu_supports("avx2")   ? 1
	                                                 : 0;
	for (level = 0; level <= highest; level++)
		vectors();
	level = highest;
	x87();
	CHECK_EQ(frames_checked, (highest + 1) * 100);
	printf("vector state is kept, up to %s\n",
	       (const char *[]){"SSE", "AVX", "AVX-512"}[highest]);
	return 0;
}
