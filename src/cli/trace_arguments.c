/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/trace.h"
#include "control/program.h"
#include "export/contexts.h"
#include "report/report.h"
#include "trace/changed.h"
#include "trace/reduce.h"

enum {
#define O(id, letter, name, argument, shown, help) TRACE_##id,
	ST_TRACE_OPTIONS(O)
#undef O
};

enum { MOST_DEPTH = 1000000 };

static const char *const forms[] = {[ST_TRACE_DB] = "db",
                                    [ST_TRACE_TEXT] = "text",
                                    [ST_TRACE_JSON] = "json",
                                    [ST_TRACE_CALLGRIND] = "callgrind",
                                    [ST_TRACE_TIMELINE] = "timeline",
                                    [ST_TRACE_RAW] = "raw",
                                    [ST_TRACE_FOLDED] = "folded",
                                    [ST_TRACE_SPEEDSCOPE] = "speedscope",
                                    [ST_TRACE_PPROF] = "pprof"};

bool
st_trace_needs_events(enum st_trace_form form)
{
	return form >= ST_TRACE_TIMELINE;
}

const char *
st_trace_form_name(enum st_trace_form form)
{
	return forms[form];
}

static st_status
set_form(struct st_trace_arguments *a, const char *value, struct st_error *e)
{
	for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
		if (!strcmp(value, forms[i])) {
			a->has_form = true;
			a->form = (enum st_trace_form)i;
			return ST_OK;
		}
	return st_bad_format(
	        value, "db, text, json, callgrind, timeline, raw, folded, speedscope and pprof", e);
}

/* A file of the format is called after it; a timeline is JSON, and a database is what there is
 * otherwise. */
static bool
has_ending_of_form(struct st_trace_arguments *a, const char *end)
{
	for (unsigned i = ST_TRACE_JSON; i < sizeof forms / sizeof *forms; i++)
		if (i != ST_TRACE_TIMELINE && !strcmp(end, forms[i])) {
			a->form = (enum st_trace_form)i;
			return true;
		}
	return false;
}

/* The format by the name of the file, unless --format is given. */
static void
guess_form(struct st_trace_arguments *a)
{
	const char *output = a->measure.session.output.path;
	const char *dot = output ? strrchr(st_base_name(output), '.') : NULL;
	const char *usual = output ? st_export_format_of(output) : NULL;
	if (a->has_form || !dot || st_export_is_gzip(output))
		return;
	if (!strcmp(dot, ".txt"))
		a->form = ST_TRACE_TEXT;
	else if (!has_ending_of_form(a, usual ? usual : dot + 1))
		return;
	a->has_form = true;
}

/* Bytes of a function's name without the arguments that C++ gives it: the tool knows it so. */
static size_t
bare_length(const char *name)
{
	const size_t n = strlen(name), bare = strcspn(name, "(");
	return bare && n && name[n - 1] == ')' ? bare : n;
}

static st_status
set_main(struct st_trace_arguments *a, const char *value, struct st_error *e)
{
	struct st_patterns *scope = &a->measure.session.region.scope;
	const size_t n = bare_length(value);
	if (!n || strpbrk(value, "*?") || n >= sizeof a->main)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--main takes the name of one function, not '%s'; --funcs takes patterns",
		        value);
	snprintf(a->main, sizeof a->main, "%.*s", (int)n, value);
	st_patterns_free(scope);
	return st_patterns_add_path(scope, "main", a->main, e);
}

static st_status
add_excluded(struct st_patterns *excluded, const char *value, struct st_error *e)
{
	size_t i = excluded->n;
	if (st_patterns_add(excluded, "exclude", value, e))
		return ST_FAILED;
	for (; i < excluded->n; i++) {
		char *name = (char *)excluded->text[i];
		name[bare_length(name)] = '\0';
	}
	return ST_OK;
}

/* Strobe looks at the clock every few milliseconds: shorter windows would not be what they say. */
static st_status
set_windows(struct st_trace_arguments *a, const char *value, struct st_error *e)
{
	static const double shortest = 0.01;
	char on[32];
	const size_t n = strcspn(value, "/");
	if (n < sizeof on && value[n]) {
		memcpy(on, value, n);
		on[n] = '\0';
		if (!st_parse_time(on, &a->window) &&
		    !st_parse_time(value + n + 1, &a->window_period) && a->window >= shortest &&
		    a->window_period >= a->window + shortest)
			return ST_OK;
	}
	return st_fail(e, ST_EXIT_USAGE,
	               "--windows takes two times such as 10ms/100ms, the first at least 10ms and "
	               "the second at least 10ms longer, not '%s'",
	               value);
}

static st_status
apply_trace_setting(struct st_trace_arguments *a, const char *name, int option, const char *value,
                    struct st_error *e)
{
	static const char *const units[] = {"ns", "us"}, *const presets[] = {"quick", "thorough"};
	unsigned which;
	switch (option) {
	case TRACE_unique:
	case TRACE_unique_last:
	case TRACE_unique_log:
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s measures each piece of code once, and a trace needs all "
		               "calls: leave it out",
		               name);
	case TRACE_unit:
		if (st_option_word("unit", value, units, 2, &which, e))
			return ST_FAILED;
		a->has_unit = true;
		a->unit = which ? ST_TRACE_US : ST_TRACE_NS;
		return ST_OK;
	case TRACE_preset:
		if (st_option_word("preset", value, presets, 2, &which, e))
			return ST_FAILED;
		a->preset = which ? ST_TRACE_THOROUGH : ST_TRACE_QUICK;
		return ST_OK;
	case TRACE_engine:
		a->engine = st_trace_engine_named(value);
		return a->engine ? ST_OK
		                 : st_fail(e, ST_EXIT_USAGE,
		                           "--engine takes auto, probe, jit or ebpf, not '%s'",
		                           value);
	case TRACE_output:
		a->measure.session.output.path = value;
		return ST_OK;
	case TRACE_for:
		return st_region_time(&a->seconds, "for", value, e);
	case TRACE_hot:
		return st_option_number("hot", value, 0, 1000000, &a->measure.result.top, e);
	case TRACE_interval:
		return st_region_time(&a->measure.top.interval, "interval", value, e);
	case TRACE_pid:
		return st_measure_pid(value, &a->pid, e);
	case TRACE_exclude:
		return add_excluded(&a->measure.session.region.excluded, value, e);
	case TRACE_usdt:
		return st_patterns_add(&a->usdt, "usdt", value, e);
	case TRACE_reduce_by:
		a->reduce_by = value;
		return ST_OK;
	case TRACE_shape:
		a->shape = st_trace_shape_named(value);
		return a->shape ? ST_OK
		                : st_fail(e, ST_EXIT_USAGE,
		                          "--shape takes top-down, bottom-up or match, not '%s'",
		                          value);
	case TRACE_changed_since:
		a->changed_since = value;
		return ST_OK;
	case TRACE_main:
		return set_main(a, value, e);
	case TRACE_every:
		return st_trace_rates_add(&a->rates, value, e);
	case TRACE_windows:
		return set_windows(a, value, e);
	case TRACE_depth:
		return st_option_number("depth", value, 1, MOST_DEPTH, &a->depth, e);
	case TRACE_format:
		return set_form(a, value, e);
	default:
		return st_measure_option(&a->measure, name, value, e);
	}
}

static st_status
apply_trace_option(struct st_trace_arguments *a, const struct st_options *o, int option,
                   const char *value, struct st_error *e)
{
	switch (option) {
	case TRACE_user:
		a->user = true;
		return ST_OK;
	case TRACE_all:
		a->all = true;
		return ST_OK;
	case TRACE_cpu:
		a->cpu = true;
		return ST_OK;
	case TRACE_per_thread:
		a->per_thread = true;
		return ST_OK;
	case TRACE_events:
		a->events = true;
		return ST_OK;
	case TRACE_dry_run:
		a->dry_run = true;
		return ST_OK;
	case TRACE_list_usdt:
		a->lists_usdt = true;
		return ST_OK;
	case TRACE_refused:
		a->refused = true;
		return ST_OK;
	case TRACE_skip_constant:
		a->skips_constant = true;
		return ST_OK;
	case TRACE_remove:
		a->removes = true;
		return ST_OK;
	case TRACE_follow:
		a->measure.session.follow = true;
		return ST_OK;
	case TRACE_top:
		a->measure.top.chosen = true;
		return ST_OK;
	case TRACE_from:
		a->from = value;
		return ST_OK;
	case TRACE_from_raw:
		a->from_raw = value;
		return ST_OK;
	case TRACE_help:
		a->help = true;
		return ST_OK;
	case ST_OPTIONS_BAD:
		return ST_FAILED; /* *e is filled */
	default:
		return apply_trace_setting(a, o->options[option].name, option, value, e);
	}
}

/* Is the option about what is shown, and not about how a program is run? */
static bool
trace_shows(int option)
{
	return option == TRACE_from || option == TRACE_from_raw || option == TRACE_unit ||
	       option == TRACE_format || option == TRACE_output || option == TRACE_per_thread ||
	       option == TRACE_refused || option == TRACE_hot || option == TRACE_quiet ||
	       option == TRACE_help;
}

/* ---- what is traced ---- */

/* The file of the program itself. */
static st_status
find_own(struct st_trace_arguments *a, struct st_error *e)
{
	char link[64];
	bool by_env = false;
	if (a->pid) {
		snprintf(link, sizeof link, "/proc/%ld/exe", a->pid);
		if (!realpath(link, a->program))
			return st_fail(e, ST_EXIT_NOT_FOUND,
			               "cannot find the program of process %ld: %s", a->pid,
			               strerror(errno));
	} else if (st_program_image(a->measure.session.program[0], a->program, sizeof a->program,
	                            &by_env, e)) {
		return ST_FAILED;
	}
	/* env executes it in its own place. */
	a->measure.session.follow |= by_env && a->own;
	return ST_OK;
}

/* The patterns of --exclude with semicolons between them, as the tool takes them. malloc'ed; NULL:
 * no memory. */
static char *
lines_of(const struct st_patterns *p)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	for (size_t i = 0; i < p->n; i++)
		fprintf(text.out, "%s%s", i ? ";" : "", p->text[i]);
	return st_text_end(&text);
}

static st_status
choose_tool_trace(struct st_trace_arguments *a, struct st_error *e)
{
	struct st_region *r = &a->measure.session.region;
	struct st_tool_setting settings[6];
	char depth[24], *excluded = NULL;
	size_t n = 0;
	a->own = !a->all && !r->functions.n && !r->images.n;
	r->own_of_children = a->measure.session.follow; /* as given */
	if ((a->own || a->dry_run) && find_own(a, e))
		return ST_FAILED;
	if (a->own && st_patterns_add_path(&r->images, "images", a->program, e))
		return ST_FAILED;
	r->own = a->own;
	r->marks = true;
	if (a->depth) {
		snprintf(depth, sizeof depth, "%ld", a->depth);
		settings[n++] = (struct st_tool_setting){"depth", depth};
	}
	if (a->events)
		settings[n++] = (struct st_tool_setting){"events", NULL};
	if (r->functions.n || r->images.n)
		settings[n++] = (struct st_tool_setting){"chosen", NULL};
	if (a->own)
		settings[n++] = (struct st_tool_setting){"own", NULL};
	if (*a->main)
		settings[n++] = (struct st_tool_setting){"main", a->main};
	if (r->excluded.n) {
		excluded = lines_of(&r->excluded);
		if (!excluded)
			return st_fail(e, ST_EXIT_FAILED, "out of memory");
		settings[n++] = (struct st_tool_setting){"exclude", excluded};
	}
	st_status status = st_toolset_use(&a->measure.session.tools, "calltimes", settings, n, e);
	free(excluded);
	return status;
}

/* Of the program's own file the other build may have any name. */
static st_status
open_earlier(struct st_trace_arguments *a, struct st_error *e)
{
	if (a->shape && !a->reduce_by)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--shape is about the call graph of an earlier trace: add --reduce-by "
		        "FILE, or leave it out");
	if ((a->reduce_by || a->skips_constant) &&
	    !(a->reduction = st_trace_reduction_open(a->reduce_by, a->shape, a->skips_constant, e)))
		return ST_FAILED;
	if (!a->changed_since)
		return ST_OK;
	a->changed = st_trace_changed_open(a->changed_since, a->own ? a->program : NULL, e);
	return a->changed ? ST_OK : ST_FAILED;
}

/* ---- what does not fit together ---- */

static st_status
check_selection(const struct st_trace_arguments *a, struct st_error *e)
{
	const struct st_region *r = &a->measure.session.region;
	const char *other = a->all           ? "all"
	                    : r->functions.n ? "funcs"
	                    : r->images.n    ? "images"
	                                     : NULL;
	if (a->user && other)
		return st_fail(e, ST_EXIT_USAGE,
		               "--user and --%s choose different functions: leave out one of them",
		               other);
	if (a->all && (r->functions.n || r->images.n))
		return st_fail(e, ST_EXIT_USAGE,
		               "--all and --%s choose different functions: leave out one of them",
		               r->functions.n ? "funcs" : "images");
	return ST_OK;
}

static st_status
check_removal(const struct st_trace_arguments *a, struct st_error *e)
{
	if (!a->pid)
		return st_fail(e, ST_EXIT_USAGE,
		               "--remove removes probes from a running process: add --pid PID");
	if (a->measure.session.program)
		return st_fail(e, ST_EXIT_USAGE,
		               "--remove applies to a running process: leave out the program '%s'",
		               a->measure.session.program[0]);
	if (a->besides)
		return st_fail(e, ST_EXIT_USAGE,
		               "--remove traces nothing: leave out --%s, or --remove, which is not "
		               "needed before a trace",
		               a->besides);
	return ST_OK;
}

static st_status
check_run(struct st_trace_arguments *a, struct st_error *e)
{
	const char *output = a->measure.session.output.path;
	if (a->has_unit)
		return st_fail(e, ST_EXIT_USAGE,
		               "--unit is about a raw file: add --from-raw, or leave it out");
	if (st_measure_check_source(&a->measure, a->pid, "trace", e))
		return ST_FAILED;
	if (output && !strcmp(output, "-") && !a->dry_run)
		return st_fail(e, ST_EXIT_USAGE,
		               "standard output belongs to the program: give -o a file, then use "
		               "strobe trace --from");
	if (check_selection(a, e) ||
	    st_top_check(&a->measure.top,
	                 a->measure.session.program ? a->measure.session.program[0] : NULL, e))
		return ST_FAILED;
	if (a->preset == ST_TRACE_THOROUGH)
		a->all |= !a->user && !a->measure.session.region.functions.n &&
		          !a->measure.session.region.images.n && !a->usdt.n;
	guess_form(a);
	if (a->dry_run && a->has_form && a->form != ST_TRACE_TEXT && a->form != ST_TRACE_JSON)
		return st_fail(e, ST_EXIT_USAGE,
		               "--dry-run prints functions, not calls: say --format text or json");
	a->events |= st_trace_needs_events(a->form);
	if (a->measure.session.program)
		a->measure.session.region.length = a->seconds;
	return choose_tool_trace(a, e) ? ST_FAILED : open_earlier(a, e);
}

static st_status
check_shown(struct st_trace_arguments *a, struct st_error *e)
{
	const char *option = a->from ? "from" : "from-raw", *file = a->from ? a->from : a->from_raw;
	const char *output = a->measure.session.output.path;
	guess_form(a);
	if (a->from && a->from_raw)
		return st_fail(e, ST_EXIT_USAGE,
		               "--from and --from-raw read different files: leave out one of them");
	if (a->measure.session.program)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s shows an earlier run: leave out the program '%s'", option,
		               a->measure.session.program[0]);
	if (a->asked)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s is for running a program, and --%s runs none: leave out one "
		               "of them",
		               a->asked, option);
	if (a->has_unit && !a->from_raw)
		return st_fail(e, ST_EXIT_USAGE,
		               "--unit is about a raw file, and %s is none: use --from-raw, or "
		               "leave it out",
		               file);
	if (a->has_form && a->form == ST_TRACE_DB)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s cannot be written as db: say --format text, json or callgrind",
		               file);
	if (output && !strcmp(output, "-"))
		a->measure.session.output.path = NULL;
	else if (output && !a->has_form)
		return st_fail(e, ST_EXIT_USAGE,
		               "the name %s does not say which format to write: add --format",
		               output);
	if (!a->has_form)
		a->form = ST_TRACE_TEXT;
	if (a->from_raw && st_trace_needs_events(a->form))
		return st_fail(e, ST_EXIT_USAGE,
		               "--format %s is made of the events of a profile: use --from, or "
		               "say text, json or callgrind",
		               forms[a->form]);
	return ST_OK;
}

st_status
st_trace_parse(struct st_trace_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("trace", argv);
	const char *value;
	*a = (struct st_trace_arguments){.measure = ST_MEASURE_DEFAULT,
	                                 .engine = st_trace_engine_named("auto")};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->measure.session.program = argv + o.at - 1;
			a->measure.session.output.name = a->measure.session.program[0];
			break;
		}
		if (apply_trace_option(a, &o, option, value, e))
			return ST_FAILED;
		if (!trace_shows(option))
			a->asked = o.options[option].name;
		if (option != TRACE_remove && option != TRACE_pid && option != TRACE_quiet)
			a->besides = o.options[option].name;
		if (a->help)
			return ST_OK;
	}
	if (a->removes)
		return check_removal(a, e);
	return a->from || a->from_raw ? check_shown(a, e) : check_run(a, e);
}

void
st_trace_arguments_free(struct st_trace_arguments *a)
{
	st_measure_free(&a->measure);
	st_patterns_free(&a->usdt);
	st_trace_rates_free(&a->rates);
	st_trace_changed_close(a->changed);
	st_trace_reduction_close(a->reduction);
}
