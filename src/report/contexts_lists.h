/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All functions and all basic blocks of a profile's contexts, with absolute counts and code. */
#ifndef STROBE_REPORT_CONTEXTS_LISTS_H
#define STROBE_REPORT_CONTEXTS_LISTS_H

#include "base/status.h"
#include "contexts/contexts.h"
#include "report/disassemble.h"
#include "report/places.h"

/* A function that was executed. */
struct st_listed_function {
	uint32_t label;  /* one of its own */
	uint64_t offset; /* in its image */
	const char *file;
	uint32_t line, column; /* column 0: not known */
	/* Activations; where contexts are of blocks, executions of its first instruction. */
	uint64_t count;
	uint64_t blocks;       /* that were executed; 0 where contexts are of functions */
	uint64_t instructions; /* executed in it; where `measured` */
	bool measured;
};

struct st_context_lists {
	const struct st_contexts *c;
	ST_VEC(struct st_listed_function) functions; /* in the order of their first labels */
	struct st_places places;
	struct st_disassembler code;
	uint32_t image; /* of the profile, that `code` is set up for; UINT32_MAX: none */
	bool braces;    /* blocks in code as text has them, "{foo+12 at 3,0}", else "foo+12" */
};

/* 0, or -1 when memory is exhausted; to be closed in both cases. */
st_status st_lists_open(struct st_context_lists *l, const struct st_contexts *c, bool braces);
void st_lists_close(struct st_context_lists *l);

/* The next label from `i` on that is a block that was executed; c->n_labels: there is none. */
uint32_t st_lists_block(const struct st_contexts *c, uint32_t i);

struct st_listed_insn {
	uint64_t offset;  /* in the image */
	uint64_t inside;  /* bytes from the beginning of the function, of its part, of the block */
	const char *text; /* valid while it is written */
	const char *part; /* the name of a part that begins here and stands elsewhere, else NULL */
	bool first;       /* of all */
};
typedef void st_insn_writer(void *context, const struct st_listed_insn *in);
/* The code of a function with its parts, of a block. NULL, or why there is none. */
const char *st_lists_function_code(struct st_context_lists *l, const struct st_listed_function *f,
                                   st_insn_writer *write, void *context);
const char *st_lists_block_code(struct st_context_lists *l, uint32_t label, st_insn_writer *write,
                                void *context);

#endif
