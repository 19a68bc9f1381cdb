/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of a job: from a variant to a profile in a file. */
#ifndef STROBE_JOB_MEASURE_H
#define STROBE_JOB_MEASURE_H

#include "job/child.h"
#include "job/plan.h"

struct st_job_measuring {
	const struct st_job *job;
	const struct st_job_variant *variant;
	size_t round;        /* from 1 */
	const char *strobe;  /* the program */
	const char *root;    /* of the project: relative collectors are there */
	const char *folder;  /* that it runs in: of the version */
	const char *scratch; /* for files that go when the run has ended */
	const char *profile; /* the file to write */
	const char *note;    /* for the profile; NULL: none */
};

/* The outcome. */
struct st_job_measured {
	bool failed; /* there is no profile: reason says why */
	char reason[256];
	int exit; /* of the collector, which passes on that of the program */
	bool interrupted;
	double seconds;
};

/* 0, or -1 with *e: the job cannot go on. */
st_status st_job_measure(const struct st_job_measuring *m, struct st_job_measured *out,
                         struct st_error *e);

#endif
