/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process whose functions can have probes at their entries (src/rt/probe): it executes its own
 * code, without a code cache. Which functions get some, and what is written for it, is decided
 * above (src/probe); here is how the process is started, written to, and waited for.
 *
 *	st_probing_start -> st_probing_wait -> the area -> st_probing_free
 */
#ifndef STROBE_CONTROL_PROBE_H
#define STROBE_CONTROL_PROBE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/frequency.h"
#include "base/status.h"
#include "base/vec.h"
#include "control/process_cpu.h"
#include "wire/probe.h"
#include "wire/probe_arena.h"

struct st_executed;
struct st_remote;
struct st_threads;

/* Memory of the process for stubs, which only we write. It begins with the address of the handler
 * that they call. */
struct st_arena {
	uint64_t at;
	uint64_t used;    /* bytes */
	uint64_t patched; /* number of struct st_arena_patch at its end */
};
enum { ST_ARENAS = 3 };
/* Whether the arena has space for another stub or patch. */
static inline bool
st_arena_has_room(const struct st_arena *a)
{
	return a->at && a->used + 2 * ST_ARENA_GAP <= st_arena_patch_at(a->patched);
}

/* Bytes of the process that have others in their place now. */
enum { ST_PATCH_BYTES = ST_ARENA_PATCH, ST_PATCH_INSNS = 5 };
struct st_patch {
	uint64_t at;
	uint32_t function; /* whose entry or exit it is */
	uint8_t n, n_insns;
	uint8_t is[ST_PATCH_BYTES], was[ST_PATCH_BYTES];
	/* Where a thread goes on that has stopped at one of the instructions: `from` bytes behind
	 * at, `to` behind stub. */
	uint64_t stub;
	struct {
		uint8_t from, to;
	} insns[ST_PATCH_INSNS];
};

struct st_probing {
	/* Puts probes into the images that are mapped now and were not before: called when the
	 * program has been prepared and not run yet, and then, by a thread of its own, whenever
	 * the dynamic linker has changed its list. -1 with *e. */
	st_status (*install)(void *arg, struct st_error *e);
	/* The link-time address of a function of the file; 0: it has none of that name. */
	uint64_t (*find)(void *arg, const char *path, const char *function);
	void *arg;
	/* Called again and again, by who waits for the end, while the process runs, and a last time
	 * when a child has ended and is still there; NULL: not. It does not overlap with
	 * `install`. */
	void (*look)(void *arg, bool ended);
	/* Strobe stops with the program, and goes on: called before and after; NULL: not. */
	void (*pause)(void *arg, bool begins);
	uint32_t most_depth; /* timed calls within each other; 0: no limit */
	bool scoped;         /* calls are timed while a function with ST_PROBE_SCOPE is active */
	bool uses_cpu;       /* time is CPU time of the thread */
	bool both_clocks;    /* cells also have the thread's CPU time: clock_cpu */
	bool whole;   /* map the whole area: a process reads cells that another one has allocated */
	bool untimed; /* nothing is timed: the cost of timing is not measured */
	bool records_calls;  /* some functions have ST_PROBE_RECORD */
	bool reads_clock;    /* and their rows have the thread's CPU time */
	bool samples;        /* some functions have calls that are not timed */
	bool follows;        /* children are measured, too: `again` is given */
	bool only_exec;      /* with `follows`: only what the process itself executes is measured */
	bool tells_executed; /* without `follows`: fill in `executed` */
	/* Returns what is to take a program that the process, or a child of it, has become; NULL:
	 * there is no memory for it. */
	struct st_probing *(*again)(void *arg);
	void (*taken)(void *arg); /* it has its probes, and has not run yet; NULL: not called */
	bool dies;                /* as in struct st_run_options */
	bool noisy;               /* functions may have noise: `noise` of the area */
	bool records;             /* entries and returns one by one: control/probe_events.h */
	bool hides_pauses;        /* the program's clocks stand still while threads are paused:
	                             wire/clock.h */
	pid_t pid;
	int memory;                                           /* /proc/PID/mem; -1: not open */
	uint64_t entry, trampoline, exit, alloc, read, point; /* addresses of the probe runtime, */
	uint64_t image, image_bytes;                          /* of all of it, */
	uint64_t context, note, threads;                      /* and of its memory; */
	uint64_t shared, shared_bytes;                        /* that of the area, which is here: */
	struct st_probe_area *area;
	/* Cost of a probe in 1/256 ticks (ns with uses_cpu): between its two time stamps, in all,
	 * and of a call that is only counted. */
	uint32_t cost_within, cost, cost_counted;
	uint32_t cost_reading; /* with records_calls: added to cost_within if the call's data is
	                          read by the kernel */
	double cost_error;     /* ticks that the second may be wrong by */
	/* With reads_clock, in ns: the CPU time that recording adds to a call, the part of it that
	 * the runtime does not subtract, and the error of this part. */
	double cost_clock, cost_clock_left, cost_clock_error;
	uint64_t clock, deadline;          /* with hides_pauses: of further handlers */
	struct st_arena arenas[ST_ARENAS]; /* at 0: it is not needed */
	uint64_t limits[2][2]; /* of the process' memory, as they were: control/limits.c */
	uint64_t linker_stop;  /* where the dynamic linker tells of changes; 0: nowhere */
	/* Once it has ended. */
	int status; /* as wait has it */
	struct rusage usage;
	double seconds, tsc_hz; /* tsc_hz: of the ticks in the area, 1e9 with uses_cpu */
	uint64_t end;           /* ticks; 0: not known */
	bool has_end;           /* `end` stays as it is */
	uint64_t ended;   /* with `follows`: when its process has ended, whatever it had become */
	int64_t start_ns; /* CLOCK_REALTIME */
	/* While it runs. */
	struct st_moment begin;
	uint64_t scratch; /* memory of the process for remote calls; 0: there is none yet */
	ST_VEC(struct st_patch) patches;
	bool attached;              /* to a process that is not our child, */
	struct st_process_cpu used; /* and what that had used before */
	struct st_threads *stopped; /* its threads while probes are installed in it; else NULL */
	bool is_leftover;           /* the probes are those of a killed strobe */
	size_t cleared;             /* patches of a killed strobe that were removed before */
	bool own_end;               /* it has ended by itself */
	bool left;                  /* it runs without probes again, */
	bool cut;                   /* and its own code, since `end` */
	pthread_t attendant;        /* answers the linker's questions */
	pthread_mutex_t busy;
	bool attends, ends;
	/* With `follows`. */
	pthread_t follower; /* waits for execve */
	bool has_follower;
	pid_t program; /* that strobe has started: its end is left to st_probing_wait */
	pthread_mutex_t
	        *held;  /* while a process is becoming another program: nobody else waits for it */
	uint64_t inode; /* of the area, by which the processes are known that have it */
	uint32_t unfollowed;  /* programs that take no probes, */
	char *unfollowed_why; /* and why the first one does not */
	/* With `tells_executed`. */
	struct st_executed *executing; /* NULL: the program has ended */
	char *executed; /* the last program that the process has executed; NULL: none is known */
	char *command;  /* as the process calls itself that has become another program */
};

/* Starts the program with its probes. install, find and arg are given. 0, or -1 with *e: it has not
 * run then. The caller frees in any case. */
st_status st_probing_start(struct st_probing *p, char *const *argv, bool own_group,
                           struct st_error *e);
/* Waits until it has ended; removes the probes after `seconds` seconds (0: never). With `follows`,
 * children may still run: st_probing_finish is the caller's. */
st_status st_probing_wait(struct st_probing *p, double seconds, struct st_error *e);
/* Puts probes into a running process; removes them after `seconds` seconds (0: when strobe gets a
 * signal). 0, or -1 with *e: the process runs on unchanged. */
st_status st_probing_attach(struct st_probing *p, pid_t pid, struct st_error *e);
st_status st_probing_detach(struct st_probing *p, double seconds, struct st_error *e);
void st_probing_free(struct st_probing *p);

/* Probes of a killed strobe in a process: control/probe_leftovers.c. */
struct st_probe_leftovers {
	pid_t owner;    /* the killed strobe; 0: there were no probes */
	size_t patches; /* patches in the code that were removed */
};
/* Removes them. -1 with *e: the owner is alive, and the probes stay, or removing them has failed.
 */
st_status st_probing_clear(pid_t pid, struct st_probe_leftovers *found, struct st_error *e);

/* The process' memory, wherever it is mapped, whatever the program may do with it. */
bool st_probing_write(const struct st_probing *p, uint64_t to, const void *from, size_t n);
bool st_probing_read(const struct st_probing *p, uint64_t from, void *to, size_t n);

/* control/probe_memory.c: where the kernel has mapped the vDSO of the process; 0: nowhere. */
uint64_t st_probing_vdso(pid_t pid);
/* Tells the runtime where the vDSO's clock_gettime goes on after its probe. */
bool st_probing_tell_clock(const struct st_probing *p, uint64_t rest);
/* From now on no return address is replaced: calls are counted. */
void st_probing_only_counts(struct st_probing *p);
/* Overwrites code. False: it cannot be written, or no memory is left. */
bool st_probing_patch(struct st_probing *p, const struct st_patch *patch);

/* control/probe_remove.c: takes the probes of functions out of the process, whose threads are
 * stopped meanwhile; wanted: by their numbers. False: they did not stop in `patience` seconds. */
bool st_probing_remove(struct st_probing *p, const bool *wanted, double patience);
/* Lets `look` look. */
void st_probing_look(struct st_probing *p, bool ended);

/* For the files of control/probe*.c. */
/* The code of the probe runtime, embedded by probe_blob.S. */
extern const unsigned char st_probe_blob[], st_probe_blob_end[];
static inline size_t
st_probe_blob_bytes(void)
{
	return (uintptr_t)st_probe_blob_end - (uintptr_t)st_probe_blob;
}
/* control/probe_memory.c: maps what the runtime needs into the stopped process. */
st_status st_probing_map(struct st_probing *p, struct st_remote *r, struct st_error *e);
/* Gives it back, once no thread is in it. */
void st_probing_unmap(struct st_probing *p, struct st_remote *r);
/* Tells the runtime where threads have their numbers: where that one has its own, whose thread
 * pointer is given. */
st_status st_probing_tell_tid(struct st_probing *p, pid_t tid, uint64_t fs);
/* Undoes a patch, where the bytes are still ours. */
void st_probing_restore(const struct st_probing *p, const struct st_patch *patch);
/* control/probe_run.c: opens the process' memory; notes the time, and at the end how much has
 * passed; begins and ends to answer the dynamic linker. */
st_status st_probing_open(struct st_probing *p, struct st_error *e);
void st_probing_begin(struct st_probing *p);
void st_probing_attend(struct st_probing *p);
void st_probing_unattend(struct st_probing *p);
/* Ends the threads that serve the process, without waiting for them: nobody needs them any more. */
void st_probing_dismiss(struct st_probing *p);
void st_probing_finish(struct st_probing *p);
/* control/probe_attach.c: stops all threads once: the code becomes the program's, and the memory is
 * given back. True when nothing is left to do. *stopped: they could be. A child's end may be seen
 * meanwhile (own_end, status). */
bool st_probing_leave(struct st_probing *p, bool *stopped);
/* Moves threads that stand at an instruction of the patch, other than the first, to its copy. */
void st_probing_move_threads(const struct st_probing *p, const struct st_patch *patch);
/* The process may have become another program, in which what lies at these addresses is its own. */
bool st_probing_is_in(const struct st_probing *p);
/* control/probe_follow.c: begins and ends to follow what its processes become. */
void st_probing_follow(struct st_probing *p);
void st_probing_unfollow(struct st_probing *p);
/* Finds the address and the inode of the area that a process has mapped. False: it has none. */
bool st_probe_area_of(const char *pid, uint64_t *at, uint64_t *inode);
/* Is there a process, not ended, that has the area of one of these? */
bool st_probing_is_used(struct st_probing *const *v, size_t n);
/* control/probe_run.c: the process has stopped at the beginning of a program, and takes probes
 * before it goes on. */
st_status st_probing_prepare(struct st_probing *p, struct st_error *e);
/* control/probe_stop.c: where the dynamic linker of the process tells of changes; 0: nowhere. */
uint64_t st_probing_linker_stop(struct st_probing *p);
/* control/probe_calibrate.c: fills in the cost of a probe; 0 when that cannot be measured. */
void st_probing_calibrate(struct st_probing *p);
/* control/probe_stop.c: lets the program run up to where its libraries are mapped and it has a
 * thread pointer, before its own first instruction. */
st_status st_probing_run_to_start(struct st_probing *p, struct st_error *e);

#endif
