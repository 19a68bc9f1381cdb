/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe diff: what differs between the calling contexts of two runs. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/option.h"
#include "cli/commands.h"
#include "cli/names.h"
#include "cli/show_stored.h"
#include "report/contexts_diff.h"

enum {
#define O(id, letter, name, argument, shown, help) DIFF_##id,
	ST_DIFF_OPTIONS(O)
#undef O
};

enum { MOST_CALLERS = 8 << 20 }; /* a gigabyte of both */

struct arguments {
	const char *files[ST_SIDES];
	size_t n_files;
	enum st_diff_metric metric; /* ST_DIFF_METRIC_COUNT: the usual one */
	bool kccf, by_thread, shares, json, help;
	struct st_names names;
	long top;
};

static st_status
set_metric(struct arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {
#define M(id, word, field, total, title) word,
	        ST_DIFF_METRICS(M)
#undef M
	};
	unsigned which;
	if (st_option_word("metric", value, words, ST_DIFF_METRIC_COUNT, &which, e))
		return -1;
	a->metric = (enum st_diff_metric)which;
	return 0;
}

static st_status
add_file_diff(struct arguments *a, const char *value, struct st_error *e)
{
	if (a->n_files == ST_SIDES)
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe diff compares two profiles; '%s' is one too many", value);
	a->files[a->n_files++] = value;
	return 0;
}

static st_status
apply_diff_option(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		return add_file_diff(a, value, e);
	case DIFF_metric:
		return set_metric(a, value, e);
	case DIFF_kccf:
		a->kccf = true;
		return 0;
	case DIFF_by_thread:
		a->by_thread = true;
		return 0;
	case DIFF_shares:
		a->shares = true;
		return 0;
	case DIFF_under:
		return st_patterns_add(&a->names.under, "under", value, e);
	case DIFF_calls:
		return st_patterns_add(&a->names.calls, "calls", value, e);
	case DIFF_hot:
		return st_option_number("hot", value, 0, 1000000, &a->top, e);
	case DIFF_format:
		a->json = !strcmp(value, "json");
		return a->json || !strcmp(value, "text") ? 0
		                                         : st_bad_format(value, "text, json", e);
	case DIFF_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
parse_diff(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("diff", argv);
	const char *value;
	*a = (struct arguments){.top = 15, .metric = ST_DIFF_METRIC_COUNT};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (apply_diff_option(a, option, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	if (a->n_files < ST_SIDES)
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe diff compares two profiles: strobe diff BEFORE AFTER");
	return 0;
}

static st_status
print_diff(const struct arguments *a, const struct st_comparison *c, struct st_error *e)
{
	struct st_diff_report r = {.comparison = c,
	                           .names = {a->files[ST_A], a->files[ST_B]},
	                           .metric = a->metric,
	                           .shares = a->shares,
	                           .top = (size_t)a->top,
	                           .style = st_style_of(stdout)};
	if (r.metric == ST_DIFF_METRIC_COUNT)
		r.metric = st_diff_metric_usual(c->sides[ST_A], c->sides[ST_B]);
	struct st_safe safe;
	if (st_diff_metric_check(&r, e) || (a->json && st_diff_json(&r, stdout, e)))
		return -1;
	if (!a->json && !st_safe_begin(&safe, stdout))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the result");
	int bad = a->json ? 0 : st_diff_print(&r, safe.text.out, e);
	if (!a->json)
		st_safe_end(&safe);
	if (bad)
		return -1;
	return fflush(stdout) ? st_fail(e, ST_EXIT_FAILED, "cannot write to standard output: %s",
	                                strerror(errno))
	                      : 0;
}

/* Two k-calling context forests with a smaller k each would not be alike. */
static st_status
read_side(const struct arguments *a, struct st_contexts *c, int side, const struct st_profile *p,
          struct st_error *e)
{
	const struct st_context_choice choice = {.join_threads = !a->by_thread,
	                                         .kccf = a->kccf,
	                                         .under = a->names.under.text,
	                                         .n_under = a->names.under.n,
	                                         .calls = a->names.calls.text,
	                                         .n_calls = a->names.calls.n,
	                                         .most_callers = MOST_CALLERS};
	if (st_contexts_make(c, p, &choice, e))
		return -1;
	if (c->k_callers != c->k)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s has too many contexts of callers to compare them: leave out "
		               "--kccf, or measure both with -k %" PRIu32,
		               a->files[side], c->k_callers);
	return 0;
}

static st_status
compare(const struct arguments *a, struct st_profile *const profiles[ST_SIDES], struct st_error *e)
{
	struct st_contexts sides[ST_SIDES] = {0};
	struct st_comparison c = {0};
	const struct st_profile *const both[] = {profiles[ST_A], profiles[ST_B]};
	int status = st_compare_check(both, a->files, e);
	if (!status)
		status = st_names_unknown(&a->names, both, ST_SIDES, st_names_say, stderr, e);
	for (int i = 0; i < ST_SIDES && !status; i++)
		status = read_side(a, &sides[i], i, both[i], e);
	if (!status)
		status = st_compare(&c, &sides[ST_A], &sides[ST_B], a->kccf, e);
	if (!status)
		status = print_diff(a, &c, e);
	st_compare_free(&c);
	for (int i = 0; i < ST_SIDES; i++)
		st_contexts_free(&sides[i]);
	return status;
}

static st_status
load_and_compare(const struct arguments *a, struct st_error *e)
{
	struct st_profile *profiles[ST_SIDES] = {0};
	int status = 0;
	for (int i = 0; i < ST_SIDES && !status; i++)
		if (!(profiles[i] = st_show_load(a->files[i], e)))
			status = -1;
	if (!status)
		status = compare(a, profiles, e);
	for (int i = 0; i < ST_SIDES; i++)
		st_profile_free(profiles[i]);
	return status;
}

int
st_diff_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int bad = parse_diff(&a, argv, &e), code = ST_EXIT_OK;
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("diff"), false);
	else if (bad || load_and_compare(&a, &e))
		code = st_complain(&e);
	st_names_free(&a.names);
	return code;
}
