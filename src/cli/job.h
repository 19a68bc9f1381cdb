/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe job and strobe backfill. */
#ifndef STROBE_CLI_JOB_H
#define STROBE_CLI_JOB_H

#include "batch/batch.h"
#include "job/run.h"

struct st_job_arguments {
	struct st_job_options options;
	struct st_batch_place place;
	const char *file; /* NULL: the project's */
	bool init, json, quiet, help;
};

/* Runs the job and prints what came of it. The exit code. */
int st_job_command(struct st_job_arguments *a);

/* 0, or -1 with *e. */
st_status st_job_print(const struct st_job_outcome *out, FILE *to);
/* Only the versions and runs without a profile, with their causes. */
void st_job_print_causes(const struct st_job_outcome *out, FILE *to);
st_status st_job_print_json(const struct st_job_outcome *out, struct st_error *e);

#endif
