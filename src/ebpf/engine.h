/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine `ebpf` of strobe trace: the kernel's own probes at the first instruction of functions
 * and at their returns (uprobes). Nothing is put into the process; what is hit is recorded by
 * programs in the kernel, and added up here.
 */
#ifndef STROBE_EBPF_ENGINE_H
#define STROBE_EBPF_ENGINE_H

#include "trace/engine.h"

extern const struct st_trace_engine st_ebpf_engine;

#endif
