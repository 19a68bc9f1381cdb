/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Launching a program under the engine and waiting for it: the controller's side of the contract.
 */
#ifndef STROBE_CONTROL_RUN_H
#define STROBE_CONTROL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"
#include "wire/results/header.h"

struct st_tool_file; /* toolkit/toolfile.h */
struct st_process;
struct st_qos; /* qos/qos.h */

/* A tool that a run uses. */
struct st_run_tool {
	const char *name;
	uint32_t index;                  /* into the table of built-in tools, or ST_TOOL_LOADED */
	const struct st_tool_file *file; /* of a loaded tool */
	/* "name=value" texts, each with its NUL, one behind the other, an empty one at the end;
	 * NULL: no option is given. */
	const char *options;
	size_t options_bytes;
};

/* Rows of a stream that one thread has made. */
struct st_row_chunk {
	uint32_t stream, thread; /* index of the thread record */
	const void *rows;        /* valid during the call */
	size_t bytes;
};

/* Takes the rows that the tools do not consume, while the program runs. For each process begin is
 * called first and end last; never two calls at a time, but from several threads. */
struct st_row_sink {
	void (*begin)(void *arg, const struct st_results_header *results, size_t size);
	void (*take)(void *arg, const struct st_results_header *results,
	             const struct st_row_chunk *chunk);
	void (*end)(void *arg, const struct st_results_header *results);
	void *arg;
};

struct st_run_options {
	char *const *argv; /* the program and its arguments, NULL-terminated; argv[0] is looked up
	                      in PATH */
	const struct st_run_tool *tools;
	size_t n_tools;   /* at most ST_MAX_TOOLS */
	bool follow;      /* take children along, and what they execute */
	bool follow_exec; /* take along what the program executes in its own process (execve) */
	bool serves;      /* a fork server: control/served.h sets it */
	bool dies;        /* the kernel ends the program when the thread that starts it ends */
	/* The program begins a process group: all of it gets the signals that strobe gets, and
	 * SIGKILL when that is SIGALRM. */
	bool own_group;
	uint32_t sample_hz; /* samples per second of CPU time and thread; 0: none */
	uint32_t stress;    /* ST_STRESS_* bits of wire/plan.h, for tests */
	/* Called about ten times a second while the program runs, and once at the end, with its
	 * processes; may be NULL. */
	void (*progress)(void *arg, const struct st_process *processes, size_t n, double elapsed);
	/* Called before strobe itself stops, by job control, and when it goes on; may be NULL. */
	void (*pause)(void *progress_arg, bool begins);
	void *progress_arg;
	/* Called once a running process has been attached: how many threads, and how long it took
	 * from the first that was stopped until the runtime had them; may be NULL. */
	void (*attached)(size_t threads, double seconds);
	/* Called for each sample's stack while the program runs; NULL: none are taken. The s->bytes
	 * of stack are valid during the call. */
	void (*on_stack)(void *arg, const struct st_results_header *results,
	                 const struct st_stack *s, const unsigned char *bytes);
	bool take_waits; /* with it: stacks of what threads wait for, and of the kernel's work */
	/* With it: the results have moved, once their process has ended. */
	void (*on_moved)(void *stack_arg, const struct st_results_header *from,
	                 const struct st_results_header *to);
	void *stack_arg;
	const struct st_row_sink *rows; /* NULL: rows are lost */
	/* The region of interest. */
	uint32_t region_by;   /* ST_REGION_* of wire/plan.h */
	double delay, length; /* seconds; 0: none: it begins so long after the program, and ends so
	                         long after it has begun */
	int toggle;           /* a signal to strobe that begins or ends it; 0: none */
	bool unique;          /* each block is measured once; needs on_image */
	bool keeps_contexts;  /* a log of contexts: budgets are not charged for strobe's own time */
	bool suppresses;      /* contexts that the log has need not be followed; needs on_image */
	struct st_known *known;       /* made by st_run_program; NULL: each process has its own */
	uint32_t unique_last;         /* a block again after N others; 0: never */
	struct st_budget_plan budget; /* of each thread: amount, period and clock */
	struct st_qos *qos;  /* what changes its amount while the program runs; NULL: nothing */
	const char *threads; /* which threads are measured: st_region_threads; NULL: all */
	/* Called when a process comes under the engine, stopped if it begins there; may be NULL. */
	void (*on_process)(void *arg, pid_t pid);
	void *process_arg;
	/* Called for each executable mapping that the runtime has found, before the program goes
	 * on: adds entries (st_results_add_entry). NULL: there are none to add. */
	void (*on_image)(void *arg, struct st_results_header *results, uint32_t map);
	/* The runtime of a process asks where basic blocks may begin; same argument. */
	void (*on_leaders)(void *arg, struct st_results_header *results);
	void *image_arg;
	/* Called about once a second while the program runs, with its processes; may be NULL. */
	void (*on_second)(void *arg, const struct st_process *processes, size_t n);
	void *second_arg;
	/* The same some ten times a second; may be NULL. */
	void (*on_turn)(void *arg, const struct st_process *processes, size_t n);
	void *turn_arg;
};

/* The code known to all processes of a run: the sections `seen` and `leaders` of their results. */
struct st_known {
	int fd; /* of both; -1: not yet */
	uint8_t *seen, *leaders;
};
/* Made, in memory that all get; given back, if there is some. */
st_status st_known_make(struct st_known *known, struct st_error *e);
void st_known_free(struct st_known *known);

/* Tells the runtime of a function; see struct st_entry. False when there is no more room. */
bool st_results_add_entry(struct st_results_header *h, const struct st_entry *entry,
                          const char *name);
/* The same with data for a tool (tools/cells.h: strobe_function_data). */
bool st_results_add_entry_data(struct st_results_header *h, const struct st_entry *entry,
                               const char *name, const void *data, size_t bytes);

/* The folder /tmp of processes where that is not ours. */
struct st_tmp {
	int fd;
	uint64_t device, inode;
	struct st_tmp *next;
};

/* One process that ran under the engine. */
struct st_process {
	uint32_t pid, ppid;
	/* For its file of names for generated code, /tmp/perf-PID.map. */
	uint32_t inner_pid;       /* its number there; 0: the file cannot be found */
	uint32_t uid;             /* whose it must be */
	const struct st_tmp *tmp; /* NULL: our own /tmp */
	struct timespec old_map;  /* a file of this time is another program's; 0: there was none */
	char *command;            /* its argv[0] or executable path */
	const struct st_results_header
	        *results; /* mapped shared memory, read it with the section helpers below */
	size_t results_size;
	bool exited; /* ended with an exit code; else by signal (or unknown: signal 0) */
	int exit_code;
	int signal; /* that ended it, or 0 */
	bool core_dumped;
	bool executed;   /* it began by an execve that was followed, not by a fork */
	char *alone_why; /* why what it executed runs natively; NULL: it does not, or that is not
	                    known */
	bool running;    /* it outlived the program, and the run: its results end there */
	bool gone;       /* has ended for certain: its unused memory is given back */
};

/* The outcome of a run. processes[0] is the program itself; the others are what it executed in its
 * own process, and children that are followed. */
struct st_run {
	struct st_process *processes;
	size_t n_processes;
	struct st_tmp *tmps;         /* that processes refer to */
	size_t unfollowed;           /* children that had to be left alone, running natively */
	char *unfollowed_why;        /* the first one's cause, or NULL */
	double seconds;              /* wall time from exec to the end, injection included */
	double cpu_user, cpu_system; /* of the program and the children it waited for, seconds */
	double cpu_controller;       /* of this program for it, up to the program's end, seconds */
	double tsc_hz; /* TSC ticks per second, calibrated against CLOCK_MONOTONIC_RAW over the run
	                */
	bool left_to_runtime; /* after an attach: the process could not be let go at once, it leaves
	                         the engine by itself */
	int exit_code; /* what strobe should exit with: as the program did, 128+signal after a
	                  signal; after an attach -1 when the end was not seen */
};

/*
 * Runs the program to its end. 0 when it was started (whatever became of it); -1 with *e filled
 * (code 126, 127 or 125) when it could not be started under the engine; it has then not run an
 * instruction. The caller frees *run with st_run_free. Signals: terminal signals are left to the
 * program while it runs.
 */
st_status st_run_program(const struct st_run_options *options, struct st_run *run,
                         struct st_error *e);
void st_run_free(struct st_run *run);
/* What the program's process was in the end, after it had executed others; run has one process at
 * least. */
const struct st_process *st_run_last(const struct st_run *run);

/*
 * Takes a running process under the engine, for that many seconds (0: until a signal comes to
 * strobe, or the process ends), and lets it go. 0 when that was done; -1 with *e when it could not
 * be attached: it then runs on as it was.
 */
st_status st_attach_process(pid_t pid, double seconds, const struct st_run_options *options,
                            struct st_run *run, struct st_error *e);

/* Section helpers: typed pointers into a results file. */
static inline const void *
st_section(const struct st_results_header *h, uint64_t off)
{
	return (const char *)h + off;
}
static inline const struct st_map *
st_results_maps(const struct st_results_header *h)
{
	return (const struct st_map *)st_section(h, h->layout.off_maps);
}
static inline const char *
st_results_string(const struct st_results_header *h, uint32_t off)
{
	return (const char *)st_section(h, h->layout.off_strings) + off;
}
static inline const struct st_block *
st_results_blocks(const struct st_results_header *h)
{
	return (const struct st_block *)st_section(h, h->layout.off_blocks);
}
static inline const struct st_thread *
st_results_threads(const struct st_results_header *h)
{
	return (const struct st_thread *)st_section(h, h->layout.off_threads);
}
static inline const struct st_sample *
st_results_samples(const struct st_results_header *h)
{
	return (const struct st_sample *)st_section(h, h->layout.off_samples);
}
/* Copies, for what is looked at while the program runs: it may change them at any time. The first
 * is false when there is no such mapping; a text is cut to `size`. */
static inline bool
st_results_copy_map(const struct st_results_header *h, uint32_t index, struct st_map *to)
{
	if (index >= ST_MAX_MAPS || index >= h->maps.n)
		return false;
	memcpy(to, &st_results_maps(h)[index], sizeof *to);
	return to->start < to->end;
}
static inline const char *
st_results_copy_text(const struct st_results_header *h, uint32_t offset, char *to, size_t size)
{
	size_t n = offset < ST_STRINGS_BYTES ? ST_STRINGS_BYTES - offset : 0;
	n = n < size ? n : size;
	memcpy(to, st_results_string(h, offset), n);
	to[n ? n - 1 : 0] = '\0';
	return to;
}
/* Executions of block id, summed over all slots. */
static inline uint64_t
st_results_executions(const struct st_results_header *h, uint32_t id)
{
	uint64_t sum = 0;
	uint32_t n = h->threads.n_slots < h->layout.slots_here ? h->threads.n_slots
	                                                       : h->layout.slots_here;
	for (uint32_t s = 0; s < n; s++)
		sum += ((const uint64_t *)st_section(h, h->layout.off_counters +
		                                                s * h->layout.counters_stride))[id];
	return sum;
}

#endif
