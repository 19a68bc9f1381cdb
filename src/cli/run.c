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
#include "cli/toolset.h"
#include "control/run.h"
#include "profile/output.h"
#include "profile/profile.h"
#include "profile/rowfile.h"
#include "profile/stacks.h"
#include "report/report.h"
#include "symbol/symbol.h"
#include "wire/plan.h"

enum {
#define O(id, letter, name, argument, shown, help) RUN_##id,
	ST_RUN_OPTIONS(O)
#undef O
};

struct arguments {
	struct st_toolset tools;
	struct st_region region;
	const char *output; /* NULL: the default name */
	bool json, follow, quiet, help;
	long top, sample_hz; /* sample_hz -1: what the tool likes */
	uint32_t stress;
	char *const *program;
};

static const struct {
	const char *name;
	uint32_t bit;
} stresses[] = {
#define ST_STRESS(name, bit, text) {#name, bit},
        ST_STRESSES(ST_STRESS)
#undef ST_STRESS
};

static int
parse_stress(const char *list, uint32_t *bits, struct st_error *e)
{
	while (*list) {
		size_t n = strcspn(list, ","), i = 0, count = sizeof stresses / sizeof *stresses;
		while (i < count &&
		       (strlen(stresses[i].name) != n || strncmp(stresses[i].name, list, n)))
			i++;
		if (i == count)
			return st_fail(e, ST_EXIT_USAGE,
			               "unknown stress mode '%.*s'; man strobe-run lists them",
			               (int)n, list);
		*bits |= stresses[i].bit;
		list += n + (list[n] == ',');
	}
	return 0;
}

static int
parse_format(const char *value, bool *json, struct st_error *e)
{
	*json = !strcmp(value, "json");
	return *json || !strcmp(value, "db") ? 0 : st_bad_format(value, "db and json", e);
}

static int
parse_output(const char *value, const char **output, struct st_error *e)
{
	if (!strcmp(value, "-"))
		return st_fail(e, ST_EXIT_USAGE,
		               "standard output belongs to the program: give -o a file, then use "
		               "strobe show");
	*output = value;
	return 0;
}

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
		return parse_output(value, &a->output, e);
	case RUN_format:
		return parse_format(value, &a->json, e);
	case RUN_follow:
		a->follow = true;
		return 0;
	case RUN_top:
		return st_options_number("top", value, 0, 1000000, &a->top, e);
	case RUN_sample_hz:
		return st_options_number("sample-hz", value, 0, 20000, &a->sample_hz, e);
	case RUN_debuginfod:
		return st_debuginfod_enable(e);
	case RUN_quiet:
		a->quiet = true;
		return 0;
	case RUN_stress:
		return parse_stress(value, &a->stress, e);
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
	*a = (struct arguments){.top = 15, .sample_hz = -1};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->program = argv + o.at - 1;
			return a->tools.n ? 0 : st_toolset_add(&a->tools, "hot", e);
		}
		if (apply(a, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	return st_fail(e, ST_EXIT_USAGE, "no program to run: strobe run [options] -- PROGRAM");
}

/* The beginning of the names that results have by default: "strobe.PROGRAM.". */
static char *
default_prefix(const struct arguments *a)
{
	enum { LONGEST = 150 }; /* of a file name of at most 255 bytes */
	char *name = NULL;
	if (asprintf(&name, "strobe.%.*s.", LONGEST, st_base_name(a->program[0])) < 0)
		return NULL;
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '_';
	return name;
}

/* strobe.PROGRAM.PID.db in the current directory. */
static char *
default_output(const struct arguments *a, uint32_t pid)
{
	char *prefix = default_prefix(a), *name = NULL;
	if (prefix && asprintf(&name, "%s%u.%s", prefix, pid, a->json ? "json" : "db") < 0)
		name = NULL;
	free(prefix);
	return name;
}

/* The run's options as they were given, for the record. */
static char *
options_text(char *const *argv, char *const *program)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	for (; argv < program && strcmp(*argv, "--"); argv++)
		fprintf(out, "%s%s", size || ftell(out) ? " " : "", *argv);
	fclose(out);
	return text;
}

static int
save(const struct arguments *a, const struct st_profile *p, const char *path, struct st_error *e)
{
	struct st_report everything = {.profile = p};
	struct st_output o;
	if (!a->json)
		return st_profile_save(p, path, e);
	char *text = st_report_json(&everything, e);
	if (!text)
		return -1;
	int status = st_output_begin(&o, path, e);
	if (!status) {
		status = st_output_write(&o, text, strlen(text), e);
		if (status)
			st_output_abandon(&o);
		else
			status = st_output_commit(&o, e);
	}
	free(text);
	return status;
}

static void
print(const struct arguments *a, const struct st_profile *p, const char *saved)
{
	struct st_report r = {.profile = p, .top = (size_t)a->top, .style = st_style_of(stderr)};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return;
	st_report_summary(&r, out);
	if (!a->json)
		st_report_next(&r, out, saved);
	else if (saved)
		fprintf(out, "\n  result: %s\n", saved);
	fclose(out);
	fwrite(text, 1, size, stderr); /* at once: the program's children may still write there */
	free(text);
}

/* What became of the run into a file and onto the terminal. 0, or -1 with *e. */
static int
report(const struct arguments *a, const struct st_run *run, struct st_profile_origin *origin,
       struct st_row_writer *rows, struct st_error *e)
{
	struct st_profile *p = st_profile_collect(run, origin, e);
	if (!p)
		return -1;
	st_toolset_note_failures(&a->tools, run, p);
	st_region_note(&a->region, run, p);
	if (rows && st_row_writer_finish(rows, p))
		st_profile_note(p, "there was no memory left to tell what became of the rows");
	uint32_t pid = run->n_processes ? run->processes[0].pid : 0;
	char *fallback = a->output ? NULL : default_output(a, pid);
	const char *path = a->output ? a->output : fallback;
	int status =
	        path ? save(a, p, path, e) : st_output_failed("the current directory", ENOMEM, e);
	if (!a->quiet)
		print(a, p, status ? NULL : path);
	free(fallback);
	st_profile_free(p);
	return status;
}

/* Whether the result will find a place, asked before the program runs. */
static int
check_output(const struct arguments *a, struct st_error *e)
{
	if (a->output)
		return st_output_check(a->output, e);
	char *name = default_output(a, 0);
	int status = st_output_check(name ? name : "strobe.db", e);
	free(name);
	return status;
}

/* Where the rows of streams go: beside the profile, or where it would be. */
struct row_files {
	char *prefix;
	const char *tools[ST_MAX_TOOLS];
	struct st_row_writer *writer;
	struct st_row_sink sink;
};

static void
open_rows(struct row_files *rows, const struct arguments *a)
{
	*rows = (struct row_files){0};
	bool beside = a->output && !a->json;
	rows->prefix = beside ? strdup(a->output) : default_prefix(a);
	for (size_t i = 0; i < a->tools.n; i++)
		rows->tools[i] = a->tools.tools[i].name;
	struct st_row_place place = {.before = rows->prefix,
	                             .behind = beside || a->json ? "" : ".db",
	                             .with_pid = !beside};
	if (rows->prefix)
		rows->writer = st_row_writer_new(&place, rows->tools, a->tools.n);
	rows->sink = (struct st_row_sink){.begin = st_row_writer_begin,
	                                  .take = st_row_writer_take,
	                                  .end = st_row_writer_end,
	                                  .arg = rows->writer};
}

static void
close_rows(struct row_files *rows)
{
	st_row_writer_free(rows->writer);
	free(rows->prefix);
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
	if (check_output(a, &e))
		return st_complain(&e);
	st_progress_init(&progress, a->quiet);
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
	struct row_files rows;
	open_rows(&rows, a);
	options.rows = rows.writer ? &rows.sink : NULL;
	clock_gettime(CLOCK_REALTIME, &start);
	if (st_run_program(&options, &run, &e)) {
		close_rows(&rows);
		st_stacks_free(stacks);
		return st_complain(&e);
	}
	st_progress_erase(&progress);
	char *given = options_text(argv, a->program);
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
	int code = report(a, &run, &origin, rows.writer, &e) ? st_complain(&e) : run.exit_code;
	free(given);
	close_rows(&rows);
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
