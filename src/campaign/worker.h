/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker of a campaign: takes one task after the other by a lease, and puts the results in their
 * place. A lease is a hard link to the report of the worker, a file that the worker touches while
 * it lives. A lease whose report was not touched for long is taken over by the lease of the next
 * generation, which only one worker can make.
 */
#ifndef STROBE_CAMPAIGN_WORKER_H
#define STROBE_CAMPAIGN_WORKER_H

#include "campaign/campaign.h"
#include "campaign/heart.h"

/* The outcome of a task. */
struct st_worked {
	bool interrupted; /* it has no result, and another worker may execute it */
	char *text;       /* its result, malloc'ed */
	char *file;       /* removed when another worker was first; malloc'ed, or NULL */
};

struct st_worker_task {
	size_t number;
	const char *worker;  /* its name, which no other worker has */
	double noise;        /* of the node, as a share; NAN: not calibrated */
	const char *scratch; /* a folder of this worker */
};

struct st_work {
	/* Executes a task. ST_FAILED with *e: this node cannot work, whatever the task is.
	 */
	st_status (*execute)(void *arg, const struct st_worker_task *t, struct st_worked *out,
	                     struct st_error *e);
	/* Whether to end, as after a signal. */
	bool (*interrupted)(void *arg);
	/* Of a campaign that grows: the number of tasks so far. NULL: the campaign has the tasks of
	 * its description. */
	st_status (*more)(void *arg, size_t *tasks, struct st_error *e);
	void *arg;
	const char *machine; /* its key: only machines of one key work on a campaign */
	int cpu;             /* that it is pinned to; -1: to none */
};

/* The file that shows whether the controller lives, in the same way as the report of a worker. */
#define ST_CONTROLLER "controller"
struct st_controller {
	struct st_heart heart;
	bool begun;
};
/* Makes this process the controller of the campaign. 0, or -1 with *e, also if the campaign has
 * another controller. */
st_status st_controller_begin(struct st_controller *k, const struct st_campaign *c,
                              struct st_error *e);
/* Does nothing if it has not begun. */
void st_controller_end(struct st_controller *k);
/* Whether the campaign has a controller that lives, at the time `now` of st_worker_clock. */
bool st_controller_lives(const struct st_campaign *c, double now);

/* Works until each task has a result, or was given up, or until it is told to end. In a campaign
 * that grows, it then waits for further tasks as long as the controller lives. 0, or -1 with *e:
 * the node cannot work and was put into quarantine. */
st_status st_campaign_work(const struct st_campaign *c, const struct st_work *work,
                           struct st_error *e);

/* Now, by the clock of the file server, which gives the reports their times; s. By the clock of
 * this machine if the folder cannot be written to. */
double st_worker_clock(const struct st_campaign *c);
/* Whether the worker of a report or a lease is dead or silent; `now` is of st_worker_clock. */
bool st_worker_is_lost(const struct st_campaign *c, const char *path, double now);
/* Removes the reports of workers that are lost. Their leases stay until other workers take them
 * over. */
void st_worker_sweep(const struct st_campaign *c);
/* The time of the last change of a file, s; NAN: there is no such file. */
double st_worker_moment(const char *path);

#endif
