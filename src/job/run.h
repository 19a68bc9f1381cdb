/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running a job: for one version or for several, and going on where it was interrupted. */
#ifndef STROBE_JOB_RUN_H
#define STROBE_JOB_RUN_H

#include "job/job.h"

struct st_job_options {
	const char *range;  /* versions, "A..B" or one; NULL: the one that is checked out */
	bool restart;       /* forget what an interrupted job has done */
	bool only_missing;  /* leave out versions that have profiles */
	const char *strobe; /* the program of the collectors */
	const char *file;   /* the job's, as it was given; NULL: the project's */
	const char *on;     /* where to run: see st_workers_place_read; NULL: in this process */
	double lease;       /* of the campaign, s */
	double noise;       /* that its nodes may have, a share; 0: any */
	/* Told what goes on, in place of what was told before; may be NULL. */
	void (*show)(void *arg, const char *text);
	void *arg;
};

enum st_job_state {
	ST_JOB_COMPLETE,
	ST_JOB_INTERRUPTED, /* it goes on when the job is run again */
	ST_JOB_LEFT_OUT,    /* it has profiles already */
	ST_JOB_NOT_BUILT,   /* reason says why */
};
extern const char *const st_job_states[];

struct st_job_failure {
	char *title, *reason;
};

struct st_job_version {
	char *name; /* a commit; "work" without git */
	enum st_job_state state;
	char *reason;
	size_t runs, resumed;                   /* of all; finished by a job that was interrupted */
	size_t exits;                           /* profiles of programs that did not exit with 0 */
	ST_VEC(char *) profiles;                /* names in the store, or files */
	ST_VEC(struct st_job_failure) failures; /* runs without a profile */
};

struct st_job_outcome {
	ST_VEC(struct st_job_version) versions;
	bool stored;   /* the profiles are in the store */
	char *results; /* else in this folder */
};

/* 0, or -1 with *e; the outcome has what was done in both cases, and the caller frees it. */
st_status st_job_run(const struct st_job *j, const struct st_job_options *o,
                     struct st_job_outcome *out, struct st_error *e);
void st_job_outcome_free(struct st_job_outcome *out);

#endif
