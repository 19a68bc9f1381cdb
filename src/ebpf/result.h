/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a run of the engine to its profile. */
#ifndef STROBE_EBPF_RESULT_H
#define STROBE_EBPF_RESULT_H

#include "ebpf/wait.h"

st_status st_ebpf_result(struct st_ebpf_run *run, struct st_trace_outcome *out, struct st_error *e);

#endif
