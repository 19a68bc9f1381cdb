/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan: what the controller tells the runtime before the program's first instruction. */
#ifndef STROBE_WIRE_PLAN_H
#define STROBE_WIRE_PLAN_H

#include <stdint.h>

/* Stress modes: every mechanism of the engine made to run all the time. Given to `strobe run
 * --stress a,b`. */
#define ST_STRESSES(ST_STRESS)                                                                     \
	ST_STRESS(blocks, 1u, "translate in fragments of two instructions")                        \
	ST_STRESS(cache, 2u, "use a tiny code cache, which is flushed when it is full")            \
	ST_STRESS(links, 4u, "do not link blocks to each other")                                   \
	ST_STRESS(flush, 8u, "flush the whole cache after every thousand dispatches")              \
	ST_STRESS(lookup, 16u, "use no lookup table for indirect branches")                        \
	ST_STRESS(threads, 32u, "emit thread-safe code from the start")                            \
	ST_STRESS(far, 64u, "treat every rip-relative operand as out of reach")                    \
	ST_STRESS(versions, 128u, "let threads run instrumented and plain code in turn")           \
	ST_STRESS(watch, 256u, "with --unique and a budget, set breakpoints from the start")

enum {
#define ST_STRESS(name, bit, text) ST_STRESS_##name = bit,
	ST_STRESSES(ST_STRESS)
#undef ST_STRESS
};

#endif
