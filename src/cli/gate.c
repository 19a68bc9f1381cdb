/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe gate: whether one build of a program is slower than another. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/option.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/stored.h"
#include "gate/result.h"
#include "report/text.h"
#include "timing/timing.h"

enum {
#define O(id, letter, name, argument, shown, help) GATE_##id,
	ST_GATE_OPTIONS(O)
#undef O
};

enum { GATE_MOST_PAIRS = 5000 };

struct gate_arguments {
	struct st_gate_options options;
	bool json, quiet, help, seeded;
};

static st_status
gate_share(const char *option, const char *value, double most, double *share, struct st_error *e)
{
	const char *end;
	double percent;
	if (st_parse_real(value, &percent, &end) || (*end && strcmp(end, "%") != 0) ||
	    !(percent > 0) || percent > most)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--%s takes percents that are greater than 0 and at most %g, not '%s'",
		        option, most, value);
	*share = percent / 100;
	return ST_OK;
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
	const bool duet = option == GATE_duet;
	if (st_option_word(duet ? "duet" : "metric", value, duet ? duets : metrics,
	                   duet ? sizeof duets / sizeof *duets : sizeof metrics / sizeof *metrics,
	                   &which, e))
		return ST_FAILED;
	if (duet)
		o->duet = (enum st_gate_duet)which;
	else
		o->metric = (enum st_gate_metric)which;
	return ST_OK;
}

/* How to measure and to judge. */
static st_status
apply_gate_rule(struct gate_arguments *a, int option, const char *value, struct st_error *e)
{
	struct st_gate_rule *rule = &a->options.rule;
	long n;
	switch (option) {
	case GATE_limit:
		return gate_share("limit", value, 1000, &rule->limit, e);
	case GATE_alarm:
		return gate_share("alarm", value, 50, &rule->alarm, e);
	case GATE_miss:
		return gate_share("miss", value, 50, &rule->miss, e);
	case GATE_for:
		return gate_seconds(value, &rule->seconds, e);
	case GATE_pairs:
		if (st_option_number("pairs", value, 0, GATE_MOST_PAIRS, &n, e))
			return ST_FAILED;
		rule->pairs = (size_t)n;
		return ST_OK;
	case GATE_counts:
		if (st_option_number("counts", value, 0, ST_GATE_MOST_RUNS, &n, e))
			return ST_FAILED;
		a->options.counts = (size_t)n;
		return ST_OK;
	case GATE_seed:
		if (st_option_number("seed", value, 0, LONG_MAX, &n, e))
			return ST_FAILED;
		a->options.seed = (uint64_t)n;
		a->seeded = true;
		return ST_OK;
	case GATE_cpu:
		return gate_cpus(&a->options, value, e);
	default:
		return apply_gate_word(&a->options, option, value, e);
	}
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
	case GATE_times:
		a->options.times = value;
		return ST_OK;
	case GATE_format:
		return st_stored_format(value, &a->json, e);
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

/* The target of a version is what is checked out. */
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

static st_status
parse_gate(struct gate_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("gate", argv);
	const char *value;
	*a = (struct gate_arguments){.options = {.rule = {.alarm = 0.01,
	                                                  .miss = 0.05,
	                                                  .limit = 0.02,
	                                                  .pairs = 60,
	                                                  .seconds = 600},
	                                         .counts = 2}};
	st_gate_limits_default(&a->options.limits);
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->options.arguments = o.argv + o.at - 1;
			break;
		}
		if (apply_gate_option(a, option, value, e))
			return ST_FAILED;
	}
	return a->help ? ST_OK : gate_check_sides(&a->options, e);
}

/* Which run comes first has to be chance that nobody has chosen; the seed is told. */
static st_status
gate_draw_seed(struct gate_arguments *a, struct st_error *e)
{
	uint32_t drawn;
	if (a->seeded)
		return ST_OK;
	if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
		return st_fail(e, ST_EXIT_FAILED, "cannot draw a random number: %s",
		               strerror(errno));
	a->options.seed = drawn;
	return ST_OK;
}

static void
gate_progress(void *arg, const char *text)
{
	st_progress_line(arg, text);
}

static st_status
gate_print(const struct gate_arguments *a, const struct st_gate_result *r, struct st_error *e)
{
	struct st_safe safe;
	if (a->json)
		return st_stored_print_json(st_gate_json(&a->options, r), e);
	FILE *out = a->quiet ? NULL : st_safe_begin(&safe, stdout);
	if (out) {
		st_gate_print_text(&a->options, r, out);
		st_safe_end(&safe);
	}
	return ST_OK;
}

static int
run_gate(struct gate_arguments *a)
{
	struct st_gate_result r = {0};
	struct st_progress progress;
	struct st_error e;
	char strobe[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", strobe, sizeof strobe - 1);
	if (n < 0) {
		st_cause(&e, ST_EXIT_FAILED, "cannot read /proc/self/exe: %s", strerror(errno));
		return st_complain(&e);
	}
	strobe[n] = '\0';
	a->options.strobe = strobe;
	st_progress_init(&progress, a->quiet);
	a->options.listener = (struct st_gate_listener){gate_progress, &progress};
	st_timing_watch_signals();
	st_status status = gate_draw_seed(a, &e);
	if (!status)
		status = st_gate_run(&a->options, &r, &e);
	st_progress_erase(&progress);
	if (!status)
		status = gate_print(a, &r, &e);
	int code = status ? st_complain(&e) : st_gate_exit(r.verdict);
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
	if (parse_gate(&a, argv, &e))
		return st_complain(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("gate"), false);
		return ST_EXIT_OK;
	}
	return run_gate(&a);
}
