/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models for people. */
#include <math.h>

#include "check/kept.h"
#include "report/kept.h"
#include "report/model.h"

static bool
is_in_set(unsigned kinds, enum st_growth kind)
{
	return kinds & 1u << kind;
}

/* Whether a choice between the models was made. */
static bool
model_is_judged(const struct st_model_report *r)
{
	return !r->kept || st_kept_is_judged(r->kept);
}

/* "linear, nlogn or power". */
static void
print_kinds(unsigned kinds, FILE *out)
{
	const char *between = "";
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++) {
		if (!is_in_set(kinds, kind))
			continue;
		kinds &= ~(1u << kind);
		fprintf(out, "%s%s", between, st_growth_name(kind));
		between = kinds & (kinds - 1) ? ", " : " or ";
	}
}

static void
print_percents(const struct st_interval *share, FILE *out)
{
	fprintf(out, "%+.3g %% (%+.3g to %+.3g %%)", 100 * share->at, 100 * share->low,
	        100 * share->high);
}

static void
print_cannot_tell(const struct st_model_report *r, FILE *out)
{
	const struct st_choice *c = r->choice;
	if (!c->plausible) {
		fputs("cannot tell: too few points to choose a kind", out);
		return;
	}
	fputs("cannot tell: ", out);
	if (c->plausible == 1u << ST_GROWTH_CONSTANT) {
		fprintf(out, "%s may be constant; over all %s it may change by ", r->subject->y,
		        r->subject->x);
		print_percents(&c->growth, out);
	} else {
		fputs("it may be ", out);
		print_kinds(c->plausible, out);
	}
}

static void
print_order(const struct st_model_report *r, FILE *out)
{
	const struct st_choice *c = r->choice;
	const char *x = r->subject->x, *y = r->subject->y;
	switch (c->best) {
	case ST_GROWTH_CONSTANT:
		fprintf(out, "%s does not depend on %s; over all %s it changes by ", y, x, x);
		print_percents(&c->growth, out);
		break;
	case ST_GROWTH_LOGARITHMIC:
		fprintf(out, "%s changes with log %s", y, x);
		break;
	case ST_GROWTH_NLOGN:
		fprintf(out, "%s changes with %s log %s", y, x, x);
		break;
	case ST_GROWTH_POWER:
		fprintf(out, "%s changes with a power of %s", y, x);
		break;
	case ST_GROWTH_EXPONENTIAL:
		fprintf(out, "%s is multiplied by %.4g for each 1 that %s grows", y,
		        c->models[c->best].b[1], x);
		break;
	default:
		fprintf(out, "%s changes with %s", y, x);
		if (c->best != ST_GROWTH_LINEAR)
			fprintf(out, "^%zu", st_growth_parameters(c->best) - 1);
	}
}

void
st_model_answer(const struct st_model_report *r, FILE *out)
{
	if (!model_is_judged(r)) {
		fprintf(out, "%s has chosen none of the models", r->kept->source);
		return;
	}
	if (!r->choice->told) {
		print_cannot_tell(r, out);
		return;
	}
	fprintf(out, "%s: ", st_growth_name(r->choice->best));
	print_order(r, out);
}

/* "time ~ n^1.98 (1.95 to 2.02)". */
static void
print_exponent(const struct st_model_report *r, FILE *out)
{
	const struct st_exponent *b = &r->choice->exponent;
	if (!b->known)
		return;
	fprintf(out, "  exponent:  %s", r->subject->y);
	if (b->has_offset)
		fprintf(out, " %c %.4g", b->offset < 0 ? '+' : '-', fabs(b->offset));
	fprintf(out, " ~ %s^%.4g (", r->subject->x, b->b.at);
	if (isnan(b->b.low))
		fputs("less than -4", out);
	else
		fprintf(out, "%.4g", b->b.low);
	if (isnan(b->b.high))
		fputs(" to more than 12)\n", out);
	else
		fprintf(out, " to %.4g)\n", b->b.high);
}

static void
cell_or_dash(struct st_table *t, const char *format, double value)
{
	char text[64];
	snprintf(text, sizeof text, format, value);
	st_table_cell(t, "%s", isfinite(value) ? text : "-");
}

static void
print_formula(struct st_table *t, const struct st_regression *m)
{
	static const char *const terms[ST_GROWTH_COUNT][ST_GROWTH_PARAMETERS] = {
	        [ST_GROWTH_CONSTANT] = {""},
	        [ST_GROWTH_LOGARITHMIC] = {"", " ln x"},
	        [ST_GROWTH_LINEAR] = {"", " x"},
	        [ST_GROWTH_NLOGN] = {"", " x ln x"},
	        [ST_GROWTH_QUADRATIC] = {"", " x", " x^2"},
	        [ST_GROWTH_CUBIC] = {"", " x", " x^2", " x^3"}};
	char text[256] = "";
	if (m->kind == ST_GROWTH_POWER)
		st_append(text, sizeof text, "%.5g x^%.5g", m->b[0], m->b[1]);
	else if (m->kind == ST_GROWTH_EXPONENTIAL)
		st_append(text, sizeof text, "%.5g * %.5g^x", m->b[0], m->b[1]);
	else
		for (size_t i = 0; i < st_growth_parameters(m->kind); i++)
			st_append(text, sizeof text, "%s%.5g%s",
			          !i            ? ""
			          : m->b[i] < 0 ? " - "
			                        : " + ",
			          i ? fabs(m->b[i]) : m->b[i], terms[m->kind][i]);
	st_table_cell(t, "%s", text);
}

/* The kinds by their AICc. */
static size_t
order_kinds(const struct st_choice *c, enum st_growth order[ST_GROWTH_COUNT])
{
	size_t n = 0;
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++) {
		if (!is_in_set(c->fitted, kind))
			continue;
		size_t at = n++;
		for (; at && c->aicc[order[at - 1]] > c->aicc[kind]; at--)
			order[at] = order[at - 1];
		order[at] = kind;
	}
	return n;
}

static void
print_models(const struct st_model_report *r, FILE *out)
{
	/* Models that another tool has fitted have nothing but its r^2. */
	const bool judged = model_is_judged(r);
	const struct st_table_column columns[] = {
	        {"AICc", false},       {"weight", false}, {judged ? "r^2" : "Perun's r^2", false},
	        {"cross-val.", false}, {"s", false},      {"", true},
	        {"model", true},       {"y", true}};
	const struct st_choice *c = r->choice;
	struct st_table *t = st_table_new(columns, 8);
	enum st_growth order[ST_GROWTH_COUNT];
	const size_t n = order_kinds(c, order);
	for (size_t i = 0; t && i < n; i++) {
		const struct st_regression *m = &c->models[order[i]];
		cell_or_dash(t, "%.2f", c->aicc[m->kind]);
		cell_or_dash(t, "%.1f %%", 100 * c->weight[m->kind]);
		cell_or_dash(t, "%.5f", judged ? m->r_square : m->r_square_perun);
		cell_or_dash(t, "%.5f", m->r_square_cv);
		cell_or_dash(t, "%.4g", m->s);
		st_table_cell(t, "%s", is_in_set(c->plausible, m->kind) ? "*" : "");
		st_table_cell(t, "%s", st_growth_name(m->kind));
		print_formula(t, m);
	}
	fputc('\n', out);
	st_table_print(t, out, r->style);
	st_table_free(t);
}

/* Of the best kind, or of the only one. */
static const struct st_regression *
shown_model(const struct st_choice *c)
{
	enum st_growth order[ST_GROWTH_COUNT];
	order_kinds(c, order);
	return &c->models[c->best < ST_GROWTH_COUNT ? c->best : order[0]];
}

static void
print_parameters(const struct st_model_report *r, FILE *out)
{
	const struct st_table_column columns[] = {
	        {"parameter", true}, {"estimate", false}, {"standard error", false},
	        {"from", false},     {"to", false},       {"p", false}};
	const struct st_regression *m = shown_model(r->choice);
	struct st_table *t = st_table_new(columns, 6);
	for (size_t i = 0; t && i < st_growth_parameters(m->kind); i++) {
		const struct st_interval in = st_regression_parameter(m, i, r->choice->level);
		st_table_cell(t, "b%zu", i);
		st_table_cell(t, "%.7g", m->b[i]);
		cell_or_dash(t, "%.4g", m->se[i]);
		cell_or_dash(t, "%.7g", in.low);
		cell_or_dash(t, "%.7g", in.high);
		cell_or_dash(t, m->p[i] < 1e-4 ? "%.1e" : "%.4f", m->p[i]);
	}
	fprintf(out, "\n%s: %s (from, to: %.4g %% intervals)\n", st_growth_name(m->kind),
	        st_growth_formula(m->kind), 100 * r->choice->level);
	st_table_print(t, out, r->style);
	st_table_free(t);
}

static void
print_predictions(const struct st_model_report *r, FILE *out)
{
	const struct st_regression *m = shown_model(r->choice);
	const struct st_table_column columns[] = {{r->subject->x, false}, {r->subject->y, false},
	                                          {"curve from", false},  {"to", false},
	                                          {"point from", false},  {"to", false}};
	struct st_table *t = st_table_new(columns, 6);
	for (size_t i = 0; t && i < r->n_at; i++) {
		const double x = r->at[i];
		const struct st_interval curve = st_regression_band(m, x, r->choice->level, false),
		                         point = st_regression_band(m, x, r->choice->level, true);
		st_table_cell(t, "%.7g", x);
		cell_or_dash(t, "%.7g", curve.at);
		cell_or_dash(t, "%.7g", curve.low);
		cell_or_dash(t, "%.7g", curve.high);
		cell_or_dash(t, "%.7g", point.low);
		cell_or_dash(t, "%.7g", point.high);
	}
	fprintf(out, "\n%s at these x, with %.4g %% bands of the curve and of a new point\n",
	        st_growth_name(m->kind), 100 * r->choice->level);
	st_table_print(t, out, r->style);
	st_table_free(t);
}

static void
print_subject(const struct st_model_report *r, FILE *out)
{
	const struct st_model_subject *s = r->subject;
	const struct st_regression *m = shown_model(r->choice);
	if (s->function)
		fprintf(out, "%s, ", s->function);
	fputs(s->y, out);
	if (s->unit && *s->unit)
		fprintf(out, " (%s)", s->unit);
	fprintf(out, " by %s of %s", s->x, s->file);
	if (s->more_files)
		fprintf(out, " and %s", ST_COUNT(s->more_files, "other file", "other files"));
	if (model_is_judged(r))
		fprintf(out, ": %s, %s from %.7g to %.7g",
		        ST_COUNT(m->n + m->left_out, "point", "points"), s->x, m->x_start,
		        m->x_end);
	else
		fprintf(out, ": %s from %.7g to %.7g", s->x, m->x_start, m->x_end);
	if (s->left_out)
		fprintf(out, "; %s without a value left out", ST_COUNT(s->left_out, "row", "rows"));
	fputc('\n', out);
	if (r->n_segments > 1)
		fprintf(out, "  part %zu of %zu by %s\n", r->segment + 1, r->n_segments,
		        st_way_name(r->way));
	if (r->kept) {
		fputs("  kept:      ", out);
		st_kept_print_source(r->kept, out);
		fputc('\n', out);
	}
	if (r->choice->proportional)
		fprintf(out, "  %s scatters in proportion to itself: s is that where %s is %.4g\n",
		        s->y, s->y, m->level);
	if (r->choice->common < m->n + m->left_out)
		fprintf(out, "  %s with %s of 0 or less do not count where kinds are compared\n",
		        ST_COUNT(m->n + m->left_out - r->choice->common, "point", "points"), s->x);
}

void
st_model_print_brief(const struct st_model_report *r, FILE *out)
{
	print_subject(r, out);
	fputs("  answer:    ", out);
	st_model_answer(r, out);
	fputc('\n', out);
	print_exponent(r, out);
	if (r->n_segments > 1)
		print_models(r, out);
}

void
st_model_print(const struct st_model_report *r, FILE *out)
{
	st_model_print_brief(r, out);
	print_models(r, out);
	print_parameters(r, out);
	if (r->n_at)
		print_predictions(r, out);
	st_smooth_print(r, out);
}
