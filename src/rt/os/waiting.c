/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/os/waiting.h"

#include <asm/unistd.h>

#include "rt/os/os.h"
#include "rt/os/sample.h"
#include "rt/os/waiting_calls.h"
#include "rt/tool/tool.h"

enum {
	LONG_NS = 1000000,        /* a wait of this length or more is recorded with its length */
	FIRST_LONG = 1 << 20,     /* LONG_NS in ticks until their frequency is known */
	ENOUGH_NS = 10 * LONG_NS, /* the time that it takes to measure the frequency */
	CLOCK_WALL = 1,           /* CLOCK_MONOTONIC */
	CLOCK_OF_THREAD = 6,      /* CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED */
	MOST_TRIES = 100,
	TRY_NS = 5000000, /* for space in the ring of stacks, at the end */
};

static uint64_t
waiting_clock(int clock)
{
	uint64_t now[2] = {0, 0};
	SYS(__NR_clock_gettime, clock, now);
	return now[0] * 1000000000u + now[1];
}

static uint64_t
waiting_wall(void)
{
	return waiting_clock(CLOCK_WALL);
}

/* Of any thread of this process. */
static uint64_t
cpu_time_of(const struct thread *t)
{
	return waiting_clock((int)(~t->tid << 3 | CLOCK_OF_THREAD));
}

/* a * b / c, where that has 64 bits. */
static uint64_t
multiply_divide(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t high;
	__asm__("mulq %2" : "+a"(a), "=d"(high) : "r"(b) : "cc");
	if (high >= c)
		return UINT64_MAX;
	__asm__("divq %2" : "+a"(a), "+d"(high) : "r"(c) : "cc");
	return a;
}

void
waiting_init(bool on)
{
	rt.waiting = (struct rt_waiting){.on = on, .long_ticks = FIRST_LONG};
	if (!on)
		return;
	rt.waiting.ticks = rt_tsc();
	rt.waiting.wall = waiting_wall();
}

/* The kernel does not tell the frequency of the time stamp counter: it is measured all the time. */
static uint64_t
nanoseconds_of(uint64_t ticks, uint64_t wall)
{
	const uint64_t all_ticks = rt_tsc() - rt.waiting.ticks, all_ns = wall - rt.waiting.wall;
	if (!all_ticks || all_ns > wall)
		return 0;
	if (all_ns >= ENOUGH_NS)
		rt.waiting.long_ticks = multiply_divide(LONG_NS, all_ticks, all_ns);
	return multiply_divide(ticks, all_ns, all_ticks);
}

/* How much is gathered until the next stack: at random, so that no rhythm of the program decides
 * which of its waits are seen; once in LONG_NS on average. */
static uint64_t
next_gathered(struct thread *t)
{
	uint64_t x = t->waiting.random;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	t->waiting.random = x;
	return 1 + x % (2 * rt.waiting.long_ticks);
}

/* The number of voluntary context switches of the calling thread. UINT64_MAX: the kernel does not
 * count them. */
static uint64_t
own_switches(void)
{
	enum { OF_THREAD = 1, VOLUNTARY = 16, INVOLUNTARY = 17 };
	uint64_t usage[18] = {0};
	SYS(__NR_getrusage, OF_THREAD, usage);
	return usage[VOLUNTARY] || usage[INVOLUNTARY] ? usage[VOLUNTARY] : UINT64_MAX;
}

void
waiting_begin_thread(struct thread *t)
{
	if (!rt.waiting.on)
		return;
	t->waiting = (struct thread_waiting){
	        .wall = waiting_wall(), .cpu = cpu_time_of(t), .random = rt_tsc() | 1};
	t->waiting.next = next_gathered(t);
}

/* Reads the clocks of the thread. own: t is the calling thread, whose context switches say whether
 * it has waited at all. */
static void
take_clocks(struct thread *t, uint64_t wall, bool own)
{
	struct thread_waiting *w = &t->waiting;
	const uint64_t cpu = cpu_time_of(t), switches = own ? own_switches() : UINT64_MAX;
	const int64_t away = (int64_t)(wall - w->wall) - (int64_t)(cpu - w->cpu);
	if (away > 0 && (switches == UINT64_MAX || switches != w->switches))
		w->away += (uint64_t)away;
	w->switches = switches;
	w->wall = wall;
	w->cpu = cpu;
}

/* Drops the time off the CPU in which the thread was ready to run: all but that of calls which are
 * still to be recorded. */
static void
drop_rest(struct thread *t, uint64_t wall)
{
	const uint64_t still = nanoseconds_of(t->waiting.gathered, wall);
	if (t->waiting.away > still)
		t->waiting.away = still;
}

void
waiting_tick(struct thread *t)
{
	if (!rt.waiting.on || t->waiting.begin)
		return;
	const uint64_t wall = waiting_wall();
	take_clocks(t, wall, true);
	drop_rest(t, wall);
}

static enum st_stack_kind
kind_of_call(uint64_t number)
{
	static const uint8_t kinds[] = {
#define W(kind, name) [__NR_##name] = ST_STACK_##kind,
	        WAITING_CALLS(W)
#undef W
	};
	return number < sizeof kinds && kinds[number] ? (enum st_stack_kind)kinds[number]
	                                              : ST_STACK_OTHER;
}

/* Records a wait of the thread, of at most `ticks` ticks. own: t is the calling thread. False: the
 * ring of stacks has no space. */
static bool
record_wait(struct thread *t, uint64_t ticks, bool own)
{
	const uint64_t wall = waiting_wall(), ns = nanoseconds_of(ticks, wall);
	const struct recovered at = {.regs = t->regs};
	take_clocks(t, wall, own);
	const uint64_t waited = ns < t->waiting.away ? ns : t->waiting.away;
	if (waited && thread_is_measured(t) &&
	    !sample_stack(t, &at, kind_of_call(t->waiting.number), waited))
		return false;
	t->waiting.away -= waited;
	drop_rest(t, wall);
	return true;
}

/* Returns the ticks of the call under way, which has lasted long, to only one of the threads that
 * may record it. next: the new beginning of the call, or 0. */
static uint64_t
waiting_take_call(struct thread *t, uint64_t now, uint64_t next)
{
	const uint64_t begin = __atomic_exchange_n(&t->waiting.begin, next, __ATOMIC_SEQ_CST);
	return begin && now > begin ? now - begin : 0;
}

void
waiting_end_call(struct thread *t)
{
	struct thread_waiting *w = &t->waiting;
	const uint64_t now = rt_tsc(), begin = w->begin;
	uint64_t ticks = begin && now > begin ? now - begin : 0;
	if (ticks >= rt.waiting.long_ticks) {
		ticks = waiting_take_call(t, now, 0);
	} else {
		w->begin = 0;
		w->gathered += ticks;
		if (w->gathered < w->next)
			return;
		ticks = w->gathered;
		w->gathered = 0;
		w->next = next_gathered(t);
	}
	if (ticks && !record_wait(t, ticks, true))
		sample_dropped();
}

void
waiting_leave(struct thread *t)
{
	const uint64_t ticks = rt.waiting.on ? waiting_take_call(t, rt_tsc(), 0) : 0;
	if (ticks >= rt.waiting.long_ticks && !record_wait(t, ticks, true))
		sample_dropped();
}

void
waiting_end_all(struct thread *t)
{
	const int64_t pause[2] = {0, TRY_NS};
	unsigned tries = 0;
	if (!rt.waiting.on)
		return;
	rt_lock(&rt.thread_lock);
	for (struct thread *o = rt.threads; o; o = o->next_thread) {
		const uint64_t now = rt_tsc(), begin = o->waiting.begin;
		if (o == t || o->ended || o->own_process || !begin ||
		    now < begin + rt.waiting.long_ticks)
			continue;
		/* The call may go on, if the process does not end after all. */
		const uint64_t ticks = waiting_take_call(o, now, now);
		bool done = !ticks || record_wait(o, ticks, false);
		/* The controller needs a moment for the stacks of many threads. */
		for (; !done && tries < MOST_TRIES; tries++) {
			SYS(__NR_nanosleep, pause, 0);
			done = record_wait(o, ticks, false);
		}
		if (!done)
			sample_dropped();
	}
	rt_unlock(&rt.thread_lock);
}
