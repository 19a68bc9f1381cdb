/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of the machine as features of calls. The controller reads it every few milliseconds
 * while the program runs, because reading takes long; only the number of threads is read at the
 * entry of a call.
 */
#ifndef STROBE_WIRE_MACHINE_H
#define STROBE_WIRE_MACHINE_H

#include <stdint.h>

/* F(identifier, name, type). The type is that of the value's eight bytes, as in the source. */
#define ST_MACHINE_FEATURES(F)                                                                     \
	F(THREADS, "threads", "unsigned long")   /* of the process */                              \
	F(RUNNABLE, "runnable", "unsigned long") /* threads that run or wait for a CPU */          \
	F(LOAD, "load", "double")                /* their mean number, over a minute */            \
	F(FREE, "free_memory", "unsigned long")  /* bytes that programs can still get */           \
	F(CLOCK, "cpu_clock", "unsigned long")   /* kHz of the CPU that executes the thread */

enum st_machine_feature {
#define F(id, name, type) ST_MACHINE_##id,
	ST_MACHINE_FEATURES(F)
#undef F
	        ST_MACHINE_COUNT
};

enum { ST_MACHINE_CPUS = 1024 };

struct st_machine {
	uint64_t values[ST_MACHINE_COUNT]; /* RUNNABLE, LOAD and FREE */
	uint32_t known;                    /* bits of these; atomic, set after the value */
	uint32_t unused;
	struct st_machine_cpu {
		uint32_t used; /* a thread has asked for its frequency: it is read again */
		uint32_t khz;  /* 0: not known */
	} cpus[ST_MACHINE_CPUS];
};

#endif
