/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The replacement of the engine in a build without libbpf, clang or bpftool. */
#include "ebpf/engine.h"

/* The build says what was missing; who reads this file by itself does not know. */
#ifndef ST_EBPF_MISSING
#define ST_EBPF_MISSING "a part"
#endif

static st_status
say_missing_part(const struct st_trace_request *r, struct st_error *e)
{
	(void)r;
	return st_fail(e, ST_EXIT_FAILED,
	               "this strobe was built without the engine ebpf, because %s was missing: "
	               "install it and build strobe again, or use --engine jit",
	               ST_EBPF_MISSING);
}

const struct st_trace_engine st_ebpf_engine = {
        .name = "ebpf", .needs = "a build with " ST_EBPF_MISSING, .check = say_missing_part};
