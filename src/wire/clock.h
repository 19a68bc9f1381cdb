/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clocks of a program that stand still while its threads are paused (--hide-pauses): what a thread
 * reads is the kernel's time less its hidden time, which the controller writes. Absolute deadlines,
 * which the program computes from what it has read, get the hidden time added before they reach the
 * kernel.
 */
#ifndef STROBE_WIRE_CLOCK_H
#define STROBE_WIRE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ST_CLOCK_SLOTS = 1 << 12, /* threads of a process that have hidden time */
	ST_CLOCK_IDS = 12,        /* clocks are numbered as the kernel numbers them */
	ST_CLOCK_REALTIME = 0,
	ST_CLOCK_REALTIME_COARSE = 5,
	ST_CLOCK_NOBODY = UINT32_MAX, /* the slot is that of a thread that has ended */
};

/* The hidden time of a thread. Slots are hashed by thread ID. */
struct st_clock_slot {
	uint32_t tid; /* atomic; 0: free, and no slot after it is looked at */
	uint32_t unused;
	uint64_t hidden_ns; /* atomic */
};

/* Whether the clock goes on while a thread is paused: all clocks except those of CPU time. */
static inline bool
st_clock_is_hidden(uint64_t id)
{
	enum { CPU_CLOCKS = 1 << 2 | 1 << 3, UNUSED = 1 << 10 };
	return id < ST_CLOCK_IDS && !((CPU_CLOCKS | UNUSED) >> id & 1);
}

/* What a thread has read from a clock last: the kernel's time, and the hidden time in it. */
struct st_clock_seen {
	int64_t real, hidden;
};

/* Returns the time for the program. Hidden time may grow by a whole step at once, so a thread would
 * see its clock go back: the hidden time that counts grows at most as fast as the kernel's clock.
 * If the kernel's clock has been set back, so is that of the program. */
static inline int64_t
st_clock_hide(struct st_clock_seen *seen, int64_t real, int64_t hidden)
{
	const int64_t passed = real > seen->real ? real - seen->real : 0;
	if (hidden > seen->hidden && hidden - seen->hidden > passed)
		hidden = seen->hidden + passed;
	*seen = (struct st_clock_seen){real, hidden};
	return real - hidden;
}

/* Functions of the vDSO whose results are changed: the amount of ST_PROBE_CLOCK. */
enum st_clock_call { ST_CLOCK_GETTIME, ST_CLOCK_GETTIMEOFDAY, ST_CLOCK_TIME };

/* Which argument of a function is a deadline: the amount of ST_PROBE_DEADLINE. */
enum st_clock_deadline {
	/* 0 to 5: this argument is the address of one */
	ST_DEADLINE_NANOSLEEP = 8, /* clock_nanosleep */
	ST_DEADLINE_TIMER,         /* timerfd_settime, timer_settime */
	ST_DEADLINE_SYSCALL,       /* syscall: the first argument is the number */
};

/* As the kernel has it; a deadline is the first one, of a timer the second one. */
struct st_clock_time {
	int64_t seconds, nanoseconds;
};
struct st_clock_copy {
	struct st_clock_time times[2];
};
/* Each thread has this number of copies, which it uses in turn: a signal handler may wait, too.
 * They stay when probes are removed, since threads may wait for them. */
enum { ST_CLOCK_COPIES = 8 };

enum { ST_CLOCK_NS = 1000000000 };

/* Adds the hidden time to a deadline. False: it is no time, or too late for that, and stays. */
static inline bool
st_clock_later(struct st_clock_time *t, uint64_t hidden_ns)
{
	const int64_t most_seconds = INT64_MAX / 2;
	if (t->seconds < 0 || t->seconds > most_seconds || t->nanoseconds < 0 ||
	    t->nanoseconds >= ST_CLOCK_NS)
		return false;
	const uint64_t ns = (uint64_t)t->nanoseconds + hidden_ns % ST_CLOCK_NS;
	t->seconds += (int64_t)(hidden_ns / ST_CLOCK_NS + ns / ST_CLOCK_NS);
	t->nanoseconds = (int64_t)(ns % ST_CLOCK_NS);
	return true;
}

#endif
