/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a command takes, natively, and what else the kernel says of it: runs that are repeated,
 * each measured from the moment before its execve to the end of its process.
 */
#ifndef STROBE_TIMING_TIMING_H
#define STROBE_TIMING_TIMING_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct st_profile;

/* Metrics of a run: M(identifier, "metric", kind, "unit"). */
#define ST_TIMING_METRICS(M)                                                                       \
	M(WALL, "wall", ST_KIND_TIME, "ns")                                                        \
	M(USER, "user", ST_KIND_TIME, "ns")                                                        \
	M(SYSTEM, "system", ST_KIND_TIME, "ns")                                                    \
	M(MEMORY, "peak memory", ST_KIND_MEMORY, "B")                                              \
	M(MINOR_FAULTS, "minor faults", ST_KIND_COUNT, "")                                         \
	M(MAJOR_FAULTS, "major faults", ST_KIND_COUNT, "")                                         \
	M(VOLUNTARY, "voluntary switches", ST_KIND_COUNT, "")                                      \
	M(INVOLUNTARY, "involuntary switches", ST_KIND_COUNT, "")

enum st_timing_metric {
#define M(id, name, kind, unit) ST_TIMING_##id,
	ST_TIMING_METRICS(M)
#undef M
	        ST_TIMING_COUNT
};

/* Two runs that begin at once: right before its execve, each writes a byte to the pipe of the other
 * one and reads one from its own. The pipes remain those of the caller. */
struct st_timing_meeting {
	int own, other;
};

struct st_timing_command {
	char *const *argv;
	const char *input;     /* the program's standard input */
	const char *streams;   /* takes its standard output and its errors */
	const char *errors;    /* takes its errors in place of streams; may be NULL */
	const cpu_set_t *cpus; /* that it may run on; NULL: as strobe itself */
	const char *folder;    /* that it runs in; NULL: the current one */
	char *const *settings; /* NAME=VALUE, NULL-terminated, for its environment; may be NULL */
	const struct st_timing_meeting *meeting; /* NULL: it begins alone */
	int orphan; /* the signal that it gets when this process dies; 0: none */
};

struct st_timing_run {
	/* Of the process and the children that it waited for. */
	double v[ST_TIMING_COUNT];
	/* The peak memory is at most what strobe's own child used before execve: it says no more.
	 */
	bool memory_hidden;
	int exit;   /* what it exited with, or the signal that ended it plus 128 */
	int signal; /* 0: none did */
};

/* Runs the command once. 0, or -1 with *e: it could not be run. */
st_status st_timing_run(const struct st_timing_command *c, struct st_timing_run *out,
                        struct st_error *e);

struct st_timing {
	struct st_timing_command command;
	size_t warmups, repeat;
	const char *prepare;  /* a shell command before each run, which is not measured; or NULL */
	const char *workload; /* its name; NULL: none */
	double size;          /* of the workload; NAN: unknown */
	/* Told before each run, warm-ups first; may be NULL. */
	void (*show)(void *arg, size_t run, size_t runs);
	void *arg;
};

/* Warms up, then adds the series of the repetitions to the profile, and what was run where. 0, or
 * -1 with *e when not even one repetition was finished. It ends early after a signal. */
st_status st_timing_measure(const struct st_timing *t, struct st_profile *p, struct st_error *e);
/* The exit code of the command as a whole: 0, or that of the first run that failed. */
int st_timing_exit(const struct st_profile *p);

/* From here on SIGINT, SIGTERM and SIGHUP end what is measured after the run that they meet. */
void st_timing_watch_signals(void);
/* The signal that came, 0: none. */
int st_timing_interrupted(void);

/* A list such as "0,2-4" of CPUs that this process may use. 0, or -1 with *e. */
st_status st_timing_cpus(const char *list, cpu_set_t *cpus, struct st_error *e);

#endif
