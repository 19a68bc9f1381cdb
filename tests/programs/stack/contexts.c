/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * makecontext and swapcontext: two contexts hand a counter back and forth 100,000 times; then a
 * ring of 50 contexts whose ends are linked by uc_link.
 */
/* strobe-test: */
#include "check.h"
#include <ucontext.h>

#define SWITCHES 100000
#define RING 50
#define SIZE 32768

static ucontext_t main_context, ping_context, pong_context, ring[RING];
static char stacks[2][65536], ring_stacks[RING][SIZE];
static long counter, order[RING];
static int ended;

static void
ping(void)
{
	for (;;) {
		counter++;
		swapcontext(&ping_context, &pong_context);
	}
}

static void
pong(int a, int b, int c, int d, int e, int f, int g)
{
	CHECK(a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7, "arguments");
	while (counter < SWITCHES / 2)
		swapcontext(&pong_context, &ping_context);
	swapcontext(&pong_context, &main_context);
}

static void
member(int i)
{
	order[ended++] = i;
}

static void
return_again(void)
{
	volatile int times = 0;

	getcontext(&main_context);
	if (++times < 1000)
		setcontext(&main_context);
	CHECK_EQ(times, 1000);
}

int
main(void)
{
	getcontext(&ping_context);
	ping_context.uc_stack.ss_sp = stacks[0];
	ping_context.uc_stack.ss_size = sizeof stacks[0];
	makecontext(&ping_context, ping, 0);
	getcontext(&pong_context);
	pong_context.uc_stack.ss_sp = stacks[1];
	pong_context.uc_stack.ss_size = sizeof stacks[1];
	makecontext(&pong_context, (void (*)(void))pong, 7, 1, 2, 3, 4, 5, 6, 7);
	swapcontext(&main_context, &pong_context);
	CHECK_EQ(counter, SWITCHES / 2);
	for (int i = 0; i < RING; i++) {
		getcontext(&ring[i]);
		ring[i].uc_stack.ss_sp = ring_stacks[i];
		ring[i].uc_stack.ss_size = SIZE;
		ring[i].uc_link = i ? &ring[i - 1] : &main_context;
		makecontext(&ring[i], (void (*)(void))member, 1, i);
	}
	swapcontext(&main_context, &ring[RING - 1]);
	CHECK_EQ(ended, RING);
	for (int i = 0; i < RING; i++)
		CHECK_EQ(order[i], RING - 1 - i);
	/* setcontext back to a point already passed. */
	return_again();
	printf("%d context switches\n", SWITCHES);
	return 0;
}
