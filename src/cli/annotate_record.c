/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe annotate -o: records the calls of a program. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/annotate.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "recording/recording.h"

static int
annotate_record_as(const struct st_annotate_arguments *a, char *const *program)
{
	struct st_patterns functions = a->functions, images = a->images;
	const struct st_recording_request request = {.program = program,
	                                             .pid = (pid_t)a->pid,
	                                             .seconds = a->seconds,
	                                             .follow = a->follow,
	                                             .twice = a->twice,
	                                             .functions = &functions,
	                                             .images = &images,
	                                             .limits = a->limits,
	                                             .metrics = a->metrics,
	                                             .keep = a->keep,
	                                             .seed = a->seed,
	                                             .output = a->output,
	                                             .input = a->input};
	struct st_recording_outcome outcome;
	struct st_error e;
	if (st_recording_run(&request, &outcome, &e))
		return a->pid ? st_complain(&e) : st_complain_running(&e);
	for (size_t i = 0; i < functions.n; i++)
		if (!functions.matched[i])
			fprintf(stderr, "strobe: --func %s: no function of that name was loaded\n",
			        functions.text[i]);
	if (!a->quiet)
		fprintf(stderr, "strobe: wrote %s: %s of %s of %s\n", a->output,
		        ST_NUMBER(outcome.records), ST_COUNT(outcome.calls, "call", "calls"),
		        ST_COUNT(outcome.functions, "function", "functions"));
	return outcome.exit_code;
}

/* Puts the input in the place of @@ or, where no argument is @@, on standard input. */
static st_status
annotate_give_input(const struct st_annotate_arguments *a, char **words, struct st_error *e)
{
	bool named = false;
	for (size_t i = 0; a->program[i]; i++) {
		const bool here = i && !strcmp(a->program[i], "@@");
		words[i] = here ? (char *)(uintptr_t)a->input : a->program[i];
		named |= here;
	}
	if (named)
		return ST_OK;
	const int fd = open(a->input, O_RDONLY | O_CLOEXEC);
	const bool failed = fd < 0 || dup2(fd, STDIN_FILENO) < 0;
	const int error = errno;
	if (fd > STDIN_FILENO)
		close(fd);
	return failed ? st_fail(e, ST_EXIT_FAILED, "cannot read the input %s: %s", a->input,
	                        strerror(error))
	              : ST_OK;
}

static int
annotate_record_input(const struct st_annotate_arguments *a)
{
	struct st_error e;
	size_t n = 0;
	while (a->program[n])
		n++;
	char **words = calloc(n + 1, sizeof *words);
	if (!words) {
		st_cause(&e, ST_EXIT_FAILED, "no memory left for the command");
		return st_complain(&e);
	}
	const int code =
	        annotate_give_input(a, words, &e) ? st_complain(&e) : annotate_record_as(a, words);
	free(words);
	return code;
}

int
st_annotate_record(const struct st_annotate_arguments *a)
{
	struct st_error e;
	if (!strcmp(a->output, "-")) {
		st_cause(&e, ST_EXIT_USAGE,
		         "standard output belongs to the program: give -o the name of a file");
		return a->pid ? st_complain(&e) : st_complain_running(&e);
	}
	if (a->input)
		return annotate_record_input(a);
	if (!a->pid)
		return annotate_record_as(a, a->program);
	char **command = st_measure_command(a->pid);
	if (!command) {
		st_cause(&e, ST_EXIT_FAILED, "no memory left for the command of the process");
		return st_complain(&e);
	}
	char *text = command[0];
	const int code = annotate_record_as(a, command);
	free(text);
	free(command);
	return code;
}
