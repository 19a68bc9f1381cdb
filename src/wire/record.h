/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is kept of calls of a function whose costs are to be explained: the program's data at its
 * entry, which a small program of operations reads, and what the call has cost. All of it lies in
 * the area of wire/probe.h.
 */
#ifndef STROBE_WIRE_RECORD_H
#define STROBE_WIRE_RECORD_H

#include <stdint.h>

enum {
	ST_RECORD_MOST_OPS = 192,
	ST_RECORD_TEXT = 64 << 10, /* bytes of a text that are looked at */
};

/* Each operation has a value, v[its number]; that of one whose memory cannot be read, or which
 * needs such a value, is absent. */
enum st_record_op_kind {
	ST_RECORD_REGISTER,      /* register of arguments number `base`: rdi, rsi, .. */
	ST_RECORD_VECTOR,        /* the lower eight bytes of xmm register `base` */
	ST_RECORD_STACK,         /* the eight bytes at `offset` after the return address */
	ST_RECORD_STACK_ADDRESS, /* the address of that place */
	ST_RECORD_CONSTANT,      /* `extra`; signed: an address in the function's image */
	ST_RECORD_LOAD,          /* `width` bytes at v[base] + offset */
	ST_RECORD_BITS,          /* `width` bits of v[base], from bit `offset` on */
	ST_RECORD_NULL,          /* whether v[base] is 0 */
	ST_RECORD_ADD,           /* v[base] + v[other] */
	ST_RECORD_DIFFERENCE,    /* (v[base] - v[other]) / extra */
	ST_RECORD_LENGTH,        /* bytes before the first 0 at v[base], at most ST_RECORD_TEXT */
	ST_RECORD_SUM,           /* of `extra` elements of `width` bytes at v[base] + offset */
};

struct st_record_op {
	uint8_t kind, width;
	uint8_t is_signed; /* of LOAD, BITS and SUM: the sign is extended */
	uint8_t kept;      /* the value belongs to the record */
	uint16_t base, other;
	int32_t offset;
	uint32_t unused;
	uint64_t extra;
};

/* What a call has cost. M(identifier, name in files, unit; "" is a plain number, what it is) */
#define ST_RECORD_METRICS(M)                                                                       \
	M(TIME, "time", "ns", "wall-clock time")                                                   \
	M(CPU, "cpu", "ns", "CPU time of the thread")                                              \
	M(ALLOCATED, "allocated", "bytes", "bytes that malloc and its like were asked for")        \
	M(ALLOCATIONS, "allocations", "", "calls of malloc and its like")                          \
	M(FREED, "freed", "bytes", "bytes given back")                                             \
	M(MINOR, "minor_faults", "", "page faults without input")                                  \
	M(MAJOR, "major_faults", "", "page faults with input")                                     \
	M(SWITCHES, "switches", "", "context switches because the thread waited")                  \
	M(PREEMPTIONS, "preemptions", "", "context switches because others ran")                   \
	M(LOCK_WAIT, "lock_wait", "ns", "time inside functions that take a lock")                  \
	M(CONDITION_WAIT, "condition_wait", "ns", "time inside waits for a condition variable")

enum st_record_metric {
#define M(id, name, unit, what) ST_RECORD_##id,
	ST_RECORD_METRICS(M)
#undef M
	        ST_RECORD_METRIC_COUNT
};
/* Those of them that need what an operating system says, of the thread. */
#define ST_RECORD_USAGE                                                                            \
	(1u << ST_RECORD_MINOR | 1u << ST_RECORD_MAJOR | 1u << ST_RECORD_SWITCHES |                \
	 1u << ST_RECORD_PREEMPTIONS)

enum { ST_RECORD_MOST_KEPT = 128 };

/* What is recorded of a function: the action's amount is where this lies, offset / 8. The
 * controller writes all but the numbers. */
struct st_record_function {
	uint64_t calls;  /* entries; atomic */
	uint64_t missed; /* that were to be kept, and could not be: in a signal handler that came
	                    meanwhile, or because their row was being written; atomic */
	uint64_t seed;
	uint32_t keep; /* rows: after so many calls each is kept at random, in place of another */
	uint32_t metrics; /* bits */
	uint32_t n_ops, n_kept;
	uint32_t rows, row_words; /* offset / 8 of the first; 8 bytes of each */
	/* What recording adds to the time between the two time stamps of a call, beside what a
	 * probe does that records nothing: 1/256 ticks. */
	uint32_t cost_within, unused;
	struct st_record_op ops[ST_RECORD_MOST_OPS];
};

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
	uint64_t slot, begin; /* of the activation: where its return address lies, and ticks */
	uint64_t spent;       /* on probes within, in 1/256 ticks */
	uint64_t absent[ST_RECORD_MOST_KEPT / 64]; /* bits: of the values */
	int64_t metrics[ST_RECORD_METRIC_COUNT];   /* times in ticks, but CPU time in ns, from which
	                                              `spent` has not been subtracted */
	uint64_t values[];
};

/* What the thread has done so far, for metrics: by enum st_record_metric, from ALLOCATED on. */
struct st_record_tallies {
	uint64_t v[ST_RECORD_METRIC_COUNT];
};

/* Memory of the program that has been read at once. */
enum { ST_RECORD_WINDOW = 256, ST_RECORD_WINDOWS = 4, ST_RECORD_BUFFER = 4096 };

/* Of each thread, for the runtime alone. */
struct st_record_scratch {
	uint32_t tid;
	uint32_t busy;
	uint32_t next, unused; /* window that is used next */
	struct {
		uint64_t from, to;
		uint8_t bytes[ST_RECORD_WINDOW];
	} windows[ST_RECORD_WINDOWS];
	uint64_t values[ST_RECORD_MOST_OPS];
	uint8_t absent[ST_RECORD_MOST_OPS];
	uint8_t buffer[ST_RECORD_BUFFER];
};

#endif
