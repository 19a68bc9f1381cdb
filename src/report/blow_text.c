/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "blow/overhead.h"
#include "report/blow.h"
#include "report/text.h"

enum { NAME_COLUMNS = 30 };               /* width of a function's name without --full */
static const double most_overhead = 1;    /* of the probes, as a share of the time without them */
static const double most_deviation = 0.1; /* of runs without noise, as a share of their mean */
static const double most_control = 0.15;  /* by which the halves of them may differ */

/* ---- order ---- */

double
st_blow_shown_fitness(const struct st_blow_finding *f)
{
	return f->experiments ? f->fitness : NAN;
}

/* NAN, which has no order, sorts after all numbers. */
static double
sort_key(const struct st_blow_row *r, enum st_blow_sort sort)
{
	const struct st_blow_finding *f = &r->finding;
	const double key = sort == ST_BLOW_BY_FITNESS ? st_blow_shown_fitness(f)
	                   : sort == ST_BLOW_BY_SHARE ? f->share
	                   : !isnan(r->gain)          ? r->gain
	                   : f->slope.state           ? NAN
	                                              : f->slope.at;
	return isnan(key) ? -INFINITY : key;
}

struct keyed {
	double key;
	struct st_blow_row row;
};

static int
blow_key_order(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	const double p = x->row.finding.share, q = y->row.finding.share;
	if (x->key < y->key || x->key > y->key)
		return x->key < y->key ? 1 : -1;
	if (p < q || p > q) /* functions that were not tried */
		return p < q ? 1 : -1;
	return (x->row.function > y->row.function) - (x->row.function < y->row.function);
}

static st_status
sort_rows(struct st_blow_rows *rows, enum st_blow_sort sort)
{
	const size_t n = rows->list.n;
	struct keyed *v = calloc(n + 1, sizeof *v);
	if (!v)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		v[i] = (struct keyed){sort_key(&rows->list.v[i], sort), rows->list.v[i]};
	if (n)
		qsort(v, n, sizeof *v, blow_key_order);
	for (size_t i = 0; i < n; i++)
		rows->list.v[i] = v[i].row;
	free(v);
	return ST_OK;
}

st_status
st_blow_order(const struct st_blow *b, enum st_blow_sort sort, struct st_blow_rows *out)
{
	*out = (struct st_blow_rows){0};
	if (b->speedup && sort == ST_BLOW_BY_SLOPE)
		sort = ST_BLOW_BY_FITNESS;
	for (uint32_t i = 0; i < b->functions.n; i++) {
		if (!b->functions.v[i].chosen)
			continue;
		struct st_blow_row *row = ST_PUSH(&out->list);
		struct st_blow_gain gain;
		if (!row || st_blow_find(b, i, &row->finding) ||
		    st_blow_find_gain(b, st_blow_point_at(b, 0), i, 100, &gain))
			return ST_FAILED;
		row->function = i;
		row->gain = gain.at;
	}
	return sort_rows(out, sort);
}

/* ---- text ---- */

/* Prints how much runs without noise, or windows, differ from each other at the first progress
 * point, which is what the gains are computed from. warned: the text already says that runs differ
 * much. */
static st_status
print_control(const struct st_blow *b, bool warned, FILE *out)
{
	struct st_blow_gain g;
	if (st_blow_find_control(b, st_blow_point_at(b, 0), &g))
		return ST_FAILED;
	if (!isnan(g.at))
		fprintf(out,
		        "control: one half of these %s took %.1f %% (%.1f to %.1f) less time%s "
		        "than "
		        "the other\n",
		        b->live ? "windows" : "runs", g.at * 100, g.low * 100, g.high * 100,
		        b->cut ? " per call" : "");
	if (!warned && fmax(fabs(g.low), fabs(g.high)) > most_control)
		fputs("they differ much from each other, so that a gain may be chance although its "
		      "interval is above 0: repeat the campaign on an idle machine, or raise "
		      "--baseline-runs and --repeat\n",
		      out);
	return ST_OK;
}

static void
print_increase(const char *before, const char *what, const struct st_blow_increase *i, FILE *out)
{
	if (i->unclear)
		fprintf(out, "%scannot tell the increase of the %s", before, what);
	if (isnan(i->at))
		return;
	fprintf(out, "%s%+.1f %% %s", before, i->at * 100, what);
	if (!isnan(i->low))
		fprintf(out, " (95 %% interval %+.1f to %+.1f %%)", i->low * 100, i->high * 100);
}

static void
print_overhead(const struct st_blow *b, FILE *out)
{
	const struct st_blow_overhead o = st_blow_overhead_of(b);
	if (!o.pairs)
		return;
	print_increase("probes: ", "run time", &o.run, out);
	print_increase(", ", "CPU time", &o.cpu, out);
	fprintf(out, "; %s of runs with and without them%s\n", ST_COUNT(o.pairs, "pair", "pairs"),
	        o.run.unclear || o.cpu.unclear
	                ? ", which differ too much: make more of them with --native-runs"
	                : "");
	if (o.run.at > most_overhead || o.cpu.at > most_overhead)
		fputs("the probes more than double the time, which changes what is measured: "
		      "choose "
		      "fewer functions with --funcs, or leave out those with many short calls\n",
		      out);
}

/* The number of chosen entries of the list of functions with one of these traits; 0: of those that
 * have none, which are functions and locations within them. */
static size_t
chosen_with(const struct st_blow *b, uint32_t traits)
{
	size_t n = 0;
	for (size_t i = 0; i < b->functions.n; i++) {
		const uint32_t has = b->functions.v[i].traits & ST_BLOW_IS_TARGET;
		n += b->functions.v[i].chosen && (traits ? (has & traits) != 0 : !has);
	}
	return n;
}

static st_status
blow_print_runs(const struct st_blow *b, FILE *out)
{
	const struct st_blow_baseline base = st_blow_baseline_of(b);
	static const struct {
		uint32_t trait;
		const char *one, *several;
	} parts[] = {{ST_BLOW_IS_CONTEXT, "calling context", "calling contexts"},
	             {ST_BLOW_IS_LINE, "line", "lines"},
	             {ST_BLOW_IS_BLOCK, "block", "blocks"}};
	const char *before = " on ";
	size_t noisy = 0;
	for (size_t i = 0; i < b->runs.n; i++)
		noisy += b->runs.v[i].function != ST_BLOW_NONE;
	fputs(ST_COUNT(noisy, "experiment", "experiments"), out);
	if (chosen_with(b, 0) || !chosen_with(b, ST_BLOW_IS_TARGET)) {
		fprintf(out, " on %s of %s", ST_NUMBER(chosen_with(b, 0)),
		        ST_COUNT(st_blow_functions(b), "function", "functions"));
		before = " and ";
	}
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const size_t n = chosen_with(b, parts[i].trait);
		if (n)
			fprintf(out, "%s%s", before, ST_COUNT(n, parts[i].one, parts[i].several));
		before = n ? " and " : before;
	}
	if (b->live && base.n)
		fprintf(out, ", in windows of %.0f ms of one process", base.total_ns / 1e6);
	fputc('\n', out);
	if (!base.n)
		return ST_OK;
	st_blow_rates_print(b, out);
	if (b->cut)
		return print_control(b, false, out);
	fprintf(out, "without noise: %.3f ms", base.total_ns / 1e6);
	if (base.n > 1)
		fprintf(out, ", standard deviation %.1f %%", base.total_sd / base.total_ns * 100);
	fprintf(out, " (%s)\n", ST_COUNT(base.n, "run", "runs"));
	print_overhead(b, out);
	const bool differ = base.n > 1 && base.total_sd > most_deviation * base.total_ns;
	if (differ)
		fputs("the runs without noise differ much, so other work kept the machine busy, or "
		      "the program's own work differs: repeat the campaign on an idle machine, or "
		      "raise --baseline-runs and --repeat\n",
		      out);
	return print_control(b, differ, out);
}

void
st_blow_name_cell(struct st_table *t, const char *name, bool full)
{
	char text[512];
	snprintf(text, sizeof text, "%s", name);
	if (!full)
		st_shorten(text, NAME_COLUMNS + 3);
	st_table_cell(t, "%s", full ? name : text);
}

static void
slope_cells(struct st_table *t, const struct st_blow_slope *s)
{
	if (s->state) {
		st_table_cell(t, "-");
		st_table_cell(t, "%s", st_blow_measurable_text(s->state));
		return;
	}
	st_table_cell(t, "%.4f", s->at);
	st_table_cell(t, "%.4f to %.4f", s->low, s->high);
}

static void
number_cell(struct st_table *t, const char *format, double v)
{
	if (isnan(v))
		st_table_cell(t, "-");
	else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		st_table_cell(t, format, v);
#pragma GCC diagnostic pop
}

static void
gain_cell(struct st_table *t, const struct st_blow_gain *g)
{
	if (g->noisy)
		st_table_cell(t, "too noisy");
	else if (isnan(g->at))
		st_table_cell(t, "-");
	else if (isnan(g->low))
		st_table_cell(t, "%.1f (1 run)", g->at * 100);
	else if (isnan(g->high))
		st_table_cell(t, "%.1f (%.1f to unknown)", g->at * 100, g->low * 100);
	else
		st_table_cell(t, "%.1f (%.1f to %.1f)", g->at * 100, g->low * 100, g->high * 100);
}

/* Says how many rows --top has left out. */
static void
print_left_out(const struct st_blow_view *view, size_t n_rows, FILE *out)
{
	if (view->top && view->top < n_rows)
		fprintf(out, "... and %s more; -n 0 prints all\n", ST_NUMBER(n_rows - view->top));
}

static void
print_gains_heading(const struct st_blow *b, uint32_t point, FILE *out)
{
	fputc('\n', out);
	st_blow_point_print(b, point, out);
	fputs(" in %, with 95 % intervals, if a function were faster:\n", out);
}

/* Says what the function that brings most would bring, and where the gains of functions bend. */
static st_status
say_gains(const struct st_blow *b, uint32_t point, const struct st_blow_rows *rows, size_t most,
          FILE *out)
{
	bool said = false;
	for (size_t i = 0; i < rows->list.n && i < most; i++) {
		const uint32_t function = rows->list.v[i].function;
		struct st_blow_bend bend;
		if (st_blow_find_bend(b, point, function, &bend))
			return ST_FAILED;
		for (uint64_t percent = 25; percent <= 100 && !said; percent += 25) {
			struct st_blow_gain g;
			if (st_blow_find_gain(b, point, function, percent, &g))
				return ST_FAILED;
			said = !isnan(g.high) && g.low > 0;
			g = st_blow_point_gain(b, point, g);
			if (said)
				st_blow_gain_say(b, point, function, percent, &g, out);
		}
		if (bend.percent)
			st_blow_bend_say(b, function, &bend, out);
	}
	return ST_OK;
}

/* The table of the gains of a progress point. */
static st_status
print_gains_of(const struct st_blow *b, uint32_t point, const struct st_blow_view *view, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"id", false},     {"25 % faster", true}, {"50 % faster", true},
	        {"75 %", true},    {"at once", true},     {"exp", false},
	        {"time %", false}, {"function", true}};
	struct st_blow_rows rows = {0};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	st_status status = t ? st_blow_order(b, view->sort, &rows) : ST_FAILED;
	for (size_t i = 0; !status && i < rows.list.n && (!view->top || i < view->top); i++) {
		const uint32_t function = rows.list.v[i].function;
		st_table_cell(t, "%zu", i + 1);
		for (uint64_t percent = 25; percent <= 100 && !status; percent += 25) {
			struct st_blow_gain g;
			status = st_blow_find_gain(b, point, function, percent, &g);
			g = st_blow_point_gain(b, point, g);
			if (!status)
				gain_cell(t, &g);
		}
		st_table_count(t, rows.list.v[i].finding.experiments);
		number_cell(t, "%.2f", rows.list.v[i].finding.share * 100);
		st_blow_name_cell(t, b->functions.v[function].name, view->full);
	}
	if (!status && rows.list.n) {
		print_gains_heading(b, point, out);
		st_table_print(t, out, (struct st_style){0});
		print_left_out(view, rows.list.n, out);
		status = say_gains(b, point, &rows, view->top ? view->top : rows.list.n, out);
	}
	free(rows.list.v);
	if (t)
		st_table_free(t);
	return status;
}

static st_status
print_gains(const struct st_blow *b, const struct st_blow_view *view, FILE *out)
{
	st_status status = ST_OK;
	for (size_t i = 0; i < st_blow_points(b) && !status; i++)
		status = print_gains_of(b, st_blow_point_at(b, i), view, out);
	return status;
}

static st_status
print_rows(const struct st_blow *b, const struct st_blow_view *view, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"id", false},      {"slope", false}, {"95 % interval", true},
	        {"fitness", false}, {"exp", false},   {"time %", false},
	        {"wait %", false},  {"calls", false}, {"function", true}};
	struct st_blow_rows rows = {0};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	st_status status = t ? st_blow_order(b, view->sort, &rows) : ST_FAILED;
	for (size_t i = 0; !status && i < rows.list.n && (!view->top || i < view->top); i++) {
		const struct st_blow_finding *f = &rows.list.v[i].finding;
		st_table_cell(t, "%zu", i + 1);
		slope_cells(t, &f->slope);
		number_cell(t, "%.5f", st_blow_shown_fitness(f));
		st_table_count(t, f->experiments);
		number_cell(t, "%.2f", f->share * 100);
		st_blow_waiting_cell(t, b, rows.list.v[i].function);
		number_cell(t, "%.0f", f->calls);
		st_blow_name_cell(t, b->functions.v[rows.list.v[i].function].name, view->full);
	}
	if (!status && rows.list.n) {
		fputc('\n', out);
		st_table_print(t, out, (struct st_style){0});
		print_left_out(view, rows.list.n, out);
		status = st_blow_clocks_print(b, &rows, view, out);
	}
	free(rows.list.v);
	if (t)
		st_table_free(t);
	return status;
}

/* The table of a speed-up has the columns of the thesis. */
static st_status
print_opportunities(const struct st_blow *b, const struct st_blow_view *view, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"id", false},     {"fitness", false}, {"exp", false},     {"time %", false},
	        {"wait %", false}, {"calls", false},   {"mean us", false}, {"function", true}};
	struct st_blow_rows rows = {0};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	const st_status status = t ? st_blow_order(b, view->sort, &rows) : ST_FAILED;
	for (size_t i = 0; !status && i < rows.list.n && (!view->top || i < view->top); i++) {
		const struct st_blow_finding *f = &rows.list.v[i].finding;
		st_table_cell(t, "%zu", i + 1);
		number_cell(t, "%.5f", st_blow_shown_fitness(f));
		st_table_count(t, f->experiments);
		number_cell(t, "%.2f", f->share * 100);
		st_blow_waiting_cell(t, b, rows.list.v[i].function);
		number_cell(t, "%.0f", f->calls);
		number_cell(t, "%.3f", f->mean_ns / 1e3);
		st_blow_name_cell(t, b->functions.v[rows.list.v[i].function].name, view->full);
	}
	if (!status && rows.list.n) {
		fputc('\n', out);
		st_table_print(t, out, (struct st_style){0});
		print_left_out(view, rows.list.n, out);
		fputs("\nThe fitness is the function's share of the time of each thread, summed "
		      "over the threads; it does not depend on the strength of the noise.\nIt does "
		      "not say what a faster function would "
		      "bring: --mode causal measures that.\n",
		      out);
	}
	free(rows.list.v);
	if (t)
		st_table_free(t);
	return status;
}

/* ---- faults ---- */

void
st_blow_print_noise(const struct st_blow *b, const struct st_blow_run *r, FILE *out)
{
	if (r->function == ST_BLOW_NONE) {
		fputs("without noise", out);
		return;
	}
	fprintf(out, "%s %" PRIu64 " %s in %s%s", st_blow_noise_name(r->noise.type),
	        r->noise.strength, st_blow_noise_unit(r->noise.type),
	        b->speedup ? "all functions except " : "", b->functions.v[r->function].name);
}

static void
print_fault(const struct st_blow *b, size_t number, FILE *out)
{
	const struct st_blow_run *r = &b->runs.v[number];
	fprintf(out, "  experiment %zu: %s (exit code %d): ", number, st_blow_fault_name(r->fault),
	        r->exit);
	st_blow_print_noise(b, r, out);
	fputc('\n', out);
}

static void
print_faults(const struct st_blow *b, const struct st_blow_view *view, FILE *out)
{
	bool any = false, left_out = false;
	for (size_t i = 0; i < b->runs.n; i++) {
		if (!b->runs.v[i].fault)
			continue;
		if (!any)
			fputs("\nfaults, which are not in the numbers above:\n", out);
		any = true;
		print_fault(b, i, out);
		left_out |= st_blow_note_print(b->runs.v[i].note, view->full, out);
	}
	if (left_out)
		fputs("  --full prints the stacks of their threads\n", out);
	if (any && !b->live)
		fputs("  --from FILE --again N makes experiment N of the result FILE again\n", out);
}

/* Windows in which nothing was called are no experiments with a result. */
static void
print_lost_windows(const struct st_blow *b, FILE *out)
{
	size_t made = 0, counted = 0;
	for (size_t i = 0; i < b->runs.n; i++)
		made += b->runs.v[i].function != ST_BLOW_NONE && st_blow_is_good(&b->runs.v[i]);
	for (uint32_t i = 0; i < b->functions.n; i++) {
		struct st_blow_finding f;
		if (b->functions.v[i].chosen && st_blow_find(b, i, &f))
			return;
		counted += b->functions.v[i].chosen ? f.experiments : 0;
	}
	if (made > counted)
		fprintf(out,
		        "\n%s not in the numbers, since the progress point or the function was not "
		        "called in %s: use longer windows (--window)\n",
		        ST_COUNT(made - counted, "window is", "windows are"),
		        made - counted == 1 ? "it" : "them");
}

/* The functions whose probes would cost too much, those with the most time first; all of them if
 * `full`. */
static void
print_frequent(const struct st_blow *b, bool full, FILE *out)
{
	enum { MOST_NAMED = 5 };
	const struct st_blow_frequent frequent = st_blow_frequent_of(b);
	const struct st_blow_function *last = NULL;
	if (!frequent.n)
		return;
	fprintf(out,
	        "\n%s with at least %s calls %s left out, since the probes would take about "
	        "%.3g %% of the run time: name them with --funcs, or try all with "
	        "--probe-overhead 0\n",
	        ST_COUNT(frequent.n, "function", "functions"), ST_NUMBER(frequent.calls),
	        frequent.n == 1 ? "was" : "were", frequent.share * 100);
	for (size_t n = 0; n < frequent.n && (full || n < MOST_NAMED); n++) {
		last = st_blow_next_frequent(b, last);
		fprintf(out, "  %s: %.1f %% of the time in the selection, %s\n", last->name,
		        st_blow_selected_share(b, last) * 100,
		        ST_COUNT(last->calls, "call", "calls"));
	}
	if (!full && frequent.n > MOST_NAMED)
		fprintf(out, "  ... and %s more, which --full prints\n",
		        ST_NUMBER(frequent.n - MOST_NAMED));
}

/* Remarks on what the numbers leave out. */
static void
print_remarks(const struct st_blow *b, bool full, FILE *out)
{
	const struct st_blow_baseline base = st_blow_baseline_of(b);
	size_t refused = 0;
	for (size_t i = 0; i < b->functions.n; i++)
		refused += b->functions.v[i].why != NULL;
	if (refused)
		fprintf(out, "\n%s cannot be timed, and %s not tried; --show-functions lists %s\n",
		        ST_COUNT(refused, "function", "functions"), refused == 1 ? "was" : "were",
		        refused == 1 ? "it" : "them");
	print_frequent(b, full, out);
	if (b->live)
		print_lost_windows(b, out);
	if (base.n > 1 && !base.has_output)
		fputs("\nthe program's output differs between runs without noise: outputs were not "
		      "compared\n",
		      out);
}

st_status
st_blow_text_print(const struct st_blow *b, const struct st_blow_view *view, FILE *out)
{
	if (blow_print_runs(b, out))
		return ST_FAILED;
	if (b->causal    ? print_gains(b, view, out)
	    : b->speedup ? print_opportunities(b, view, out)
	                 : print_rows(b, view, out))
		return ST_FAILED;
	if (view->threads && st_blow_threads_print(b, view, out))
		return ST_FAILED;
	if (view->wishes && st_blow_what_if_print(b, view->wishes, out))
		return ST_FAILED;
	print_faults(b, view, out);
	print_remarks(b, view->full, out);
	return ST_OK;
}

/* ---- functions ---- */

static void
print_function(const struct st_blow_function *f, bool times, FILE *out)
{
	fprintf(out, "%s <==> %s", f->raw_name, f->name);
	if (times && !f->why)
		fprintf(out, " ==> %.3f us", st_blow_mean(f) / 1e3);
	if (f->why)
		fprintf(out, " (not tried: %s)", f->why);
	else if (f->traits & ST_BLOW_IS_FREQUENT)
		fprintf(out, " (not tried: %s calls cost too much; see --probe-overhead)",
		        ST_NUMBER(f->calls));
	fputc('\n', out);
}

void
st_blow_functions_print(const struct st_blow *b, bool times, FILE *out)
{
	size_t called = 0, chosen = 0;
	for (size_t i = 0; i < b->functions.n; i++) {
		called += b->functions.v[i].calls > 0 || b->functions.v[i].why;
		chosen += b->functions.v[i].chosen;
	}
	fprintf(out, "ALL FUNCTIONS (%s):\n", ST_NUMBER(called));
	for (size_t i = 0; i < b->functions.n; i++)
		if (b->functions.v[i].calls || b->functions.v[i].why)
			print_function(&b->functions.v[i], times, out);
	fprintf(out, "CORPUS (%s):\n", ST_NUMBER(chosen));
	for (size_t i = 0; i < b->functions.n; i++)
		if (b->functions.v[i].chosen)
			print_function(&b->functions.v[i], times, out);
}
