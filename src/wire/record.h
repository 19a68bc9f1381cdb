/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of calls, from which annotations explain the costs of a function: values of the program's
 * data at the entry, which a list of operations reads, and the costs of the call. The records lie
 * in the area of wire/probe.h.
 */
#ifndef STROBE_WIRE_RECORD_H
#define STROBE_WIRE_RECORD_H

#include <stdint.h>

enum {
	ST_RECORD_MOST_OPS = 192,
	ST_RECORD_TEXT = 64 << 10, /* bytes of a text that are read at most */
};

/* The value of operation i is v[i]. It is absent if its memory cannot be read, or if the operation
 * uses an absent value. */
enum st_record_op_kind {
	ST_RECORD_REGISTER,      /* argument register number `base`: rdi, rsi, .. */
	ST_RECORD_VECTOR,        /* the lower eight bytes of xmm register `base` */
	ST_RECORD_STACK,         /* the eight bytes at `offset` after the return address */
	ST_RECORD_STACK_ADDRESS, /* the address of these bytes */
	ST_RECORD_CONSTANT,      /* `extra`; signed: an address in the function's image */
	ST_RECORD_LOAD,          /* `width` bytes at v[base] + offset */
	ST_RECORD_BITS,          /* `width` bits of v[base], from bit `offset` on */
	ST_RECORD_NULL,          /* whether v[base] is 0 */
	ST_RECORD_ADD,           /* v[base] + v[other] */
	ST_RECORD_DIFFERENCE,    /* (v[base] - v[other]) / extra */
	ST_RECORD_MULTIPLY,      /* v[base] * extra */
	ST_RECORD_LENGTH,        /* bytes before the first 0 at v[base], at most ST_RECORD_TEXT */
	ST_RECORD_SUM,           /* of `extra` elements of `width` bytes at v[base] + offset */
	ST_RECORD_MACHINE,       /* the state of the machine: enum st_machine_feature in `base` */
};

struct st_record_op {
	uint8_t kind, width;
	uint8_t is_signed; /* for LOAD, BITS and SUM: extend the sign */
	uint8_t kept;      /* the row has the value */
	uint16_t base, other;
	int32_t offset;
	uint32_t unused;
	uint64_t extra;
};

/* Costs of a call. M(identifier, name in files, unit ("": a count), description) */
#define ST_RECORD_METRICS(M)                                                                       \
	M(TIME, "time", "ns", "wall-clock time")                                                   \
	M(CPU, "cpu", "ns", "CPU time of the thread")                                              \
	M(ALLOCATED, "allocated", "bytes", "bytes requested from malloc and similar functions")    \
	M(ALLOCATIONS, "allocations", "", "calls of malloc and similar functions")                 \
	M(FREED, "freed", "bytes", "bytes freed")                                                  \
	M(HEAP_NET, "heap_net", "bytes", "bytes allocated minus bytes freed")                      \
	M(HEAP_PEAK, "heap_peak", "bytes", "the most that heap_net was during the call")           \
	M(MINOR, "minor_faults", "", "page faults without input")                                  \
	M(MAJOR, "major_faults", "", "page faults with input")                                     \
	M(SWITCHES, "switches", "", "context switches because the thread waited")                  \
	M(PREEMPTIONS, "preemptions", "", "context switches because others ran")                   \
	M(LOCK_WAIT, "lock_wait", "ns", "time inside functions that take a lock")                  \
	M(CONDITION_WAIT, "condition_wait", "ns", "time inside waits for a condition variable")    \
	M(LOCK_HELD, "lock_held", "ns", "time during which the thread held at least one lock")     \
	M(READ, "bytes_read", "bytes", "bytes read by read and similar system calls")              \
	M(WRITTEN, "bytes_written", "bytes", "bytes written by write and similar system calls")

enum st_record_metric {
#define M(id, name, unit, what) ST_RECORD_##id,
	ST_RECORD_METRICS(M)
#undef M
	        ST_RECORD_METRIC_COUNT
};
/* Metrics for which the runtime calls getrusage. */
#define ST_RECORD_USAGE                                                                            \
	(1u << ST_RECORD_MINOR | 1u << ST_RECORD_MAJOR | 1u << ST_RECORD_SWITCHES |                \
	 1u << ST_RECORD_PREEMPTIONS)

/* Metrics for which the runtime reads /proc/thread-self/io. */
#define ST_RECORD_IO (1u << ST_RECORD_READ | 1u << ST_RECORD_WRITTEN)
/* Metrics for which calls of malloc and similar functions are counted. */
#define ST_RECORD_HEAP                                                                             \
	(1u << ST_RECORD_ALLOCATED | 1u << ST_RECORD_ALLOCATIONS | 1u << ST_RECORD_FREED |         \
	 1u << ST_RECORD_HEAP_NET | 1u << ST_RECORD_HEAP_PEAK)
/* The value of a metric that could not be measured. */
#define ST_RECORD_ABSENT INT64_MIN

/* A bit beside those of the metrics: each row also has the costs of the recorded functions that
 * the call calls itself. */
#define ST_RECORD_CALLEES (1u << 31)
/* The same for costs that only the engine can count. M(identifier, name in files, bit) */
#define ST_RECORD_ENGINE_METRICS(M)                                                                \
	M(INSTRUCTIONS, "instructions", 30)                                                        \
	M(BLOCKS, "blocks", 28)                                                                    \
	M(SYSCALLS, "syscalls", 27)
enum {
#define M(id, name, bit) ST_RECORD_##id = 1 << (bit),
	ST_RECORD_ENGINE_METRICS(M)
#undef M
#define M(id, name, bit) ST_RECORD_##id |
	        ST_RECORD_OF_ENGINE = ST_RECORD_ENGINE_METRICS(M) 0
#undef M
};
/* The same for the outcomes of branches, for which the engine is needed as well. */
#define ST_RECORD_BRANCHES (1u << 29)
/* Metrics that callees have: those that can be read without a system call, and whose sums over
 * calls say something. */
#define ST_RECORD_OF_CALLEES                                                                       \
	(1u << ST_RECORD_TIME | 1u << ST_RECORD_ALLOCATED | 1u << ST_RECORD_ALLOCATIONS |          \
	 1u << ST_RECORD_FREED | 1u << ST_RECORD_HEAP_NET | 1u << ST_RECORD_LOCK_WAIT |            \
	 1u << ST_RECORD_CONDITION_WAIT | 1u << ST_RECORD_LOCK_HELD)

enum {
	ST_RECORD_MOST_KEPT = 128,
	/* Callees of a function that are told apart. One more place has the sum of all others. */
	ST_RECORD_MOST_NAMED = 24,
};

/* The recording of a function; the amount of its action is the offset / 8 of this structure. The
 * controller writes all fields except the counts. */
enum { ST_RECORD_PACES = 64 };

struct st_record_function {
	uint64_t calls;  /* entries; atomic */
	uint64_t missed; /* calls that were drawn and not kept: made in a signal handler during
	                    recording, or their row was being written; atomic */
	uint64_t seed;
	uint32_t keep;    /* number of rows; later calls replace others at random */
	uint32_t metrics; /* bits: 1 << enum st_record_metric */
	uint32_t n_ops, n_kept;
	uint32_t rows, row_words; /* offset / 8 of the first row; size / 8 of a row */
	/* Time that recording adds between the two time stamps of a call, compared with a probe
	 * that only times the call: 1/256 ticks. */
	uint32_t cost_within;
	/* Offset / 8 in a row of the costs of callees, and the size / 8 of those of one; 0: the
	 * rows have none. */
	uint32_t callees_at, callee_words;
	/* The action of each callee that is told apart, plus 1, in the order in which they were
	 * first called; atomic. The costs in rows are in the same order. */
	uint32_t callees[ST_RECORD_MOST_NAMED];
	uint32_t again;   /* how often the data of a call is read again */
	uint32_t present; /* rows whose pages the process has, or gets now; atomic; 0: none yet */
	uint32_t machine; /* offset / 8 of struct st_machine (wire/machine.h); 0: there is none */
	/* The ticks that a fixed loop took after some of the calls that were kept: a random sample.
	 * They show whether the processor was as fast as in another run. */
	uint32_t paces; /* loops; atomic */
	uint32_t pace[ST_RECORD_PACES];
	struct st_record_op ops[ST_RECORD_MOST_OPS];
};

/* The same for the engine's tool `records`: data of a function (tools/cells.h). */
struct st_record_plan {
	uint64_t seed;
	uint32_t index; /* the controller's number of the function */
	uint32_t keep, n_ops, n_kept;
	struct st_record_op ops[];
};

/* The number of the row that keeps a call, by Algorithm R; `keep` or greater: none does. serial:
 * its number, from 1. */
static inline uint64_t
record_choose_row(uint64_t seed, uint64_t keep, uint64_t serial)
{
	if (__builtin_expect(serial <= keep, 0))
		return serial - 1;
	uint64_t x = seed + serial * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (uint64_t)((unsigned __int128)x * serial >> 64);
}

enum st_record_state {
	ST_RECORD_FREE,
	ST_RECORD_BUSY, /* it is being written */
	ST_RECORD_OPEN, /* the call has not returned */
	ST_RECORD_DONE,
};

/* A call that is kept. */
struct st_record_row {
	uint32_t state; /* atomic */
	uint32_t tid;
	uint64_t serial;      /* the number of the call, from 1 */
	uint64_t slot, begin; /* address of its return address, and ticks at its entry */
	uint64_t spent;       /* cost of probes within the call that is still part of its CPU time,
	                         1/256 ticks; until its end: of the thread's clock, `ticks` */
	uint64_t absent[ST_RECORD_MOST_KEPT / 64]; /* a bit for each value */
	int64_t metrics[ST_RECORD_METRIC_COUNT];   /* times in ticks; CPU time in ns, `spent` not
	                                              subtracted */
	uint64_t values[];
	/* Then, of each callee: the number of calls that have returned, and the sums of those of
	 * the function's metrics that callees have. At the end, if there are callees:
	 * ST_RECORD_METRIC_COUNT totals of the thread when the call in progress of a callee began,
	 * as in tallies. */
};

/* Totals of the thread so far, indexed by enum st_record_metric, from ALLOCATED on. That of
 * HEAP_PEAK is the greatest value of HEAP_NET since the beginning of the latest call whose peak is
 * measured. */
struct st_record_tallies {
	uint64_t v[ST_RECORD_METRIC_COUNT];
};

/* What is known of the CPU time of a thread that probes have used. */
struct st_record_clock {
	uint64_t cost; /* CPU time of one reading of the thread's clock, in ns; 0: not known yet */
	/* Costs of probes that are part of `spent`, in ticks of wall-clock time, and what they took
	 * in CPU time, in ns. */
	uint64_t ticks, cpu;
};

/* What the total of HEAP_PEAK was when a call whose peak is measured began: that of the call
 * around it, which it belongs to again at the end. slot: of the call's frame; 0: none. */
struct st_record_peak {
	uint64_t slot;
	int64_t around;
};

/* Sizes of the buffers for memory of the program. */
enum { ST_RECORD_WINDOW = 256, ST_RECORD_WINDOWS = 4, ST_RECORD_BUFFER = 4096 };

/* One per thread; only the runtime uses it. */
struct st_record_scratch {
	uint32_t tid;
	uint32_t busy;
	uint32_t next, unused; /* number of the window to fill next */
	uint64_t machine;      /* address of struct st_machine; 0: its values are not known */
	struct {
		uint64_t from, to;
		uint8_t bytes[ST_RECORD_WINDOW];
	} windows[ST_RECORD_WINDOWS];
	uint64_t values[ST_RECORD_MOST_OPS];
	uint8_t absent[ST_RECORD_MOST_OPS];
	uint8_t buffer[ST_RECORD_BUFFER];
};

#endif
