/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The profile: what a run showed, independent of the process it came from.
 *
 * Made by st_profile_collect from a run, or by st_profile_load from a file; the reports read
 * nothing else. Places are (image, offset), where the offset is the image's own link-time address,
 * so that profiles of different runs compare. Times are integer nanoseconds. References between the
 * arrays are indices.
 */
#ifndef STROBE_PROFILE_PROFILE_H
#define STROBE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <strobe/tool.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/kept.h"
#include "profile/loops.h"
#include "profile/measurements.h"

struct st_run;
struct st_stacks;
struct st_qos;

#define ST_PROFILE_APPLICATION_ID 0x5354524f /* "STRO" */
#define ST_PROFILE_VERSION 4

/* Fewer samples in the program's code than this say nothing: shares are then of instructions. */
#define ST_ENOUGH_SAMPLES 20

/* Image of code that belongs to no file: its offsets are absolute addresses. */
#define ST_ANON_IMAGE "[anon]"

/* What the caller of st_profile_collect knows and the results do not hold. */
/* A counter that a tool of the run declares. */
struct st_profile_declared {
	uint32_t tool;
	const char *name, *help;
};

/* An option that a tool of the run was given. */
struct st_profile_option {
	uint32_t tool; /* index into the run's tools */
	const char *name, *value;
};

struct st_profile_origin {
	const char *tool; /* all tools with their options, for people */
	char *const *argv;
	const char *options; /* the options of `strobe run` as given, for the record; may be NULL */
	uint32_t sample_hz;
	bool follow;
	bool keep_blocks;               /* the tool reports per function, block and line */
	int64_t start_ns;               /* CLOCK_REALTIME when the run began */
	const struct st_stacks *stacks; /* of its samples; NULL: none were taken */
	const struct st_qos *qos; /* what watched how well the program served; NULL: nothing */
	const char *const *tools; /* names of the run's tools */
	size_t n_tools;
	const struct st_profile_option *tool_options;
	size_t n_tool_options;
	const struct st_profile_declared *counters; /* of theirs */
	size_t n_counters;
	struct st_ahead *ahead; /* who has read the images already; may be NULL */
};

/* CPU time with Strobe over CPU time without: between what it is, and the middle of that. All 0: it
 * cannot be told. */
struct st_slowdown {
	double least, about, most;
};

/* Something about the machine, by its name. */
struct st_profile_fact {
	const char *name, *value;
};

struct st_profile_run {
	/* As they were given, for people: nothing reads `tool` and `options` but to print them. */
	const char *tool, *options, *strobe_version;
	ST_VEC(const char *) tools;
	ST_VEC(struct st_profile_option) tool_options;
	ST_VEC(const char *) command;
	ST_VEC(const char *)
	environment; /* NAME=VALUE, the few variables that change how programs run */
	const char *cwd, *host, *machine, *kernel, *cpu;
	int64_t cores;
	ST_VEC(struct st_profile_fact) facts; /* more of the machine: memory, governor, ... */
	int64_t start_ns, wall_ns, cpu_user_ns, cpu_system_ns;
	double tsc_hz;
	struct st_slowdown slowdown;
	int64_t native_ns; /* of the CPU time: in native execution, at most */
	/* What strobe run exits with, after an attach the process' exit, -1: its end was not seen;
	 * signal that ended the program, or 0. */
	int64_t exit, signal;
	int64_t sample_hz;
	bool follow, has_functions;
	uint64_t samples_code, samples_kernel, samples_engine, samples_dropped;
	/* Of contexts: what they took in the programs' memory, and how many had to be pruned. */
	uint64_t forest_bytes, contexts_pruned;
	/* Samples in the program's code whose stack is known, and of these: not up to its end. */
	uint64_t stacks, stacks_cut;
	uint64_t on_cpu_ns, waiting_ns; /* of all contexts; see waits.h */
};

struct st_profile_process {
	int64_t pid, ppid;
	const char *command;
	int64_t state; /* enum st_run_state */
	int64_t exit, signal;
	bool exited, core_dumped;
	int64_t wall_ns;
	uint64_t executions, instructions; /* of blocks; 0 when the tool counts nothing */
};

struct st_profile_image {
	const char *path, *build_id; /* build_id empty: none could be had */
	const char *symbols;         /* "full", "symbols", "stripped", or "none" */
	uint64_t executions, instructions, samples;
};

struct st_profile_function {
	uint32_t image;
	uint32_t line;         /* of its entry; 0: unknown */
	uint64_t offset, size; /* size 0: stands for all code of the image that no function holds */
	const char *name, *file;           /* file NULL: unknown */
	bool calls_exact;                  /* else calls is an upper bound */
	uint64_t calls;                    /* times it was entered at its first instruction */
	uint64_t executions, instructions; /* of its blocks */
	uint64_t samples;                  /* on the CPU in its own code */
	uint64_t samples_total;            /* of run.stacks: in its code or in what it called */
	uint64_t samples_kernel,
	        samples_engine; /* in its system calls; in Strobe's engine on its behalf */
	/* Of all threads, in it or in what it called, and in itself; see waits.h. */
	uint64_t waiting_ns, self_waiting_ns;
};

/* The counts of a function in one of several processes, or the samples of that process. */
struct st_profile_share {
	uint32_t process;
	uint32_t function; /* UINT32_MAX: the process; samples_total are then its stacks */
	bool calls_exact;
	uint64_t calls, executions, instructions;
	uint64_t samples, samples_total, samples_kernel, samples_engine;
};

/* A name that a function has beside the one that is shown. */
struct st_profile_alias {
	uint32_t function;
	const char *name;
};

struct st_profile_block {
	uint32_t image, function;
	uint64_t offset;
	uint64_t target; /* offset in the same image of a direct jump, branch or call; UINT64_MAX:
	                    none */
	uint32_t bytes, insns;
	uint32_t end; /* enum st_block_end */
	uint64_t executions, instructions, samples;
};

struct st_profile_line {
	uint32_t function;
	uint32_t line;
	const char *file;
	uint64_t executions; /* of the line's most executed instruction */
	uint64_t instructions, samples;
};

struct st_profile_thread {
	uint32_t process;
	int64_t tid;
	const char *name;
	int64_t state;            /* ST_THREAD_* */
	int64_t begin_ns, end_ns; /* from the process' entry into the engine; end -1: not seen */
	uint64_t samples;
	uint64_t on_cpu_ns, waiting_ns; /* of its contexts; see waits.h */
};

struct st_profile_counter {
	uint32_t process;
	const char *name, *help;
	uint64_t total;
};

struct st_profile_fallback {
	uint32_t process, image; /* image UINT32_MAX: address in no known mapping */
	uint64_t offset;
	int64_t cause; /* enum st_fallback_cause */
	uint64_t count;
};

struct st_profile_column {
	const char *name;
	enum strobe_type type;
	enum strobe_role role;
};

/* A value of a table as it is shown. By the column's type:
 * STROBE_ADDRESS: number: offset in the image, text: name of the function, NULL: in none;
 * STROBE_FUNCTION: the same of the function's first instruction; where there is no function, of the
 *     address itself;
 * STROBE_LINE: number: the line, text: the file; or text NULL and number, image as STROBE_FUNCTION;
 * STROBE_TICKS: number: nanoseconds; STROBE_THREAD: number: the kernel's id;
 * STROBE_TEXT, _MNEMONIC, _CATEGORY, _REGISTERS_*, _SYSCALL: text, never NULL. */
struct st_profile_value {
	uint64_t number;
	const char *text;
	uint32_t image;    /* UINT32_MAX: in no known one, number is an absolute address */
	uint32_t function; /* index; UINT32_MAX: none */
};

/* A table of a tool. */
struct st_profile_table {
	const char *name, *help, *tool;
	size_t n_columns, n_keys;
	struct st_profile_column columns[STROBE_MOST_COLUMNS]; /* the keys first */
	/* n_columns for each row; ordered by the first sum, greatest first. */
	ST_VEC(struct st_profile_value) values;
	/* Events that found no row: their keys say nothing. */
	bool has_others;
	struct st_profile_value others[STROBE_MOST_COLUMNS];
};

/* A stream of rows that was kept in a file of its own. */
struct st_profile_stream {
	const char *name, *help, *tool;
	const char *file;              /* as it was written; NULL: nowhere */
	uint64_t rows, bytes, dropped; /* in the file; bytes of the file; rows dropped */
};

/* A reading of the metric, or a change of the state. */
struct st_profile_qos_row {
	int64_t time_ns;   /* since the beginning */
	double value;      /* NAN: there was none */
	int64_t budget_ns; /* of a period, from here on */
	const char *state; /* ST_QOS_STATES of qos/monitor.h */
};

struct st_profile_qos {
	const char *source, *policy; /* NULL: there was none */
	bool lower;                  /* the metric is to be at most the threshold, else at least */
	double threshold;
	ST_VEC(struct st_profile_qos_row) rows;
};

/* A budget that was spent, and by how much it was exceeded. */
struct st_profile_overshoot {
	uint32_t process;
	int64_t time_ns; /* since the process' first instruction */
	int64_t over_ns;
};

/* Labels of contexts below are no addresses but a tool's own, such as that of the artificial root.
 */
#define ST_FIRST_PLACE 4096

/* The element of a context: a function, by its first instruction, or a basic block. */
struct st_profile_label {
	uint32_t image; /* UINT32_MAX: no place; see st_profile_label_name */
	uint32_t function;
	uint64_t offset;
	const char *file; /* NULL: unknown */
	uint32_t line, column;
	/* Of a basic block as it was executed, up to its branch; 0: a function, or not known. */
	uint32_t bytes;
	/* Of these the first ones, up to where another block begins; instructions in them, 0: not
	 * known; the label of what is behind them, UINT32_MAX: no block begins there. Where the
	 * block's own bytes end its pieces end, too. */
	uint32_t piece, insns, next;
};

/* Whether it stands for contexts that were pruned. */
bool st_profile_label_is_pruned(const struct st_profile_label *l);
/* The name of a label that is no code location. */
const char *st_profile_label_name(const struct st_profile_label *l);

/* A node of a k-slab forest. */
struct st_profile_context {
	uint32_t thread;
	uint32_t parent; /* comes before it; UINT32_MAX: a root */
	uint32_t label;
	/* Of a node k or more levels deep: the same without the first k labels; else UINT32_MAX. */
	uint32_t link;
	uint64_t count;                 /* activations, each at one node */
	uint64_t self_ns, instructions; /* of its own; 0 where they were not asked for */
};

/* A loop, by the context of its head. */
struct st_profile_loop {
	uint32_t context;
	struct st_loop loop;
};

/* What another tool's file said that Strobe has no place for, so that an export can say it again.
 */
struct st_profile_extra {
	const char *name, *json;
};

struct st_profile {
	struct st_profile_run run;
	struct st_profile_qos qos;
	ST_VEC(struct st_profile_overshoot) overshoots; /* of each process in their order */
	ST_VEC(struct st_profile_process) processes;
	ST_VEC(struct st_profile_image) images;
	ST_VEC(struct st_profile_function) functions; /* ordered by image, offset */
	ST_VEC(struct st_profile_share)
	shares; /* with several processes: ordered by process, function; UINT32_MAX is the last */
	ST_VEC(struct st_profile_alias) aliases; /* ordered by function */
	ST_VEC(struct st_profile_block) blocks;  /* ordered by image, offset */
	ST_VEC(struct st_profile_line) lines;    /* ordered by function, file, line */
	ST_VEC(struct st_profile_thread) threads;
	ST_VEC(struct st_profile_counter) counters;   /* of the tool, per process */
	ST_VEC(struct st_profile_counter) statistics; /* of the engine, per process */
	ST_VEC(struct st_profile_fallback) fallbacks;
	ST_VEC(struct st_profile_table) tables;
	ST_VEC(struct st_profile_stream) streams;
	ST_VEC(struct st_profile_label) labels;
	ST_VEC(struct st_profile_context) contexts;
	ST_VEC(struct st_profile_loop) loops;
	struct st_measurements measurements; /* that are repeated; see measurements.h */
	struct st_kept kept;                 /* models of measurements; see kept.h */
	ST_VEC(struct st_profile_extra) extras;
	ST_VEC(const char *) notes; /* sentences a reader of the result must know */
	struct st_text_chunk *text; /* storage of all strings */
	/* The number of rows of processes before restrict.h left some out, and of processes, which
	 * have a row for each program that they executed; 0: none was. */
	size_t chosen_of, chosen_of_processes;
	bool out_of_memory;
};

/* An empty profile, NULL when memory is exhausted. The caller frees. */
struct st_profile *st_profile_new(void);
void st_profile_free(struct st_profile *p);
/* A copy of text that lives as long as the profile. When memory is exhausted: "" and
 * p->out_of_memory. */
const char *st_profile_text(struct st_profile *p, const char *text);
__attribute__((format(printf, 2, 3))) const char *st_profile_textf(struct st_profile *p,
                                                                   const char *format, ...);
/* Adds a sentence to the notes. */
__attribute__((format(printf, 2, 3))) void st_profile_note(struct st_profile *p, const char *format,
                                                           ...);

/* Adds something about the machine. */
void st_profile_add_fact(struct st_profile *p, const char *name, const char *value);
/* Adds an extra; its texts are copied. */
void st_profile_add_extra(struct st_profile *p, const char *name, const char *json);
/* The JSON of an extra; NULL: there is none of this name. */
const char *st_profile_extra_named(const struct st_profile *p, const char *name);

/* The tools of the run and their options; of an option its value, NULL: it was not given. */
bool st_profile_has_tool(const struct st_profile *p, const char *tool);
const char *st_profile_option(const struct st_profile *p, const char *tool, const char *name);
void st_profile_add_tool(struct st_profile *p, const char *tool);
void st_profile_add_option(struct st_profile *p, uint32_t tool, const char *name,
                           const char *value);
/* The same from run.tool, for files that have nothing but this text. */
void st_profile_tools_of_text(struct st_profile *p);

/* Sum of a counter of the tool over all processes; false when the tool has no such counter. */
bool st_profile_counter(const struct st_profile *p, const char *name, uint64_t *total);
/* Sum of a statistic of the engine over all processes. */
uint64_t st_profile_statistic(const struct st_profile *p, const char *name);
/* The largest value that a process has for a statistic. */
uint64_t st_profile_statistic_most(const struct st_profile *p, const char *name);
/* The name of a function that fits, the one that is shown before others; NULL: none does. */
const char *st_profile_function_fits(const struct st_profile *p, uint32_t function,
                                     bool (*fits)(const char *name, const char *asked),
                                     const char *asked);
/* The first of a function's aliases in p->aliases; *n receives how many there are. */
const struct st_profile_alias *st_profile_aliases(const struct st_profile *p, uint32_t function,
                                                  size_t *n);
/* What the i-th process became by an execve that was followed; the number of processes: nothing. */
size_t st_profile_became(const struct st_profile *p, size_t i);
/* The number of processes, each of which may have executed several programs. */
size_t st_profile_count_processes(const struct st_profile *p);
/* What the program's process was in the end, after all that it executed; there is a process. */
size_t st_profile_last_program(const struct st_profile *p);
/* Whether the image of that path is the program that was run, as far as its name says: the last one
 * that its process has executed. */
bool st_profile_is_program(const struct st_profile *p, const char *path);
/* Self share of a function in the whole program, 0 to 1: of the samples in the program's own code,
 * or of the instructions when those are too few. */
double st_profile_self_share(const struct st_profile *p, const struct st_profile_function *f);
/* The same of a source line. */
double st_profile_line_share(const struct st_profile *p, const struct st_profile_line *l);
/* Share of the program's time in the function and in what it called, 0 to 1, a function that is on
 * the stack several times counted once; -1: not known, because no stacks were taken. */
double st_profile_total_share(const struct st_profile *p, const struct st_profile_function *f);
/* Share of the CPU time that was spent under the engine, not in native execution: 0 to 1. */
double st_profile_cache_share(const struct st_profile *p);
/* Whether shares are of samples (else of instructions). */
bool st_profile_share_is_time(const struct st_profile *p);

/* The storage and format of a type's values. */
enum st_shape_of_value { ST_VALUE_NUMBER, ST_VALUE_TEXT, ST_VALUE_PLACE, ST_VALUE_LINE };
enum st_shape_of_value st_profile_shape(enum strobe_type type);
/* Names of the types and roles in files, "number", "key"; by name the code, -1: there is none. */
const char *st_profile_type_name(enum strobe_type type);
const char *st_profile_role_name(enum strobe_role role);
int st_profile_type_named(const char *name);
int st_profile_role_named(const char *name);
size_t st_profile_rows(const struct st_profile_table *t);

/* Names of the codes that the results use, for people: "exited", "far jump, far call, ...". */
const char *st_profile_state_name(int64_t state);
const char *st_profile_cause_name(int64_t cause);
const char *st_profile_end_name(uint32_t end);

/* Turns a run into a profile: resolves blocks and samples to images, functions and lines. NULL and
 * *e on failure. */
struct st_profile *st_profile_collect(const struct st_run *run,
                                      const struct st_profile_origin *origin, struct st_error *e);

/* Writes the profile to path: a temporary file beside it, then a rename. 0, or -1 with *e (code
 * 125). */
st_status st_profile_save(const struct st_profile *p, const char *path, struct st_error *e);
/* Whether the header of a file says that it is a profile that can be read. */
bool st_profile_is_file(const char *path);
/* Reads a profile. NULL and *e when the file is missing, foreign, damaged or of a newer version. */
struct st_profile *st_profile_load(const char *path, struct st_error *e);

#endif
