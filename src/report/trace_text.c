/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "report/report.h"
#include "report/trace.h"
#include "report/trace_limits.h"

static void
add_time(struct st_table *table, uint64_t ns)
{
	char text[ST_NUMBER_SIZE];
	st_table_cell(table, "%s", st_duration(text, (int64_t)ns));
}

/* Of a function without a call that has returned, no time is known. */
static void
add_known_time(struct st_table *table, const struct st_trace_function *f, uint64_t ns)
{
	if (f->calls)
		add_time(table, ns);
	else
		st_table_cell(table, "-");
}

static void
add_quantile(struct st_table *table, const struct st_trace_function *f, double q)
{
	uint64_t ns;
	if (st_trace_quantile(f, q, &ns))
		add_time(table, ns);
	else
		st_table_cell(table, "-");
}

static void
trace_text_add_name(struct st_table *table, const struct st_trace_function *f, const char *mark)
{
	char *name = st_printable(f->name);
	/* [vdso] brings its own brackets. */
	if (f->image && *f->image == '[')
		st_table_cell(table, "%s %s%s", name ? name : "", f->image, mark);
	else if (f->image)
		st_table_cell(table, "%s [%s]%s", name ? name : "", st_base_name(f->image), mark);
	else
		st_table_cell(table, "%s%s", name ? name : "", mark);
	free(name);
}

static void
say_more(size_t shown, size_t all, FILE *out)
{
	if (shown < all)
		fprintf(out, "  ... and %s more (-n 0 prints all)\n", ST_NUMBER(all - shown));
}

static const char *
marks_of(const struct st_trace *t, const struct st_trace_function *f)
{
	const bool resolved = st_trace_is_resolved(t, f), dropped = st_trace_was_dropped(t, f);
	return resolved ? dropped ? " +" : "" : dropped ? " * +" : " *";
}

static void
trace_text_print_functions(const struct st_trace *t, size_t shown, bool threads, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"self", false},  {"%", false},      {"total", false},
	        {"calls", false}, {"p50", false},    {"p99", false},
	        {"max", false},   {"thread", false}, {"function", true}};
	enum { THREAD = 7, N = sizeof columns / sizeof *columns };
	struct st_table_column used[N];
	size_t n = 0;
	uint64_t all = 0;
	for (size_t i = 0; i < N; i++)
		if (i != THREAD || threads)
			used[n++] = columns[i];
	struct st_table *table = st_table_new(used, n);
	for (size_t i = 0; i < t->functions.n; i++)
		all += t->functions.v[i].exclusive_ns;
	for (size_t i = 0; i < shown; i++) {
		const struct st_trace_function *f = &t->functions.v[i];
		add_known_time(table, f, f->exclusive_ns);
		st_table_cell(table, "%.1f",
		              all ? 100 * (double)f->exclusive_ns / (double)all : 0.0);
		add_known_time(table, f, f->outermost_ns);
		st_table_count(table, f->calls + f->lost);
		add_quantile(table, f, 0.5);
		add_quantile(table, f, 0.99);
		add_known_time(table, f, f->max_ns);
		if (threads)
			st_table_cell(table, "%" PRId64, f->tid);
		trace_text_add_name(table, f, marks_of(t, f));
	}
	fputs("\nfunctions, by the time spent in their own code\n", out);
	st_table_print(table, out, st_style_of(out));
	st_table_free(table);
	say_more(shown, t->functions.n, out);
}

static void
print_pairs(const struct st_trace *t, size_t shown, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"total", false}, {"calls", false}, {"caller", true}, {"callee", true}};
	struct st_table *table = st_table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < shown; i++) {
		const struct st_trace_pair *pair = &t->pairs.v[i];
		add_time(table, pair->outermost_ns);
		st_table_count(table, pair->calls);
		if (pair->caller == ST_TRACE_NOBODY)
			st_table_cell(table, "(not traced)");
		else
			trace_text_add_name(table, &t->functions.v[pair->caller], "");
		trace_text_add_name(table, &t->functions.v[pair->callee], "");
	}
	fputs("\ncallers and callees, by the time from call to return\n", out);
	st_table_print(table, out, st_style_of(out));
	st_table_free(table);
	say_more(shown, t->pairs.n, out);
}

static void
note_estimates(const struct st_trace *t, FILE *out)
{
	uint64_t counted = 0;
	for (size_t i = 0; i < t->functions.n; i++)
		counted += t->functions.v[i].counted;
	if (counted)
		fprintf(out,
		        "\n  note: %s counted and not timed: times of these functions are "
		        "estimates (JSON has their error)\n",
		        ST_COUNT(counted, "call was", "calls were"));
}

static void
note_resolution(const struct st_trace *t, size_t shown, FILE *out)
{
	size_t i = 0;
	while (i < shown && st_trace_is_resolved(t, &t->functions.v[i]))
		i++;
	if (i < shown)
		fprintf(out,
		        "\n  note: *: below resolution: the calls of these functions last less "
		        "than "
		        "%.1f ns on average, too short for a probe: their number is right, their "
		        "times are not\n",
		        (double)(t->probe.least_ps + t->probe.error_ps) / 1e3);
}

static void
note_dropped(const struct st_trace *t, size_t shown, FILE *out)
{
	size_t i = 0;
	while (i < shown && !st_trace_was_dropped(t, &t->functions.v[i]))
		i++;
	if (i < shown)
		fputs("\n  note: +: there were more calls, which had no probe any more: their time "
		      "is in that of their callers\n",
		      out);
}

static void
trace_text_print_notes(const struct st_trace *t, size_t shown, FILE *out)
{
	note_dropped(t, shown, out);
	note_resolution(t, shown, out);
	note_estimates(t, out);
	if (t->lost_returns)
		fprintf(out,
		        "\n  note: %s left without a return (by an exception, longjmp, or the end "
		        "of "
		        "the program), and no time is known of %s\n",
		        ST_COUNT(t->lost_returns, "call was", "calls were"),
		        t->lost_returns == 1 ? "it" : "them");
	if (t->nested_returns)
		fprintf(out,
		        "\n  note: %s lost, because the kernel follows at most 64 calls within "
		        "each "
		        "other\n",
		        ST_COUNT(t->nested_returns, "of these returns was",
		                 "of these returns were"));
	if (t->lost_records)
		fprintf(out,
		        "\n  note: %s lost, because entries and returns came faster than they "
		        "could be read: calls and times are too low; trace fewer functions\n",
		        ST_COUNT(t->lost_records, "record was", "records were"));
	if (t->stray_returns)
		fprintf(out, "\n  note: %s ignored, because the entry is missing\n",
		        ST_COUNT(t->stray_returns, "return was", "returns were"));
	if (t->malformed_lines)
		fprintf(out, "\n  note: %s malformed and skipped\n",
		        ST_COUNT(t->malformed_lines, "line was", "lines were"));
}

static void
print_refused(const struct st_trace *t, bool left_out, bool all, FILE *out)
{
	enum { FEW = 3 };
	size_t n = 0, printed = 0;
	for (size_t i = 0; i < t->refused.n; i++)
		n += t->refused.v[i].left_out == left_out;
	const size_t shown = all || n < FEW ? n : FEW;
	if (!n)
		return;
	fprintf(out, "\n  note: %s %s:\n", ST_COUNT(n, "function", "functions"),
	        !left_out ? "could not be traced"
	        : n == 1  ? "was left out"
	                  : "were left out");
	for (size_t i = 0; printed < shown; i++) {
		const struct st_trace_refused *r = &t->refused.v[i];
		if (r->left_out != left_out)
			continue;
		printed++;
		char *name = st_printable(r->name);
		fprintf(out, "    %s%s%s%s: %s\n", name ? name : "", r->image ? " [" : "",
		        r->image ? st_base_name(r->image) : "", r->image ? "]" : "", r->reason);
		free(name);
	}
	if (shown < n)
		fprintf(out, "    ... and %s more (--refused prints all)\n", ST_NUMBER(n - shown));
}

void
st_trace_text(const struct st_trace *t, size_t top, bool all_refused, FILE *out)
{
	const size_t functions = top && top < t->functions.n ? top : t->functions.n,
	             pairs = top && top < t->pairs.n ? top : t->pairs.n;
	const bool threads = t->functions.n && t->functions.v[0].tid >= 0;
	if (t->functions.n)
		trace_text_print_functions(t, functions, threads, out);
	else
		fputs("\n  no function that was to be traced was called\n", out);
	if (t->pairs.n)
		print_pairs(t, pairs, out);
	st_trace_limits_text(t, top, out);
	trace_text_print_notes(t, functions, out);
	print_refused(t, false, all_refused, out);
	print_refused(t, true, all_refused, out);
}
