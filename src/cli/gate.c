/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe gate: decides whether a build of a program is slower than another one. */
#include "cli/gate.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/option.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/on.h"
#include "gate/findings.h"
#include "profile/output.h"
#include "report/text.h"
#include "timing/timing.h"

enum {
#define O(id, letter, name, argument, shown, help) GATE_##id,
	ST_GATE_OPTIONS(O)
#undef O
};

struct gate_arguments {
	struct st_gate_options options;
	enum st_gate_format format;
	ST_VEC(const char *) outputs;
	struct st_gate_rules rules;
	const char *rules_file; /* NULL: the project's */
	long gates;             /* 0: not given */
	bool calibrate, quiet, help;
};

static st_status
gate_share(const char *option, const char *value, double most, double *share, struct st_error *e)
{
	return st_gate_share(value, most, share)
	               ? st_fail(e, ST_EXIT_USAGE,
	                         "--%s takes percents that are greater than 0 and at most %g, not "
	                         "'%s'",
	                         option, most, value)
	               : ST_OK;
}

static st_status
gate_seconds(const char *value, double *seconds, struct st_error *e)
{
	if (st_parse_time(value, seconds) || *seconds <= 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "--for takes a time that is greater than 0 such as 30s, not '%s'",
		               value);
	return ST_OK;
}

static st_status
gate_cpus(struct st_gate_options *o, const char *value, struct st_error *e)
{
	o->unpinned = !strcmp(value, "all");
	return o->unpinned ? ST_OK : st_timing_cpus(value, &o->cpus, e);
}

static st_status
apply_gate_word(struct st_gate_options *o, int option, const char *value, struct st_error *e)
{
	static const char *const metrics[] = {
#define M(id, name, title) name,
	        ST_GATE_METRICS(M)
#undef M
	};
	static const char *const duets[] = {
#define A(id, name) name,
	        ST_GATE_DUETS(A)
#undef A
	};
	unsigned which;
	if (option == GATE_duet) {
		if (st_option_word("duet", value, duets, sizeof duets / sizeof *duets, &which, e))
			return ST_FAILED;
		o->duet = (enum st_gate_duet)which;
		o->duet_set = true;
		return ST_OK;
	}
	if (st_option_word("metric", value, metrics, sizeof metrics / sizeof *metrics, &which, e))
		return ST_FAILED;
	o->metric = (enum st_gate_metric)which;
	return ST_OK;
}

/* Options of the measurement and of the decision. */
static st_status
apply_gate_rule(struct gate_arguments *a, int option, const char *value, struct st_error *e)
{
	struct st_gate_rule *rule = &a->options.rule;
	long n;
	switch (option) {
	case GATE_limit:
		a->options.limit_set = true;
		return gate_share("limit", value, 1000, &rule->limit, e);
	case GATE_alarm:
		return gate_share("alarm", value, 50, &rule->alarm, e);
	case GATE_miss:
		return gate_share("miss", value, 50, &rule->miss, e);
	case GATE_for:
		return gate_seconds(value, &rule->seconds, e);
	case GATE_pairs:
		if (st_option_number("pairs", value, 0, ST_GATE_MOST_PAIRS, &n, e))
			return ST_FAILED;
		rule->pairs = (size_t)n;
		return ST_OK;
	case GATE_counts:
		if (st_option_number("counts", value, 0, ST_GATE_MOST_RUNS, &n, e))
			return ST_FAILED;
		a->options.counts = (size_t)n;
		return ST_OK;
	case GATE_functions:
		if (st_option_number("functions", value, 0, ST_GATE_MOST_PAIRS, &n, e))
			return ST_FAILED;
		a->options.functions = (size_t)n;
		return ST_OK;
	case GATE_seed:
		if (st_option_number("seed", value, 0, LONG_MAX, &n, e))
			return ST_FAILED;
		a->options.seed = (uint64_t)n;
		a->options.seeded = true;
		return ST_OK;
	case GATE_cpu:
		return gate_cpus(&a->options, value, e);
	default:
		return apply_gate_word(&a->options, option, value, e);
	}
}

/* ---- output ---- */

static const char *const gate_formats[] = {
#define F(id, name, ending) name,
        ST_GATE_FORMATS(F)
#undef F
};

static st_status
gate_format(const char *value, enum st_gate_format *format, struct st_error *e)
{
	unsigned which;
	if (st_option_word("format", value, gate_formats,
	                   sizeof gate_formats / sizeof *gate_formats, &which, e))
		return ST_FAILED;
	*format = (enum st_gate_format)which;
	return ST_OK;
}

/* The format that the ending of a file's name says. */
static st_status
gate_format_of_file(const char *path, enum st_gate_format *format, struct st_error *e)
{
	static const char *const endings[] = {
#define F(id, name, ending) ending,
	        ST_GATE_FORMATS(F)
#undef F
	};
	const char *dot = strrchr(st_base_name(path), '.');
	for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
		if (!strcmp(dot, endings[i])) {
			*format = (enum st_gate_format)i;
			return ST_OK;
		}
	return st_fail(e, ST_EXIT_USAGE,
	               "the ending of '%s' names no format: use .md, .xml, .sarif, .json or .txt",
	               path);
}

static st_status
gate_add_output(struct gate_arguments *a, const char *path, struct st_error *e)
{
	enum st_gate_format format;
	if (gate_format_of_file(path, &format, e) || st_output_check(path, e))
		return ST_FAILED;
	const char **slot = ST_PUSH(&a->outputs);
	if (!slot)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the options");
	*slot = path;
	return ST_OK;
}

static st_status
gate_write_file(const struct gate_arguments *a, const struct st_gate_result *r, const char *path,
                struct st_error *e)
{
	struct st_text text;
	enum st_gate_format format;
	FILE *out = st_text_begin(&text);
	st_status status = gate_format_of_file(path, &format, e);
	if (!status && out)
		status = st_gate_write(format, &a->options, r, out);
	char *bytes = st_text_end(&text);
	if (status || !bytes)
		st_cause(e, ST_EXIT_FAILED, "no memory left to write %s", path);
	else
		status = st_output_text(path, bytes, e);
	free(bytes);
	return bytes ? status : ST_FAILED;
}

static st_status
apply_gate_option(struct gate_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_BAD:
		return ST_FAILED; /* *e is filled */
	case GATE_base:
		a->options.names[ST_GATE_BASE] = value;
		return ST_OK;
	case GATE_target:
		a->options.names[ST_GATE_TARGET] = value;
		return ST_OK;
	case GATE_rules:
		a->rules_file = value;
		return ST_OK;
	case GATE_calibrate:
		a->calibrate = true;
		return ST_OK;
	case GATE_gates:
		return st_option_number("gates", value, 1, ST_GATE_MOST_GATES, &a->gates, e);
	case GATE_on:
		return st_on_take(&a->options.place, "on", value, e);
	case GATE_campaign:
		return st_on_take(&a->options.place, "campaign", value, e);
	case GATE_lease:
		return st_on_take(&a->options.place, "lease", value, e);
	case GATE_noise:
		return st_on_take(&a->options.place, "noise", value, e);
	case GATE_times:
		a->options.times = value;
		return ST_OK;
	case GATE_format:
		return gate_format(value, &a->format, e);
	case GATE_output:
		return gate_add_output(a, value, e);
	case GATE_quiet:
		a->quiet = true;
		return ST_OK;
	case GATE_help:
		a->help = true;
		return ST_OK;
	default:
		return apply_gate_rule(a, option, value, e);
	}
}

/* The options of a calibration. Both sides are the base. */
static st_status
gate_check_calibration(struct gate_arguments *a, struct st_error *e)
{
	enum { USUAL_GATES = 20 };
	struct st_gate_options *o = &a->options;
	enum st_gate_format format = a->format;
	if (!a->calibrate)
		return a->gates ? st_fail(e, ST_EXIT_USAGE,
		                          "--gates is the number of gates of a calibration: add "
		                          "--calibrate")
		                : ST_OK;
	if (o->names[ST_GATE_TARGET])
		return st_fail(e, ST_EXIT_USAGE,
		               "--calibrate compares the base with itself: leave out --target");
	for (size_t i = 0; i <= a->outputs.n; i++) {
		if (i && gate_format_of_file(a->outputs.v[i - 1], &format, e))
			return ST_FAILED;
		if (format != ST_GATE_FORMAT_TEXT && format != ST_GATE_FORMAT_JSON)
			return st_fail(e, ST_EXIT_USAGE,
			               "a calibration is written as text or JSON, not as %s",
			               gate_formats[format]);
	}
	o->gates = a->gates ? (size_t)a->gates : USUAL_GATES;
	o->names[ST_GATE_TARGET] = o->names[ST_GATE_BASE];
	return ST_OK;
}

/* The default target of a version is HEAD. */
static st_status
gate_check_sides(struct st_gate_options *o, struct st_error *e)
{
	const char **target = &o->names[ST_GATE_TARGET];
	bool version = false;
	if (!o->names[ST_GATE_BASE])
		return st_fail(e, ST_EXIT_USAGE,
		               "no base to compare with: strobe gate --base REV [--target REV], or "
		               "--base COMMAND --target COMMAND");
	if (!*target && st_gate_is_version(o->names[ST_GATE_BASE], &version, e))
		return ST_FAILED;
	if (version)
		*target = "HEAD";
	return *target ? ST_OK
	               : st_fail(e, ST_EXIT_USAGE,
	                         "the base '%s' is a command, and there is no command to compare "
	                         "it with: name one with --target",
	                         o->names[ST_GATE_BASE]);
}

st_status
st_gate_usual(struct st_gate_options *o, struct st_gate_rules *rules, const char *file,
              struct st_error *e)
{
	char today[16] = "";
	const time_t now = time(NULL);
	struct tm tm;
	if (gmtime_r(&now, &tm))
		strftime(today, sizeof today, "%Y-%m-%d", &tm);
	o->rule = (struct st_gate_rule){
	        .alarm = 0.01, .miss = 0.05, .limit = 0.02, .pairs = 60, .seconds = 600};
	o->counts = 2;
	st_gate_limits_default(&o->limits);
	return st_gate_rules_read(rules, file, today, o, e);
}

/* Options override the rules, so they are read twice: to find the file of the rules, and after it
 * was read. */
static st_status
gate_take_options(struct gate_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("gate", argv);
	const char *value;
	a->outputs.n = 0;
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->options.arguments = o.argv + o.at - 1;
			break;
		}
		if (apply_gate_option(a, option, value, e))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
parse_gate(struct gate_arguments *a, char *const *argv, struct st_error *e)
{
	*a = (struct gate_arguments){
	        .options = {.place = ST_BATCH_PLACE("--noise"), .command = argv}};
	if (gate_take_options(a, argv, e) || a->help)
		return a->help ? ST_OK : ST_FAILED;
	if (st_gate_usual(&a->options, &a->rules, a->rules_file, e) ||
	    gate_take_options(a, argv, e))
		return ST_FAILED;
	return st_on_check(&a->options.place, e) || gate_check_calibration(a, e) ||
	                       gate_check_sides(&a->options, e)
	               ? ST_FAILED
	               : ST_OK;
}

/* ---- a run ---- */

/* The order of the runs must be random; the seed is part of the JSON. */
static st_status
gate_draw_seed(struct st_gate_options *o, struct st_error *e)
{
	uint32_t drawn;
	if (o->seeded)
		return ST_OK;
	if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
		return st_fail(e, ST_EXIT_FAILED, "cannot draw a random number: %s",
		               strerror(errno));
	o->seed = drawn;
	return ST_OK;
}

static void
gate_progress(void *arg, const char *text)
{
	st_progress_line(arg, text);
}

st_status
st_gate_begin(struct st_gate_setting *s, struct st_gate_options *o, bool quiet, struct st_error *e)
{
	st_progress_init(&s->progress, quiet);
	if (st_on_strobe(s->strobe, sizeof s->strobe, e))
		return ST_FAILED;
	o->strobe = s->strobe;
	o->listener = (struct st_gate_listener){gate_progress, &s->progress};
	st_timing_watch_signals();
	return gate_draw_seed(o, e);
}

void
st_gate_end(struct st_gate_setting *s, struct st_gate_options *o)
{
	st_progress_erase(&s->progress);
	o->strobe = NULL;
	o->listener = (struct st_gate_listener){0};
}

static st_status
gate_print(const struct gate_arguments *a, const struct st_gate_result *r, struct st_error *e)
{
	struct st_safe safe;
	for (size_t i = 0; i < a->outputs.n; i++)
		if (gate_write_file(a, r, a->outputs.v[i], e))
			return ST_FAILED;
	if (a->quiet)
		return ST_OK;
	FILE *out = st_safe_begin(&safe, stdout);
	if (!out || st_gate_write(a->format, &a->options, r, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the gate");
	st_safe_end(&safe);
	return st_output_flush(e);
}

static int
run_gate(struct gate_arguments *a)
{
	struct st_gate_result r = {0};
	struct st_gate_setting setting;
	struct st_error e;
	st_status status = st_gate_begin(&setting, &a->options, a->quiet, &e);
	if (!status)
		status = st_gate_run(&a->options, &r, &e);
	st_gate_end(&setting, &a->options);
	if (!status && !(a->calibrate && r.interrupted))
		status = gate_print(a, &r, &e);
	int code = status ? st_complain(&e) : st_gate_exit(r.verdict);
	st_on_say_resume(r.campaign, a->quiet);
	if (!status && st_timing_interrupted())
		code = 128 + st_timing_interrupted();
	st_gate_result_free(&r);
	return code;
}

int
st_gate_main(char *const *argv)
{
	struct gate_arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	if (parse_gate(&a, argv, &e))
		code = st_complain(&e);
	else if (a.help)
		st_command_help(stdout, st_command_find("gate"), false);
	else
		code = run_gate(&a);
	free(a.outputs.v);
	st_gate_limits_free(&a.options.limits);
	st_gate_rules_free(&a.rules);
	return code;
}
