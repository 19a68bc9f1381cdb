/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contract between the controller and the probe runtime (src/rt/probe), which runs in a process
 * whose functions have probes at their entries.
 *
 * Two pieces of memory. The private one begins with the context, which the controller fills in
 * before the first probe is hit; a child of fork gets a copy of it. The area is shared with the
 * controller: actions, which it writes, and what was measured, which it reads at any time.
 * Times are ticks of the time stamp counter.
 */
#ifndef STROBE_WIRE_PROBE_H
#define STROBE_WIRE_PROBE_H

#include <stdint.h>

#include "wire/clock.h"
#include "wire/held.h"
#include "wire/record.h"

enum {
	ST_PROBE_VERSION = 10,
	ST_PROBE_MOST = 1 << 18,         /* functions that can have probes */
	ST_PROBE_MOST_THREADS = 1024,    /* at a time */
	ST_PROBE_FIRST_THREADS = 4,      /* threads with memory at the beginning */
	ST_PROBE_MOST_RECORDS = 1 << 16, /* threads that are told apart */
	ST_PROBE_FRAMES = 1 << 17,       /* of a thread, the lowest one included */
	ST_PROBE_THREAD_SLOTS = 1 << 12,
	ST_PROBE_PARKED = 1 << 14,
	ST_PROBE_PAIR_BUCKETS = 1 << 10,
	ST_PROBE_CLASS_BITS = 5,
	ST_PROBE_CLASSES = 1 << ST_PROBE_CLASS_BITS,
	ST_PROBE_OCTAVES = 48,
};
/* The greatest size of the area, of which only used pages take memory. A process maps the first
 * part, and more when it needs it. */
#define ST_PROBE_AREA_BYTES (4ull << 30)
#define ST_PROBE_FIRST_BYTES (64ull << 20) /* mapped at first, after the fixed part */

/* The action of a probe. */
enum st_probe_kind {
	ST_PROBE_NOTHING,
	ST_PROBE_TIME,    /* entry and return are timed */
	ST_PROBE_SCOPE,   /* the same, and what is timed within a scope is while this is active */
	ST_PROBE_PATCHED, /* the same as ST_PROBE_TIME: the function's exits are patched, and its
	                     return address stays */
	ST_PROBE_COUNT,   /* entries are counted */
	ST_PROBE_UNWIND,  /* the function reads return addresses: they are put back before */
	ST_PROBE_LAND,    /* an exception has landed: what was put back is replaced again */
	ST_PROBE_LIBRARY, /* the linker has changed its list: the controller is asked, and awaited
	                   */
	ST_PROBE_WAIT,    /* the call is counted, and `amount` ticks pass, at least, before it, */
	ST_PROBE_SLEEP,   /* or the thread sleeps for `amount` ns */
	ST_PROBE_WAIT_AFTER, /* the same behind the call, which is timed without that */
	ST_PROBE_SLEEP_AFTER,
	ST_PROBE_READ,   /* the call is counted, and its arguments are kept, with `amount` words of
	                    the stack */
	ST_PROBE_EXEC,   /* of execve: the controller follows; with an amount it is counted, too */
	ST_PROBE_CLONE,  /* of clone: counted, and nothing is timed any more once it makes threads
	                    that cannot be told apart */
	ST_PROBE_ALLOC,  /* the function allocates memory: wire/alloc.h; `amount` is its kind */
	ST_PROBE_YIELD,  /* the thread yields `amount` times: for noise only */
	ST_PROBE_RECORD, /* a sample of the calls is timed and kept with the data that they work on;
	                    `amount` is the offset / 8 of struct st_record_function */
	ST_PROBE_TALLY,  /* the call is timed, and its time added to the thread's tally `amount` */
	ST_PROBE_LOCK,   /* the same of a function that takes or releases a lock: wire/held.h */
	ST_PROBE_POINT, /* of an instruction within a function: it is counted, and may have noise */
	ST_PROBE_CREATE,   /* of pthread_create: the call is timed, and its arguments are kept, with
	                      the thread that it has created */
	ST_PROBE_SANDBOX,  /* of prctl: if it forbids the program system calls that recording needs,
	                      no more calls are recorded */
	ST_PROBE_SYSCALL,  /* of syscall: the same; a call that waits for a futex is also timed, as
	                      with ST_PROBE_TALLY (`amount` is ST_RECORD_TIME: it is not) */
	ST_PROBE_CLOCK,    /* of the vDSO: pauses are hidden from what it returns: wire/clock.h */
	ST_PROBE_DEADLINE, /* one of its arguments is a deadline, which is translated */
};
struct st_probe_action {
	uint32_t kind;
	uint32_t amount; /* one of this many calls is timed, the others are counted; 0: all are
	                    timed. The controller may change it at any time */
};

/* Noise of a function whose calls are timed: an action after the time stamp of the entry and before
 * the function's code, or with ST_PROBE_AT_END before the time stamp of the return; of a point:
 * before its instruction. kind: ST_PROBE_WAIT, ST_PROBE_SLEEP or
 * ST_PROBE_YIELD, with their amounts. 0: none. It is one word, so that the controller can change it
 * while calls are made. */
enum { ST_PROBE_AT_END = 1 << 16 }; /* a bit of a noise that has its kind below */
static inline uint64_t
st_probe_noise(enum st_probe_kind kind, uint32_t amount)
{
	return amount ? (uint64_t)amount << 32 | kind : 0;
}

/* What had been measured of a function or a pair when the share of its calls that are timed last
 * changed, as its fields of the same names, and what all calls until then took, as estimated. The
 * controller writes and reads it. */
struct st_probe_closed {
	uint64_t calls, counted, inclusive, outermost, squares[2];
	double all_inclusive, all_outermost;
	double variance; /* of the first of these */
};

/* The measurements of a function by a thread. Times are net: the cost of probes,
 * an average, is taken off, so sums may be a little below zero, as a signed number. */
struct st_probe_cell {
	uint32_t function;
	uint32_t active;         /* timed activations that have not ended */
	uint32_t counted_active; /* of calls that are only counted: as far as is known */
	uint32_t unused;
	uint64_t calls; /* that have ended and were timed, or with ST_PROBE_COUNT begun */
	uint64_t lost;  /* whose return was not seen */
	uint64_t inclusive, outermost, exclusive, shortest, longest;
	uint64_t since;       /* while active: when the outermost activation began, and */
	uint64_t since_spent; /* what `spent` of the thread was then */
	/* Of a function whose calls are not all timed: calls that were only counted; all, and the
	 * next one that is timed; the sum of the squares of the durations. */
	uint64_t counted, entries, next;
	uint64_t squares[2];             /* the lower 64 bits first */
	uint32_t last_caller, last_pair; /* the pair that was used last: caller + 1, offset / 8 */
	uint32_t octaves[ST_PROBE_OCTAVES]; /* offset / 8 of ST_PROBE_CLASSES numbers of calls */
	uint64_t seen;                      /* calls, by the controller */
	uint64_t noises, noise;             /* calls with noise, and its ticks */
	/* With `both_clocks`, of the outermost activations that have ended: ticks, and the thread's
	 * CPU time in ns, probes included; and both at the beginning of one that is active, 0: none
	 * is. The difference is the time in which the thread did not run. */
	uint64_t clock_ticks, clock_cpu, clock_begin, clock_cpu_begin;
	struct st_probe_closed closed;
};

struct st_probe_pair {
	uint32_t caller, callee; /* functions + 1; caller 0: none that has a probe */
	uint32_t next;           /* in its bucket: offset / 8; 0: none */
	uint32_t active;         /* timed calls that have not ended */
	uint64_t calls, inclusive, outermost;
	uint64_t counted; /* calls that were not timed */
	struct st_probe_closed closed;
};

/* The bucket of a pair. caller: a function + 1, or 0; callee: a function. */
static inline uint32_t
st_probe_pair_bucket(uint32_t caller, uint32_t callee)
{
	return (caller * 2654435761u ^ callee * 40503u) % ST_PROBE_PAIR_BUCKETS;
}

/*
 * Entries and returns one by one: words in the order in which a thread has made them, in chunks
 * that the controller empties. A word of 0 is one that is still being written. The upper two bits
 * say what it is; the place of an entry or return in time are the lower bits of the ticks, less
 * than half their range away from the word before.
 */
enum st_probe_word {
	ST_PROBE_ENTRY = 1,
	ST_PROBE_RETURN,
	ST_PROBE_TICKS, /* the rest is the time of the next word; 0: there is nothing here */
};
enum {
	ST_PROBE_WORD_AT = 62, /* bits: what it is, */
	ST_PROBE_DEPTH_AT = 45,
	ST_PROBE_FUNCTION_AT = 27,
	ST_PROBE_CHUNK = 64 << 10, /* bytes of words; their addresses have this bit, and those
	                              behind them do not */
	ST_PROBE_CHUNK_STRIDE = 2 * ST_PROBE_CHUNK,
	ST_PROBE_CHUNKS = ST_PROBE_MOST_THREADS + 512, /* some for each thread, and */
	ST_PROBE_CHUNK_QUEUE = 256,                    /* these may wait for the controller */
};
#define ST_PROBE_TIME_MASK ((1ull << ST_PROBE_FUNCTION_AT) - 1)

enum st_probe_chunk_state {
	ST_PROBE_CHUNK_FREE, /* and all zero */
	ST_PROBE_CHUNK_OWNED,
	ST_PROBE_CHUNK_FULL,
	ST_PROBE_CHUNK_CUT,  /* its thread has ended: what is 0 will not be written */
	ST_PROBE_CHUNK_SPENT /* it may still be written to, and is not used again */
};
struct st_probe_chunk {
	uint32_t state, record; /* state: atomic */
	uint64_t order;         /* grows from one chunk of a thread to the next */
};

/* The arguments of a call (ST_PROBE_READ, ST_PROBE_CREATE). */
enum {
	ST_PROBE_REGISTERS = 6, /* rdi, rsi, rdx, rcx, r8, r9 */
	ST_PROBE_STACK_WORDS = 8,
	ST_PROBE_KEPT_AT_ONCE = 128, /* in a chunk */
	ST_PROBE_MOST_KEPT = 1 << 20 /* of all threads */
};
struct st_probe_arguments {
	uint32_t function; /* + 1; 0: it is not complete; written last */
	uint32_t words;    /* of the stack that could be read */
	uint64_t ticks;
	uint64_t registers[ST_PROBE_REGISTERS];
	uint64_t stack[ST_PROBE_STACK_WORDS]; /* from the one behind the return address on */
	/* Of ST_PROBE_CREATE: the return address, and the thread pointer of the thread that the
	 * call has created; 0: none, or its return was not seen; atomic. */
	uint64_t back, made;
};
struct st_probe_kept {
	uint32_t next; /* the chunk that was filled before: offset / 8 */
	uint32_t n;    /* that were begun; atomic; may be more than there is room for */
	struct st_probe_arguments rows[ST_PROBE_KEPT_AT_ONCE];
};

/* A thread that has hit a probe. Offsets are in units of 8 bytes of the area, 0: none. */
struct st_probe_record {
	uint32_t tid;
	/* Of `room` numbers: twice the offset of the function's cell, and 1 if its calls are
	 * timed as they are most of the time. */
	uint32_t cells;
	uint32_t pairs; /* of ST_PROBE_PAIR_BUCKETS numbers */
	uint32_t room;  /* functions that have a place in cells; written after it */
	uint32_t pid;
	uint32_t rows;  /* the latest chunk of arguments; atomic */
	uint64_t spent; /* on probes, in 1/256 ticks */
	uint64_t last;  /* when the last timed call ended */
	uint64_t fs;    /* the thread pointer, */
	uint64_t began; /* and when the first probe was hit: ticks */
};

/* Addresses of everything that the controller has mapped in the process: if the controller is
 * killed, another one uses them to remove the probes. */
struct st_probe_home {
	uint64_t image, image_bytes, context, note, threads, trampoline, shared, shared_bytes;
	uint64_t arenas[3];
};

struct st_probe_area {
	uint32_t version;
	uint32_t n_records;       /* atomic */
	uint32_t asked, answered; /* ST_PROBE_LIBRARY: futexes; equal: nobody waits */
	uint32_t controlled;      /* by a controller that will answer */
	uint32_t pid;
	uint32_t only_counts; /* no return address is replaced: somebody reads them unnoticed */
	uint32_t mixes;       /* threads share a thread pointer: calls are counted */
	uint32_t controller;  /* its process, */
	uint32_t attendant;   /* and that of its threads which answers; 0: not known yet */
	uint32_t allocations; /* offset / 8 of struct st_alloc_area; 0: they are not counted */
	uint32_t n_functions; /* that have probes */
	uint64_t used;        /* bytes; atomic */
	uint64_t no_room;     /* calls that found no room in the area, or their thread none */
	uint64_t too_deep;    /* calls that had no frame: they are counted, not timed */
	uint64_t strays;      /* returns that belong to no frame: there should be none */
	uint64_t rows; /* of arguments, that were begun, also where there was no room; atomic */
	/* Of chunks: that are full; counts what the controller does; threads that wait for it; it
	 * does not seem to do anything, and is waited for no more; words that found no place. */
	uint32_t full, beats, waiters, deaf;
	/* ST_PROBE_EXEC: counts the threads that have asked; the one whose turn it is, 0: nobody's;
	 * and its process. The first two are futexes. */
	uint32_t exec_asked, exec_tid, exec_pid;
	uint32_t sandboxed; /* system calls are forbidden: ST_PROBE_SANDBOX */
	uint32_t leaves;    /* the controller takes the probes away: calls may go on without them */
	uint64_t lost_words;
	/* No noise is made after this time in ticks, so that noise ends also if the controller is
	 * killed; atomic; 0: noise has no end. */
	uint64_t noise_until;
	uint64_t yield_ticks; /* the yields of one noise end after as many ticks; 0: no limit */
	struct st_probe_home home;
	uint64_t hidden_ns; /* of threads that have no slot below; atomic */
	struct st_clock_slot clocks[ST_CLOCK_SLOTS];
	struct st_probe_chunk chunks[ST_PROBE_CHUNKS];
	struct st_probe_action actions[ST_PROBE_MOST];
	uint64_t noise[ST_PROBE_MOST]; /* st_probe_noise; atomic */
	struct st_probe_record records[ST_PROBE_MOST_RECORDS];
};

/* Where the chunks are in the area, if there are any. */
#define ST_PROBE_CHUNKS_AT                                                                         \
	((sizeof(struct st_probe_area) + ST_PROBE_CHUNK_STRIDE - 1) / ST_PROBE_CHUNK_STRIDE *      \
	 ST_PROBE_CHUNK_STRIDE)
#define ST_PROBE_CHUNKS_END (ST_PROBE_CHUNKS_AT + (uint64_t)ST_PROBE_CHUNKS * ST_PROBE_CHUNK_STRIDE)

/* Further actions at the end of an activation. */
enum st_probe_end {
	ST_PROBE_ENDS,
	ST_PROBE_ENDS_SCOPE,
	ST_PROBE_ENDS_WAITING,
	ST_PROBE_ENDS_TALLY
};

/* An activation that is under way. */
struct st_probe_frame {
	uint64_t slot;     /* where its return address lies; 0: the frame is not complete */
	uint64_t original; /* the return address */
	uint64_t begin;    /* ticks */
	uint64_t callees;  /* net ticks of what it has called itself */
	uint64_t spent;    /* on probes below it, at all depths, in 1/256 ticks */
	uint32_t function, cell;
	uint32_t pair;
	uint16_t ends;       /* enum st_probe_end */
	uint16_t is_patched; /* the return address is the program's */
	/* The cell of a call that is only counted: its return is not seen, and its frame is there
	 * for the sake of what it calls. 0: the call is timed. */
	uint32_t counted;
	uint32_t row; /* of a call that is kept: offset / 8 of the row; 0: not kept */
};

struct st_probe_thread {
	uint64_t fs;
	uint32_t tid, record;
	uint32_t seen;  /* at tid_at */
	uint32_t depth; /* frames; the lowest is nobody's, and is never popped */
	uint32_t put_back;
	uint64_t put_back_at;    /* the stack pointer of who asked for that */
	uint64_t room;           /* the record's */
	uint64_t cells, numbers; /* addresses: of the record's cells, and the record */
	uint64_t word_at;        /* address of the next word; without ST_PROBE_CHUNK: no place */
	uint64_t word_ticks;     /* time of the last one */
	uint64_t allocations;    /* address of struct st_alloc_thread; 0: there is none yet */
	uint64_t scratch;        /* address of struct st_record_scratch; 0: none yet */
	struct st_record_tallies tallies;
	struct st_held held;
	struct st_record_clock clock;
	uint64_t read_by_probes; /* bytes: wire/record.h, ST_RECORD_IO */
	uint64_t hidden;         /* address of the hidden time; 0: not known yet */
	uint32_t in_clock;       /* calls of ST_PROBE_CLOCK that have not returned */
	uint32_t copies;         /* of deadlines that it has used */
	struct st_clock_seen clocks[ST_CLOCK_IDS];
	struct st_probe_frame frames[ST_PROBE_FRAMES];
	struct st_record_peak peaks[ST_PROBE_FRAMES]; /* by frame */
};

/* Size of n of these structures, rounded up to pages. */
#define ST_PROBE_THREADS_BYTES(n)                                                                  \
	(((uint64_t)(n) * sizeof(struct st_probe_thread) + 4095) & ~(uint64_t)4095)

/* Whether a call is timed as it is most of the time, or there is more to look at. */
enum st_probe_note { ST_PROBE_FORKED, ST_PROBE_AS_USUAL, ST_PROBE_LOOK };

struct st_probe_context {
	uint64_t area;    /* addresses in the process: of the shared memory, */
	uint64_t note;    /* of a word that is 0 in a child of fork, */
	uint64_t threads; /* of at most ST_PROBE_MOST_THREADS structures of threads */
	uint64_t trampoline;
	uint32_t tid_at; /* where a thread has its number, from fs:0 on; 0: not known */
	uint32_t forked; /* this is a child of fork: nothing is measured */
	/* Cost of a probe in 1/256 ticks: within the time between its time stamps, in all, and of a
	 * call that is only counted. */
	uint32_t cost_within, cost, cost_counted;
	uint32_t samples;    /* some functions have calls that are not timed */
	uint32_t most_depth; /* timed calls within each other, at most */
	uint32_t scoped;     /* calls are timed while a scope is active */
	uint32_t uses_cpu;   /* time is CPU time of the thread, in ns */
	uint32_t n_threads;
	uint32_t has_parked;
	uint32_t noisy;  /* functions may have noise */
	uint64_t chunks; /* address of the first chunk; 0: entries and returns are not recorded */
	uint32_t pid;
	uint32_t follows;          /* children of fork are measured, too */
	uint32_t running;          /* activations of scopes; atomic */
	uint32_t usual;            /* value of the note: enum st_probe_note */
	uint64_t area_bytes;       /* bytes of the area that the process has mapped: atomic */
	uint32_t room_for_threads; /* structures in `threads` that are mapped: atomic */
	uint32_t is_short;         /* mapping more of the area has failed */
	uint32_t sandboxed;        /* as that of the area; each process has its own */
	uint32_t both_clocks;      /* calls also have the thread's CPU time */
	uint64_t deadlines;        /* address of ST_CLOCK_COPIES copies for each thread; 0: none */
	uint64_t clock_rest; /* address of the vDSO's clock_gettime after its probe; 0: none */
	uint64_t frozen_ns;  /* hidden time of a child of fork */
	uint64_t fs[ST_PROBE_THREAD_SLOTS]; /* of the threads, hashed; 0: free */
	uint64_t thread[ST_PROBE_THREAD_SLOTS];
	/* Frames that a thread has left, for another stack or for good, hashed by their slots: 0 is
	 * free, 1 being written. */
	struct st_probe_frame parked[ST_PROBE_PARKED];
};

#endif
