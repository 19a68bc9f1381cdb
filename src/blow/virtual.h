/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Virtual speed-up of a function in a process with probes, whose other threads are paused by
 * ptrace. */
#ifndef STROBE_BLOW_VIRTUAL_H
#define STROBE_BLOW_VIRTUAL_H

#include <sys/user.h>

#include "base/error.h"
#include "blow/flight.h"
#include "probe/probes.h"

struct st_virtual {
	const struct st_probes *probes; /* started, and not waited for */
	double speedup;                 /* 0 to 1; 0: no thread is paused */
	/* Whether the thread of a record (struct st_probe_area) is in the code that is sped up. */
	bool (*within)(void *arg, uint32_t record);
	/* In its place: whether a thread that is stopped for it is there. NULL: none is stopped. */
	bool (*look)(void *arg, pid_t tid, const struct user_regs_struct *regs);
	/* Called for each thread when the program has ended, with the seconds that the thread has
	 * paid. */
	void (*thread_paid)(void *arg, int64_t tid, double seconds);
	void *arg;
	struct st_flight *flights; /* requests whose latency is measured */
	size_t n_flights;
	double paid;  /* out: seconds that the first thread has paid (debt.h) */
	double stood; /* out: seconds of the pauses of all threads */
};

/* A process whose threads are traced, which serves many virtual speed-ups one after the other. No
 * thread is paused between them. */
struct st_virtual_watch;
/* Begins to trace all threads. The caller ends it also when it has failed. NULL with *e. */
struct st_virtual_watch *st_virtual_begin(const struct st_probes *probes, struct st_error *e);
/* Pauses threads by the rules of *v for the given seconds, or until over(v->arg) is true (NULL:
 * never). Calls v->thread_paid for each thread. -1 with *e: no thread is paused any more. */
st_status st_virtual_window(struct st_virtual_watch *w, struct st_virtual *v, double seconds,
                            bool (*over)(void *arg), struct st_error *e);
/* Only handles what the kernel says of the threads, so that none waits for that. */
st_status st_virtual_idle(struct st_virtual_watch *w, double seconds, bool (*over)(void *arg),
                          void *arg, struct st_error *e);
/* Resumes all threads, and traces them no more. NULL: nothing. */
void st_virtual_end(struct st_virtual_watch *w);

/* Whether the thread of a record is in a call of a function with one of these probes. */
bool st_virtual_in_call(const struct st_probes *probes, uint32_t record, const uint32_t *numbers,
                        size_t n);

/* Returns when the program has ended: 0. On failure -1 with *e, and the program runs on without
 * pauses. The caller waits for the program in both cases. */
st_status st_virtual_run(struct st_virtual *v, struct st_error *e);

#endif
