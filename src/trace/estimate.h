/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_TRACE_ESTIMATE_H
#define STROBE_TRACE_ESTIMATE_H

#include "trace/trace.h"

/*
 * Makes the times of functions and pairs, from those numbers on, which are sums over the timed
 * calls, into estimates for all calls of a thread. A pair's calls are taken to last, on average, as
 * long as its timed ones; where none was timed, as long as the timed calls of the callee. What a
 * function has spent in total is the sum over its callers, and its own time is that less the sum
 * over its callees. -1: memory is exhausted.
 */
st_status st_trace_estimate(struct st_trace *t, size_t function, size_t pair);

#endif
