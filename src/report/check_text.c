/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints findings as tables, for a terminal or as Markdown. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/check.h"
#include "report/measurements.h"

/* A table for a terminal or in Markdown. */
struct grid_of_findings {
	struct st_table *table; /* NULL: Markdown, which is written to out at once */
	FILE *out;
	size_t at, columns;
};

bool
st_check_is_listed(const struct st_check_report *r, const struct st_finding *f)
{
	if (r->all)
		return true;
	const double share = isnan(f->share_from) ? f->relative : f->share_from;
	return st_finding_direction(f->kind) && !(fabs(share) < r->cutoff);
}

const char *
st_check_sureness(const struct st_finding *f, char *text, size_t size)
{
	const bool counted = f->confidence_kind && !strcmp(f->confidence_kind, "count");
	if (!isnan(f->q))
		snprintf(text, size, f->q < 0.0001 ? "q < 0.0001" : "q %.2g", f->q);
	else if (f->confidence_kind && !isnan(f->confidence) && !counted)
		snprintf(text, size, "%s %.3g", f->confidence_kind, f->confidence);
	else
		snprintf(text, size, "%s",
		         counted              ? "exact"
		         : f->confidence_kind ? f->confidence_kind
		                              : "-");
	return text;
}

static st_status
grid_begin(struct grid_of_findings *g, const struct st_check_report *r,
           const struct st_table_column *columns, size_t n, FILE *out)
{
	*g = (struct grid_of_findings){.out = out, .columns = n};
	if (!r->markdown)
		return (g->table = st_table_new(columns, n)) ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < n; i++)
		fprintf(out, "| %s ", columns[i].title);
	fputs("|\n", out);
	for (size_t i = 0; i < n; i++)
		fputs(columns[i].left ? "|:-" : "|-:", out);
	fputs("|\n", out);
	return ST_OK;
}

__attribute__((format(printf, 2, 3))) static void
grid_cell(struct grid_of_findings *g, const char *format, ...)
{
	va_list ap;
	char *text = NULL;
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	if (g->table) {
		st_table_cell(g->table, "%s", text ? text : "");
	} else {
		fputs("| ", g->out);
		st_put_markdown(text ? text : "", g->out);
		fputs(++g->at % g->columns ? " " : " |\n", g->out);
	}
	free(text);
}

static void
grid_end(struct grid_of_findings *g, const struct st_check_report *r)
{
	if (g->table)
		st_table_print(g->table, g->out, r->style);
	st_table_free(g->table);
}

static void
finding_value_cell(struct grid_of_findings *g, const char *unit, double value, const char *model)
{
	char text[2 * ST_NUMBER_SIZE];
	if (model)
		grid_cell(g, "%s", model);
	else if (!*unit && value >= 0 && value < 1e18 && value == floor(value))
		grid_cell(g, "%s", st_number(text, (uint64_t)value));
	else
		grid_cell(g, "%s", st_measured_text(text, unit, value));
}

/* "+5.1 % (4.0 to 6.2)". */
static void
share_cell(struct grid_of_findings *g, const struct st_interval *rate, double share)
{
	if (isnan(share) || rate->at == 0) {
		grid_cell(g, "%s", isnan(share) ? "-" : "0 %");
		return;
	}
	const double scale = 100 * share / rate->at;
	if (isnan(rate->low) || rate->low == rate->high)
		grid_cell(g, "%+.1f %%", 100 * share);
	else
		grid_cell(g, "%+.1f %% (%.1f to %.1f)", 100 * share, rate->low * scale,
		          rate->high * scale);
}

static void
calls_cell(struct grid_of_findings *g, const struct st_finding *f)
{
	char from[ST_NUMBER_SIZE], to[ST_NUMBER_SIZE];
	const double a = isnan(f->calls_from) ? 0 : f->calls_from,
	             b = isnan(f->calls_to) ? 0 : f->calls_to;
	if (isnan(f->calls_from) && isnan(f->calls_to))
		grid_cell(g, "-");
	else if (a == b)
		grid_cell(g, "%s", st_number(from, (uint64_t)llround(a)));
	else
		grid_cell(g, "%s to %s", st_number(from, (uint64_t)llround(a)),
		          st_number(to, (uint64_t)llround(b)));
}

static void
finding_location_cell(struct grid_of_findings *g, const struct st_check_report *r,
                      const struct st_finding *f)
{
	const struct st_check_subjects *s = r->result->subjects;
	const uint32_t image = f->subject ? f->subject->image : f->total->image;
	const char *file = image == ST_NO_IMAGE ? NULL : s->images.v[image];
	if (f->subject && !isnan(f->x_low))
		grid_cell(g, "%s%s%s%s, x from %.6g to %.6g", st_check_shown(f->subject),
		          file ? " [" : "", file ? file : "", file ? "]" : "", f->x_low, f->x_high);
	else if (!f->subject)
		grid_cell(g, "all of %s", file ? file : "the program");
	else if (f->subject->renamed)
		grid_cell(g, "%s%s%s%s, %s before", st_check_shown(f->subject), file ? " [" : "",
		          file ? file : "", file ? "]" : "", f->subject->item[ST_A]->shown);
	else
		grid_cell(g, "%s%s%s%s", st_check_shown(f->subject), file ? " [" : "",
		          file ? file : "", file ? "]" : "");
}

static void
finding_row(struct grid_of_findings *g, const struct st_check_report *r, const struct st_finding *f)
{
	const char *unit = r->result->subjects->metrics.v[f->metric].unit;
	char sure[64];
	grid_cell(g, "%s", st_finding_name(f->kind));
	grid_cell(g, "%s", r->result->subjects->metrics.v[f->metric].name);
	finding_value_cell(g, unit, f->from, f->from_model);
	finding_value_cell(g, unit, f->to, f->to_model);
	share_cell(g, &f->rate, f->relative);
	share_cell(g, &f->rate, f->share_from);
	grid_cell(g, "%s", st_check_sureness(f, sure, sizeof sure));
	calls_cell(g, f);
	finding_location_cell(g, r, f);
}

static const struct st_table_column finding_columns[] = {
        {"change", true},     {"metric", true}, {"before", false},
        {"now", false},       {"by", false},    {"of the whole", false},
        {"certainty", false}, {"calls", false}, {"location", true}};
enum { N_FINDING_COLUMNS = sizeof finding_columns / sizeof *finding_columns };

static size_t
count_listed(const struct st_check_report *r)
{
	size_t n = 0;
	for (size_t i = 0; i < r->result->findings.n; i++)
		n += st_check_is_listed(r, &r->result->findings.v[i]);
	return n;
}

static st_status
print_findings(const struct st_check_report *r, FILE *out)
{
	struct grid_of_findings g;
	const size_t listed = count_listed(r);
	size_t rows = 0;
	if (!listed) {
		fputs("no change is reported\n", out);
		return ST_OK;
	}
	if (grid_begin(&g, r, finding_columns, N_FINDING_COLUMNS, out))
		return ST_FAILED;
	for (size_t i = 0; i < r->result->findings.n; i++) {
		const struct st_finding *f = &r->result->findings.v[i];
		if (st_check_is_listed(r, f) && (!r->top || rows < r->top)) {
			finding_row(&g, r, f);
			rows++;
		}
	}
	grid_end(&g, r);
	if (rows < listed)
		fprintf(out, "%s; use -n 0 to list all\n",
		        ST_COUNT(listed - rows, "more change", "more changes"));
	return ST_OK;
}

static st_status
print_totals(const struct st_check_report *r, FILE *out)
{
	struct grid_of_findings g;
	if (!r->result->totals.n)
		return ST_OK;
	putc('\n', out);
	if (grid_begin(&g, r, finding_columns, N_FINDING_COLUMNS, out))
		return ST_FAILED;
	for (size_t i = 0; i < r->result->totals.n; i++)
		finding_row(&g, r, &r->result->totals.v[i]);
	grid_end(&g, r);
	return ST_OK;
}

static void
print_renamed(const struct st_check_report *r, FILE *out)
{
	const struct st_check_subjects *s = r->result->subjects;
	size_t n = 0;
	for (size_t i = 0; i < s->list.n; i++) {
		const struct st_check_subject *subject = &s->list.v[i];
		if (subject->renamed && (!r->top || n < r->top))
			fprintf(out,
			        "%s is compared with %s, which has the same code and another "
			        "name\n",
			        st_check_shown(subject), subject->item[ST_A]->shown);
		n += subject->renamed;
	}
	if (r->top && n > r->top)
		fprintf(out, "%s another name; use -n 0 to list all\n",
		        ST_COUNT(n - r->top, "more function has", "more functions have"));
}

/* Unknown findings with one cause. */
struct unknown_cause {
	const char *cause;
	size_t n;
};

static void
print_unknown_cause(const struct unknown_cause *u, size_t runs_needed, FILE *out)
{
	fprintf(out, "cannot tell of %s: %s", ST_COUNT(u->n, "location", "locations"), u->cause);
	if (!strcmp(u->cause, ST_CHECK_FEW))
		fprintf(out, "; %zu of each version could show a change", runs_needed);
	putc('\n', out);
}

/* Counts of the locations without a change, and of those that are Unknown by cause. */
static void
print_unlisted(const struct st_check_report *r, FILE *out)
{
	enum { MOST_CAUSES = 16 };
	const struct st_check_result *result = r->result;
	struct unknown_cause causes[MOST_CAUSES];
	size_t n = 0, unchanged = 0;
	for (size_t i = 0; i < result->findings.n; i++) {
		const struct st_finding *f = &result->findings.v[i];
		size_t at = 0;
		unchanged += f->kind == ST_FINDING_NO_CHANGE;
		if (f->kind != ST_FINDING_UNKNOWN || !f->cause)
			continue;
		while (at < n && strcmp(causes[at].cause, f->cause) != 0)
			at++;
		if (at == n && n < MOST_CAUSES)
			causes[n++] = (struct unknown_cause){.cause = f->cause};
		if (at < n)
			causes[at].n++;
	}
	if (unchanged)
		fprintf(out, "%s without a change that matters\n",
		        ST_COUNT(unchanged, "location", "locations"));
	for (size_t i = 0; i < n; i++)
		print_unknown_cause(&causes[i], result->runs_needed, out);
}

static void
print_check_head(const struct st_check_report *r, FILE *out)
{
	const struct st_check_subjects *s = r->result->subjects;
	char number[ST_NUMBER_SIZE];
	fprintf(out, "%s%s%s%s (%s) to %s (%s), by %s%s%s%s%s\n\n", r->markdown ? "### " : "",
	        r->title ? r->title : "", r->title ? ", " : "", r->names[ST_A],
	        ST_COUNT(s->sides[ST_A]->profiles.n, "profile", "profiles"), r->names[ST_B],
	        ST_COUNT(s->sides[ST_B]->profiles.n, "profile", "profiles"),
	        st_check_method_name(r->method), r->rule ? ", as rule " : "",
	        r->rule ? st_number(number, r->rule) : "", r->rule ? " of " : "",
	        r->rule ? r->rules_file : "");
}

st_status
st_check_print(const struct st_check_report *r, FILE *out, struct st_error *e)
{
	print_check_head(r, out);
	if (print_findings(r, out) || print_totals(r, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the changes");
	putc('\n', out);
	print_renamed(r, out);
	print_unlisted(r, out);
	if (r->result->models_kept)
		fprintf(out, "%s read from the profiles, which keep them\n",
		        ST_COUNT(r->result->models_kept, "model was", "models were"));
	if (r->machines)
		fprintf(out,
		        "the profiles were not measured under the same conditions, which may "
		        "cause changes: %s\n",
		        r->machines);
	return ST_OK;
}
