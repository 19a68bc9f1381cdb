/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe run: launch, wait, collect, save, print. Strobe speaks on standard error; standard output
 * is the program's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/region.h"
#include "cli/result.h"
#include "cli/stress.h"
#include "cli/toolset.h"
#include "control/run.h"
#include "profile/stacks.h"
#include "symbol/symbol.h"

enum {
#define O(id, letter, name, argument, shown, help) RUN_##id,
	ST_RUN_OPTIONS(O)
#undef O
};

struct arguments {
	struct st_toolset tools;
	struct st_region region;
	struct st_result result;
	bool follow, help;
	long sample_hz; /* -1: what the tool likes */
	uint32_t stress;
	char *const *program;
};

/* Those of the region of interest. */
static int
apply_region(struct st_region *r, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case RUN_start_at:
		return st_region_pattern(&r->start_at, "start-at", value, e);
	case RUN_stop_at:
		return st_region_pattern(&r->stop_at, "stop-at", value, e);
	case RUN_funcs:
		return st_region_pattern(&r->functions, "funcs", value, e);
	case RUN_images:
		return st_region_pattern(&r->images, "images", value, e);
	case RUN_delay:
		return st_region_time(&r->delay, "delay", value, e);
	case RUN_length:
		return st_region_time(&r->length, "for", value, e);
	case RUN_toggle:
		return st_region_signal(&r->toggle, value, e);
	case RUN_region:
		r->by_program = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

/* Applies one option. 0, or -1 with *e. */
static int
apply(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case RUN_tool:
		return st_toolset_add(&a->tools, value, e);
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
	case RUN_debuginfod:
		return st_debuginfod_enable(e);
	case RUN_quiet:
		a->result.quiet = true;
		return 0;
	case RUN_stress:
		return st_stress_parse(value, &a->stress, e);
	case RUN_help:
		a->help = true;
		return 0;
	default:
		return apply_region(&a->region, option, value, e);
	}
}

/* The options end where the program begins, so that the program's own are left alone. */
static int
parse(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("run", argv);
	const char *value;
	*a = (struct arguments){.result = {.top = 15}, .sample_hz = -1};
	a->result.tools = &a->tools;
	a->result.region = &a->region;
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->program = argv + o.at - 1;
			a->result.name = a->program[0];
			return a->tools.n ? 0 : st_toolset_add(&a->tools, "hot", e);
		}
		if (apply(a, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	return st_fail(e, ST_EXIT_USAGE, "no program to run: strobe run [options] -- PROGRAM");
}

static int
run_program(struct arguments *a, char *const *argv)
{
	struct st_progress progress;
	struct timespec start;
	struct st_error e;
	struct st_run run = {0};
	/* Without a wish of the tool's, so many that the slowdown can be estimated. */
	uint32_t liked = st_toolset_sample_hz(&a->tools);
	uint32_t hz = a->sample_hz >= 0 ? (uint32_t)a->sample_hz : liked ? liked : 250;
	bool keep_blocks = st_toolset_keeps_blocks(&a->tools);
	if (st_result_check(&a->result, &e))
		return st_complain(&e);
	st_progress_init(&progress, a->result.quiet);
	struct st_run_options options = {.argv = a->program,
	                                 .tools = a->tools.tools,
	                                 .n_tools = a->tools.n,
	                                 .follow = a->follow,
	                                 .sample_hz = hz,
	                                 .stress = a->stress,
	                                 .progress = progress.enabled ? st_progress_show : NULL,
	                                 .progress_arg = &progress};
	st_region_apply(&a->region, &a->tools, &options);
	/* Whole stacks are worth their price where the result is by function. */
	struct st_stacks *stacks = keep_blocks && hz ? st_stacks_new() : NULL;
	if (stacks) {
		options.on_stack = st_stacks_take;
		options.on_moved = st_stacks_moved;
		options.stack_arg = stacks;
	}
	struct st_row_files rows;
	st_row_files_open(&rows, &a->result);
	options.rows = rows.writer ? &rows.sink : NULL;
	clock_gettime(CLOCK_REALTIME, &start);
	if (st_run_program(&options, &run, &e)) {
		st_row_files_close(&rows);
		st_stacks_free(stacks);
		return st_complain(&e);
	}
	st_progress_erase(&progress);
	char *given = st_result_options(argv, a->program);
	struct st_profile_origin origin = {.tool = a->tools.text,
	                                   .argv = a->program,
	                                   .options = given,
	                                   .sample_hz = hz,
	                                   .follow = a->follow,
	                                   .keep_blocks = keep_blocks,
	                                   .start_ns = (int64_t)start.tv_sec * 1000000000 +
	                                               start.tv_nsec,
	                                   .stacks = stacks,
	                                   .tools = rows.tools,
	                                   .n_tools = a->tools.n};
	int code = st_result_report(&a->result, &run, &origin, rows.writer, &e) ? st_complain(&e)
	                                                                        : run.exit_code;
	free(given);
	st_row_files_close(&rows);
	st_stacks_free(stacks);
	st_run_free(&run);
	return code;
}

int
st_run_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (parse(&a, argv, &e))
		code = st_complain(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("run"), false);
	else
		code = run_program(&a, argv);
	st_region_free(&a.region);
	st_toolset_free(&a.tools);
	return code;
}
