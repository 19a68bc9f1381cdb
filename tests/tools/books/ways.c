/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A loop with branches of every kind, flags alive on some of their ways, while signals come. Usage:
 * ways return | jump | step: a timer's signals at 10 kHz, of which half leave the loop by
 * siglongjmp if told so; or a trap behind every instruction. What each way leads to first counts
 * itself in memory; a handler that jumps away from right there counts it, too, because the branch
 * has been executed. Prints `way NAME COUNT` for each.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { WAYS = 14 };

uint64_t ways_turn, ways_counts[WAYS];
extern const char *const ways_labels[WAYS];
extern const char ways_begin[], ways_end[];
/* The turns up to `last`. */
void ways(uint64_t last);
/* clang-format off */
__asm__(".macro WAY number, name\n"
        "	.globl ways_\\name\n"
        "	.pushsection .rodata.ways, \"a\"; .quad ways_\\name; .popsection\n"
        "	ways_\\name: incq ways_counts + 8 * \\number\n"
        ".endm\n"
        ".pushsection .rodata.ways, \"a\"; .globl ways_labels; .balign 8; ways_labels:; .popsection\n"
        ".globl ways_begin, ways_end, ways_jc, ways_jump, ways_jrcxz, ways_back, ways_icall, ways_call, ways_ret, ways_ret16\n"
        "ways_begin:\n"
        "ways: push %rbx; push %rbp; mov ways_turn, %rbx\n"
        "ways_next: test %rax, %rax; inc %rbx; mov %rbx, ways_turn; bt $0, %rbx\n"
        "ways_jc: jc ways_odd\n"
        "	WAY 0, even\n" /* inc keeps CF */
        "	sbb %rdx, %rdx; jmp 1f\n"
        "	WAY 1, odd\n"
        "	adc $0, %rdx\n"
        "1:	mov %ebx, %ecx; and $3, %ecx\n"
        "ways_jump: jmp *2f(, %rcx, 8)\n"
        "	.pushsection .rodata; .balign 8; 2: .quad ways_t0, ways_t1, ways_t2, ways_t3\n"
        "	3: .quad ways_f, ways_g; .popsection\n"
        "	WAY 2, t0\n"
        "	jmp 4f\n"
        "	WAY 3, t1\n"
        "	and $1, %ecx; xor $1, %ecx\n"
        "ways_icall: call *3b(, %rcx, 8)\n"
        "	WAY 4, icalled\n"
        "	jmp 4f\n"
        "	WAY 5, t2\n"
        "ways_call: call ways_f\n"
        "	WAY 6, called\n"
        "	jmp 4f\n"
        "	WAY 7, t3\n"
        "	push %rax; push %rax; mov $1, %ecx\n"
        "	call *3b(, %rcx, 8)\n"
        "	WAY 8, popped\n"
        "4:	mov %ebx, %ecx; and $7, %ecx\n"
        "ways_jrcxz: jrcxz ways_zero\n"
        "	WAY 9, not_zero\n"
        "	jmp 5f\n"
        "	WAY 10, zero\n"
        "5:	cmp %rdi, %rbx\n"
        "ways_back: jne ways_next\n"
        "	WAY 11, out\n"
        "	pop %rbp; pop %rbx; ret\n"
        "	WAY 12, f\n"
        "ways_ret: ret\n"
        "	WAY 13, g\n"
        "ways_ret16: ret $16\n"
        "ways_end:\n");
/* clang-format on */

static sigjmp_buf start;
static volatile int jumps;
static volatile unsigned signals;

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	const char *pc = (const char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	(void)sig, (void)info;
	signals++;
	if (!jumps || signals % 2 || pc < ways_begin || pc >= ways_end)
		return;
	for (int i = 0; i < WAYS; i++)
		ways_counts[i] += pc == ways_labels[i];
	siglongjmp(start, 1);
}

static void
set_timer(int us)
{
	struct itimerval every = {{0, us}, {0, us}};
	setitimer(ITIMER_REAL, &every, NULL);
}

static void
set_trap(void)
{
	__asm__ volatile("pushf; orq $0x100, (%rsp); popf");
}

static void
clear_trap(void)
{
	__asm__ volatile("pushf; andq $~0x100, (%rsp); popf");
}

int
main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	if (argc != 2)
		return 1;
	int steps = !strcmp(argv[1], "step");
	uint64_t turns = steps ? 2000 : 2000000;
	jumps = !strcmp(argv[1], "jump");
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	if (steps)
		set_trap();
	else
		set_timer(100);
	sigsetjmp(start, 1);
	if (ways_turn < turns)
		ways(turns);
	if (steps)
		clear_trap();
	set_timer(0);
	printf("signals %u\n", signals);
	for (int i = 0; i < WAYS; i++)
		printf("way %p %llu\n", (const void *)ways_labels[i],
		       (unsigned long long)ways_counts[i]);
	return ways_turn < turns;
}
