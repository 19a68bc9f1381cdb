/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe run: launch, wait, collect, save, print. Strobe speaks on standard error; standard output
 * is the program's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "cli/stress.h"
#include "cli/tools.h"
#include "control/run.h"
#include "profile/stacks.h"

enum {
#define O(id, letter, name, argument, shown, help) RUN_##id,
	ST_RUN_OPTIONS(O)
#undef O
};

struct arguments {
	const strobe_tool *tool;
	struct st_result result;
	bool follow, help;
	long sample_hz; /* -1: what the tool likes */
	uint32_t stress;
	char *const *program;
};

/* Applies one option. 0, or -1 with *e. */
static int
apply(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case RUN_tool:
		a->tool = st_tool_find(value, e);
		return a->tool ? 0 : -1;
	case RUN_output:
		return st_result_output(value, &a->result.output, e);
	case RUN_format:
		return st_result_format(value, &a->result.json, e);
	case RUN_follow:
		a->follow = true;
		return 0;
	case RUN_top:
		return st_options_number("top", value, 0, 1000000, &a->result.top, e);
	case RUN_sample_hz:
		return st_options_number("sample-hz", value, 0, 20000, &a->sample_hz, e);
	case RUN_quiet:
		a->result.quiet = true;
		return 0;
	case RUN_stress:
		return st_stress_parse(value, &a->stress, e);
	case RUN_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

/* The options end where the program begins, so that the program's own are left alone. */
static int
parse(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("run", argv);
	const char *value;
	*a = (struct arguments){
	        .tool = st_tools[ST_TOOL_hot], .result = {.top = 15}, .sample_hz = -1};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->program = argv + o.at - 1;
			a->result.name = a->program[0];
			return 0;
		}
		if (apply(a, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	return st_fail(e, ST_EXIT_USAGE, "no program to run: strobe run [options] -- PROGRAM");
}

static int
run_program(const struct arguments *a, char *const *argv)
{
	struct st_progress progress;
	struct timespec start;
	struct st_error e;
	struct st_run run = {0};
	/* Without a wish of the tool's, so many that the slowdown can be estimated. */
	uint32_t liked = a->tool->sample_hz ? a->tool->sample_hz : 250;
	uint32_t hz = a->sample_hz >= 0 ? (uint32_t)a->sample_hz : liked;
	if (st_result_check(&a->result, &e))
		return st_complain(&e);
	st_progress_init(&progress, a->result.quiet);
	struct st_run_options options = {.argv = a->program,
	                                 .tool = a->tool->name,
	                                 .follow = a->follow,
	                                 .sample_hz = hz,
	                                 .stress = a->stress,
	                                 .progress = progress.enabled ? st_progress_show : NULL,
	                                 .progress_arg = &progress};
	/* Whole stacks are worth their price where the result is by function. */
	struct st_stacks *stacks = a->tool->keep_blocks && hz ? st_stacks_new() : NULL;
	if (stacks) {
		options.on_stack = st_stacks_take;
		options.on_moved = st_stacks_moved;
		options.stack_arg = stacks;
	}
	clock_gettime(CLOCK_REALTIME, &start);
	if (st_run_program(&options, &run, &e)) {
		st_stacks_free(stacks);
		return st_complain(&e);
	}
	st_progress_erase(&progress);
	char *given = st_result_options(argv, a->program);
	struct st_profile_origin origin = {.tool = a->tool->name,
	                                   .argv = a->program,
	                                   .options = given,
	                                   .sample_hz = hz,
	                                   .follow = a->follow,
	                                   .keep_blocks = a->tool->keep_blocks != 0,
	                                   .start_ns = (int64_t)start.tv_sec * 1000000000 +
	                                               start.tv_nsec,
	                                   .stacks = stacks};
	int code =
	        st_result_report(&a->result, &run, &origin, &e) ? st_complain(&e) : run.exit_code;
	free(given);
	st_stacks_free(stacks);
	st_run_free(&run);
	return code;
}

int
st_run_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	if (parse(&a, argv, &e))
		return st_complain(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("run"), false);
		return ST_EXIT_OK;
	}
	return run_program(&a, argv);
}
