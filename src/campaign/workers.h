/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts and ends the workers of a campaign: processes on this machine, or jobs of Slurm. */
#ifndef STROBE_CAMPAIGN_WORKERS_H
#define STROBE_CAMPAIGN_WORKERS_H

#include <sched.h>
#include <sys/types.h>

#include "campaign/campaign.h"

/* The argument of --on. */
struct st_workers_place {
	bool slurm;
	size_t workers;        /* of this machine; 0: all CPUs but one */
	const char *partition; /* NULL: the default one */
};
/* "local", "local:N", "slurm" or "slurm:PARTITION". 0, or -1 with *e (usage). */
st_status st_workers_place_read(struct st_workers_place *p, const char *text, struct st_error *e);
/* Whether there is a CPU for each worker. cpus: those that the workers may use; NULL: all that this
 * process may use. To be called before a folder is made. 0, or -1 with *e. */
st_status st_workers_place_check(const struct st_workers_place *p, const cpu_set_t *cpus,
                                 struct st_error *e);

struct st_workers_one {
	int cpu;
	pid_t pid; /* 0: it has ended and is not needed again */
};

struct st_workers {
	const struct st_campaign *c;
	const struct st_workers_place *place;
	const char *strobe; /* the program */
	struct st_workers_one *workers;
	size_t n, restarts;
	double next;     /* when Slurm is asked again */
	double failing;  /* since when it does not answer; 0: it does */
	double patience; /* s for which it may not answer before the controller gives up */
	int submitted;
	cpu_set_t before; /* CPUs of this process */
	bool pinned;
};

/* Begins with no worker. cpus: those that the workers may use; NULL: all that this process may use.
 * 0, or -1 with *e. The caller ends it in both cases. */
st_status st_workers_begin(struct st_workers *p, const struct st_campaign *c,
                           const struct st_workers_place *place, const char *strobe,
                           const cpu_set_t *cpus, struct st_error *e);
/* Starts workers that are missing; to be called again and again while tasks are left. 0, or -1 with
 * *e: no worker is left, and none can be started. */
st_status st_workers_attend(struct st_workers *p, struct st_error *e);
/* Ends the workers of this machine; other workers take over their tasks. Pilots of Slurm continue.
 */
void st_workers_end(struct st_workers *p);

#endif
