/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line that shows on a terminal that a run has not ended, or how many of several have ended. */
#ifndef STROBE_CLI_PROGRESS_H
#define STROBE_CLI_PROGRESS_H

#include <stdbool.h>

#include "control/run.h"
#include "qos/qos.h"

struct st_progress {
	bool enabled, shown;
	double next; /* seconds: when to count instructions again */
	double cost; /* seconds: what counting them took last */
	char instructions[128];
	struct st_qos *qos; /* the metric and the budget are told, too; NULL: there is none */
	double period;      /* seconds */
};

/* Ready for a run; does nothing when standard error is no terminal. */
void st_progress_init(struct st_progress *p, bool quiet);
/* Shows the text, cut to the terminal's width, in the place of the one before. */
void st_progress_line(struct st_progress *p, const char *text);
/* The callback of st_run_options; arg is the struct st_progress. */
void st_progress_show(void *arg, const struct st_process *processes, size_t n, double elapsed);
void st_progress_erase(struct st_progress *p);

#endif
