/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts that are kept across runs: strobe paths --unique-log. */
#ifndef STROBE_SESSION_CONTEXTLOG_H
#define STROBE_SESSION_CONTEXTLOG_H

#include "base/status.h"
#include "control/run.h"
#include "coverage/contextlog_known.h"
#include "session/region.h"

struct st_keep_choice {
	const char *log;  /* NULL: none */
	bool follows_all; /* contexts that are known are followed, too */
	char rules[64];   /* as contexts are told apart: the tool, in one way of writing it */
};

/* Under way. */
struct st_keep {
	const struct st_keep_choice *choice;
	struct st_codelog *log;
	struct st_contextlog_known *known; /* NULL: everything is followed */
	struct st_region *region;          /* which tells the runtime of functions */
	void (*on_image)(void *arg, struct st_results_header *results, uint32_t map);
	void *image_arg;
};

/* Opens the log, and places the run's first window. `pid`: of a process that is there already, or
 * 0. 0, or -1 with *e. */
st_status st_keep_begin(struct st_keep *k, const struct st_keep_choice *choice,
                        struct st_region *region, const char *program, uint32_t pid,
                        struct st_run_options *options, struct st_error *e);
/* After the run: completes the log, and says in the profile what became of it. */
void st_keep_report(struct st_keep *k, const struct st_run *run, struct st_profile *p);
void st_keep_end(struct st_keep *k);

#endif
