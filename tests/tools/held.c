/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Straight code whose accesses and registers are known, interrupted at any place: for test_held.py.
 * usage: held fault|storm|leave|kill narrow|wide [FILE]. Says where its piece lies, and before and
 * after what it has executed. FILE: where kill counts, so that it is known after the program's
 * death.
 */
#include "signal/ucontext.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

enum { TURNS = 5000, SIGNALS = 200, UNMAPPED = 8, FAULT_BYTES = 2, MOST_BYTES = 512, ACCESSES = 9 };

struct counts {
	uint64_t first, middle, last;
};
static struct counts own;
static struct counts *counts = &own;
uint64_t held_words[4] = {0, 0x55, 0, 0};
void held_narrow(uint64_t turns, const uint64_t *known);
void held_wide(uint64_t turns, const uint64_t *known);
extern const uint64_t held_narrow_accesses[ACCESSES], held_wide_accesses[ACCESSES];
char held_stack[256 << 10]; /* its addresses are small, so that sums are */
extern const char held_narrow_begin[], held_narrow_end[], held_wide_begin[], held_wide_end[];

/*
 * known: values of rbx, rbp, rsi, rdi, r8 to r15; r9: struct counts; rsi: held_words; rdi: a word
 * that may be missing. The wide piece names every register between any two accesses.
 */
/* clang-format off */
__asm__(
".macro NAME_ALL wide\n"
"	.if \\wide\n"
"	lea (%rbx), %rbx; lea (%rbp), %rbp; lea (%rcx), %rcx; lea (%rdx), %rdx; lea (%rsi), %rsi; lea (%rdi), %rdi\n"
"	lea (%r8), %r8; lea (%r9), %r9; lea (%r10), %r10; lea (%r11), %r11; lea (%r12), %r12; lea (%r13), %r13\n"
"	lea (%r14), %r14; lea (%r15), %r15\n"
"	.endif\n"
".endm\n"
".macro ACCESS name, insn:vararg\n"
"	.pushsection .rodata.\\name, \"a\"; .quad 77f; .popsection\n"
"77:	\\insn\n"
".endm\n"
".macro PIECE name, wide\n"
"	.globl \\name, \\name\\()_begin, \\name\\()_end, \\name\\()_accesses\n"
"	.pushsection .rodata.\\name, \"a\"; \\name\\()_accesses:; .popsection\n"
"\\name:\n"
"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
"	mov %rsp, %rax; lea held_stack+256*1024(%rip), %rsp; push %rax\n"
"	mov %rdi, %rcx\n"
"	mov %rsi, %rax\n"
"	mov (%rax), %rbx; mov 8(%rax), %rbp; mov 16(%rax), %rsi; mov 24(%rax), %rdi\n"
"	mov 32(%rax), %r8; mov 40(%rax), %r9; mov 48(%rax), %r10; mov 56(%rax), %r11\n"
"	mov 64(%rax), %r12; mov 72(%rax), %r13; mov 80(%rax), %r14; mov 88(%rax), %r15\n"
"	xor %edx, %edx\n"
"	jmp \\name\\()_begin\n"
"\\name\\()_begin:\n"
"	ACCESS \\name, incq (%r9)\n"
"	NAME_ALL \\wide\n"
"	ACCESS \\name, mov (%rsi), %rax\n"
"	NAME_ALL \\wide\n"
"	ACCESS \\name, incq 8(%r9)\n"
"	NAME_ALL \\wide\n"
"	ACCESS \\name, mov 8(%rsi,%rax,8), %rdx\n"
"	NAME_ALL \\wide\n"
"	ACCESS \\name, push %rdx\n"
"	NAME_ALL \\wide\n"
"	ACCESS \\name, pop %rdx\n"
"	NAME_ALL \\wide\n"
"	ACCESS \\name, mov %rdx, held_words+16(%rip)\n"
"	NAME_ALL \\wide\n"
"	ACCESS \\name, mov (%rdi), %eax\n"
"	NAME_ALL \\wide\n"
"	ACCESS \\name, incq 16(%r9)\n"
"	dec %rcx\n"
"	jnz \\name\\()_begin\n"
"\\name\\()_end:\n"
"	pop %rsp; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
"	ret\n"
".endm\n"
".text\n"
"PIECE held_narrow, 0\n"
"PIECE held_wide, 1\n");
/* clang-format on */

static uint64_t known[12];
static const int order[12] = {REG_RBX, REG_RBP, REG_RSI, REG_RDI, REG_R8,  REG_R9,
                              REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
static const char *begin, *end;
static volatile unsigned taken, left_at[MOST_BYTES];
static volatile uint64_t turns_before;
static sigjmp_buf out;

/* In the piece? Then every register must be what it is natively. */
static bool
check_registers(void *context)
{
	uint64_t rip = get_reg(context, REG_RIP), rcx = get_reg(context, REG_RCX);
	if (rip < (uint64_t)begin || rip >= (uint64_t)end)
		return false;
	for (unsigned i = 0; i < 12; i++)
		CHECK(get_reg(context, order[i]) == known[i],
		      "at +%#lx: register %u is %#lx, not %#lx", rip - (uint64_t)begin, i,
		      get_reg(context, order[i]), known[i]);
	uint64_t turns = counts->last - turns_before + rcx - TURNS;
	CHECK_EQ(get_reg(context, REG_RSP) & ~8ull, (uint64_t)held_stack + sizeof held_stack - 16);
	CHECK(turns <= 1, "at +%#lx: rcx is %lu after %lu turns", rip - (uint64_t)begin, rcx,
	      counts->last - turns_before);
	CHECK(get_reg(context, REG_RDX) == 0x55 || get_reg(context, REG_RDX) == 0, "rdx is %#lx",
	      get_reg(context, REG_RDX));
	return true;
}

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	CHECK_EQ(info->si_addr, UNMAPPED);
	CHECK(check_registers(context), "a fault elsewhere");
	CHECK_EQ(get_reg(context, REG_RAX), 0);
	CHECK_EQ(get_reg(context, REG_RDX), 0x55);
	set_reg(context, REG_RIP, get_reg(context, REG_RIP) + FAULT_BYTES);
}

static void
on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	taken += check_registers(context);
}

static void
on_alarm_leave(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	if (!check_registers(context))
		return;
	taken++;
	left_at[get_reg(context, REG_RIP) - (uint64_t)begin]++;
	siglongjmp(out, 1);
}

static void
set_period(long microseconds)
{
	struct itimerval period = {{0, microseconds}, {0, microseconds}};
	CHECK_EQ(setitimer(ITIMER_REAL, &period, NULL), 0);
}

static void
run(void (*piece)(uint64_t, const uint64_t *))
{
	turns_before = counts->last;
	piece(TURNS, known);
}

static void
run_and_leave(void (*piece)(uint64_t, const uint64_t *))
{
	while (taken < SIGNALS) {
		if (!sigsetjmp(out, 1))
			run(piece);
	}
}

static void
say(bool wide)
{
	const uint64_t *at = wide ? held_wide_accesses : held_narrow_accesses;
	printf("begin %lu end %lu", (uint64_t)begin, (uint64_t)end);
	for (unsigned i = 0; i < ACCESSES; i++)
		printf(" access%u %lu", i, at[i]);
	printf(" counts %lu words %lu stack %lu last_word %lu", (uint64_t)counts,
	       (uint64_t)held_words, (uint64_t)held_stack + sizeof held_stack - 16, known[3]);
	printf(" first %lu middle %lu last %lu", counts->first, counts->middle, counts->last);
	for (unsigned i = 0; i < MOST_BYTES; i++)
		if (left_at[i])
			printf(" left+%u %u", i, left_at[i]);
	puts("");
	fflush(stdout);
}

static void
die_soon(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct itimerspec soon = {.it_value = {0, 4000000}};
	timer_t timer;
	CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	CHECK_EQ(timer_settime(timer, 0, &soon, NULL), 0);
}

static void
do_mode(const char *mode, void (*piece)(uint64_t, const uint64_t *))
{
	if (!strcmp(mode, "fault")) {
		handle(SIGSEGV, on_fault, 0);
		known[3] = UNMAPPED;
		run(piece);
		return;
	}
	if (!strcmp(mode, "kill")) {
		die_soon();
		for (;;)
			run(piece);
	}
	bool leave = !strcmp(mode, "leave");
	handle(SIGALRM, leave ? on_alarm_leave : on_alarm, 0);
	set_period(100);
	if (leave)
		run_and_leave(piece);
	while (taken < SIGNALS)
		run(piece);
	set_period(0);
}

static void
map_counts(const char *path)
{
	int fd = open(path, O_RDWR);
	CHECK(fd >= 0, "no %s", path);
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(counts != MAP_FAILED, "mmap");
}

int
main(int argc, char **argv)
{
	CHECK(argc > 2, "usage: held MODE narrow|wide [FILE]");
	bool wide = !strcmp(argv[2], "wide");
	if (argc > 3)
		map_counts(argv[3]);
	begin = wide ? held_wide_begin : held_narrow_begin;
	end = wide ? held_wide_end : held_narrow_end;
	for (unsigned i = 0; i < 12; i++)
		known[i] = 0x1234567800000000ull + 0x10001u * (i + 1);
	known[2] = (uint64_t)held_words;
	known[3] = (uint64_t)&held_words[3];
	known[5] = (uint64_t)counts;
	say(wide);
	do_mode(argv[1], wide ? held_wide : held_narrow);
	say(wide);
	return 0;
}
