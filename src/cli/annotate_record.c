/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe annotate -o: records the calls of a program. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/annotate.h"
#include "cli/commands.h"
#include "recording/recording.h"

int
st_annotate_record(struct st_annotate_arguments *a)
{
	const struct st_recording_request request = {.program = a->program,
	                                             .functions = &a->functions,
	                                             .images = &a->images,
	                                             .limits = a->limits,
	                                             .metrics = a->metrics,
	                                             .keep = a->keep,
	                                             .seed = a->seed,
	                                             .output = a->output};
	struct st_recording_outcome outcome;
	struct st_error e;
	if (!strcmp(a->output, "-")) {
		st_cause(&e, ST_EXIT_USAGE,
		         "standard output is the program's: -o takes the name of a file");
		return st_complain(&e);
	}
	if (st_recording_run(&request, &outcome, &e))
		return st_complain(&e);
	if (!a->quiet)
		fprintf(stderr,
		        "strobe: wrote %s: %" PRIu64 " of %" PRIu64 " calls of %zu function%s\n",
		        a->output, outcome.records, outcome.calls, outcome.functions,
		        outcome.functions == 1 ? "" : "s");
	return outcome.exit_code;
}
