/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The results: what the runtime writes in the target and the controller reads.
 *
 * One sparse shared-memory file per process under analysis. The header names the offset of every
 * section; sections are plain arrays that only grow. The controller may read at any time, also
 * after the target has died: a record counts from the moment its section's `n_` counter covers it.
 * Nothing in here is a pointer.
 */
#ifndef STROBE_WIRE_RESULTS_H
#define STROBE_WIRE_RESULTS_H

#include <stdint.h>

#define ST_RESULTS_MAGIC 0x42525453u /* "STRB" */
#define ST_WIRE_VERSION 12u

enum {
	ST_MAX_BLOCKS = 4 << 20,  /* block ids per process; id 0 is never used */
	ST_MAX_MAPS = 65536,      /* executable mappings ever seen */
	ST_MAX_THREADS = 65536,   /* thread records ever made */
	ST_MAX_SLOTS = 4096,      /* counter slots: threads alive at once; slot 0 holds what ended
	                             threads counted */
	ST_MAX_SAMPLES = 4 << 20, /* samples kept; later ones are counted as dropped */
	ST_STRINGS_BYTES = 256 << 20,
	ST_MAX_FALLBACKS = 256,
	ST_MAX_TOOLS = 8,          /* at once */
	ST_MAX_COUNTERS = 64,      /* that the tools may declare */
	ST_MAX_TABLES = 32,        /* and tables */
	ST_MAX_STREAMS = 8,        /* and streams */
	ST_MOST_LAST = 4096,       /* pieces of code that are not measured again yet */
	ST_MAX_COLUMNS = 10,       /* STROBE_MOST_COLUMNS of tool.h */
	ST_TABLE_ROWS = 1 << 20,   /* of a table, row 0 ("others") included */
	ST_MAX_AMOUNTS = 32 << 20, /* what blocks add to counters and cells */
	ST_MAX_PARTIALS = 1 << 20, /* places where a block was left early */
	ST_MAX_SITES = 4 << 20,    /* places that make rows */
	ST_MAX_ENTRIES = 1 << 20,  /* functions that the controller tells the runtime of */
	ST_ENTRY_NAMES = 64 << 20, /* bytes of their names */
	ST_MOST_PATH = 8192,       /* bytes of a file's, as the list of mappings has it */
	ST_MOST_ASKED = 32,        /* names of functions that tools ask for */
	ST_MAX_LABELS = 4 << 20,   /* of nodes */
	ST_MAX_NODES = 32 << 20,   /* of forests of contexts */
	ST_MAX_LOOPS = 1 << 20,    /* among them */
	ST_FIRST_ID = 16,          /* the ids below are not blocks' */
	ST_CHUNK_BYTES = 64 << 10, /* of rows; and some behind, up to ST_CHUNK_SLACK */
	ST_CHUNK_SLACK = 60 << 10,
	ST_CHUNK_STRIDE = 16 << 20, /* the third byte of an address in a chunk: 0 in its first
	                               ST_CHUNK_BYTES, then 1 */
	ST_MAX_CHUNKS = 1024,
	ST_CHUNK_QUEUE = 128, /* may wait for the controller: what fits in a processor's cache */
	ST_SEEN_BYTES = 256 << 20, /* also of the section `leaders`, which follows; a bit for each
	                              byte of the files that code comes from */
	ST_STACK_RING = 2 << 20,   /* bytes of the ring of stacks */
	ST_STACK_MOST = 64 << 10,  /* bytes of stack copied at a sample */
	ST_STACK_ALIGN = 128,      /* records of the ring start at multiples of this */
};

/* Where the process stands. */
enum st_run_state {
	ST_RUN_STARTING = 0, /* injected, runtime not entered yet */
	ST_RUN_CACHE = 1,    /* running under the engine */
	ST_RUN_EXITED = 2,   /* called exit_group; exit_code is valid */
	ST_RUN_EXECED = 3,   /* replaced itself by execve */
	ST_RUN_NATIVE = 4,   /* handed back to native execution for good */
	ST_RUN_KILLED = 5,   /* about to die of fatal_signal */
	ST_RUN_GOES_ON = 6,  /* in profiles: it outlived the program by more than was waited */
	ST_RUN_DETACHED = 7, /* was attached, and runs on natively */
};

/* How a block ends (the rule of `bbcount`: a block ends at every branch, call, return and system
 * call). */
enum st_block_end {
	ST_END_NONE = 0, /* ran off the end of executable memory, or into an instruction handed to
	                    native execution */
	ST_END_JUMP,     /* direct unconditional jump */
	ST_END_BRANCH,   /* conditional jump (jcc, loop, jrcxz) */
	ST_END_CALL,     /* direct call */
	ST_END_IJUMP,    /* indirect jump */
	ST_END_ICALL,    /* indirect call */
	ST_END_RETURN,
	ST_END_SYSCALL,
};

/* Why a thread or process was handed to native execution. */
enum st_fallback_cause {
	ST_FALLBACK_NONE = 0,
	ST_FALLBACK_FAR,         /* far jump, far call, far return or iret */
	ST_FALLBACK_GS,          /* the program uses the GS base itself */
	ST_FALLBACK_INT,         /* int n, sysenter: a system call the engine cannot see */
	ST_FALLBACK_VFORK_CHILD, /* child left alone between vfork and exec (always without
	                            --follow) */
	ST_FALLBACK_FORK_CHILD,  /* child left alone after fork (always without --follow) */
	ST_FALLBACK_RESOURCES,   /* the runtime could not get memory or a thread slot */
	ST_FALLBACK_NOEXEC,      /* jumped to memory the engine does not know as executable */
	ST_FALLBACK_SECCOMP,     /* a sandbox that leaves the engine no system calls */
	ST_FALLBACK_TRACED,      /* PTRACE_TRACEME: its parent is its debugger */
};

/* Statistics of the engine: one list, every reader expands it. ST_STAT(name, "what it means") */
#define ST_STATS(ST_STAT)                                                                          \
	ST_STAT(blocks, "blocks translated")                                                       \
	ST_STAT(insns, "instructions translated")                                                  \
	ST_STAT(app_bytes, "program bytes translated")                                             \
	ST_STAT(cache_hot, "bytes of code cache used, hot part")                                   \
	ST_STAT(cache_cold, "bytes of code cache used, warm and cold parts")                       \
	ST_STAT(table_bytes, "bytes of the runtime's tables, without the lookup table")            \
	ST_STAT(dispatches, "returns to the dispatcher")                                           \
	ST_STAT(links, "exits linked")                                                             \
	ST_STAT(lookup_misses, "indirect branches that missed the lookup table")                   \
	ST_STAT(target_passes, "links passed by branches that were new to their target")           \
	ST_STAT(syscalls, "system calls seen")                                                     \
	ST_STAT(signals, "signals delivered to the program")                                       \
	ST_STAT(flushes, "flushes of the whole cache")                                             \
	ST_STAT(invalidations,                                                                     \
	        "blocks dropped: their code changed, or is sampled less or more often")            \
	ST_STAT(smc_faults, "writes to translated code")                                           \
	ST_STAT(translate_ticks, "TSC ticks spent translating, from every eighth translation")     \
	ST_STAT(native_threads, "threads handed to native execution")                              \
	ST_STAT(gates, "system calls of native threads that were given a way without a signal")    \
	ST_STAT(traps, "times that native threads came back for code that had not been measured")  \
	ST_STAT(unwinds, "stacks unwound, of threads that were measured again")                    \
	ST_STAT(unwinds_lost, "of them not to where the thread began")

enum st_stat {
#define ST_STAT(name, text) ST_STAT_##name,
	ST_STATS(ST_STAT)
#undef ST_STAT
	        ST_STAT_COUNT
};

struct st_fallback {
	uint64_t pc;    /* program address where it happened */
	uint32_t cause; /* enum st_fallback_cause */
	uint32_t count;
};

/* A column of a table or stream: its name, and types and roles of include/strobe/tool.h. */
struct st_column {
	uint32_t name; /* offset into strings */
	uint16_t type, role;
};

/* A table: rows of n_columns 64-bit numbers from off_tables + index * ST_TABLE_ROWS *
 * ST_MAX_COLUMNS * 8 on. Row 0 is for what found no row. The columns that are no keys also get what
 * the amounts add. */
struct st_table {
	uint32_t name, help;
	uint32_t n_columns, n_keys;
	uint32_t n_rows; /* row 0 included */
	uint32_t tool;   /* index into the run's tools */
	struct st_column columns[ST_MAX_COLUMNS];
};

/* A stream of rows. Rows lie in chunks; their form is strobe_row of tool.h. */
struct st_stream {
	uint32_t name, help;
	uint32_t n_columns;
	uint32_t consumed; /* not 0: by the tool itself, so that the controller sees none */
	uint32_t lossy, tool;
	uint64_t dropped; /* rows */
	struct st_column columns[ST_MAX_COLUMNS];
};

/* 64 KiB of rows that one thread has made. A chunk that is owned is filled up to the address in the
 * counter ST_STREAM_ID(stream) of its thread's slot. */
enum st_chunk_state { ST_CHUNK_FREE = 0, ST_CHUNK_OWNED = 1, ST_CHUNK_FULL = 2 };
struct st_chunk {
	uint32_t state;
	uint32_t stream, thread; /* index of the thread record */
	uint32_t bytes;          /* when it is full */
	uint64_t sequence;       /* the order in which chunks were filled, from 1 */
};
#define ST_STREAM_ID(stream) (1u + (stream))
/* Branches to targets that look far for the branch: see rt/jit/target.c. */
#define ST_FAR_ID (1u + ST_MAX_STREAMS)

/*
 * The time budget of each thread (see rt/budget/budget.h). Amounts are in sixteenths of a TSC tick.
 */
/* By how much a budget was exceeded when it was spent: ST_OVERSHOOT(identifier, ns that it is
 * below, "what it means"). */
#define ST_OVERSHOOTS(ST_OVERSHOOT)                                                                \
	ST_OVERSHOOT(250ns, 250, "overshoots below 250 ns")                                        \
	ST_OVERSHOOT(500ns, 500, "from there to 500 ns")                                           \
	ST_OVERSHOOT(1us, 1000, "to 1 us")                                                         \
	ST_OVERSHOOT(2us, 2000, "to 2 us")                                                         \
	ST_OVERSHOOT(5us, 5000, "to 5 us")                                                         \
	ST_OVERSHOOT(10us, 10000, "to 10 us")                                                      \
	ST_OVERSHOOT(20us, 20000, "to 20 us")                                                      \
	ST_OVERSHOOT(50us, 50000, "to 50 us")                                                      \
	ST_OVERSHOOT(100us, 100000, "to 100 us")                                                   \
	ST_OVERSHOOT(1ms, 1000000, "to 1 ms")                                                      \
	ST_OVERSHOOT(more, UINT64_MAX, "1 ms and more")
enum st_overshoot {
#define ST_OVERSHOOT(name, below, text) ST_OVERSHOOT_##name,
	ST_OVERSHOOTS(ST_OVERSHOOT)
#undef ST_OVERSHOOT
	        ST_OVERSHOOT_KINDS
};
/*
 * ST_BUDGET_POLICY(identifier, "name"): what threads do whose budget is spent. They execute the
 * program's own code until it is granted anew; or plain code in the cache, as in Arafa,
 * "Time-Aware Dynamic Binary Instrumentation" (PhD thesis, Waterloo 2017), section 3.2: TRACE looks
 * in each block whether it has been granted, STRICT when a thread next comes to the dispatcher;
 * CONDITIONAL looks only there whether it is spent, too.
 */
#define ST_BUDGET_POLICIES(ST_BUDGET_POLICY)                                                       \
	ST_BUDGET_POLICY(NATIVE, "native")                                                         \
	ST_BUDGET_POLICY(TRACE, "trace")                                                           \
	ST_BUDGET_POLICY(STRICT, "strict")                                                         \
	ST_BUDGET_POLICY(CONDITIONAL, "conditional")
enum st_budget_policy {
#define ST_BUDGET_POLICY(id, name) ST_BUDGET_##id,
	ST_BUDGET_POLICIES(ST_BUDGET_POLICY)
#undef ST_BUDGET_POLICY
};
/* ST_BUDGET_SHARE(identifier, "name"): whose a budget is: each thread's own; the process', for
 * whoever comes first; the process', by the threads' priorities; that of all processes that are
 * followed, for whoever comes first. */
#define ST_BUDGET_SHARES(ST_BUDGET_SHARE)                                                          \
	ST_BUDGET_SHARE(THREAD, "thread")                                                          \
	ST_BUDGET_SHARE(PROCESS, "process")                                                        \
	ST_BUDGET_SHARE(PRIORITY, "priority")                                                      \
	ST_BUDGET_SHARE(TREE, "tree")
enum st_budget_share {
#define ST_BUDGET_SHARE(id, name) ST_SHARE_##id,
	ST_BUDGET_SHARES(ST_BUDGET_SHARE)
#undef ST_BUDGET_SHARE
	        ST_BUDGET_N_SHARES
};
/* ST_BUDGET_SAMPLING(identifier, "name"): when it is granted, and for what: at the beginning of a
 * period; in bursts over all of it (rt/budget/bursts.h); for cold code first
 * (rt/budget/adaptive.h). */
#define ST_BUDGET_SAMPLINGS(ST_BUDGET_SAMPLING)                                                    \
	ST_BUDGET_SAMPLING(WINDOW, "window")                                                       \
	ST_BUDGET_SAMPLING(BURSTS, "bursts")                                                       \
	ST_BUDGET_SAMPLING(ADAPTIVE, "adaptive")
enum st_budget_sampling {
#define ST_BUDGET_SAMPLING(id, name) ST_SAMPLING_##id,
	ST_BUDGET_SAMPLINGS(ST_BUDGET_SAMPLING)
#undef ST_BUDGET_SAMPLING
	        ST_BUDGET_N_SAMPLINGS
};
/* ST_BUDGET_CLOCK(identifier, "name"): what periods are of: CPU time without what was charged, or
 * the time of day, for programs that sleep most of the time. */
#define ST_BUDGET_CLOCKS(ST_BUDGET_CLOCK)                                                          \
	ST_BUDGET_CLOCK(CPU, "cpu")                                                                \
	ST_BUDGET_CLOCK(WALL, "wall")
enum st_budget_clock {
#define ST_BUDGET_CLOCK(id, name) ST_CLOCK_##id,
	ST_BUDGET_CLOCKS(ST_BUDGET_CLOCK)
#undef ST_BUDGET_CLOCK
	        ST_BUDGET_N_CLOCKS
};
/* What those have in common who share a budget: rt/budget/pool.h. A tree's is made by the
 * controller, and lies apart from the results, mapped into all processes, when they are followed.
 */
struct st_budget_pool {
	uint64_t used;       /* what has been taken, with the number of the period, from 0 on */
	uint64_t put;        /* the greatest amount of a period, with its number */
	uint64_t weights[2]; /* of the threads seen in even and odd periods, with their numbers */
	uint64_t from;       /* ns of the process' CPU time, or by the clock: when the first one
	                        began; 0: not yet */
	uint64_t clock;      /* ns since, of CPU time without what was charged */
	uint64_t amount;     /* a tree's: as below */
	uint64_t until_ns;   /* a tree's: as below */
	uint32_t begins;     /* enum st_pool_begins */
};
/* The first period of a pool: there is all of it; it grows, because the process begins with
 * nothing; there is nothing, because the first window begins later. */
enum st_pool_begins { ST_POOL_FULL, ST_POOL_GROWS, ST_POOL_LATE };
enum { ST_BUDGET_HZ = 250 }; /* ticks of a thread's CPU time, at least */
/* A process watches after this part of its first period, or, where first_ns is the second, from its
 * first tick on, with no window before. */
enum { ST_WATCHED_AFTER = 8 };
#define ST_WATCHES_AT_ONCE UINT64_MAX
enum { ST_BUDGET_UNITS = 16 }; /* of an amount in a tick */
/* Where a tick of CPU time found a thread. */
enum st_budget_where { ST_TICK_MEASURED, ST_TICK_PLAIN, ST_TICK_NATIVE, ST_TICK_KINDS };
struct st_budget {
	uint64_t amount;    /* for each period; the controller may change it at any time, up to */
	uint64_t most;      /* this */
	uint64_t period_ns; /* of a thread's CPU time without what was charged, or by the clock; 0:
	                       there is no budget */
	uint32_t clock;     /* enum st_budget_clock */
	uint64_t first_ns;  /* before the first one of the program's first thread, or as above */
	uint64_t until_ns;  /* of the CPU time it would have used natively: when what it had been
	                       granted first was spent, or the thread began to watch; 0: never */
	uint64_t ticks_per_second;
	uint32_t policy;    /* enum st_budget_policy */
	uint32_t share;     /* enum st_budget_share */
	uint32_t sampling;  /* enum st_budget_sampling */
	uint32_t bursts;    /* of a period; 0: it is granted at once */
	uint32_t no_native; /* not 0: the kernel lacks what is needed for ST_BUDGET_NATIVE */
	uint64_t ticks[ST_TICK_KINDS]; /* enum st_budget_where */
	/* What became of it. In ns of CPU time: of the threads, and of it while they were measured.
	 */
	uint64_t cpu_ns, measured_ns;
	uint64_t audited_ns; /* of it, for which what was charged was compared with the clock */
	uint64_t charged;
	int64_t corrected; /* of it: what the clock says that the model did not, budget/audit.h */
	uint64_t drained_ns, drained_told; /* of the controller's CPU time, for rows; of it, what
	                                      has been charged */
	uint64_t
	        owed_ns; /* for what was done once: each period pays a part of it, budget/watch.h */
	uint64_t controller_ns;    /* of the controller's CPU time, what has been put there */
	uint64_t periods, windows; /* that have begun; in which there was a budget */
	/* Whole periods that were over of threads with a budget of their own, and of them those of
	   which at least nine tenths of the budget were used. */
	uint64_t own_periods, own_periods_used;
	uint64_t rests;          /* times that a block began to rest: ST_SAMPLING_ADAPTIVE */
	uint64_t most_overshoot; /* ns */
	uint64_t overshoots[ST_OVERSHOOT_KINDS];
	uint64_t n_overshoot_rows; /* may exceed ST_MAX_OVERSHOOT_ROWS: later ones were dropped */
	struct st_budget_pool pool;
};

/* A budget that was spent (section `overshoots`). */
struct st_overshoot_row {
	uint64_t tsc;     /* when; 0: not written yet */
	uint64_t over_ns; /* by how much the budget was exceeded */
};
enum { ST_MAX_OVERSHOOT_ROWS = 1 << 16 };

/* Of what was charged, the part that was the controller's CPU time, not the process': ns. */
static inline uint64_t
st_budget_elsewhere(const struct st_budget *b)
{
	uint64_t owed = __atomic_load_n(&b->owed_ns, __ATOMIC_RELAXED);
	uint64_t paid = b->controller_ns > owed ? b->controller_ns - owed : 0;
	return paid + b->drained_told;
}

/* What one node has counted is being added to another: when `from` is set, that has nothing any
 * more, and `to` has what is here, whatever they themselves say. */
struct st_moved {
	uint32_t from, to;
	uint64_t count, ticks, instructions;
};

/* A name that a tool has compared those of functions with. */
struct st_asked {
	uint32_t name, tool; /* offset into strings; index of the tool */
	uint32_t found;      /* not 0: a function that was entered has it */
};

enum { ST_LAYOUT_BYTES = 4096 };

struct st_results_header {
	/* What does not change once the process runs. The controller has a page of its own for it,
	   which the program cannot write to: control/layout.c. slots_here: counter slots that are
	   mapped there. */
	union {
		struct {
			uint32_t magic, version;
			uint32_t pid, ppid;
			uint64_t file_size;
			uint64_t off_maps, off_strings, off_blocks, off_amounts, off_partials,
			        off_threads, off_samples, off_stacks, off_sites, off_tables,
			        off_entries, off_entry_names, off_seen, off_leaders, off_labels,
			        off_nodes, off_costs, off_loops, off_overshoots, off_chunks,
			        off_counters;
			uint64_t at;              /* address of this header in the target */
			uint64_t counters_stride; /* bytes from one slot's counters to the next */
			uint32_t slots_here;
		};
		unsigned char layout[ST_LAYOUT_BYTES];
	};
	uint32_t state;        /* enum st_run_state */
	int32_t exit_code;     /* argument of exit_group when state is ST_RUN_EXITED */
	uint32_t fatal_signal; /* when state is ST_RUN_KILLED */
	/* The tools: index into the table of built-in tools, or ST_TOOL_LOADED. options: offset
	   into strings of "name=value" texts, one behind the other, an empty one at the end; 0:
	   none given. entry: of a loaded tool, address of its strobe_tool in the target. */
	uint32_t n_tools;
	uint32_t
	        n_options; /* bytes of strings that hold the options: 1 to 4096, the first of all */
	uint32_t tools[ST_MAX_TOOLS], tool_options[ST_MAX_TOOLS];
	uint64_t tool_entry[ST_MAX_TOOLS];
	/* Of a tool that crashed or did not come back: the signal (SIGXCPU: it did not come back),
	   and the address in the target. */
	uint32_t tool_failed[ST_MAX_TOOLS];
	uint64_t tool_failed_at[ST_MAX_TOOLS];
	/* Not 0: each block is measured once (--unique); unique_last: again when so many others
	   have been, at most ST_MOST_LAST; 0: never. n_seen: bits of the section `seen` that
	   stand for files of this process. one_known: not 0: the sections `seen` and `leaders` are
	   one memory for all processes of the run, so the parts of this file are not used. */
	uint32_t unique, unique_last;
	uint64_t n_seen;
	uint32_t one_known;
	/* Where basic blocks may begin (section `leaders`, bits as in `seen`): how often the
	   runtime has asked the controller to look (ST_MESSAGE_LEADERS), and how often it has. */
	uint32_t leaders_wanted, leaders_told;
	uint32_t logged; /* not 0: the log had code of a file that is mapped */
	/* Functions: the runtime asks (ST_MESSAGE_IMAGE) after each new executable mapping, and
	 * waits until the controller has looked at as many as there are: a futex. */
	uint32_t wants_entries, images_done;
	uint32_t deserted; /* written by the agent: strobe is gone, nobody answers or takes rows */
	uint32_t n_entries, n_entry_names;
	/* The region of interest. region_by: what may begin and end it (ST_REGION_BY_*); region: 1
	   while tools are at work, written by the runtime, which counts its beginnings;
	   region_asked: what the controller asks for, 0: nothing, 1: begin, 2: end. */
	uint32_t region_by, region, regions, region_asked;
	/* Which threads are measured: offset into strings, see rt/budget/measured_threads.c; 0:
	   all. And how many have been. */
	uint32_t threads_chosen, threads_fit;
	struct st_budget budget;
	/* Names that tools have compared those of functions with. */
	uint32_t n_asked, asked_more; /* more: not 0, there was no space for all */
	struct st_asked asked[ST_MOST_ASKED];
	uint32_t counting; /* not 0: some tool counts, so that blocks are listed */
	uint32_t n_counters, n_tables, n_streams;
	uint32_t exec_ack;    /* futex: the controller has done what ST_MESSAGE_EXEC asked for */
	uint32_t sample_hz;   /* samples per second of CPU time asked for; 0: none */
	uint32_t take_stacks; /* not 0: samples in the program's code come with its stack */
	uint64_t tsc_begin;   /* TSC when the runtime was entered */
	uint64_t tsc_end;     /* TSC when it was left; 0 while running or after a crash */
	/* CPU time of the process, ns, when a thread of it first left the engine for good: by
	   execve without --follow, or handed to native execution. 0: none did. */
	uint64_t left_ns;
	uint32_t n_maps, n_blocks, n_threads, n_fallbacks; /* n_blocks: highest block id used + 1 */
	uint32_t n_strings;                                /* bytes of strings used */
	uint32_t n_slots;                                  /* highest slot used + 1 */
	uint32_t n_labels, n_nodes;                        /* label 0 and node 0 are none */
	uint32_t n_loops;
	uint32_t has_costs; /* not 0: some node may have one */
	/* What a fork's child has of its parent's header stands before. */
	/* Offsets into strings. */
	uint32_t counter_names[ST_MAX_COUNTERS], counter_helps[ST_MAX_COUNTERS];
	uint32_t counter_tools[ST_MAX_COUNTERS]; /* indices into the run's tools */
	uint64_t counter_sums[ST_MAX_COUNTERS];  /* what was added to them at once */
	struct st_table tables[ST_MAX_TABLES];
	struct st_stream streams[ST_MAX_STREAMS];
	uint32_t n_partials, n_sites;
	uint64_t loops_dropped;   /* that found no room, or whose heads were pruned */
	uint64_t contexts_pruned; /* nodes that were taken back, or found no room */
	struct st_moved moved;
	uint64_t n_amounts;      /* may exceed ST_MAX_AMOUNTS: the rest was dropped */
	uint64_t chunk_sequence; /* chunks filled so far */
	struct st_chunk chunks[ST_MAX_CHUNKS];
	uint64_t n_samples; /* may exceed ST_MAX_SAMPLES: the rest was dropped */
	/* The ring of stacks: positions count bytes from the beginning of the run. The runtime
	   reserves at stack_head, the controller gives back at stack_tail. */
	uint64_t stack_head, stack_tail;
	uint64_t stacks_dropped; /* that found no room in the ring */
	uint64_t stats[ST_STAT_COUNT];
	struct st_fallback fallbacks[ST_MAX_FALLBACKS];
};

/* An executable mapping of the target, from the moment it was seen. A block names its mapping by
 * index. */
struct st_map {
	uint64_t start, end; /* program addresses */
	uint64_t pgoff;      /* file offset of start, bytes */
	uint64_t dev, ino;   /* 0 for anonymous memory */
	uint32_t path; /* offset into strings of a NUL-terminated path; 0: anonymous. "[vdso]" names
	                  the vdso */
	uint32_t flags; /* ST_MAP_* */
	/* With --unique: 1 + the bit of the section `seen` that stands for the byte at `start`,
	   written by the controller; 0: none does. Set: an instruction that begins there has been
	   measured, in this run or in one before. */
	uint64_t seen;
	/* st_sum of what the file has there, as far as the controller knows the file by which it
	   speaks of leaders; 0: not known, or the memory has something else. */
	uint64_t sum;
};
enum { ST_MAP_WRITABLE = 1, ST_MAP_GONE = 2 };

#define ST_TOOL_LOADED 0xffffffffu
/* st_block.flags. SEEN: it has been executed, and its tools wanted to see that once. REFUSED: it
 * was not instrumented, because all of it has been seen. EDGE: see below; TAKEN, NOT_TAKEN: the way
 * that it counts. */
enum {
	ST_BLOCK_COUNTED = 1,
	ST_BLOCK_TALLY = 2,
	ST_BLOCK_SEEN = 4,
	ST_BLOCK_REFUSED = 8,
	ST_BLOCK_EDGE = 16,
	ST_EDGE_TAKEN = 32,
	ST_EDGE_NOT_TAKEN = 64,
	ST_EDGE_WAYS = ST_EDGE_TAKEN | ST_EDGE_NOT_TAKEN
};

/*
 * A basic block as the program executed it. Executions of block b = sum over slots of
 * counters[slot][b]. Executions that a signal, a fault or a hand-over ended early are not counted
 * there but in a st_partial.
 * An id whose block has no bytes is a tally: what a condition let through, or an operand's sum.
 * A tally with ST_BLOCK_EDGE is a conditional branch, instruction n_insns of the basic block
 * `target` (an id). It counts one of the two ways that the branch can go: which one is known when
 * it has been executed once. The other one was gone all other times that the branch was executed.
 */
struct st_block {
	uint64_t pc;    /* program address of its first instruction */
	uint32_t map;   /* index of the mapping; 0 is a valid index */
	uint32_t bytes; /* length of the program's code */
	uint32_t n_insns;
	uint16_t end; /* enum st_block_end */
	uint16_t flags;
	uint64_t target; /* program address of a direct jump, branch or call; else 0 */
};

/* What each execution of a block adds: `amount` at each of the points before its instructions first
 * to last - 1, to a cell (see ST_CELL); where last is first, once, at its entry. A point at
 * instruction i counts when i instructions before it, and the one behind it, have been or are about
 * to be executed. Of a branch with ST_BLOCK_EDGE, first says for which way it is, 0: taken, 1: not
 * taken. */
struct st_amount {
	uint32_t block;
	uint16_t first, last;
	uint64_t cell;
	int64_t amount;
};

/* A number that grows: a counter (table 0, row = its index), or a cell of table - 1. */
#define ST_CELL(table, row, column)                                                                \
	((uint64_t)(table) << 40 | (uint64_t)(column) << 32 | (uint64_t)(row))
static inline uint32_t
st_cell_table(uint64_t cell)
{
	return (uint32_t)(cell >> 40);
}
static inline uint32_t
st_cell_column(uint64_t cell)
{
	return (uint32_t)(cell >> 32) & 0xff;
}
static inline uint32_t
st_cell_row(uint64_t cell)
{
	return (uint32_t)cell;
}

/* `times` executions of the block completed `insns` of its instructions and no more. They add the
 * amounts of the points before these, and of the block's entry if there are any. With
 * ST_PARTIAL_GOES_ON what follows, which has changed meanwhile, was executed as another block:
 * there the entry is counted. */
#define ST_PARTIAL_GOES_ON 0x80000000u
struct st_partial {
	uint32_t block, insns;
	int64_t times;
};

enum { ST_THREAD_LIVE = 1, ST_THREAD_ENDED = 2, ST_THREAD_NATIVE = 3 };
struct st_thread {
	uint32_t tid;
	uint32_t state; /* ST_THREAD_* */
	uint32_t slot; /* counter slot while live; 0 after it ended (its counts are merged into slot
	                  0) */
	uint32_t pad;
	uint64_t tsc_begin, tsc_end;
	uint64_t samples; /* samples taken on this thread */
	char name[16];
};

enum { ST_SAMPLE_CODE = 0, ST_SAMPLE_RUNTIME = 1, ST_SAMPLE_SYSCALL = 2 };
struct st_sample {
	uint64_t
	        pc; /* program address, also when the engine's own code was running on its behalf */
	uint32_t thread; /* index of the thread record */
	uint8_t where; /* ST_SAMPLE_*: at an instruction of the program, at one of the engine's (in
	                  the runtime, or put into translated code), in a system call */
	uint8_t end;   /* enum st_block_end of the block under way */
	uint8_t insns; /* of the block under way; 0: none was */
	uint8_t added; /* what tools have put into it: machine instructions for each eight of the
	                  program's; 255: or more */
};
/*
 * A record of the ring of stacks: the registers that unwinding needs, and behind them the program's
 * stack from rsp upwards. Valid once `mark` is the record's position + 1, which is written last.
 */
struct st_stack {
	uint64_t mark;
	uint32_t room;   /* bytes up to the next record */
	uint32_t bytes;  /* of stack that follow */
	uint32_t filler; /* not 0: an empty record up to the end of the ring */
	uint32_t cut;    /* not 0: the stack goes on behind what was copied */
	uint64_t pc, rsp, rbp, rbx, r12, r13, r14, r15;
	uint64_t padding[5];
};

/*
 * A function of the program that a tool, or the region of interest, is about. Written by the
 * controller before it says that the images up to there are done.
 */
struct st_entry {
	uint64_t start, end; /* addresses in the target */
	uint64_t whole;      /* where the function begins; of a part elsewhere not start */
	uint32_t name;       /* offset into the entries' names */
	uint16_t map;        /* index of its mapping */
	uint16_t what;       /* ST_ENTRY_* */
	uint32_t next;       /* the runtime's: 1 + the index of the same function by another name */
};
enum {
	ST_ENTRY_TOOL = 1,
	ST_ENTRY_BEGIN = 2,
	ST_ENTRY_END = 4,
	ST_ENTRY_CHOSEN = 8,
	ST_ENTRY_PART = 16,
	ST_ENTRY_FRAMES = 32, /* no function: .eh_frame, which nothing in memory leads to */
};
/* Off at the start unless by nothing; by functions, by the controller, by the program's own calls
 * (include/strobe/region.h). LIMITED: only code in ST_ENTRY_CHOSEN functions is instrumented. */
enum {
	ST_REGION_BY_FUNCTION = 1,
	ST_REGION_BY_CONTROLLER = 2,
	ST_REGION_BY_PROGRAM = 4,
	ST_REGION_OFF_AT_START = 8,
	ST_REGION_LIMITED = 16,
};

/* A label is an address, and above that 1 + the index of the mapping that it had code of; 0 where
 * that says nothing (labels that are no addresses, code made at run time, later mappings). */
enum { ST_LABEL_ADDRESS_BITS = 48, ST_LABEL_MAPS = 0x7fff };
/* Of the artificial root; of the contexts that stand for pruned ones. */
enum { ST_LABEL_ROOT = 1, ST_LABEL_PRUNED = 2 };

/* The label of a basic block is another: its highest bit is set, the bytes of the block's code
 * stand above its address, for which 47 bits are enough. A longer block is of unknown length: a
 * label as others are. */
enum { ST_BLOCK_ADDRESS_BITS = 47, ST_BLOCK_MOST_BYTES = 0xffff };
#define ST_LABEL_IS_BLOCK (1ul << 63)
static inline uint64_t
st_label_of_block(uint64_t address, uint32_t bytes)
{
	if (bytes > ST_BLOCK_MOST_BYTES)
		return address;
	return ST_LABEL_IS_BLOCK | (uint64_t)bytes << ST_BLOCK_ADDRESS_BITS | address;
}

/* Sections that are bare arrays: labels: uint64_t[ST_MAX_LABELS]; nodes: strobe_node[ST_MAX_NODES]
 * and costs: strobe_cost[ST_MAX_NODES] (tool.h), by node; loops: strobe_loop[ST_MAX_LOOPS]
 * (tool.h); strings: char[]; seen: bits, the lowest of a byte first; amounts: struct
 * st_amount[ST_MAX_AMOUNTS]; partials: struct st_partial[ST_MAX_PARTIALS]; sites:
 * strobe_site[ST_MAX_SITES] (tool.h); counters: per slot uint64_t[ST_MAX_BLOCKS]. Chunk i lies at
 * off_chunks + i * ST_CHUNK_STRIDE, which is such that its address in the target is a multiple of
 * ST_CHUNK_STRIDE. */

#endif
