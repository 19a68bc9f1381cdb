/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_CONTROL_INTERNAL_H
#define STROBE_CONTROL_INTERNAL_H

#include <sys/types.h>
#include <sys/user.h>

#include "base/status.h"
#include "control/program.h"
#include "control/retreat.h"
#include "control/run.h"
#include "toolkit/runtime.h"
#include "wire/area.h"
#include "wire/control.h"

/* control/shared.c: a memory file for all programs of this run: the runtime's image at its
 * beginning, at ST_SHARED_LOOKUP the lookup tables, for one address. */
enum { ST_SHARED_LOOKUP = 1 << 20 };
struct st_shared {
	int fd;
	uint64_t lookup; /* the address */
	struct st_runtime_image image;
};
/* Good until the next call. NULL: it cannot be made. */
const struct st_shared *st_shared_for(uint64_t lookup, struct st_error *e);

/* control/remote.c: a stopped process made to do system calls. */
enum { ST_REMOTE_WORDS = 7 }; /* of code that is patched in */
struct st_remote {
	pid_t pid;
	struct user_regs_struct saved; /* as it was stopped */
	uint64_t at;                   /* where the code for calls lies */
	bool single;                   /* it makes one call, by registers */
	uint64_t table;                /* else: memory of the process for a table of calls */
	struct st_retreat retreat;     /* the code is there, if there is room for it */
	long patched[ST_REMOTE_WORDS]; /* else what was there that the code takes the place of */
	uint64_t blocked;              /* signals that it blocks by itself */
	bool ignores_traps;            /* SIGTRAP, which the breakpoint makes the kernel forget */
};
struct st_remote_call {
	int64_t nr; /* then the kernel's answer, -errno on failure; -ESRCH when the process is gone
	             */
	uint64_t arg[6];
};
enum { ST_REMOTE_MOST = 24 }; /* calls at once */
/* The largest size of the table in bytes. */
enum { ST_REMOTE_TABLE = ST_REMOTE_MOST * (int)sizeof(struct st_remote_call) };
/* Waits for the next stop of the thread; false when it has ended instead. Its end is not taken: the
 * caller that waits for the ends of all processes takes it. */
bool st_next_stop(pid_t pid, int *signal_and_event);
/* table: free memory of ST_REMOTE_TABLE bytes. */
st_status st_remote_begin(struct st_remote *r, pid_t pid, const struct user_regs_struct *saved,
                          uint64_t table, struct st_error *e);
/* The same for a thread of a running process, which is traced with PTRACE_O_TRACESYSGOOD: one call
 * at a time. From here on it blocks every signal; `mask` are those that it blocks by itself. -1: it
 * has no vDSO. */
st_status st_remote_borrow(struct st_remote *r, pid_t tid, const struct user_regs_struct *saved,
                           uint64_t mask);
/* Makes the calls in order, up to the first that fails. Returns the number that succeeded. */
unsigned st_remote_calls(struct st_remote *r, struct st_remote_call *calls, unsigned n);
/* A single one; its answer. */
long st_remote_call(struct st_remote *r, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                    uint64_t f, uint64_t g);
/* Restores the code and the signal mask: after this the process can be detached. */
st_status st_remote_end(struct st_remote *r);
/* Prepares what the process does if the tracer is killed from now on: it closes the descriptors
 * whose numbers stand from fds to fds_end, and makes the given calls, of which it has a copy at
 * `undo`. */
void st_remote_way_back(struct st_remote *r, uint64_t undo, const struct st_remote_call *calls,
                        unsigned n, uint64_t fds, uint64_t fds_end);
/* Lets the thread take its way back to r->saved, which is n calls long, and lets go of it. False:
 * it is where it was. */
bool st_remote_run_back(struct st_remote *r, unsigned n);
/* The process' memory; false when it is not there, or may not be written. */
bool st_remote_read(const struct st_remote *r, uint64_t from, void *to, size_t n);
bool st_remote_write(const struct st_remote *r, uint64_t to, const void *from, size_t n);

/* control/limits.c: strobe's own limits on address space, data, file sizes and descriptors are
 * lifted, as far as it may; its child takes them back before it becomes the program. */
void st_limits_lift(void);
void st_limits_restore(void);
/* Those of a program that is being prepared: what they are goes to the runtime, 0 for none. */
void st_limits_of(pid_t pid, uint64_t limits[2][2]);
void st_limits_lift_of(pid_t pid);
/* For one that was not prepared after all. */
void st_limits_return_to(pid_t pid, uint64_t limits[2][2]);
/* The same, with space for as many bytes more of address space and of data, which are not the
 * program's. */
void st_limits_return_with(pid_t pid, uint64_t limits[2][2], const uint64_t more[2]);
/* Returns the name of a limit that could not be raised to that many bytes, or NULL. */
const char *st_limits_in_the_way(uint64_t least);

/* control/memory.c: memory that processes share, all 0, which takes no more room than is written
 * to. NULL with *e; *fd is -1 then. */
void *st_memory_make(size_t bytes, int *fd, struct st_error *e);

/* control/pool.c: the pool of a budget that all processes of a run share. */
struct st_pool {
	int fd; /* of the memory that goes to each of them; -1: there is none */
	struct st_budget_pool *here; /* or NULL */
};
/* A pool as it is at the beginning. */
struct st_budget_pool st_pool_first(const struct st_budget_plan *b, bool attached);
/* Makes it, if the run needs one. */
st_status st_pool_make(struct st_pool *pool, const struct st_run_options *options,
                       struct st_error *e);
/* Writes the account of the whole tree to the results of its first process. */
void st_pool_end(struct st_pool *pool, struct st_results_header *first);

/* control/start.c: a child that is to become the program, stopped when it has, traced and killed
 * with us. channel: the ends of a socket, of which the program has the second, under the same
 * number. */
pid_t st_start_traced(const char *path, const struct st_run_options *o, int channel[2],
                      struct st_error *e);

struct st_injected {
	struct st_results_header *results; /* mapped */
	int channel;                       /* socket to the process, with follow; else -1 */
};
/* control/inject.c: maps the runtime into a process stopped at exec and lets it go, detached, into
 * the runtime. socket: its ends here and there; NULL: it is to make one,
 * of which we fetch an end, which not every container allows. */
st_status st_inject(pid_t pid, const struct st_run_options *options, const struct st_pool *pool,
                    const int socket[2], struct st_injected *out, struct st_error *e);

/* control/results.c: sizes and offsets of a new results file. */
void st_results_layout(struct st_results_header *h);
/* Says where the file is mapped in the target, and moves the chunks to where they must lie then;
 * once. */
void st_results_place(struct st_results_header *h, uint64_t at);
/* control/layout.c: from here on the first page, which says where things are, is ours alone: what
 * the program writes there is not seen. fd: the file. */
bool st_results_freeze(struct st_results_header *h, int fd);
/* Maps results that came from elsewhere, if they can be such; what their first page says is not
 * read but taken from others like them. NULL with errno. */
struct st_results_header *st_results_map(int fd, const struct st_results_header *like);
/* Gives back what was never used, and moves the rest together with others': else the holes between
 * them would be a little too small for the next results. They have ended. Where they are then. */
struct st_results_header *st_results_shrink(struct st_results_header *h, size_t *size);
/* control/memory.c: a memory file of that size, which nobody can make shorter. -1 with errno. */
int st_memory_file(uint64_t bytes);
/* control/tools.c: writes the run's tools and their options into results that have their layout.
 * region: the region's address in the target. */
void st_results_tools(struct st_results_header *h, const struct st_run_options *options,
                      uint64_t region);

#endif
