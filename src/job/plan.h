/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a job: every command with every set of arguments, every workload and every set of
 * parameters of every collector. */
#ifndef STROBE_JOB_PLAN_H
#define STROBE_JOB_PLAN_H

#include "job/generators.h"

struct st_job_variant {
	const char *command, *arguments;
	const struct st_workload *workload; /* NULL: the job has none */
	const struct st_job_collector *collector;
};

struct st_job_plan {
	struct st_workloads workloads;
	ST_VEC(struct st_job_variant) v;
};

/* 0, or -1 with *e; see st_workloads_make. The caller frees in both cases. */
st_status st_job_plan_make(struct st_job_plan *p, const struct st_job *j, const char *folder,
                           const char *root, struct st_error *e);
void st_job_plan_free(struct st_job_plan *p);

/* The program and its arguments, malloc'ed in one piece, NULL-terminated; NULL: memory is
 * exhausted. A workload takes the place of {workload}, or is the last argument. */
char **st_job_variant_argv(const struct st_job_variant *v);
/* "time of ./sort -n, integer_100", malloc'ed. */
char *st_job_variant_title(const struct st_job_variant *v);

#endif
