/* SPDX-License-Identifier: MIT */
/* How long do system calls take? Per call: how many, how many failed, time in all, and the longest.
 * strobe run -t ./latency.tool -- PROGRAM */
#include <strobe/tool.h>

STROBE_TABLE(calls, "system calls", STROBE_KEY("call", STROBE_SYSCALL),
             STROBE_SUM("count", STROBE_NUMBER), STROBE_SUM("errors", STROBE_NUMBER),
             STROBE_SUM("time", STROBE_TICKS), STROBE_MAX("longest", STROBE_TICKS));

static void
after(strobe_thread *t, const strobe_syscall *s)
{
	uint64_t key = s->number, took = s->end - s->begin;
	(void)t;
	strobe_cell_add(strobe_cell_of(&calls, 1, key), 1);
	strobe_cell_add(strobe_cell_of(&calls, 2, key), s->result < 0 && s->result > -4096);
	strobe_cell_add(strobe_cell_of(&calls, 3, key), took);
	strobe_cell_max(strobe_cell_of(&calls, 4, key), took);
}

STROBE_TOOL(latency, .help = "time in system calls", .syscall_after = after);
