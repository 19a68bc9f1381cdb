/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/tune_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/on.h"

enum {
#define O(id, letter, name, argument, shown, help) TUNE_##id,
	ST_TUNE_OPTIONS(O)
#undef O
};

/* ---- levels ---- */

static st_status
take_budget(const char *text, double *level, struct st_error *e)
{
	struct st_budget_amount amount;
	if (st_budget_parse(&amount, "budgets", text, e) || !(amount.share > 0))
		return st_fail(e, ST_EXIT_USAGE,
		               "--budgets takes shares from 0.01%% to 100%%, such as 2%%,25%%, not "
		               "'%s'",
		               text);
	*level = amount.share;
	return 0;
}

static st_status
take_period(const char *text, double *level, struct st_error *e)
{
	struct st_budget_choice b = {0};
	if (st_budget_period(&b, text, e))
		return st_fail(e, ST_EXIT_USAGE,
		               "--periods takes times from 20ms to 1h, such as 0.25s,4s, not '%s'",
		               text);
	*level = b.period;
	return 0;
}

static int
level_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Words with commas between them, in the order of their values. */
static st_status
take_levels(const char *option, const char *list,
            int (*take)(const char *, double *, struct st_error *), double *levels, size_t *n,
            struct st_error *e)
{
	char *copy = strdup(list), *rest = copy;
	int status = copy ? 0 : st_fail(e, ST_EXIT_FAILED, "out of memory");
	*n = 0;
	for (char *word; !status && (word = strsep(&rest, ","));)
		status = *n == ST_STUDY_LEVELS
		                 ? st_fail(e, ST_EXIT_USAGE, "--%s takes at most %d values", option,
		                           ST_STUDY_LEVELS)
		                 : take(word, &levels[(*n)++], e);
	free(copy);
	if (status)
		return -1;
	qsort(levels, *n, sizeof *levels, level_order);
	for (size_t i = 1; i < *n; i++)
		if (levels[i] == levels[i - 1])
			return st_fail(e, ST_EXIT_USAGE, "--%s has a value twice: %s", option,
			               list);
	return 0;
}

/* ---- arguments ---- */

static st_status
take_seed(struct st_study *s, const char *value, struct st_error *e)
{
	if (!st_parse_whole(value, &s->seed))
		return 0;
	return st_fail(e, ST_EXIT_USAGE, "--seed takes a whole number, not '%s'", value);
}

/* Options of workers, of the analysis and of the output. */
static st_status
apply_printing(struct st_tune_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case TUNE_on:
	case TUNE_campaign:
	case TUNE_lease:
	case TUNE_node_noise:
		a->measures = true;
		return st_on_take(&a->place,
		                  option == TUNE_on         ? "on"
		                  : option == TUNE_campaign ? "campaign"
		                  : option == TUNE_lease    ? "lease"
		                                            : "node-noise",
		                  value, e);
	case TUNE_experiment:
		a->experiment = value;
		return 0;
	case TUNE_reference:
		a->reference = value;
		return 0;
	case TUNE_from:
		a->from = value;
		return 0;
	case TUNE_format:
		a->json = !strcmp(value, "json");
		return a->json || !strcmp(value, "text") ? 0
		                                         : st_bad_format(value, "text and json", e);
	case TUNE_output:
		if (!strcmp(value, "-"))
			return st_fail(e, ST_EXIT_USAGE,
			               "without -o the result goes to standard output");
		a->output = value;
		return 0;
	case TUNE_anova:
		a->variance = true;
		return 0;
	case TUNE_quiet:
		a->quiet = true;
		return 0;
	case TUNE_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
choose_mode(struct st_tune_arguments *a, enum st_tune_mode mode, struct st_error *e)
{
	bool other = a->mode != ST_TUNE_STUDY && a->mode != mode;
	a->mode = mode;
	return other ? st_fail(e, ST_EXIT_USAGE, "--max and --max-threshold exclude each other")
	             : 0;
}

/* Those of a search. */
static st_status
apply_searching(struct st_tune_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case TUNE_max:
		return choose_mode(a, ST_TUNE_BUDGET, e);
	case TUNE_max_threshold:
		return choose_mode(a, ST_TUNE_THRESHOLD, e);
	case TUNE_qos:
		a->qos.source = value;
		return 0;
	case TUNE_qos_min:
		return st_qos_choose_number(&a->qos.min, &a->qos.has_min, "qos-min", value, e);
	case TUNE_qos_max:
		return st_qos_choose_number(&a->qos.max, &a->qos.has_max, "qos-max", value, e);
	case TUNE_qos_policy:
		return st_qos_choose_policy(&a->qos, value, e);
	default: /* TUNE_for */
		return st_region_time(&a->how.length, "for", value, e);
	}
}

static st_status
apply_tune_option(struct st_tune_arguments *a, int option, const char *value, struct st_error *e)
{
	bool measures = true;
	int status = 0;
	long repeat = 0;
	switch (option) {
	case TUNE_tool:
		status = st_toolset_add(&a->how.session.tools, value, e);
		break;
	case TUNE_budgets:
		a->budgets = value;
		break;
	case TUNE_periods:
		a->periods = value;
		break;
	case TUNE_budget_policy:
		a->policy = value;
		status = st_budget_policy(&a->how.session.budget, value, e);
		break;
	case TUNE_repeat:
		status = st_option_number("repeat", value, 1, ST_STUDY_REPEAT, &repeat, e);
		a->study.repeat = (size_t)repeat;
		break;
	case TUNE_seed:
		a->seeded = true;
		status = take_seed(&a->study, value, e);
		break;
	case TUNE_program_file:
		a->program_file = value;
		break;
	case TUNE_follow:
		a->how.session.follow = true;
		break;
	case TUNE_input:
		a->how.input = value;
		break;
	case TUNE_streams:
		a->how.output = value;
		break;
	case TUNE_max:
	case TUNE_max_threshold:
	case TUNE_qos:
	case TUNE_qos_min:
	case TUNE_qos_max:
	case TUNE_qos_policy:
	case TUNE_for:
		status = apply_searching(a, option, value, e);
		break;
	default:
		measures = false;
		status = apply_printing(a, option, value, e);
	}
	a->measures |= measures;
	return status;
}

/* The tools, and behind them one that has all blocks counted. */
static st_status
complete_tools(struct st_tune_arguments *a, struct st_error *e)
{
	static const unsigned counting[] = {ST_TOOL_inscount, ST_TOOL_bbcount, ST_TOOL_hot};
	struct st_toolset *set = &a->how.session.tools;
	if (!set->n && st_toolset_add(set, st_tools[ST_TOOL_branches]->name, e))
		return -1;
	if (set->tools[0].index == ST_TOOL_null)
		return st_fail(e, ST_EXIT_USAGE,
		               "tool null measures nothing, so there is nothing to tune");
	a->study.tool = strdup(set->text);
	a->study.policy = strdup(a->policy);
	if (!a->study.tool || !a->study.policy)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < sizeof counting / sizeof *counting; k++)
			if (set->tools[i].index == counting[k])
				return 0;
	return st_toolset_add(set, st_tools[ST_TOOL_bbcount]->name, e);
}

/* Refuses options that a search does not take. */
static st_status
check_search(const struct st_tune_arguments *a, struct st_error *e)
{
	bool threshold = a->mode == ST_TUNE_THRESHOLD;
	const char *mode = threshold ? "--max-threshold" : "--max";
	if (!a->qos.source)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s needs --qos SOURCE, which says how well the program serves",
		               mode);
	if (st_qos_check(&a->qos, e))
		return -1;
	if (a->program_file || a->seeded)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s is for a study: leave it out, or leave out %s",
		               a->seeded ? "seed" : "program-file", mode);
	if (!threshold && (a->budgets || a->qos.has_policy))
		return st_fail(e, ST_EXIT_USAGE, "--max finds the budget: leave out --%s",
		               a->budgets ? "budgets" : "qos-policy");
	if (threshold && a->qos.policy == ST_QOS_WATCH)
		return st_fail(e, ST_EXIT_USAGE,
		               "with --max-threshold the budget follows the metric: say "
		               "--qos-policy hold or function");
	return 0;
}

static st_status
check_study(const struct st_tune_arguments *a, struct st_error *e)
{
	const struct st_qos_choice *q = &a->qos;
	if (q->source || q->has_min || q->has_max || q->has_policy)
		return st_fail(e, ST_EXIT_USAGE,
		               "--qos is for a search: add --max or --max-threshold");
	return 0;
}

static st_status
complete_levels(struct st_tune_arguments *a, struct st_error *e)
{
	struct st_study *s = &a->study;
	bool search = a->mode != ST_TUNE_STUDY;
	const char *budgets = a->budgets ? a->budgets : search ? "100%" : "2%,25%";
	const char *periods = a->periods ? a->periods : search ? "1s" : "0.25s,4s";
	if (!s->repeat)
		s->repeat = search ? 1 : 10;
	if (take_levels("budgets", budgets, take_budget, s->budgets, &s->n_budgets, e) ||
	    take_levels("periods", periods, take_period, s->periods, &s->n_periods, e))
		return -1;
	return !search || (s->n_budgets == 1 && s->n_periods == 1)
	               ? 0
	               : st_fail(e, ST_EXIT_USAGE, "a search takes one value of --%s",
	                         s->n_budgets > 1 ? "budgets" : "periods");
}

static st_status
complete(struct st_tune_arguments *a, char *const *program, struct st_error *e)
{
	struct st_study *s = &a->study;
	bool search = a->mode != ST_TUNE_STUDY;
	if (a->from)
		return !a->measures && !program
		               ? 0
		               : st_fail(e, ST_EXIT_USAGE,
		                         "--from analyses an earlier study: leave out the program "
		                         "and the options for measuring");
	if (st_tune_far_check(a, e) || (search ? check_search(a, e) : check_study(a, e)))
		return -1;
	if (!program && !a->program_file)
		return st_fail(e, ST_EXIT_USAGE,
		               "no program to run: strobe tune [options] -- PROGRAM%s",
		               search ? "" : ", or --program-file FILE");
	if (program && !st_study_add_program(s, program))
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (a->program_file && st_tune_programs(s, a->program_file, e))
		return -1;
	return complete_levels(a, e) || complete_tools(a, e) ? -1 : 0;
}

st_status
st_tune_parse(struct st_tune_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("tune", argv);
	const char *value;
	*a = (struct st_tune_arguments){
	        .study = {.seed = 1},
	        .how = {.session = ST_SESSION_DEFAULT, .input = "/dev/null", .output = "/dev/null"},
	        .policy = "native",
	        .place = ST_BATCH_PLACE("--node-noise"),
	        .command = argv};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->program = argv + o.at - 1;
			return complete(a, argv + o.at - 1, e);
		}
		if (apply_tune_option(a, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	return complete(a, NULL, e);
}

void
st_tune_arguments_free(struct st_tune_arguments *a)
{
	st_study_free(&a->study);
	st_session_free(&a->how.session);
}
