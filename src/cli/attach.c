/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe attach: take a running process under the engine, watch, let it go, save, print. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "cli/stress.h"
#include "cli/toolset.h"
#include "profile/stacks.h"

enum {
#define O(id, letter, name, argument, shown, help) ATTACH_##id,
	ST_ATTACH_OPTIONS(O)
#undef O
};

struct arguments {
	struct st_toolset tools;
	struct st_region region; /* only the functions that tools name */
	struct st_result result;
	bool help;
	double seconds; /* 0: until a signal comes */
	long sample_hz; /* -1: what the tool likes */
	uint32_t stress;
	long pid; /* 0: not given */
};

static int
parse_pid(const char *text, long *pid, struct st_error *e)
{
	char *end;
	errno = 0;
	*pid = strtol(text, &end, 10);
	if (errno || end == text || *end || *pid < 1 || *pid > INT32_MAX)
		return st_fail(e, ST_EXIT_USAGE, "'%s' is not the number of a process", text);
	return 0;
}

/* Applies one option. 0, or -1 with *e. */
static int
apply(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ATTACH_tool:
		return st_toolset_add(&a->tools, value, e);
	case ATTACH_length:
		return st_region_time(&a->seconds, "for", value, e);
	case ATTACH_output:
		return st_result_output(value, &a->result.output, e);
	case ATTACH_format:
		return st_result_format(value, &a->result.json, e);
	case ATTACH_top:
		return st_options_number("top", value, 0, 1000000, &a->result.top, e);
	case ATTACH_sample_hz:
		return st_options_number("sample-hz", value, 0, 20000, &a->sample_hz, e);
	case ATTACH_quiet:
		a->result.quiet = true;
		return 0;
	case ATTACH_stress:
		return st_stress_parse(value, &a->stress, e);
	case ATTACH_help:
		a->help = true;
		return 0;
	case ST_OPTIONS_OTHER:
		if (a->pid)
			return st_fail(e, ST_EXIT_USAGE,
			               "one process at a time: '%s' is one too many", value);
		return parse_pid(value, &a->pid, e);
	default:
		return -1; /* *e is filled */
	}
}

static int
parse(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("attach", argv);
	const char *value;
	*a = (struct arguments){.result = {.top = 15}, .sample_hz = -1};
	a->result.tools = &a->tools;
	a->result.region = &a->region;
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (apply(a, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	if (!a->pid)
		return st_fail(e, ST_EXIT_USAGE,
		               "no process to attach: strobe attach [options] PID");
	return a->tools.n ? 0 : st_toolset_add(&a->tools, "hot", e);
}

/* The command that a process was started with, as a list; the caller frees it and its first
 * element.
 */
static char **
command_of(long pid)
{
	char path[64];
	char *text = calloc(1, 1 << 16), **list;
	size_t n = 0, count = 0;
	snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	for (ssize_t got; text && fd >= 0 && n < (1 << 16) - 1 &&
	                  (got = read(fd, text + n, (1 << 16) - 1 - n)) > 0;)
		n += (size_t)got;
	if (fd >= 0)
		close(fd);
	for (size_t i = 0; i < n; i++)
		count += text[i] == 0;
	list = text ? calloc(count + 3, sizeof *list) : NULL;
	if (!list) {
		free(text);
		return NULL;
	}
	list[0] = text;
	size_t k = 0;
	for (size_t at = 0; at < n; at += strlen(text + at) + 1)
		list[k++] = text + at;
	return list;
}

static void
say_attached(size_t threads, double seconds)
{
	fprintf(stderr, "strobe: attached, %zu thread%s taken over in %.1f ms\n", threads,
	        threads == 1 ? "" : "s", seconds * 1000);
}

static int
attach(struct arguments *a, char *const *argv, char *const *command)
{
	struct st_progress progress;
	struct timespec start;
	struct st_error e;
	struct st_run run = {0};
	/* Without a wish of the tool's, so many that the slowdown can be estimated. */
	uint32_t liked = st_toolset_sample_hz(&a->tools);
	uint32_t hz = a->sample_hz >= 0 ? (uint32_t)a->sample_hz : liked ? liked : 250;
	bool keep_blocks = st_toolset_keeps_blocks(&a->tools);
	a->result.name = command[0] && *command[0] ? command[0] : "process";
	if (st_result_check(&a->result, &e))
		return st_complain(&e);
	st_progress_init(&progress, a->result.quiet);
	struct st_run_options options = {.tools = a->tools.tools,
	                                 .n_tools = a->tools.n,
	                                 .sample_hz = hz,
	                                 .stress = a->stress,
	                                 .progress = progress.enabled ? st_progress_show : NULL,
	                                 .progress_arg = &progress,
	                                 .attached = a->result.quiet ? NULL : say_attached};
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
	if (st_attach_process((pid_t)a->pid, a->seconds, &options, &run, &e)) {
		st_row_files_close(&rows);
		st_stacks_free(stacks);
		return st_complain(&e);
	}
	st_progress_erase(&progress);
	char *given = st_result_options(argv, NULL);
	struct st_profile_origin origin = {.tool = a->tools.text,
	                                   .argv = command,
	                                   .options = given,
	                                   .sample_hz = hz,
	                                   .keep_blocks = keep_blocks,
	                                   .start_ns = (int64_t)start.tv_sec * 1000000000 +
	                                               start.tv_nsec,
	                                   .stacks = stacks,
	                                   .tools = rows.tools,
	                                   .n_tools = a->tools.n};
	bool bad = st_result_report(&a->result, &run, &origin, rows.writer, &e);
	int code = bad ? st_complain(&e) : ST_EXIT_OK;
	free(given);
	st_row_files_close(&rows);
	st_stacks_free(stacks);
	st_run_free(&run);
	return code;
}

static int
attach_command(struct arguments *a, char *const *argv)
{
	char **command = command_of(a->pid);
	if (!command)
		return st_complain(&(struct st_error){ST_EXIT_FAILED, "out of memory"});
	char *text = command[0];
	int code = attach(a, argv, command);
	free(text);
	free(command);
	return code;
}

int
st_attach_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (parse(&a, argv, &e))
		code = st_complain(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("attach"), false);
	else
		code = attach_command(&a, argv);
	st_region_free(&a.region);
	st_toolset_free(&a.tools);
	return code;
}
