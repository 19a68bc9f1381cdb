/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the result of a run goes and how it is shown: the same for run and attach. */
#ifndef STROBE_CLI_RESULT_H
#define STROBE_CLI_RESULT_H

#include "cli/region.h"
#include "cli/toolset.h"
#include "control/run.h"
#include "profile/profile.h"
#include "profile/rowfile.h"

struct st_result {
	const char *name;   /* of the program: a part of the default file name */
	const char *output; /* NULL: the default name */
	bool json, quiet;
	long top;
	const struct st_toolset *tools;
	const struct st_region *region;
};

/* Where the rows of streams go: beside the profile, or where it would be. */
struct st_row_files {
	char *prefix;
	const char *tools[ST_MAX_TOOLS];
	struct st_row_writer *writer;
	struct st_row_sink sink;
};
void st_row_files_open(struct st_row_files *rows, const struct st_result *a);
void st_row_files_close(struct st_row_files *rows);

/* Values of --format and --output. 0, or -1 with *e. */
int st_result_format(const char *value, bool *json, struct st_error *e);
int st_result_output(const char *value, const char **output, struct st_error *e);
/* Whether the result will find a place, asked before the program runs. 0, or -1 with *e. */
int st_result_check(const struct st_result *a, struct st_error *e);
/* What became of the run into a file and onto the terminal. 0, or -1 with *e. */
int st_result_report(const struct st_result *a, const struct st_run *run,
                     struct st_profile_origin *origin, struct st_row_writer *rows,
                     struct st_error *e);
/* A command's options as they were given, for the record: up to `end`. malloc'ed. */
char *st_result_options(char *const *argv, char *const *end);

#endif
