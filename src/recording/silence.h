/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages of recordings without a record. */
#ifndef STROBE_RECORDING_SILENCE_H
#define STROBE_RECORDING_SILENCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "recording/recording.h"

/* How a recorded program ended; all 0: it succeeded, or it has not ended. */
struct st_program_end {
	int exit_code; /* that strobe should have: 128 + signal after a signal */
	int signal;    /* 0: it was not ended by one */
};

/* What the chosen functions of all processes have in common. */
struct st_silence {
	const char *function; /* the name of one of them */
	size_t functions;
	uint64_t calls;
	struct st_program_end end;
};

/* Says why no call was recorded: none was made, or none returned. If the program failed, the
 * message says how, and the exit code is that of the program. Fails, except with one of many
 * inputs: then the reason is written to the file of records. */
st_status st_silence_explain(const struct st_recording_request *r, const struct st_silence *s,
                             FILE *out, struct st_error *e);

#endif
