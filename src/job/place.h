/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The location of a job: its project, the store or the folder of its profiles, and the folder of
 * its unfinished runs. */
#ifndef STROBE_JOB_PLACE_H
#define STROBE_JOB_PLACE_H

#include "store/store.h"

struct st_job_place {
	char *root; /* of the project */
	bool git, has_store;
	struct st_store store; /* if has_store */
	char *jobs;            /* journals, workloads, profiles that are not kept yet */
	char *results;         /* without a store: profiles */
	int lock;              /* of jobs: one job runs at a time; -1: not taken */
};

/* Finds them from the current folder on. 0, or -1 with *e. The caller closes in both cases. */
st_status st_job_place_open(struct st_job_place *p, struct st_error *e);
/* Makes the folders, and takes the lock. */
st_status st_job_place_begin(struct st_job_place *p, struct st_error *e);
void st_job_place_close(struct st_job_place *p);

/* The version that is checked out, malloc'ed: a commit, or "work" where there is no git. */
st_status st_job_place_head(struct st_job_place *p, char **name, struct st_error *e);
/* Removes a folder with all that is in it, if it is there. */
void st_job_place_remove(const char *folder);

/* Puts a profile where it belongs, unless it is there already. rev NULL: the version that is
 * checked out. *id: what names it, malloc'ed. */
st_status st_job_place_keep(struct st_job_place *p, const char *file, const char *name,
                            const char *workload, const char *rev, char **id, char **version,
                            struct st_error *e);

#endif
