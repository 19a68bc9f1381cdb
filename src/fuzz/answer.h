/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of the process that measured an execution, in a file that it shares with the
 * campaign. */
#ifndef STROBE_FUZZ_ANSWER_H
#define STROBE_FUZZ_ANSWER_H

#include "fuzz/execute.h"
#include "wire/results/header.h"

/* An execution that has ended. */
struct st_fuzz_measured {
	const struct st_results_header *results; /* mapped */
	size_t results_size;
	bool by_signal;
	int code; /* exit code, or signal */
	double seconds;
};

/* Writes the result of an execution, or (NULL) the error because of which there is none. False: the
 * file cannot be written. */
bool st_fuzz_answer_write(int fd, const struct st_fuzz_measured *m, const struct st_error *e);
/* Reads it. ST_FAILED with *e: the error that the process wrote, or that it wrote
 * nothing. */
st_status st_fuzz_answer_read(int fd, struct st_fuzz_places *places, struct st_fuzz_execution *out,
                              struct st_error *e);

#endif
