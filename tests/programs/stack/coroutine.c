/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Coroutines as runtimes write them: push the registers, exchange the stack pointer, pop, ret into
 * the other one. Calls and returns do not pair here.
 */
/* strobe-test: */
#include "check.h"

#define COROUTINES 8
#define STEPS 30000

struct coroutine {
	void *sp;
	uint64_t value;
	char stack[16384] __attribute__((aligned(16)));
};

void switch_to(void **save, void *to);
__asm__(".text\n.globl switch_to\n"
        "switch_to:\n"
        "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
        "ret\n");

static struct coroutine all[COROUTINES];
static void *main_sp;
static int current;
static long steps;

__attribute__((noinline)) static uint64_t
deep(int levels, uint64_t v)
{
	if (levels)
		return deep(levels - 1, v * 31 + 7) ^ v;
	/* Switch away with frames below. */
	int from = current;
	current = (current + 1) % COROUTINES;
	if (++steps >= STEPS)
		switch_to(&all[from].sp, main_sp);
	else
		switch_to(&all[from].sp, all[current].sp);
	return v;
}

static void
body(void)
{
	struct coroutine *self = &all[current];
	uint64_t n = 0;

	for (;;) {
		uint64_t before = self->value, expected = before, v = before;
		int levels = (int)(n++ % 7);
		uint64_t chain[8];
		chain[0] = v;
		for (int i = 0; i < levels; i++)
			chain[i + 1] = chain[i] * 31 + 7;
		expected = chain[levels];
		for (int i = levels - 1; i >= 0; i--)
			expected ^= chain[i];
		uint64_t result = deep(levels, v);
		CHECK_EQ(self->value, before);
		CHECK_EQ(result, expected);
		self->value = result + 1;
	}
}

int
main(void)
{
	for (int i = 0; i < COROUTINES; i++) {
		void **sp = (void **)(all[i].stack + sizeof all[i].stack) - 2;
		*sp = (void *)body;
		all[i].sp = sp - 6;
		all[i].value = (uint64_t)i * 1000;
	}
	switch_to(&main_sp, all[0].sp);
	CHECK_EQ(steps, STEPS);
	uint64_t sum = 0;
	for (int i = 0; i < COROUTINES; i++)
		sum += all[i].value;
	printf("%d switches, sum %lu\n", STEPS, sum);
	return 0;
}
