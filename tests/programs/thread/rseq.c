/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Restartable sequences: registration may work or be refused; what is registered must work. Two
 * threads that are moved between CPUs count in per-CPU slots by critical sections (or by atomics
 * where rseq is refused); no count may be lost.
 */
/* strobe-test: env=GLIBC_TUNABLES=glibc.pthread.rseq=0 */
/* strobe-test: name=glibc */
#include "check.h"
#include <errno.h>
#include <linux/rseq.h>
#include <pthread.h>
#include <sched.h>
#include <sys/rseq.h>
#include <sys/syscall.h>

#define THREADS 4
#define ROUNDS 200000
#define SIGNATURE 0x53053053

struct slot {
	volatile uint64_t count;
	char apart[56];
};

static struct slot slots[1024] __attribute__((aligned(64)));
static _Thread_local struct rseq own __attribute__((aligned(32)));

static struct rseq *
area(void)
{
	if (__rseq_size)
		return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	if (syscall(SYS_rseq, &own, sizeof own, 0, SIGNATURE))
		return NULL;
	return &own;
}

/* Adds one to the slot of the CPU it runs on; false when it was interrupted. */
static int
add_here(struct rseq *r)
{
	/* clang-format off */
	__asm__ goto(
		".pushsection __rseq_cs, \"aw\"\n.balign 32\n"
		"3: .long 0, 0\n.quad 1f, 2f-1f, 4f\n.popsection\n"
		"lea 3b(%%rip), %%rax\nmov %%rax, %c[cs](%[r])\n"
		"1: mov %c[cpu](%[r]), %%eax\n"
		"shl $6, %%rax\n"
		"mov (%[slots],%%rax), %%rcx\n"
		"inc %%rcx\n"
		"mov %%rcx, (%[slots],%%rax)\n"
		"2:\n"
		".pushsection .text.unlikely\n.byte 0x0f, 0xb9, 0x3d\n.long 0x53053053\n"
		"4: jmp %l[interrupted]\n.popsection\n"
		:
		: [r] "r"(r), [slots] "r"(slots), [cs] "i"(offsetof(struct rseq, rseq_cs)),
		  [cpu] "i"(offsetof(struct rseq, cpu_id))
		: "rax", "rcx", "memory", "cc"
		: interrupted);
	/* clang-format on */
	return 1;
interrupted:
	return 0;
}

static void *
count(void *arg)
{
	struct rseq *r = area();

	for (long i = 0; i < ROUNDS; i++) {
		if (!r)
			__atomic_fetch_add(&slots[1023].count, 1, __ATOMIC_RELAXED);
		else
			while (!add_here(r)) {
			}
		if (i % 1000 == (long)arg)
			sched_yield();
	}
	return NULL;
}

int
main(void)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;

	for (long i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, count, (void *)i), "thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 1024; i++)
		sum += slots[i].count;
	CHECK_EQ(sum, THREADS * ROUNDS);
	printf("counted %lu\n", sum);
	return 0;
}
