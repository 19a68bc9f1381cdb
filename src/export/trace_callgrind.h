/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace for KCachegrind and callgrind_annotate. */
#ifndef STROBE_EXPORT_TRACE_CALLGRIND_H
#define STROBE_EXPORT_TRACE_CALLGRIND_H

#include <stdio.h>

#include "trace/trace.h"

struct st_profile;

/* Each function's own time, and below it that of its calls. p: what was run; NULL: not known. In
 * names, line ends become question marks. -1: memory is exhausted. */
st_status st_trace_callgrind(const struct st_trace *t, const struct st_profile *p, FILE *out);

#endif
