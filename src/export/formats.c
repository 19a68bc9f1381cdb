/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/contexts.h"

/* Bounded by the program's functions. */
#define COST_callgrind NULL
#define COST_text &st_context_cost_text
#define COST_xml &st_context_cost_xml
#define COST_json &st_context_cost_json
#define COST_folded &st_context_cost_folded
#define COST_speedscope &st_context_cost_speedscope
#define COST_pprof &st_context_cost_pprof

const struct st_context_format st_context_formats[] = {
#define F(id, name, end, lists, printable, help)                                                   \
	{name, end, help, lists, printable, st_contexts_##id, COST_##id},
        ST_CONTEXT_FORMATS(F)
#undef F
};
const size_t st_n_context_formats = sizeof st_context_formats / sizeof *st_context_formats;
