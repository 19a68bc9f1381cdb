/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe time: run a command again and again, natively, and say how long it takes. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/option.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "profile/output.h"
#include "report/report.h"
#include "session/output.h"
#include "session/output_name.h"
#include "timing/timing.h"

enum {
#define O(id, letter, name, argument, shown, help) TIME_##id,
	ST_TIME_OPTIONS(O)
#undef O
};

struct time_arguments {
	struct st_timing timing;
	cpu_set_t cpus;
	const char *output;
	char *name; /* of the result, if -o has a template */
	bool json, quiet, help;
};

static st_status
time_take_count(const char *option, const char *value, long least, size_t *count,
                struct st_error *e)
{
	long n;
	if (st_option_number(option, value, least, 1000000, &n, e))
		return -1;
	*count = (size_t)n;
	return 0;
}

static st_status
take_size(const char *value, double *size, struct st_error *e)
{
	const char *end;
	if (!st_parse_real(value, size, &end) && !*end)
		return 0;
	return st_fail(e, ST_EXIT_USAGE, "--size takes a number, not '%s'", value);
}

/* The format and the destination of the output. */
static st_status
apply_time_printing(struct time_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case TIME_format:
		a->json = !strcmp(value, "json");
		return a->json || !strcmp(value, "text") ? 0
		                                         : st_bad_format(value, "text and json", e);
	case TIME_output:
		if (!strcmp(value, "-"))
			return st_fail(e, ST_EXIT_USAGE,
			               "the result is a database: give -o a file, or use "
			               "--format json");
		a->output = value;
		return 0;
	case TIME_quiet:
		a->quiet = true;
		return 0;
	case TIME_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
apply_time_option(struct time_arguments *a, int option, const char *value, struct st_error *e)
{
	struct st_timing *t = &a->timing;
	switch (option) {
	case TIME_repeat:
		return time_take_count("repeat", value, 1, &t->repeat, e);
	case TIME_warmups:
		return time_take_count("warmups", value, 0, &t->warmups, e);
	case TIME_cpu:
		t->command.cpus = &a->cpus;
		return st_timing_cpus(value, &a->cpus, e);
	case TIME_prepare:
		t->prepare = value;
		return 0;
	case TIME_workload:
		t->workload = value;
		return 0;
	case TIME_size:
		return take_size(value, &t->size, e);
	case TIME_input:
		t->command.input = value;
		return 0;
	case TIME_streams:
		t->command.streams = value;
		return 0;
	default:
		return apply_time_printing(a, option, value, e);
	}
}

static st_status
parse_time(struct time_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("time", argv);
	const char *value;
	*a = (struct time_arguments){
	        .timing = {.command = {.input = "/dev/null", .streams = "/dev/null"},
	                   .warmups = 3,
	                   .repeat = 10,
	                   .size = NAN}};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->timing.command.argv = o.argv + o.at - 1;
			return 0;
		}
		if (apply_time_option(a, option, value, e))
			return -1;
	}
	return a->help ? 0
	               : st_fail(e, ST_EXIT_USAGE,
	                         "no program to time: strobe time [options] -- PROGRAM");
}

static void
show_time(void *arg, size_t run, size_t runs)
{
	char line[64];
	snprintf(line, sizeof line, "run %zu of %zu", run + 1, runs);
	st_progress_line(arg, line);
}

/* The file that takes what the program prints begins empty; each run then adds to it. */
static st_status
clear_streams(const char *path, struct st_error *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return st_output_failed(path, errno, e);
	close(fd);
	return 0;
}

static st_status
time_print(const struct time_arguments *a, const struct st_profile *p, struct st_error *e)
{
	const struct st_report r = {.profile = p, .style = st_style_of(stdout)};
	struct st_safe safe;
	if (a->json) {
		char *json = st_report_json(&r, e);
		if (!json)
			return -1;
		st_print_json_safely(stdout, json);
		free(json);
		return 0;
	}
	FILE *out = a->quiet ? NULL : st_safe_begin(&safe, stdout);
	if (out) {
		st_report_summary(&r, out);
		st_safe_end(&safe);
	}
	return 0;
}

static st_status
name_time_result(struct time_arguments *a, struct st_error *e)
{
	const struct st_output_words words = {.collector = "time",
	                                      .program = a->timing.command.argv,
	                                      .workload = a->timing.workload,
	                                      .date = time(NULL)};
	if (!a->output || !strchr(a->output, '%'))
		return ST_OK;
	a->output = a->name = st_output_name(a->output, &words, e);
	return a->name ? ST_OK : ST_FAILED;
}

static st_status
time_command(struct time_arguments *a, struct st_profile *p, struct st_error *e)
{
	bool keep = !a->json || a->output;
	struct st_progress progress;
	char *where = NULL;
	if (name_time_result(a, e) || clear_streams(a->timing.command.streams, e))
		return -1;
	struct st_session_output output = {.name = a->timing.command.argv[0], .path = a->output};
	st_result_guess_format(&output);
	if (keep && st_session_output_check(&output, (uint32_t)getpid(), e))
		return -1;
	st_progress_init(&progress, a->quiet);
	a->timing.show = show_time;
	a->timing.arg = &progress;
	st_timing_watch_signals();
	st_status status = st_timing_measure(&a->timing, p, e);
	st_progress_erase(&progress);
	if (!status)
		status = time_print(a, p, e);
	if (!status && keep)
		status = st_session_output_save(&output, p, (uint32_t)getpid(), &where, e);
	if (where && !a->quiet)
		fprintf(stderr, "strobe: result: %s\n", where);
	free(where);
	return status;
}

int
st_time_main(char *const *argv)
{
	struct time_arguments a;
	struct st_error e;
	if (parse_time(&a, argv, &e))
		return st_complain_running(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("time"), false);
		return ST_EXIT_OK;
	}
	struct st_profile *p = st_profile_new();
	char *options = st_result_options(argv, a.timing.command.argv);
	int code = ST_EXIT_FAILED;
	if (p)
		p->run.options = st_profile_text(p, options ? options : "");
	if (!p || !options)
		st_cause(&e, ST_EXIT_FAILED, "no memory left");
	if (!p || !options || time_command(&a, p, &e))
		code = st_complain_running(&e);
	else
		code = st_timing_exit(p);
	free(options);
	free(a.name);
	st_profile_free(p);
	return code;
}
