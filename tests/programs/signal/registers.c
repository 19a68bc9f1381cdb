/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loops with every register, the flags and the red zone at known values are interrupted by a timer;
 * the handler must see exactly these and a PC inside the loop, and ends the loop by editing the PC.
 * After sigreturn all must still be there.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <sys/time.h>

#define FLAGS 0xad7ull
#define ROUNDS 100

uint64_t known[16], left[16], left_flags, left_zone[2];
volatile uint64_t zero, sink;
void spin_jump(void), spin_load(void), spin_call(void), spin_indirect(void);
extern char spin_jump_end[], spin_load_end[], spin_call_end[], spin_indirect_end[], spin_exit[];

/* clang-format off */
__asm__(
".macro ENTER name\n"
"	.globl \\name, \\name\\()_end\n"
"\\name:\n"
"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
"	mov %rsp, known+56(%rip)\n"
"	movq $0x5a5a, -128(%rsp)\n"
"	pushq $0xad7; popfq\n"
"	movq $0xa5a5, -16(%rsp)\n"
"	mov known(%rip), %r8; mov known+8(%rip), %r9; mov known+16(%rip), %r10; mov known+24(%rip), %r11\n"
"	mov known+32(%rip), %rax; mov known+40(%rip), %rbx; mov known+48(%rip), %rcx\n"
"	mov known+64(%rip), %rdx; mov known+72(%rip), %rsi; mov known+80(%rip), %rdi\n"
"	mov known+88(%rip), %rbp; mov known+96(%rip), %r12; mov known+104(%rip), %r13\n"
"	mov known+112(%rip), %r14; mov known+120(%rip), %r15\n"
".endm\n"
".text\n"
"ENTER spin_jump\n"
"1:	jmp 1b\n"
"spin_jump_end:\n"
"ENTER spin_load\n"                  /* rcx is known or just loaded with the same value, never zero */
"1:	mov known+48(%rip), %rcx\n"
"	jrcxz 2f\n"
"	lea 1(%rcx), %rcx\n"
"	lea -1(%rcx), %rcx\n"
"	jmp 1b\n"
"2:	ud2\n"
"spin_load_end:\n"
"ENTER spin_call\n"
"	lea -144(%rsp), %rsp\n"
"1:	call 2f\n"
"	jmp 1b\n"
"2:	call 3f\n"
"	ret\n"
"3:	ret\n"
"spin_call_end:\n"
"ENTER spin_indirect\n"
"	lea -144(%rsp), %rsp\n"
"1:	jmp *target1(%rip)\n"
"2:	call *target2(%rip)\n"
"	jmp 1b\n"
"3:	ret\n"
"spin_indirect_end:\n"
".data\n"
"target1: .quad 2b\n"
"target2: .quad 3b\n"
".text\n"
".globl spin_exit\n"
"spin_exit:\n"
"	mov %r8, left(%rip); mov %r9, left+8(%rip); mov %r10, left+16(%rip); mov %r11, left+24(%rip)\n"
"	mov %rax, left+32(%rip); mov %rbx, left+40(%rip); mov %rcx, left+48(%rip)\n"
"	mov %rsp, left+56(%rip); mov %rdx, left+64(%rip); mov %rsi, left+72(%rip)\n"
"	mov %rdi, left+80(%rip); mov %rbp, left+88(%rip); mov %r12, left+96(%rip)\n"
"	mov %r13, left+104(%rip); mov %r14, left+112(%rip); mov %r15, left+120(%rip)\n"
"	mov known+56(%rip), %rsp\n"
"	mov -16(%rsp), %rax; mov %rax, left_zone(%rip)\n"
"	mov -128(%rsp), %rax; mov %rax, left_zone+8(%rip)\n"
"	lea -256(%rsp), %rsp; pushfq; popq left_flags(%rip); lea 256(%rsp), %rsp\n"
"	pushq $0x202; popfq\n"
"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
"	ret\n");
/* clang-format on */

static const int order[16] = {REG_R8,  REG_R9,  REG_R10, REG_R11, REG_RAX, REG_RBX,
                              REG_RCX, REG_RSP, REG_RDX, REG_RSI, REG_RDI, REG_RBP,
                              REG_R12, REG_R13, REG_R14, REG_R15};
static const char *loop_name;
static uintptr_t loop_start, loop_end;
static volatile int seen;
static int rcx_slack, rsp_slack;

static void
on_alarm(int sig, siginfo_t *info, void *context)
{
	uint64_t rip = get_reg(context, REG_RIP);

	(void)sig, (void)info;
	if (rip < loop_start || rip >= loop_end)
		return; /* entering or leaving */
	/* Inside the function but perhaps still in its entry code: flags tell. */
	if ((get_reg(context, REG_EFL) & FLAGS) != FLAGS || get_reg(context, REG_R15) != known[15])
		return;
	for (unsigned i = 0; i < 16; i++) {
		uint64_t is = get_reg(context, order[i]), slack = 0;
		if (order[i] == REG_RCX)
			slack = rcx_slack && is == known[i] + 1;
		if (order[i] == REG_RSP && rsp_slack)
			slack = known[i] - is - 144 <= 16 ? known[i] - is : 0;
		CHECK(order[i] == REG_RSP ? known[i] - is == slack : is - known[i] == slack,
		      "%s at +%#lx: register %u is %#lx, should be %#lx", loop_name,
		      rip - loop_start, i, is, known[i]);
	}
	CHECK_EQ(get_reg(context, REG_EFL) & 0xcd5, FLAGS & 0xcd5);
	CHECK_EQ(((uint64_t *)known[7])[-2], 0xa5a5);
	seen++;
	if (rcx_slack)
		set_reg(context, REG_RCX, known[6]);
	set_reg(context, REG_RSP, known[7]);
	set_reg(context, REG_RIP, (uintptr_t)spin_exit);
}

static void
run_loop(const char *name, void (*loop)(void), char *end)
{
	struct itimerval period = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};

	loop_name = name;
	loop_start = (uintptr_t)loop;
	loop_end = (uintptr_t)end;
	rcx_slack = loop == spin_load;
	rsp_slack = loop == spin_call || loop == spin_indirect;
	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < 16; i++)
			if (i != 7)
				known[i] = 0x1234567800000000ull + 0x10001u * (i + 1) +
				           (unsigned)round;
		seen = 0;
		memset(left, 0, sizeof left);
		setitimer(ITIMER_REAL, &period, NULL);
		loop();
		setitimer(ITIMER_REAL, &never, NULL);
		CHECK(seen == 1, "%s left after %d signals", name, seen);
		for (unsigned i = 0; i < 16; i++)
			CHECK(left[i] == known[i], "%s: register %u came back as %#lx, not %#lx",
			      name, i, left[i], known[i]);
		CHECK_EQ(left_flags & 0xcd5, FLAGS & 0xcd5);
		CHECK_EQ(left_zone[0], 0xa5a5);
		CHECK_EQ(left_zone[1], 0x5a5a);
	}
}

int
main(void)
{
	handle(SIGALRM, on_alarm, 0);
	run_loop("spin_jump", spin_jump, spin_jump_end);
	run_loop("spin_load", spin_load, spin_load_end);
	run_loop("spin_call", spin_call, spin_call_end);
	run_loop("spin_indirect", spin_indirect, spin_indirect_end);
	puts("handlers see every register, and edited contexts resume as edited");
	return 0;
}
