/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that is measured once: --unique, --unique-log. */
#ifndef STROBE_SESSION_UNIQUE_H
#define STROBE_SESSION_UNIQUE_H

#include "base/status.h"
#include "coverage/codelogger.h"
#include "profile/profile.h"

struct st_unique_choice {
	bool chosen;
	const char *log; /* NULL: none */
	long last;       /* after this many other blocks a block is measured again; 0: never */
	bool fixed;      /* the budget's period is what was asked for, whatever the log says */
};

/* Under way. */
struct st_unique {
	const struct st_unique_choice *choice;
	struct st_codelog *log;
	struct st_codelogger *logger;
	struct st_known known; /* to all processes */
	/* A second listener for new images. */
	void (*on_image)(void *arg, struct st_results_header *results, uint32_t map);
	void *image_arg;
};

/* Opens the log and fills the run's options, which have everything else. 0, or -1 with *e. */
st_status st_unique_begin(struct st_unique *u, const struct st_unique_choice *choice,
                          const char *program, struct st_run_options *options, struct st_error *e);
/* After the run: completes the log, and says in the profile what became of it. */
void st_unique_report(struct st_unique *u, const struct st_run *run, struct st_profile *p);
void st_unique_end(struct st_unique *u);

/* Where in a run's CPU time the first window begins, so that runs complement each other: where
 * those before came to, one behind the other from the beginning on, as long as that finds
 * something, and then once more, for what fell between two windows; else far from where they began.
 * Two of three runs of a command have no such window (ST_WATCHES_AT_ONCE), if its threads may watch
 * and it is `alone`, without other processes. In ns. Windows begin every every_ns. */
uint64_t st_unique_first(const struct st_codelog_past *past, uint64_t every_ns, bool alone);

/* How long periods are in ns, where the user leaves that to the log: those of a program that takes
 * few of them are shorter, or much of it would never be in a window. */
uint64_t st_unique_period(const struct st_codelog_past *past, uint64_t period_ns);

#endif
