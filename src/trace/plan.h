/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would be traced: the functions of a program and of the libraries that it links, or of a
 * process, found in their files, without executing anything of them. */
#ifndef STROBE_TRACE_PLAN_H
#define STROBE_TRACE_PLAN_H

#include "base/vec.h"
#include "trace/engine.h"

/* All text belongs to the images that the session's region has opened. */
struct st_planned_function {
	const char *name, *image;
	uint64_t offset;  /* link-time address */
	const char *file; /* NULL: unknown */
	uint32_t line;    /* 0: unknown */
};

struct st_trace_plan {
	const struct st_trace_request *request;
	ST_VEC(struct st_planned_function) functions; /* by image, ascending by address */
	bool no_memory;
};

/* program: the path of the executable, unless the request names a process. 0, or -1 with *e. The
 * caller frees in any case. */
st_status st_trace_plan_make(struct st_trace_plan *plan, const struct st_trace_request *r,
                             const char *program, struct st_error *e);
void st_trace_plan_free(struct st_trace_plan *plan);

#endif
