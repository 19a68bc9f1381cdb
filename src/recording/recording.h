/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of calls: a program runs with probes at the functions that the user names, and the
 * features and metrics of each call are written to a file (docs/annotations-records.md).
 */
#ifndef STROBE_RECORDING_RECORDING_H
#define STROBE_RECORDING_RECORDING_H

#include <sys/types.h>

#include "base/error.h"
#include "features/find.h"
#include "session/region.h"

enum { ST_RECORDING_KEEP = 10000, ST_RECORDING_MOST = 1000000 };

struct st_recording_request {
	char *const *program; /* with its arguments; that of the process if there is a pid */
	pid_t pid;            /* a running process; 0: the program is run */
	double seconds;       /* then the probes are removed; 0: at the end, or at a signal */
	bool follow;          /* record also the children of the program */
	bool own_group;
	bool twice; /* read the data of each call twice */
	/* None: all functions of the executable. After a run with records, `matched` says which
	 * of them name functions. */
	struct st_patterns *functions;
	struct st_patterns *images;
	struct st_feature_limits limits;
	uint32_t metrics; /* bits of enum st_record_metric, ST_RECORD_CALLEES, ... */
	uint32_t keep;    /* records of a function, at most */
	uint64_t seed;    /* selects the calls that are kept where there are more than keep */
	const char *output;
	/* The program's input, one of many; NULL: there is only one run. If a run with an input has
	 * no records because of what the program does, the file says so (#silent), and this is no
	 * failure. */
	const char *input;
};

struct st_recording_outcome {
	uint32_t pid;
	int exit_code;
	size_t functions; /* with records */
	uint64_t records, calls;
};

/* Runs the program and writes the file. -1 with *e: the program could not be run, nothing was
 * recorded, or the file cannot be written. */
st_status st_recording_run(const struct st_recording_request *r, struct st_recording_outcome *out,
                           struct st_error *e);

/* Parses the list of names that --metrics takes. -1 with *e. */
st_status st_recording_metrics(const char *list, uint32_t *metrics, struct st_error *e);

#endif
