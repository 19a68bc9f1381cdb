/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe diff: prints the differences between two profiles. */
#include <inttypes.h>
#include <string.h>

#include "base/option.h"
#include "cli/commands.h"
#include "cli/names.h"
#include "cli/result.h"
#include "cli/show_stored.h"
#include "profile/output.h"
#include "report/contexts_diff.h"
#include "views/difference.h"

enum {
#define O(id, letter, name, argument, shown, help) DIFF_##id,
	ST_DIFF_OPTIONS(O)
#undef O
};

enum { MOST_CALLERS = 8 << 20 }; /* nodes; they take a gigabyte for both profiles */

struct arguments {
	const char *files[ST_SIDES];
	size_t n_files;
	const char *metric, *table; /* NULL: the usual one */
	const char *columns, *sort, *output, *contexts_only;
	ST_VEC(const char *) where;
	enum st_report_format format;
	enum st_difference_by by;
	bool kccf, by_thread, shares, help;
	struct st_names names;
	long top;
};

/* Parses --metric as a metric of contexts. ST_DIFF_METRIC_COUNT: the option is not given. */
static st_status
diff_context_metric(const struct arguments *a, enum st_diff_metric *metric, struct st_error *e)
{
	static const char *const words[] = {
#define M(id, word, field, total, title) word,
	        ST_DIFF_METRICS(M)
#undef M
	};
	unsigned which = ST_DIFF_METRIC_COUNT;
	if (a->metric &&
	    st_option_word("metric", a->metric, words, ST_DIFF_METRIC_COUNT, &which, e))
		return ST_FAILED;
	*metric = (enum st_diff_metric)which;
	return ST_OK;
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
diff_set_format(struct arguments *a, const char *value, struct st_error *e)
{
	static const struct {
		const char *name;
		enum st_report_format format;
	} formats[] = {{"text", ST_FORMAT_TEXT},
	               {"json", ST_FORMAT_JSON},
	               {"csv", ST_FORMAT_CSV},
	               {"markdown", ST_FORMAT_MARKDOWN},
	               {"latex", ST_FORMAT_LATEX}};
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (!strcmp(value, formats[i].name)) {
			a->format = formats[i].format;
			return ST_OK;
		}
	return st_bad_format(value, "text, json, csv, markdown, latex", e);
}

static st_status
diff_add_where(struct arguments *a, const char *value, struct st_error *e)
{
	const char **slot = ST_PUSH(&a->where);
	if (!slot)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the conditions");
	*slot = value;
	return ST_OK;
}

/* Options that choose calling contexts; profiles without contexts refuse them. */
static st_status
diff_apply_contexts(struct arguments *a, int option, const char *name, const char *value,
                    struct st_error *e)
{
	a->contexts_only = name;
	switch (option) {
	case DIFF_kccf:
		a->kccf = true;
		return ST_OK;
	case DIFF_by_thread:
		a->by_thread = true;
		return ST_OK;
	case DIFF_under:
		return st_patterns_add(&a->names.under, "under", value, e);
	default:
		return st_patterns_add(&a->names.calls, "calls", value, e);
	}
}

static st_status
diff_set_by(struct arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {"function", "line", "context"};
	unsigned which;
	if (st_option_word("by", value, words, sizeof words / sizeof *words, &which, e))
		return ST_FAILED;
	a->by = ST_BY_FUNCTION + which;
	return ST_OK;
}

static st_status
diff_apply_table(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case DIFF_by:
		return diff_set_by(a, value, e);
	case DIFF_table:
		a->table = value;
		return ST_OK;
	case DIFF_columns:
		a->columns = value;
		return ST_OK;
	case DIFF_where:
		return diff_add_where(a, value, e);
	case DIFF_sort:
		a->sort = value;
		return ST_OK;
	case DIFF_hot:
		return st_option_number("hot", value, 0, 1000000, &a->top, e);
	case DIFF_format:
		return diff_set_format(a, value, e);
	default:
		a->output = value;
		return ST_OK;
	}
}

static st_status
apply_diff_option(struct arguments *a, int option, const char *name, const char *value,
                  struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		return add_file_diff(a, value, e);
	case ST_OPTIONS_BAD:
		return ST_FAILED; /* *e is filled */
	case DIFF_metric:
		a->metric = value;
		return ST_OK;
	case DIFF_shares:
		a->shares = true;
		return ST_OK;
	case DIFF_help:
		a->help = true;
		return ST_OK;
	case DIFF_kccf:
	case DIFF_by_thread:
	case DIFF_under:
	case DIFF_calls:
		return diff_apply_contexts(a, option, name, value, e);
	default:
		return diff_apply_table(a, option, value, e);
	}
}

static st_status
parse_diff(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("diff", argv);
	const char *value;
	*a = (struct arguments){.top = 15, .output = "-"};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		const char *name = option >= 0 ? o.options[option].name : NULL;
		if (apply_diff_option(a, option, name, value, e))
			return -1;
		if (a->help)
			return 0;
	}
	if (a->n_files < ST_SIDES)
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe diff compares two profiles: strobe diff BEFORE AFTER");
	if (a->table && a->by)
		return st_fail(e, ST_EXIT_USAGE,
		               "--table compares the rows of a table, and --by other locations: "
		               "leave one of them out");
	return 0;
}

/* Lines are cut at the width of a terminal; a file has no limit. */
static struct st_style
diff_style(const struct arguments *a)
{
	const struct st_style file = {0};
	return strcmp(a->output, "-") ? file : st_style_of(stdout);
}

static st_status
diff_print_grid(const struct arguments *a, const struct st_difference *d, FILE *out,
                struct st_error *e)
{
	const struct st_report r = {.top = (size_t)a->top, .style = diff_style(a)};
	const struct st_table_choice choice = {.columns = a->columns,
	                                       .sort = a->sort,
	                                       .where = a->where.v,
	                                       .n_where = a->where.n,
	                                       .format = a->format};
	struct st_grid g;
	struct st_grid_view v = {0};
	st_status status = st_difference_grid(&g, d)
	                           ? st_fail(e, ST_EXIT_FAILED, "no memory left for the table")
	                           : st_grid_view_make(&v, &g, &r, &choice, e);
	if (!status)
		status = st_grid_print(&v, &r, out, a->format, e);
	st_grid_view_free(&v);
	st_grid_free(&g);
	return status;
}

static bool
diff_wants_table(const struct arguments *a)
{
	return a->columns || a->sort || a->where.n ||
	       (a->format != ST_FORMAT_TEXT && a->format != ST_FORMAT_JSON);
}

static st_status
print_diff(const struct arguments *a, const struct st_comparison *c, FILE *out, struct st_error *e)
{
	struct st_diff_report r = {.comparison = c,
	                           .names = {a->files[ST_A], a->files[ST_B]},
	                           .shares = a->shares,
	                           .top = (size_t)a->top,
	                           .style = diff_style(a)};
	if (diff_context_metric(a, &r.metric, e))
		return ST_FAILED;
	if (r.metric == ST_DIFF_METRIC_COUNT)
		r.metric = st_diff_metric_usual(c->sides[ST_A], c->sides[ST_B]);
	if (st_diff_metric_check(&r, e))
		return ST_FAILED;
	if (!diff_wants_table(a))
		return a->format == ST_FORMAT_JSON ? st_diff_json(&r, out, e)
		                                   : st_diff_print(&r, out, e);
	struct st_difference d = {0};
	st_status status = st_difference_of_contexts(&d, &r, e);
	if (!status)
		status = diff_print_grid(a, &d, out, e);
	st_difference_free(&d);
	return status;
}

/* Makes the contexts of one side. Forests whose k had to be reduced are refused, because both sides
 * could have another k and could not be compared. */
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
diff_contexts(const struct arguments *a, struct st_profile *const profiles[ST_SIDES], FILE *out,
              struct st_error *e)
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
		status = print_diff(a, &c, out, e);
	st_compare_free(&c);
	for (int i = 0; i < ST_SIDES; i++)
		st_contexts_free(&sides[i]);
	return status ? ST_FAILED : ST_OK;
}

static st_status
diff_locations(const struct arguments *a, struct st_profile *const profiles[ST_SIDES], FILE *out,
               struct st_error *e)
{
	const struct st_difference_choice choice = {.names = {a->files[ST_A], a->files[ST_B]},
	                                            .metric = a->metric,
	                                            .table = a->table,
	                                            .shares = a->shares,
	                                            .by = a->by};
	struct st_difference d = {0};
	if (a->contexts_only)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s chooses calling contexts, and this compares %s: leave it out",
		               a->contexts_only,
		               a->table                  ? "a table"
		               : a->by == ST_BY_LINE     ? "source lines"
		               : a->by == ST_BY_FUNCTION ? "functions"
		                                         : "profiles that have none");
	st_status status = st_difference_make(&d, profiles[ST_A], profiles[ST_B], &choice, e);
	if (!status)
		status = diff_print_grid(a, &d, out, e);
	st_difference_free(&d);
	return status;
}

static st_status
diff_profiles(const struct arguments *a, struct st_profile *const profiles[ST_SIDES], FILE *out,
              struct st_error *e)
{
	struct st_context_options o;
	bool counted = false, stacks = false;
	for (int i = 0; i < ST_SIDES; i++)
		if (st_contexts_options(profiles[i], &o)) {
			stacks = true;
			counted |= !o.sampled;
		}
	const bool contexts = a->by == ST_BY_CONTEXT ? stacks : counted && !a->by;
	return contexts && !a->table ? diff_contexts(a, profiles, out, e)
	                             : diff_locations(a, profiles, out, e);
}

static st_status
diff_write(const struct arguments *a, char *text, struct st_error *e)
{
	if (strcmp(a->output, "-") != 0)
		return st_output_text(a->output, text, e);
	return st_result_write_text(text, a->format == ST_FORMAT_JSON, e);
}

/* Builds the whole text in memory first, so that a failure leaves no incomplete file. */
static st_status
load_and_compare(const struct arguments *a, struct st_error *e)
{
	static const char *const endings[] = {"txt", "json", "csv", "lcov", "md", "tex"};
	struct st_profile *profiles[ST_SIDES] = {0};
	struct st_text built;
	if (st_output_check_ending(a->output, endings[a->format], e))
		return ST_FAILED;
	FILE *out = st_text_begin(&built);
	st_status status =
	        out ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left to print the result");
	for (int i = 0; i < ST_SIDES && !status; i++)
		if ((strcmp(a->output, "-") != 0 &&
		     st_output_check_input(a->output, a->files[i], e)) ||
		    !(profiles[i] = st_show_load(a->files[i], e)))
			status = ST_FAILED;
	if (!status)
		status = diff_profiles(a, profiles, out, e);
	char *text = out ? st_text_end(&built) : NULL;
	if (!status)
		status = text ? diff_write(a, text, e)
		              : st_fail(e, ST_EXIT_FAILED, "no memory left to print the result");
	free(text);
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
	free(a.where.v);
	st_names_free(&a.names);
	return code;
}
