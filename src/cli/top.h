/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --top: the live view of a run, which takes the place of the progress line. */
#ifndef STROBE_CLI_TOP_H
#define STROBE_CLI_TOP_H

#include "base/frequency.h"
#include "base/status.h"
#include "cli/progress.h"
#include "live/screen.h"
#include "live/view.h"
#include "session/region.h"

/* As the command line asks for it. */
struct st_top_choice {
	bool chosen;
	double interval; /* seconds */
	enum st_live_worth worth;
	bool blocks;
	const char *command; /* that has the option; NULL: paths */
	double hz;           /* of the ticks of ST_LIVE_TIME; 0: the TSC's */
	bool only_places;
};

struct st_top {
	bool on;       /* as long as nobody has left it */
	bool attached; /* to a process, which continues when strobe ends */
	struct st_top_choice choice;
	struct st_screen screen;
	struct st_live live;
	struct st_progress *line; /* when it has been left */
	char *what;
	struct st_moment begin;
	double interval, next, last; /* seconds from the beginning: of looks */
	double period;               /* between the last two */
	bool of_all;
	bool incomplete; /* what is drawn: again, as soon as possible */
};

/* pid: of the process that is attached; 0: a program will be run. images: which it looks for names
 * in. 0, or -1 with *e: there is no terminal. */
st_status st_top_begin(struct st_top *t, const struct st_top_choice *choice, const char *name,
                       uint32_t pid, struct st_region *images, struct st_error *e);
/* 0, or -1 with *e: the settings do not fit together. program: NULL, if none was given. */
st_status st_top_check(struct st_top_choice *choice, const char *program, struct st_error *e);
/* Looks for keys, and draws what there is when it is time to: `look` fills in the numbers. */
void st_top_refresh(struct st_top *t, double elapsed, void (*look)(void *arg, struct st_live *l),
                    void *arg);
/* The callbacks of st_run_options; arg is the struct st_top. */
void st_top_show(void *arg, const struct st_process *processes, size_t n, double elapsed);
void st_top_pause(void *arg, bool begins);
/* Gives the terminal back; may be called again. */
void st_top_end(struct st_top *t);

#endif
