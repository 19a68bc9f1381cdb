/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --unique needs of the controller: which code has been measured in earlier runs, for the
 * runtime, and what has been in this one, for the log. */
#ifndef STROBE_COVERAGE_CODELOGGER_H
#define STROBE_COVERAGE_CODELOGGER_H

#include "control/run.h"
#include "coverage/codelog.h"

struct st_codelogger;

/* log: NULL: nothing is kept across runs. known: as in struct st_run_options; it is made before the
 * first image comes. NULL when memory is exhausted. */
struct st_codelogger *st_codelogger_new(struct st_codelog *log, const struct st_known *known);
void st_codelogger_free(struct st_codelogger *logger);

/* on_image of struct st_run_options: the mapping gets its bits, and those of the log are set. The
 * program waits for it: a log that is locked is not waited for. */
void st_codelogger_image(struct st_codelogger *logger, struct st_results_header *results,
                         uint32_t map);
/* on_leaders of struct st_run_options: of all mappings of the process with bits, where basic blocks
 * may begin. */
void st_codelogger_leaders(struct st_codelogger *logger, struct st_results_header *results);
/* Logs what the processes have measured so far and have certainly executed; a log that is locked is
 * tried again the next time. */
void st_codelogger_flush(struct st_codelogger *logger, const struct st_process *processes,
                         size_t n);

/* The outcome of logging. */
struct st_codelogger_result {
	struct st_codelog_run run;
	uint64_t generated; /* blocks that were measured and have no file, or one without a name */
	uint64_t without_room; /* images for whose code there was no room */
	uint64_t unread;       /* images of which the log could not be asked: it was locked */
	struct st_error
	        error; /* code 0: none; else the first failure, and the log lacks something */
};
/* The run is over: logs the rest of what its processes have measured. */
void st_codelogger_finish(struct st_codelogger *logger, const struct st_run *run,
                          struct st_codelogger_result *result);

#endif
