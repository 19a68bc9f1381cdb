/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arguments of strobe fuzz. */
#ifndef STROBE_CLI_FUZZ_H
#define STROBE_CLI_FUZZ_H

#include "batch/batch.h"
#include "fuzz/output.h"
#include "fuzz/share.h"

struct st_fuzz_far;

struct st_fuzz_arguments {
	struct st_fuzz_campaign_choice choice;
	struct st_fuzz_target target;
	struct st_fuzz_rules rules;
	ST_VEC(const char *) seeds;
	char *const *command; /* the words of the user after "strobe fuzz" */
	char *const *program;
	const char *as, *output;
	struct st_batch_place place;
	const char *experiment, *reference; /* of a worker; NULL: not given */
	struct st_fuzz_far *far;            /* NULL: there are no workers */
	double judge;
	bool resume, exit_code, json, quiet, help;
};

/* fuzz_far.c: searches that workers make. Refuses options that cannot be used with --on. 0, or -1
 * with *e. */
st_status st_fuzz_far_check(const struct st_fuzz_arguments *a, struct st_error *e);
/* Lets workers search, in rounds, each of which begins with the inputs of the earlier ones. Adds
 * the inputs to *found. identity: everything that the results depend on. -1 with *e: strobe failed,
 * or a signal came. The caller ends *f in both cases. */
st_status st_fuzz_far_search(struct st_fuzz_far **f, const struct st_fuzz_arguments *a,
                             const char *identity, struct st_fuzz_shared *found,
                             struct st_error *e);
/* Ends the campaign. complete: the result is written; otherwise prints how to resume it. NULL: does
 * nothing. */
void st_fuzz_far_end(struct st_fuzz_far *f, bool complete);
/* The search of --experiment, whose inputs are written to the file of --output. Takes the seeds
 * over. 0, or -1 with *e. */
st_status st_fuzz_far_work(const struct st_fuzz_arguments *a, struct st_fuzz_inputs *seeds,
                           struct st_error *e);

#endif
