/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arguments of strobe tune. */
#ifndef STROBE_CLI_TUNE_ARGUMENTS_H
#define STROBE_CLI_TUNE_ARGUMENTS_H

#include "base/status.h"
#include "cli/tune.h"

enum st_tune_mode { ST_TUNE_STUDY, ST_TUNE_BUDGET, ST_TUNE_THRESHOLD };

struct st_tune_arguments {
	enum st_tune_mode mode;
	struct st_study study; /* of a search: the program, the repetitions and the levels */
	struct st_tune_how how;
	struct st_qos_choice qos;
	/* NULL: not given. */
	const char *budgets, *periods, *policy, *program_file, *from, *output;
	bool json, quiet, help;
	bool seeded;   /* --seed is given */
	bool measures; /* an option is given that only measuring has */
};

/* 0, or -1 with *e; the caller frees in both cases. */
st_status st_tune_parse(struct st_tune_arguments *a, char *const *argv, struct st_error *e);
void st_tune_arguments_free(struct st_tune_arguments *a);

#endif
