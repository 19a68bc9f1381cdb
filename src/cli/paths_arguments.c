/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/paths.h"
#include "report/report.h"

enum {
#define O(id, letter, name, argument, shown, help) PATHS_##id,
	ST_PATHS_OPTIONS(O)
#undef O
};

enum { MOST_K = 1000000, USUAL_LIMIT = 256 << 20, LEAST_MEMORY = 64 << 10 };

static st_status
set_k(struct st_paths *a, const char *value, struct st_error *e)
{
	long k;
	snprintf(a->k, sizeof a->k, "inf");
	if (!strcmp(value, "inf"))
		return 0;
	if (*value < '0' || *value > '9' || st_option_number("k", value, 0, MOST_K, &k, e))
		return st_fail(e, ST_EXIT_USAGE, "-k takes a number from 0 to %d, or inf, not '%s'",
		               MOST_K, value);
	snprintf(a->k, sizeof a->k, "%ld", k);
	return 0;
}

/* A number of bytes that a machine may have. */
static bool
read_size(const char *value, uint64_t *bytes)
{
	return !st_parse_size(value, bytes) && !(*bytes >> 50);
}

static st_status
set_limit(struct st_paths *a, const char *value, struct st_error *e)
{
	a->limit.bytes = 0;
	if (!strcmp(value, "none") || read_size(value, &a->limit.bytes))
		return 0;
	return st_fail(e, ST_EXIT_USAGE,
	               "--limit takes a size such as 100M or 2G, or none, not '%s'", value);
}

static st_status
set_memory(struct st_paths *a, const char *value, struct st_error *e)
{
	if (read_size(value, &a->max_memory) && a->max_memory >= LEAST_MEMORY)
		return 0;
	return st_fail(e, ST_EXIT_USAGE,
	               "--max-memory takes a size of at least 64K, such as 100M or 2G, not '%s'",
	               value);
}

static st_status
set_format(struct st_paths *a, const char *value, struct st_error *e)
{
	char names[256] = "db";
	a->as_profile = !strcmp(value, "db");
	a->format = NULL;
	for (size_t i = 0; i < st_n_context_formats; i++) {
		if (!strcmp(st_context_formats[i].name, value))
			a->format = &st_context_formats[i];
		strcat(strcat(names, ", "), st_context_formats[i].name);
	}
	return a->format || a->as_profile ? 0 : st_bad_format(value, names, e);
}

/* The format by the name of the file, unless --format is given. */
static void
guess_format(struct st_paths *a)
{
	const char *output = a->measure.session.output.path;
	const char *dot = output ? strrchr(st_base_name(output), '.') : NULL;
	const char *usual = output ? st_export_format_of(output) : NULL;
	for (size_t i = 0; usual && i < st_n_context_formats && !a->format && !a->as_profile; i++)
		if (!strcmp(st_context_formats[i].name, usual))
			a->format = &st_context_formats[i];
	for (size_t i = 0; dot && i < st_n_context_formats && !a->format && !a->as_profile; i++)
		if (!strcmp(st_context_formats[i].end, dot + 1))
			a->format = &st_context_formats[i];
}

static st_status
apply_paths_setting(struct st_paths *a, const char *name, int option, const char *value,
                    struct st_error *e)
{
	switch (option) {
	case PATHS_unique:
	case PATHS_unique_last:
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s measures each piece of code once, and contexts need all "
		               "executions: leave it out",
		               name);
	case PATHS_unique_log:
		a->measure.session.keep.log = value;
		return 0;
	case PATHS_no_suppress:
		a->measure.session.keep.follows_all = true;
		return 0;
	case PATHS_funcs:
		return st_patterns_add(&a->measure.session.region.functions, name, value, e);
	case PATHS_under:
		return st_patterns_add(&a->names.under, name, value, e);
	case PATHS_calls:
		return st_patterns_add(&a->names.calls, name, value, e);
	case PATHS_output:
		a->measure.session.output.path = value;
		return 0;
	case PATHS_for:
		return st_region_time(&a->seconds, "for", value, e);
	case PATHS_interval:
		return st_region_time(&a->measure.top.interval, "interval", value, e);
	case PATHS_pid:
		return st_measure_pid(value, &a->pid, e);
	case PATHS_metric:
		if (st_wall_part_named(value, &a->part))
			return 0;
		return st_fail(e, ST_EXIT_USAGE, "--metric takes " ST_WALL_WORDS ", not '%s'",
		               value);
	case PATHS_limit:
		return set_limit(a, value, e);
	case PATHS_max_memory:
		return set_memory(a, value, e);
	case PATHS_hot:
		return st_option_number("hot", value, 0, 1000000, &a->measure.result.top, e);
	default:
		return st_measure_option(&a->measure, name, value, e);
	}
}

static st_status
apply_paths_option(struct st_paths *a, const struct st_options *o, int option, const char *value,
                   struct st_error *e)
{
	static const char *const modes[] = {"func", "intra", "inter"};
	static const char *const tails[] = {"callee", "physical"};
	unsigned which;
	switch (option) {
	case PATHS_mode:
		if (st_option_word("mode", value, modes, 3, &which, e))
			return -1;
		a->mode = modes[which];
		return 0;
	case PATHS_tail_calls:
		if (st_option_word("tail-calls", value, tails, 2, &which, e))
			return -1;
		a->physical = which == 1;
		return 0;
	case PATHS_k:
		return set_k(a, value, e);
	case PATHS_format:
		return set_format(a, value, e);
	case PATHS_kccf:
		a->kccf = true;
		return 0;
	case PATHS_join_threads:
		a->join_threads = true;
		return 0;
	case PATHS_per_thread:
		a->per_thread = true;
		return 0;
	case PATHS_functions:
		a->functions = true;
		return 0;
	case PATHS_blocks:
		a->blocks = true;
		return 0;
	case PATHS_disasm:
		a->disasm = true;
		return 0;
	case PATHS_pin_blocks:
		a->pin = true;
		return 0;
	case PATHS_roll_recursion:
		a->unroll = false;
		return 0;
	case PATHS_unroll_recursion:
		a->unroll = true;
		return 0;
	case PATHS_roll_cycles:
		a->cycles = true;
		return 0;
	case PATHS_roll_loops:
		a->loops = true;
		return 0;
	case PATHS_loops:
		a->iterations = true;
		return 0;
	case PATHS_time:
		a->time = true;
		return 0;
	case PATHS_instructions:
		a->instructions = true;
		return 0;
	case PATHS_follow:
		a->measure.session.follow = true;
		return 0;
	case PATHS_top:
		a->measure.top.chosen = true;
		return 0;
	case PATHS_from:
		a->from = value;
		return 0;
	case PATHS_help:
		a->help = true;
		return 0;
	case ST_OPTIONS_BAD:
		return -1; /* *e is filled */
	default:
		return apply_paths_setting(a, o->options[option].name, option, value, e);
	}
}

const char *
st_paths_blocks_option(const struct st_paths *a)
{
	return a->blocks ? "blocks" : a->pin ? "pin-blocks" : NULL;
}

/* Lists exist in some formats only. */
static st_status
check_lists(const struct st_paths *a, struct st_error *e)
{
	const char *name = a->blocks ? "blocks" : "functions";
	if (a->disasm && !a->blocks && !a->functions)
		return st_fail(e, ST_EXIT_USAGE,
		               "--disasm adds instructions to a list: add --functions or --blocks");
	if ((a->blocks || a->functions) && a->format && !a->format->lists)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "the list of --%s does not fit into the format %s: use text, xml or json",
		        name, a->format->name);
	return 0;
}

static st_status
choose_tool_paths(struct st_paths *a, struct st_error *e)
{
	char memory[24];
	bool root = a->measure.session.region.functions.n || a->measure.session.region.images.n;
	const struct {
		bool chosen;
		struct st_tool_setting setting;
	} options[] = {{true, {"mode", a->mode}},
	               {true, {"k", a->k}},
	               {a->unroll, {"roll", "0"}},
	               {a->cycles, {"cycles", NULL}},
	               {a->loops, {"loops", NULL}},
	               {a->iterations, {"iterations", NULL}},
	               {a->loops && a->pin, {"pin", NULL}},
	               {a->physical, {"physical", NULL}},
	               {a->time, {"time", NULL}},
	               {a->instructions, {"instructions", NULL}},
	               {root, {"root", NULL}},
	               {a->max_memory != 0, {"memory", memory}}};
	struct st_tool_setting settings[sizeof options / sizeof *options];
	size_t n = 0;
	snprintf(memory, sizeof memory, "%" PRIu64, a->max_memory);
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (options[i].chosen)
			settings[n++] = options[i].setting;
	a->measure.session.region.marks = true;
	return st_toolset_use(&a->measure.session.tools, "contexts", settings, n, e);
}

/* Loops are those of functions, and rolled. */
static st_status
check_iterations(struct st_paths *a, struct st_error *e)
{
	if (strcmp(a->mode, "intra"))
		return st_fail(e, ST_EXIT_USAGE,
		               "--loops needs the blocks of functions: add --mode intra");
	if (*a->k && strcmp(a->k, "inf"))
		return st_fail(e, ST_EXIT_USAGE,
		               "--loops needs whole contexts: leave out -k, or say -k inf");
	a->loops = true;
	return 0;
}

/* The spelling of a number of rows in other commands. */
static st_status
check_top(struct st_paths *a, struct st_error *e)
{
	struct st_top_choice *top = &a->measure.top;
	char *const *program = a->measure.session.program;
	if (st_top_check(top, program ? program[0] : NULL, e))
		return ST_FAILED;
	top->blocks = strcmp(a->mode, "func") != 0;
	top->worth = a->time           ? ST_LIVE_TIME
	             : a->instructions ? ST_LIVE_INSTRUCTIONS
	                               : ST_LIVE_ACTIVATIONS;
	return 0;
}

/* A program that is run, or one that is there. */
static st_status
check_source(struct st_paths *a, struct st_error *e)
{
	if (st_measure_check_source(&a->measure, a->pid, "paths", e))
		return ST_FAILED;
	if (a->measure.session.program)
		a->measure.session.region.length = a->seconds;
	return 0;
}

/* A log has whole contexts of functions. */
static st_status
check_log(struct st_paths *a, struct st_error *e)
{
	struct st_keep_choice *keep = &a->measure.session.keep;
	if (!keep->log && keep->follows_all)
		return st_fail(e, ST_EXIT_USAGE,
		               "--no-suppress is about a log of earlier runs: add --unique-log, or "
		               "leave out --no-suppress");
	if (!keep->log)
		return 0;
	/* Calls that are not followed have no time. */
	keep->follows_all |= a->time || a->instructions;
	if (strcmp(a->mode, "func") || (*a->k && strcmp(a->k, "inf")))
		return st_fail(e, ST_EXIT_USAGE,
		               "--unique-log needs whole contexts of functions: leave out %s",
		               strcmp(a->mode, "func") ? "--mode" : "-k");
	if (a->measure.session.region.functions.n || a->measure.session.region.images.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "--unique-log needs the contexts of all functions: leave out %s, "
		               "and say --under when you show them",
		               a->measure.session.region.functions.n ? "--funcs" : "--images");
	snprintf(keep->rules, sizeof keep->rules, "contexts:mode=func,k=inf%s%s%s",
	         a->unroll ? ",roll=0" : "", a->cycles ? ",cycles" : "",
	         a->physical ? ",physical" : "");
	return 0;
}

static st_status
check_paths(struct st_paths *a, struct st_error *e)
{
	bool blocks = strcmp(a->mode, "func") != 0;
	if (check_source(a, e) || check_top(a, e) || check_log(a, e))
		return -1;
	guess_format(a);
	if (a->part)
		return st_fail(e, ST_EXIT_USAGE,
		               "--metric chooses from the wall time of an earlier strobe run -t "
		               "hot:wall: add --from FILE");
	if (a->iterations && check_iterations(a, e))
		return -1;
	if (a->loops && !blocks)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--roll-loops needs contexts of blocks: add --mode intra or --mode inter");
	if (a->loops && *a->k && strcmp(a->k, "inf"))
		return st_fail(e, ST_EXIT_USAGE,
		               "--roll-loops needs whole contexts: leave out -k, or say -k inf");
	if (blocks && !a->loops && (!*a->k || !strcmp(a->k, "inf")))
		return st_fail(e, ST_EXIT_USAGE,
		               "with --mode %s%s, contexts grow with each iteration of a loop: add "
		               "--roll-loops, or -k with a number",
		               a->mode, *a->k ? " -k inf" : "");
	if (!blocks && st_paths_blocks_option(a))
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s needs contexts of blocks: add --mode intra or --mode inter",
		               st_paths_blocks_option(a));
	if (check_lists(a, e))
		return -1;
	if (blocks && (a->names.under.n || a->names.calls.n))
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s needs contexts of functions: leave out --mode %s, or choose "
		               "functions with --funcs",
		               a->names.under.n ? "under" : "calls", a->mode);
	if (blocks && (a->time || a->instructions))
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s needs contexts of functions: leave out --mode %s",
		               a->time ? "time" : "instructions", a->mode);
	if (!*a->k)
		snprintf(a->k, sizeof a->k, "inf");
	return choose_tool_paths(a, e);
}

/* Is the option about what is shown, and not about how a program is run? */
static bool
paths_shows(int option)
{
	return option == PATHS_from || option == PATHS_format || option == PATHS_output ||
	       option == PATHS_limit || option == PATHS_metric || option == PATHS_under ||
	       option == PATHS_calls || option == PATHS_kccf || option == PATHS_join_threads ||
	       option == PATHS_per_thread || option == PATHS_pin_blocks ||
	       option == PATHS_functions || option == PATHS_blocks || option == PATHS_disasm ||
	       option == PATHS_hot || option == PATHS_quiet || option == PATHS_help;
}

static st_status
check_from(struct st_paths *a, struct st_error *e)
{
	guess_format(a);
	if (a->asked)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s is for running a program, and --from runs none: leave out one "
		               "of them",
		               a->asked);
	if (a->as_profile)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is a profile already: give --format another format than db",
		               a->from);
	if (a->measure.session.output.path && !a->format)
		return st_fail(e, ST_EXIT_USAGE,
		               "the name %s does not say which format to write: add --format",
		               a->measure.session.output.path);
	return check_lists(a, e);
}

st_status
st_paths_parse(struct st_paths *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("paths", argv);
	const char *value;
	*a = (struct st_paths){
	        .measure = ST_MEASURE_DEFAULT, .mode = "func", .limit.bytes = USUAL_LIMIT};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->measure.session.program = argv + o.at - 1;
			a->measure.session.output.name = a->measure.session.program[0];
			break;
		}
		if (apply_paths_option(a, &o, option, value, e))
			return -1;
		if (!paths_shows(option))
			a->asked = o.options[option].name;
		if (a->help)
			return 0;
	}
	const char *output = a->measure.session.output.path;
	bool standard = output && !strcmp(output, "-");
	if (standard && !a->from)
		return st_fail(e, ST_EXIT_USAGE,
		               "standard output belongs to the program: give -o a file, "
		               "then use strobe paths --from");
	if (standard)
		a->measure.session.output.path = NULL;
	if (a->from && a->measure.session.program)
		return st_fail(e, ST_EXIT_USAGE,
		               "--from shows an earlier run: leave out the program '%s'",
		               a->measure.session.program[0]);
	if (a->join_threads && a->per_thread)
		return st_fail(e, ST_EXIT_USAGE,
		               "--join-threads and --per-thread are opposites: give one of them");
	return a->from ? check_from(a, e) : check_paths(a, e);
}

void
st_paths_free(struct st_paths *a)
{
	st_measure_free(&a->measure);
	st_names_free(&a->names);
}
