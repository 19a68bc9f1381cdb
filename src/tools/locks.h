/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state that the tool locks keeps for locks and threads, and the functions that it knows. */
#ifndef STROBE_TOOLS_LOCKS_H
#define STROBE_TOOLS_LOCKS_H

#include <strobe/tool.h>

/* Up to WRITE_LOCK they are held. */
enum kind { MUTEX, SPIN, READ_LOCK, WRITE_LOCK, CONDITION, SEMAPHORE, BARRIER, JOIN, FUTEX };
enum role { NOTHING, TAKES, TRIES, RELEASES };
enum { MOST_PENDING = 8, MOST_SHARED = 32, MOST_NAMES = 64, TEXT_BYTES = 2048 };

/* By its address. Threads are their number + 1; 0: none. */
struct lock {
	uint64_t address, first_site;
	uint64_t holder, depth, since, holder_site; /* the thread that holds it exclusively */
	uint64_t readers, reader, reader_site;      /* how many share it, and the latest of them */
	uint64_t waiters;                           /* calls that wait now */
	/* The latest release, signal or post, and where that thread had taken it. */
	uint64_t released_by, released_at, released_stack, last_site;
};

/* A call that is under way. */
struct pending {
	enum kind kind;
	enum role role;
	uint64_t sp, site, begin, waits;
	uint64_t stack;               /* of a bare futex call */
	uint64_t holder, holder_site; /* the thread that it waits for; 0: not known */
	struct lock *lock;
	struct lock *mutex; /* that a condition variable's wait releases; else NULL */
};

struct shared {
	struct lock *lock;
	uint64_t since;
};

/* Of each thread. */
struct state {
	struct pending pending[MOST_PENDING];
	uint64_t depth;
	struct pending bare; /* a futex call outside of them */
	struct shared shared[MOST_SHARED];
	uint64_t n_shared;
	const char *names[MOST_NAMES]; /* of a stack, the innermost first */
	unsigned n_names;
	char text[TEXT_BYTES];
};

struct lock_function {
	const char *name;
	enum kind kind;
	enum role role;
};

static const struct lock_function lock_functions[] = {
        {"pthread_mutex_lock", MUTEX, TAKES},
        {"pthread_mutex_timedlock", MUTEX, TAKES},
        {"pthread_mutex_clocklock", MUTEX, TAKES},
        {"pthread_mutex_trylock", MUTEX, TRIES},
        {"pthread_mutex_unlock", MUTEX, RELEASES},
        {"pthread_spin_lock", SPIN, TAKES},
        {"pthread_spin_trylock", SPIN, TRIES},
        {"pthread_spin_unlock", SPIN, RELEASES},
        {"pthread_rwlock_rdlock", READ_LOCK, TAKES},
        {"pthread_rwlock_timedrdlock", READ_LOCK, TAKES},
        {"pthread_rwlock_clockrdlock", READ_LOCK, TAKES},
        {"pthread_rwlock_tryrdlock", READ_LOCK, TRIES},
        {"pthread_rwlock_wrlock", WRITE_LOCK, TAKES},
        {"pthread_rwlock_timedwrlock", WRITE_LOCK, TAKES},
        {"pthread_rwlock_clockwrlock", WRITE_LOCK, TAKES},
        {"pthread_rwlock_trywrlock", WRITE_LOCK, TRIES},
        {"pthread_rwlock_unlock", READ_LOCK, RELEASES},
        {"pthread_cond_wait", CONDITION, TAKES},
        {"pthread_cond_timedwait", CONDITION, TAKES},
        {"pthread_cond_clockwait", CONDITION, TAKES},
        {"pthread_cond_signal", CONDITION, RELEASES},
        {"pthread_cond_broadcast", CONDITION, RELEASES},
        {"sem_wait", SEMAPHORE, TAKES},
        {"sem_timedwait", SEMAPHORE, TAKES},
        {"sem_clockwait", SEMAPHORE, TAKES},
        {"sem_trywait", SEMAPHORE, TRIES},
        {"sem_post", SEMAPHORE, RELEASES},
        {"pthread_barrier_wait", BARRIER, TAKES},
        {"pthread_join", JOIN, TAKES},
        {"pthread_timedjoin_np", JOIN, TAKES},
        {"pthread_clockjoin_np", JOIN, TAKES},
        {NULL, MUTEX, NOTHING},
};

#endif
