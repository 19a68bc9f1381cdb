/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_TRACE_PROBE_H
#define STROBE_TRACE_PROBE_H

#include "trace/engine.h"

/* Calls are timed by probes at the entries of functions, in the program's own code. */
extern const struct st_trace_engine st_trace_probe;

#endif
