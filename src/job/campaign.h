/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job as a campaign: its runs are the tasks, in the order of the job. The controller waits for
 * their results in this order and keeps them as those that it has measured itself. */
#ifndef STROBE_JOB_CAMPAIGN_H
#define STROBE_JOB_CAMPAIGN_H

#include "campaign/workers.h"
#include "experiment/experiment.h"
#include "job/measure.h"
#include "job/run.h"

struct st_job_campaign {
	struct st_campaign c;
	struct st_workers_place place;
	struct st_workers pool;
	double next; /* when the number of results is told again */
};

/* The job of a campaign. */
struct st_job_campaign_of {
	const struct st_job *job;
	const struct st_job_options *options;
	const struct st_job_plan *plan;
	const struct st_experiment *experiment;
	const char *folder; /* of the campaign */
	const char *root;   /* of the project */
	const char *source; /* the folder that has the version */
};

/* Makes the campaign, or goes on with it, and starts its workers. 0, or -1 with *e; the caller
 * closes in both cases. */
st_status st_job_campaign_begin(struct st_job_campaign *k, const struct st_job_campaign_of *of,
                                struct st_error *e);
/* Waits for the result of a run, and puts its profile at `file`. 0, or -1 with *e: the campaign
 * cannot go on. */
st_status st_job_campaign_wait(struct st_job_campaign *k, const struct st_job_options *o,
                               size_t run, const char *file, struct st_job_measured *out,
                               struct st_error *e);
/* complete: nothing is left to do, also for pilots. */
void st_job_campaign_close(struct st_job_campaign *k, bool complete);

/* A worker of the campaign in a folder, on a CPU or, with -1, on all. 0, or -1 with *e: this node
 * cannot work. */
st_status st_job_campaign_work(const char *folder, int cpu, const char *strobe, struct st_error *e);

#endif
