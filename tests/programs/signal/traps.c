/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traps: int3 in both encodings reports the next instruction as PC, also when that is a jump; the
 * single-step flag, set by popf or by a handler, traps after each instruction of the program and of
 * nothing else. A trap or a fault that a program sends itself is one.
 */
/* strobe-test: */
/* strobe-test: name=step args=step */
#include "signal/ucontext.h"
#include <sys/syscall.h>

static volatile int taken, steps;
static uint64_t want_rip;
static int want_code;
static char *step_from, *step_to;
static uint64_t seen[64];

extern char int3_next[], int_3_next[], int3_jump[], step_first[], step_last[];
void run_int3(void), run_int_3(void), run_int3_jump(void), run_step(void);
__asm__(".text\n.globl int3_next, int_3_next, int3_jump, step_first, step_last\n"
        "run_int3: int3\nint3_next: ret\n"
        "run_int_3: .byte 0xcd, 0x03\nint_3_next: ret\n"
        "run_int3_jump: int3\nint3_jump: jmp 1f\nud2\n1: ret\n"
        "run_step: lea -128(%rsp), %rsp; pushfq; orl $0x100, (%rsp); popfq\n"
        "nop\n"
        "step_first: xor %eax, %eax; inc %eax; call 1f; dec %eax; jz 2f; ud2\n"
        "1: ret\n"
        "2: pushfq; andl $~0x100, (%rsp); popfq\n"
        "step_last: lea 128(%rsp), %rsp; ret\n");

static void
on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	CHECK(get_reg(context, REG_RIP) == want_rip, "PC is %#lx, should be %#lx",
	      get_reg(context, REG_RIP), want_rip);
	CHECK_EQ(info->si_code, want_code);
	taken++;
}

static void
on_step(int sig, siginfo_t *info, void *context)
{
	uint64_t rip = get_reg(context, REG_RIP);

	(void)sig;
	/* TRAP_BRKPT: some hypervisors lose, once in a while, what tells the kernel. */
	CHECK(info->si_code == TRAP_TRACE || info->si_code == TRAP_BRKPT, "code %d", info->si_code);
	CHECK((char *)rip >= step_from && (char *)rip <= step_to, "a step ended at %#lx", rip);
	if (steps < 64)
		seen[steps] = rip - (uintptr_t)step_from;
	steps++;
}

static int want_signal;

static void
on_sent(int sig, siginfo_t *info, void *context)
{
	(void)context;
	CHECK_EQ(sig, want_signal);
	CHECK_EQ(info->si_code, want_code);
	taken++;
}

/* As the kernel would say it: a thread may tell itself anything. */
static void
send(int sig, int code)
{
	siginfo_t info = {.si_signo = sig, .si_code = code};

	handle(sig, on_sent, 0);
	want_signal = sig;
	want_code = code;
	taken = 0;
	for (int i = 0; i < 50; i++)
		CHECK(!syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), sig, &info), "send");
	CHECK_EQ(taken, 50);
}

int
main(int argc, char **argv)
{
	(void)argv;
	handle(SIGTRAP, on_trap, 0);
	want_code = SI_KERNEL;
	for (int i = 0; i < 50; i++) {
		want_rip = (uintptr_t)int3_next;
		run_int3();
		want_rip = (uintptr_t)int_3_next;
		run_int_3();
		want_rip = (uintptr_t)int3_jump;
		run_int3_jump();
	}
	CHECK_EQ(taken, 150);
	send(SIGTRAP, TRAP_BRKPT);
	send(SIGSEGV, SEGV_MAPERR);
	send(SIGFPE, FPE_INTDIV);
	if (argc > 1) {
		/* After the nop and nine more, the last of which clears the flag and still traps.
		 */
		step_from = step_first;
		step_to = step_last;
		handle(SIGTRAP, on_step, 0);
		run_step();
		CHECK_EQ(steps, 10);
		CHECK(seen[0] == 0 && seen[1] == 2 && seen[2] == 4, "steps at %lu %lu %lu", seen[0],
		      seen[1], seen[2]);
	}
	puts("traps are reported behind the instruction");
	return 0;
}
