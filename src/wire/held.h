/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks that a thread holds, from which records of calls have the time during which a lock was
 * held. */
#ifndef STROBE_WIRE_HELD_H
#define STROBE_WIRE_HELD_H

#include <stdint.h>

/* What a function does with a lock. The lock is the first argument, and the mutex of a wait for a
 * condition variable is the second one. */
enum st_held_role {
	ST_HELD_NOTHING,
	ST_HELD_TAKES,    /* the thread holds the lock if the function succeeds */
	ST_HELD_SHARES,   /* the same of a read-write lock, which several threads can hold */
	ST_HELD_RELEASES, /* the lock is not held from the function's entry on */
	ST_HELD_LEAVES,   /* the same of a read-write lock */
	ST_HELD_WAITS,    /* the mutex is released at the entry and taken at the return */
};

/* The amount of an action ST_PROBE_LOCK: the role, and the metric to which the time in the function
 * is added (enum st_record_metric; ST_RECORD_TIME: none). */
enum { ST_HELD_METRIC_BITS = 8 };

enum {
	ST_HELD_MOST = 32,  /* locks of a thread that are told apart */
	ST_HELD_TAKING = 8, /* calls of a thread that take locks at a time, within each other */
};

struct st_held_lock {
	uint64_t lock;     /* its address; 0: the entry is free */
	uint64_t released; /* ticks when another thread has released it; 0: none has; atomic */
	uint32_t times;    /* how often the thread has taken it */
	uint32_t shared;   /* only this thread releases its share */
};

/* A call that takes a lock and has not returned. */
struct st_held_call {
	uint64_t slot; /* address of its return address; 0: the entry is free */
	uint64_t lock;
};

/* One per thread; only the runtime uses it. */
struct st_held {
	uint32_t n;     /* locks below that are held */
	uint32_t extra; /* locks for which there was no free entry */
	uint32_t gone;  /* another thread has released one of them; atomic */
	uint32_t unused;
	uint64_t since; /* when the first of those that are held now was taken: net ticks */
	struct st_held_lock locks[ST_HELD_MOST];
	struct st_held_call taking[ST_HELD_TAKING];
};

#endif
