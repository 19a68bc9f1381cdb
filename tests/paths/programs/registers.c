/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks of one or two instructions between which all registers but the stack pointer hold values,
 * and flags are passed on: to jumps, adc and setcc, through calls and returns. What comes of
 * them is printed: nobody may have changed any. Argument: threads.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 30000, REGISTERS = 15 };

uint64_t f_round(uint64_t *values, uint64_t seed);

/* values: rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 to r15; seed decides about the ways. */
__asm__(".text\n"
        ".globl f_round\n"
        ".type f_round, @function\n"
        "f_round:\n"
        "	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	"
        "push %r15\n"
        "	push %rdi\n"
        "	push %rsi\n"
        "	mov 0(%rdi), %rax\n	mov 8(%rdi), %rbx\n	mov 16(%rdi), %rcx\n"
        "	mov 24(%rdi), %rdx\n	mov 32(%rdi), %rsi\n	mov 48(%rdi), %rbp\n"
        "	mov 56(%rdi), %r8\n	mov 64(%rdi), %r9\n	mov 72(%rdi), %r10\n"
        "	mov 80(%rdi), %r11\n	mov 88(%rdi), %r12\n	mov 96(%rdi), %r13\n"
        "	mov 104(%rdi), %r14\n	mov 112(%rdi), %r15\n	mov 40(%rdi), %rdi\n"
        "	cmpq $0x40000000, (%rsp)\n"
        "	jb 1f\n"
        "	adc %r8, %rax\n" /* reads the flags that its block begins with */
        "	jc 2f\n"
        "	jz 3f\n"
        "1:	adc %r9, %rbx\n"
        "	js 3f\n"
        "	jp 2f\n"
        "	jo 4f\n"
        "2:	adc %r10, %rcx\n"
        "	jc 4f\n"
        "	lea 1(%rdx), %rdx\n"
        "	jz 5f\n"
        "3:	adc %r11, %rdx\n"
        "	jns 5f\n"
        "4:	adc %r12, %rsi\n"
        "	jnc 6f\n"
        "5:	adc %r13, %rdi\n"
        "	jp 7f\n"
        "6:	adc %r14, %rbp\n"
        "	jmp 7f\n"
        "7:	adc %r15, %r8\n"
        "	call f_flags\n"
        "	adc %rax, %r9\n" /* those that the function has returned with */
        "	jc 8f\n"
        "	adc %rbx, %r10\n"
        "8:	adc %rcx, %r11\n"
        "	jnp 9f\n"
        "	adc %rdx, %r12\n"
        "9:	adc %rsi, %r13\n"
        "	jmp 10f\n"
        "10:	adc %rdi, %r14\n"
        "	adc %rbp, %r15\n"
        "	xchg %rdi, 8(%rsp)\n"
        "	mov %rax, 0(%rdi)\n	mov %rbx, 8(%rdi)\n	mov %rcx, 16(%rdi)\n"
        "	mov %rdx, 24(%rdi)\n	mov %rsi, 32(%rdi)\n	mov %rbp, 48(%rdi)\n"
        "	mov %r8, 56(%rdi)\n	mov %r9, 64(%rdi)\n	mov %r10, 72(%rdi)\n"
        "	mov %r11, 80(%rdi)\n	mov %r12, 88(%rdi)\n	mov %r13, 96(%rdi)\n"
        "	mov %r14, 104(%rdi)\n	mov %r15, 112(%rdi)\n"
        "	mov 8(%rsp), %rax\n	mov %rax, 40(%rdi)\n"
        "	pop %rax\n	pop %rdi\n"
        "	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	"
        "pop %rbx\n"
        "	ret\n"
        ".size f_round, . - f_round\n"
        ".type f_flags, @function\n"
        "f_flags:\n"
        "	jc 1f\n" /* those that it was called with */
        "	add %r8, %rbx\n"
        "	ret\n"
        "1:	sbb %r8, %rcx\n"
        "	ret\n"
        ".size f_flags, . - f_flags\n");

static void *
f_run(void *to)
{
	uint64_t *values = to, seed = values[0];
	for (int i = 0; i < ROUNDS; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		f_round(values, seed >> 33);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	enum { MOST = 8 };
	static uint64_t values[MOST][REGISTERS];
	pthread_t threads[MOST];
	int n = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 0; i < n && i < MOST; i++)
		for (int r = 0; r < REGISTERS; r++)
			values[i][r] = (uint64_t)(i * REGISTERS + r + 1) * 0x9e3779b97f4a7c15;
	f_run(values[0]);
	for (int i = 1; i < n && i < MOST; i++)
		if (pthread_create(&threads[i], NULL, f_run, values[i]))
			return 1;
	for (int i = 1; i < n && i < MOST; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < n && i < MOST; i++)
		for (int r = 0; r < REGISTERS; r++)
			printf("%016lx%c", (unsigned long)values[i][r],
			       r + 1 < REGISTERS ? ' ' : '\n');
	return 0;
}
