/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads as the file of a job describes them, and as they are given to programs. */
#ifndef STROBE_JOB_GENERATORS_H
#define STROBE_JOB_GENERATORS_H

#include "job/job.h"

/* One item of the list `workloads`: a value, or a generator with its settings. */
st_status st_generator_read(struct st_generator *g, struct st_yaml *y, yaml_node_t *item,
                            struct st_error *e);

/* A number that is known of a workload. */
struct st_workload_feature {
	char *name;
	double value;
};

struct st_workload {
	char *name;     /* "integer_100" */
	char *argument; /* text, or the path of a file */
	bool to_stdin;  /* the path is not an argument but the program's standard input */
	ST_VEC(struct st_workload_feature) features; /* the size is the first */
};

struct st_workloads {
	ST_VEC(struct st_workload) v;
};

/* The workloads of all generators of a job, in their order. Files are written to the folder, which
 * exists; generators that are programs run in `root`. The same job makes the same workloads
 * everywhere. 0, or -1 with *e. The caller frees in both cases. */
st_status st_workloads_make(struct st_workloads *w, const struct st_job *j, const char *folder,
                            const char *root, struct st_error *e);
void st_workloads_free(struct st_workloads *w);

/* Compares a name with a format such as "graph-{size}-{seed}.txt": the values of its keys become
 * features of the workload if they are numbers. False: it does not fit. */
bool st_workload_take_name(struct st_workload *w, const char *format, const char *name);
double st_workload_size(const struct st_workload *w);

#endif
