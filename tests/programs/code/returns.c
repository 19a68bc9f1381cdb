/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread returns to code that is new again, because it was written to after the call, while
 * another thread makes the same call: an engine that translates what it returns to at that moment
 * must not let the first into what is not complete yet. Behind the call is a long piece of straight
 * code, so that the moment is long.
 */
/* strobe-test: tools=null,hot */
#include "code/emit.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { ROUNDS = 60, STEPS = 12000, BYTES = STEPS * 4 + 64, DELAY = 400 };

typedef uint64_t caller(const void *first, uint64_t (*callee)(const void *first));

static _Atomic(unsigned char *) code;
static atomic_int began, ended;

/* sub $8, %rsp; call *%rsi; STEPS times lea 1(%rax), %rax; add $8, %rsp; ret */
static unsigned char *
make_code(void)
{
	static const unsigned char begin[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd6};
	static const unsigned char step[] = {0x48, 0x8d, 0x40, 0x01};
	static const unsigned char end[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
	unsigned char *all = map_code(BYTES, PROT_READ | PROT_WRITE | PROT_EXEC), *p = all;

	memcpy(p, begin, sizeof begin);
	p += sizeof begin;
	for (int i = 0; i < STEPS; i++, p += sizeof step)
		memcpy(p, step, sizeof step);
	memcpy(p, end, sizeof end);
	return all;
}

/* Called by both threads; the first writes to its caller and waits until the other has called, too.
 */
static uint64_t
callee(const void *first)
{
	int round = atomic_load(&began);

	if (!first)
		return 7;
	*(volatile unsigned char *)(uintptr_t)first = 0x48; /* as it was */
	atomic_store(&code, (unsigned char *)(uintptr_t)first);
	while (atomic_load(&began) == round)
		;
	for (volatile int i = 0; i < DELAY * (round % 8 + 1); i++)
		;
	return 5;
}

static void *
other(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		unsigned char *now;
		while (!(now = atomic_exchange(&code, NULL)))
			sched_yield();
		atomic_fetch_add(&began, 1);
		CHECK_EQ(((caller *)(uintptr_t)now)(NULL, callee), 7 + STEPS);
		atomic_fetch_add(&ended, 1);
	}
	return NULL;
}

int
main(void)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, other, NULL), "no thread");
	for (int i = 0; i < ROUNDS; i++) {
		unsigned char *now = make_code();
		CHECK_EQ(((caller *)(uintptr_t)now)(now, callee), 5 + STEPS);
		while (atomic_load(&ended) == i)
			sched_yield();
		munmap(now, BYTES);
	}
	pthread_join(thread, NULL);
	puts("both threads came back to what stands behind the call");
	return 0;
}
