/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of strobe paths. */
#ifndef STROBE_CLI_PATHS_H
#define STROBE_CLI_PATHS_H

#include "base/status.h"
#include "cli/measure.h"
#include "cli/names.h"
#include "export/contexts.h"

struct st_paths {
	struct st_measure measure;
	const char *mode;               /* as the tool takes it */
	char k[16];                     /* the same; empty: not given */
	const char *asked;              /* an option that is about a run; NULL: none was given */
	bool functions, blocks, disasm; /* to be listed */
	bool kccf, join_threads, per_thread, pin, unroll, cycles, loops, iterations, physical, time,
	        instructions, help;
	uint64_t max_memory; /* bytes; 0: not given */
	struct st_context_limit limit;
	const struct st_context_format *format; /* NULL: a profile */
	bool as_profile;                        /* --format db */
	const char *from;                       /* a profile to read; NULL: none */
	long pid;                               /* of a process to attach; 0: none */
	double seconds;                         /* to measure; 0: all */
	struct st_names names;
	enum st_wall_part part; /* --metric */
};

/* 0, or -1 with *e. st_paths_free in both cases. */
st_status st_paths_parse(struct st_paths *a, char *const *argv, struct st_error *e);
/* The name of an option that was given and is about blocks; NULL: there is none. */
const char *st_paths_blocks_option(const struct st_paths *a);
void st_paths_free(struct st_paths *a);

#endif
