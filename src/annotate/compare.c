/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/compare.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/far.h"
#include "annotate/predict.h"
#include "annotate/undisturbed.h"
#include "base/number.h"
#include "stats/contrast.h"

enum { RECORDS_LEAST = 6 };

/* A spread is raised if it is above this multiple, and so is a share by this difference. */
static const double spread_factor = 1.5, share_margin = 0.05;
/* The share of slow calls is raised by the second difference; by the first one it is uncertain. */
static const double slow_margin = 0.05, slow_raised = 0.2;

const char *
st_ann_aspect_name(enum st_ann_aspect aspect)
{
	static const char *const names[] = {
#define A(id, name) name,
	        ST_ANN_ASPECTS(A)
#undef A
	};
	return names[aspect];
}

const char *
st_ann_change_name(enum st_ann_change change)
{
	static const char *const names[] = {
#define C(id, name) name,
	        ST_ANN_CHANGES(C)
#undef C
	};
	return names[change];
}

size_t
st_ann_compare_findings(const struct st_ann_annotation *a)
{
	size_t n = 4; /* mean, largest, spread, slow calls */
	for (size_t i = 0; i < a->scopes.n; i++)
		n += a->scopes.v[i].models.n > 1 ? a->scopes.v[i].models.n : 0;
	return n;
}

/* The names of an annotation, in a record: features have the same path, or else the same name. */
struct compare_names {
	const struct st_ann_annotation *a;
	struct st_ann_record record;
};

static const char *
compare_feature(const struct compare_names *n, const char *name)
{
	const struct st_ann_records *r = n->record.records;
	for (size_t i = 0; i < n->a->declarations.n; i++) {
		const struct st_ann_declaration *d = &n->a->declarations.v[i];
		for (size_t k = 0; k < r->features.n && !strcmp(d->name, name); k++)
			if (!strcmp(r->features.v[k].path, d->path))
				return r->features.v[k].name;
	}
	return name;
}

static bool
compare_find(const void *arg, const char *name, struct st_ann_value *value)
{
	const struct compare_names *n = arg;
	const struct st_ann_names names = st_ann_record_names(&n->record);
	return names.find(names.arg, compare_feature(n, name), value);
}

/* A record that is judged. */
struct compare_row {
	size_t row, scope;
	double mean, sd; /* predicted; sd 0: the model has no spread */
	double error;    /* at most the standard error of the mean, by those of the coefficients */
	double residual;
};

struct comparison {
	const struct st_ann_annotation *a;
	const struct st_ann_metric *m;
	struct st_ann_comparison how;
	struct compare_names at;
	struct st_ann_names names;
	ST_VEC(struct compare_row) rows;
	bool spread;      /* all models have one */
	double low, high; /* of the predicted means */
	double old;       /* records of the annotation; INFINITY: not known */
	size_t processes; /* that made the rows */
	double left_out;  /* share of the records that the annotation left out as disturbed */
	struct st_ann_compared *out;
};

struct compare_error {
	const struct comparison *c;
	const struct st_ann_model *m;
	size_t at;
	double sum;
};

static st_status
compare_add_error(void *arg, double coefficient, const struct st_ann_expr *term)
{
	struct compare_error *s = arg;
	(void)coefficient;
	if (s->at < s->m->se.n)
		s->sum += fabs(term ? st_ann_evaluate(term, &s->c->names) : 1) * s->m->se.v[s->at];
	s->at++;
	return ST_OK;
}

/*
 * Computes a bound of the standard error of a model's mean. The annotation does not have the
 * correlations of the addends, so it is the sum of theirs; or, as terms that resemble each other,
 * such as n and n * log(n), have large errors that cancel, the error at the end of a range with an
 * even spread of records: the standard deviation times p / sqrt(n) for p coefficients.
 */
static st_status
compare_model_error(const struct comparison *c, const struct st_ann_model *m, double *error)
{
	struct compare_error sum = {c, m, 0, 0};
	double mean, sd;
	if (st_ann_each_addend(m->a, compare_add_error, &sum))
		return ST_FAILED;
	if (m->distribution == ST_ANN_LOGNORMAL && st_ann_model_moments(m, &c->names, &mean, &sd))
		sum.sum *= mean;
	*error = isfinite(sum.sum) ? sum.sum : 0;
	if (m->distribution == ST_ANN_NORMAL && m->n > m->se.n &&
	    st_ann_model_moments(m, &c->names, &mean, &sd) && sd > 0)
		*error = fmin(*error, sd * (double)m->se.n / sqrt((double)m->n));
	return ST_OK;
}

static size_t
compare_scope_records(const struct st_ann_scope *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->models.n; i++)
		n += s->models.v[i].n;
	return n;
}

/* The shares of modes have errors, too, which add to that of the mean. */
static st_status
compare_row_error(const struct comparison *c, const struct st_ann_scope *s, struct compare_row *row)
{
	const size_t n = compare_scope_records(s);
	for (size_t i = 0; i < s->models.n; i++) {
		const struct st_ann_model *m = &s->models.v[i];
		double error;
		if (compare_model_error(c, m, &error))
			return ST_FAILED;
		row->error += (isnan(m->weight) ? 1 : m->weight) * error;
	}
	if (s->models.n > 1 && n)
		row->error += row->sd / sqrt((double)n);
	return ST_OK;
}

/* Adds a record to those that are judged, or counts why it is not. */
static st_status
compare_add_row(struct comparison *c)
{
	struct compare_row row = {.row = c->at.record.row};
	const double y = c->m->v[row.row];
	if (isnan(y))
		return ST_OK;
	c->out->records++;
	const struct st_ann_scope *s = st_ann_scope_of(c->a, &c->names);
	if (!s || !st_ann_scope_moments(s, &c->names, &row.mean, &row.sd)) {
		c->out->uncovered++;
		return ST_OK;
	}
	if (!st_ann_is_observed(c->a, &c->names)) {
		c->out->outside++;
		return ST_OK;
	}
	c->spread &= !isnan(row.sd);
	row.sd = isnan(row.sd) ? 0 : row.sd;
	row.scope = (size_t)(s - c->a->scopes.v);
	row.residual = y - row.mean;
	struct compare_row *to = compare_row_error(c, s, &row) ? NULL : ST_PUSH(&c->rows);
	if (!to)
		return ST_FAILED;
	*to = row;
	return ST_OK;
}

static struct st_ann_finding *
compare_finding(struct comparison *c, enum st_ann_aspect aspect)
{
	struct st_ann_finding *f = ST_PUSH(&c->out->findings);
	if (f)
		*f = (struct st_ann_finding){.aspect = aspect};
	return f;
}

/* Counts the processes that made the rows. */
static st_status
compare_count_processes(struct comparison *c)
{
	const struct st_ann_records *r = c->at.record.records;
	bool *seen = calloc(r->runs + 1, sizeof *seen);
	if (!seen)
		return ST_FAILED;
	for (size_t i = 0; i < c->rows.n; i++) {
		const uint32_t run = r->run[c->rows.v[i].row];
		c->processes += !seen[run];
		seen[run] = true;
	}
	free(seen);
	return ST_OK;
}

/* Judges the share of slow calls. */
static st_status
compare_slow(struct comparison *c)
{
	const double n = (double)(c->rows.n + c->out->disturbed), slow = (double)c->out->disturbed;
	struct st_ann_finding *f = compare_finding(c, ST_ANN_ASPECT_SLOW);
	if (!f)
		return ST_FAILED;
	/* Two added records of each kind, as Agresti and Coull: the share may be 0. */
	const double p = (slow + 2) / (n + 4),
	             half = gsl_cdf_ugaussian_Qinv(c->how.error) * sqrt(p * (1 - p) / (n + 4));
	f->annotated = c->left_out;
	f->value = slow / n;
	f->low = fmax(p - half, 0);
	f->high = fmin(p + half, 1);
	f->change = f->low > c->left_out + slow_raised   ? ST_ANN_CHANGE_RAISED
	            : f->low > c->left_out + slow_margin ? ST_ANN_CHANGE_UNCERTAIN
	                                                 : ST_ANN_CHANGE_SAME;
	return ST_OK;
}

/* Leaves out the times that were disturbed, as the analysis does. Where costs follow no law of
 * features, slow calls are part of what the annotation describes, and very few are left out. */
static st_status
compare_leave_out_disturbed(struct comparison *c)
{
	static const double few = 1.0 / 200;
	const size_t n = c->rows.n;
	double *v = malloc((2 * n + 1) * sizeof *v);
	bool *far = calloc(n + 1, sizeof *far);
	st_status status = v && far ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < n && !status; i++) {
		v[i] = c->rows.v[i].mean;
		v[n + i] = c->rows.v[i].residual;
	}
	if (!status)
		status = st_ann_mark_far(v, v + n, n, far, &c->out->disturbed);
	if (!st_ann_has_laws(c->a) && (double)c->out->disturbed > few * (double)n) {
		memset(far, 0, n * sizeof *far);
		c->out->disturbed = 0;
	}
	c->rows.n = 0;
	for (size_t i = 0; i < n && !status; i++)
		if (!far[i])
			c->rows.v[c->rows.n++] = c->rows.v[i];
	free(v);
	free(far);
	return status;
}

/* Judges an interval by the increase, above what the annotation says, that is accepted. */
static enum st_ann_change
compare_judge(const struct st_ann_finding *f, double margin)
{
	const double rounding = 1e-9 * fabs(f->annotated);
	if (f->low > f->annotated + margin + rounding)
		return ST_ANN_CHANGE_RAISED;
	if (f->high < f->annotated - margin - rounding)
		return ST_ANN_CHANGE_LOWERED;
	return f->high <= f->annotated + margin + rounding ? ST_ANN_CHANGE_SAME
	                                                   : ST_ANN_CHANGE_UNCERTAIN;
}

/* Returns the variance of a cost between processes: those of the annotation and those of the rows.
 */
static double
compare_between(const struct comparison *c, double annotated)
{
	const double sd = c->a->processes > 1 ? c->a->between * annotated : 0;
	return sd > 0 ? sd * sd * (1 / (double)c->processes + 1 / (double)c->a->processes) : 0;
}

/* Returns the quantile for the sum of two variances, by Satterthwaite's degrees of freedom. */
static double
compare_quantile(const struct comparison *c, double within, double df, double between)
{
	const double all = within + between, old = (double)c->a->processes - 1;
	const double inverse = (within > 0 ? within * within / df : 0) +
	                       (between > 0 ? between * between / old : 0);
	return st_contrast_quantile(c->how.error, all * all / inverse);
}

static st_status
compare_add_cost(struct comparison *c, enum st_ann_aspect aspect, struct st_contrast shift,
                 double annotated, double error)
{
	struct st_ann_finding *f = compare_finding(c, aspect);
	const double within = shift.se * shift.se + error * error,
	             between = compare_between(c, annotated), all = within + between;
	const double half =
	        all > 0 ? compare_quantile(c, within, shift.df, between) * sqrt(all) : 0;
	if (!f)
		return ST_FAILED;
	f->annotated = annotated;
	f->value = annotated + shift.value;
	f->low = f->value - half;
	f->high = f->value + half;
	f->change = compare_judge(f, c->how.margin * fabs(annotated));
	return ST_OK;
}

/* Judges a spread by its factor; the increase must also be above the margin of the mean. */
static enum st_ann_change
compare_judge_spread(const struct comparison *c, const struct st_ann_finding *f, double mean)
{
	const double least = f->annotated + c->how.margin * fabs(mean),
	             most = spread_factor * f->annotated, limit = fmax(least, most);
	if (f->low > limit)
		return ST_ANN_CHANGE_RAISED;
	if (f->high < f->annotated / spread_factor &&
	    f->high < f->annotated - c->how.margin * fabs(mean))
		return ST_ANN_CHANGE_LOWERED;
	return f->high <= limit ? ST_ANN_CHANGE_SAME : ST_ANN_CHANGE_UNCERTAIN;
}

/* Returns half the logarithm of the share of a sum of squares that is left without the value. */
static double
share_without(double value, double squares)
{
	enum { MOST = 1000000 };
	return squares > 0 ? log(fmax(1 - value * value / squares, 1.0 / MOST)) / 2 : 0;
}

/*
 * Returns the standard error of the logarithm of the ratio of the standard deviation of the
 * residuals to the annotated one, by the jackknife: each record in turn is left out. So a ratio
 * that only a few records make large is uncertain.
 */
static double
compare_spread_error(const struct comparison *c, const double *residuals, double squares,
                     double variances)
{
	const double n = (double)c->rows.n;
	double sum = 0, sum2 = 0;
	for (size_t i = 0; i < c->rows.n; i++) {
		const double sd = c->rows.v[i].sd;
		/* Relative to all records, which rounds less. */
		const double without =
		        share_without(residuals[i], squares) - share_without(sd, variances);
		sum += without;
		sum2 += without * without;
	}
	return sqrt(fmax(sum2 - sum * sum / n, 0) * (n - 1) / n);
}

/* p: number of coefficients that the residuals allow for. */
static st_status
compare_add_spread(struct comparison *c, const double *residuals, size_t p, double mean)
{
	const double n = (double)c->rows.n;
	double squares = 0, variances = 0;
	struct st_ann_finding *f = compare_finding(c, ST_ANN_ASPECT_SPREAD);
	if (!f)
		return ST_FAILED;
	for (size_t i = 0; i < c->rows.n; i++) {
		squares += residuals[i] * residuals[i];
		variances += c->rows.v[i].sd * c->rows.v[i].sd;
	}
	f->annotated = sqrt(variances / n);
	f->value = sqrt(squares / (n - (double)p));
	/* The records that the annotation is from have the same error, by their number. */
	const double se = squares > 0 ? compare_spread_error(c, residuals, squares, variances) *
	                                        sqrt(1 + n / c->old)
	                              : 0;
	const double half = st_contrast_quantile(c->how.error, fmax((n - (double)p) / 2, 1)) * se;
	f->low = f->value > 0 ? f->value * exp(-half) : 0;
	f->high = f->value > 0 ? f->value * exp(half) : 0;
	f->change = compare_judge_spread(c, f, mean);
	/* Slow calls are among the records: the machine may have made more of them. */
	if (f->change == ST_ANN_CHANGE_RAISED && st_ann_only_grows(c->m->unit) &&
	    !st_ann_has_laws(c->a))
		f->change = ST_ANN_CHANGE_UNCERTAIN;
	return ST_OK;
}

/* Fits the residuals by a line over the predictions, so that faster growth shows at its end. */
static st_status
compare_costs(struct comparison *c)
{
	const size_t n = c->rows.n, p = c->high > c->low ? 2 : 1;
	double mean = 0, error = 0, end_error = 0, at = 0;
	double *x = malloc(n * p * sizeof *x), *y = malloc(2 * n * sizeof *y);
	struct st_contrast_fit f;
	for (size_t i = 0; x && y && i < n; i++) {
		const struct compare_row *row = &c->rows.v[i];
		const double z = p == 2 ? (row->mean - c->low) / (c->high - c->low) : 1;
		x[p * i] = 1;
		x[p * i + p - 1] = z;
		y[i] = row->residual;
		y[n + i] = row->sd;
		mean += row->mean / (double)n;
		error += row->error / (double)n;
		at += z / (double)n;
		end_error = row->mean >= c->high ? fmax(end_error, row->error) : end_error;
	}
	const double middle[] = {1, at}, end[] = {1, 1};
	st_status status = x && y && !st_contrast_fit(x, y, c->spread ? y + n : NULL, n, p, &f)
	                           ? ST_OK
	                           : ST_FAILED;
	if (!status)
		status = compare_add_cost(c, ST_ANN_ASPECT_MEAN, st_contrast_find(&f, middle), mean,
		                          error);
	if (!status && p == 2)
		status = compare_add_cost(c, ST_ANN_ASPECT_LARGEST, st_contrast_find(&f, end),
		                          c->high, end_error);
	for (size_t i = 0; i < n && !status; i++)
		for (size_t k = 0; k < p; k++)
			y[n + i] = f.exact ? 0 : (k ? y[n + i] : y[i]) - f.b[k] * x[p * i + k];
	if (!status && c->spread)
		status = compare_add_spread(c, y + n, p, mean);
	free(x);
	free(y);
	return status;
}

/* A set of modes at one record: those that cost at least as much as one of them. */
struct compare_costlier {
	double annotated; /* sum of their weights */
	double found;     /* probability that the record is of one of them, if it is of any */
};

/* Returns the logarithm of the density of y in a mode; one without a spread has its own value. */
static double
compare_log_density(const struct comparison *c, const struct st_ann_model *m, double y)
{
	double mean, sd;
	if (!st_ann_model_moments(m, &c->names, &mean, &sd))
		return -INFINITY;
	if (sd > 0)
		return st_ann_model_log_density(m, &c->names, y);
	return fabs(y - mean) <= 1e-9 * fabs(mean) ? 0 : -INFINITY;
}

static double
compare_mode_mean(const struct comparison *c, const struct st_ann_model *m)
{
	double mean, sd;
	return st_ann_model_moments(m, &c->names, &mean, &sd) ? mean : NAN;
}

/* c->names: those of the record, whose cost is y. A cost that no mode has is of none. */
static struct compare_costlier
compare_costlier_of(const struct comparison *c, const struct st_ann_scope *s, size_t mode, double y)
{
	const double own = compare_mode_mean(c, &s->models.v[mode]);
	struct compare_costlier sum = {0};
	double most = -INFINITY, all = 0;
	for (size_t i = 0; i < s->models.n; i++)
		most = fmax(most, compare_log_density(c, &s->models.v[i], y));
	for (size_t i = 0; i < s->models.n; i++) {
		const struct st_ann_model *m = &s->models.v[i];
		const double log_density = compare_log_density(c, m, y);
		const double p = isfinite(log_density) ? m->weight * exp(log_density - most) : 0;
		all += p;
		if (compare_mode_mean(c, m) >= own) {
			sum.annotated += m->weight;
			sum.found += p;
		}
	}
	sum.found = all > 0 ? sum.found / all : 0;
	return sum;
}

/* Judges the share of the calls of a mode and costlier ones. That of the cheapest mode is always 1
 * and not judged. */
static st_status
compare_share(struct comparison *c, size_t scope, size_t mode)
{
	const struct st_ann_scope *s = &c->a->scopes.v[scope];
	const double old = (double)compare_scope_records(s);
	double n = 0, sum = 0, squares = 0, kept = 0;
	for (size_t i = 0; i < c->rows.n; i++) {
		const struct compare_row *row = &c->rows.v[i];
		if (row->scope != scope)
			continue;
		c->at.record.row = row->row;
		const struct compare_costlier one =
		        compare_costlier_of(c, s, mode, c->m->v[row->row]);
		n++;
		kept += one.annotated;
		sum += one.found;
		squares += one.found * one.found;
	}
	kept = n > 0 ? kept / n : NAN;
	if (!(kept < 1 - 1e-6))
		return ST_OK;
	struct st_ann_finding *f = compare_finding(c, ST_ANN_ASPECT_SHARE);
	if (!f)
		return ST_FAILED;
	/* An added record of each kind keeps the variance above 0 (Agresti and Caffo). */
	const double p = (sum + 1) / (n + 2);
	const double variance = fmax(p * (1 - p), n > 1 ? (squares - sum * sum / n) / (n - 1) : 0);
	const double se = sqrt(variance / (n + 2) + (old > 0 ? kept * (1 - kept) / old : 0));
	const double half = gsl_cdf_ugaussian_Qinv(c->how.error) * se;
	*f = (struct st_ann_finding){
	        ST_ANN_ASPECT_SHARE,     ST_ANN_CHANGE_UNCERTAIN, scope, mode, kept, sum / n,
	        fmax(sum / n - half, 0), fmin(sum / n + half, 1)};
	if (n >= RECORDS_LEAST)
		f->change = compare_judge(f, share_margin);
	return ST_OK;
}

static st_status
compare_shares(struct comparison *c)
{
	for (size_t i = 0; i < c->a->scopes.n; i++)
		for (size_t k = 0; k < c->a->scopes.v[i].models.n && c->a->scopes.v[i].models.n > 1;
		     k++)
			if (compare_share(c, i, k))
				return ST_FAILED;
	return ST_OK;
}

static void
compare_need(void *arg, const char *name)
{
	struct comparison *c = arg;
	struct st_ann_value value;
	if (!*c->out->reason && !compare_find(&c->at, name, &value))
		snprintf(c->out->reason, sizeof c->out->reason,
		         "the records have no feature '%.80s', which the annotation needs", name);
}

/* Returns whether the models of the annotation describe all records except disturbed ones: they
 * leave out few of all, and not too many of any scope, as a cluster does. *share: of those that
 * they leave out. */
static bool
compare_describes_all(const struct st_ann_annotation *a, double *share)
{
	static const double scope_most = 0.4;
	double described = 0, left_out = 0;
	for (size_t i = 0; i < a->scopes.n; i++)
		for (size_t k = 0; k < a->scopes.v[i].models.n; k++) {
			const struct st_ann_model *m = &a->scopes.v[i].models.v[k];
			const double n = m->n ? (double)m->n : 1;
			described += n;
			if (m->selection == ST_ANN_PLAIN)
				continue;
			if (m->selection != ST_ANN_DOMINANT || !(m->dropped >= 0) ||
			    m->dropped > scope_most)
				return false;
			left_out += n * m->dropped / (1 - m->dropped);
		}
	*share = left_out > 0 ? left_out / (described + left_out) : 0;
	/* The notes are rounded. */
	return *share <= 1.001 * ST_ANN_DISTURBED_MOST;
}

/* Sets the reason why the annotation cannot be compared with records, if there is one. */
static void
compare_check_models(struct comparison *c)
{
	const bool all = compare_describes_all(c->a, &c->left_out);
	for (size_t i = 0; i < c->a->scopes.n; i++) {
		const struct st_ann_scope *s = &c->a->scopes.v[i];
		st_ann_each_name(s->condition, compare_need, c);
		for (size_t k = 0; k < s->models.n; k++) {
			const struct st_ann_model *m = &s->models.v[k];
			st_ann_each_name(m->a, compare_need, c);
			st_ann_each_name(m->b, compare_need, c);
			if (m->selection != ST_ANN_PLAIN && !all && !*c->out->reason)
				snprintf(c->out->reason, sizeof c->out->reason,
				         "its model describes selected records only (selection "
				         "%s)",
				         st_ann_selection_name(m->selection));
			c->old += (double)m->n;
		}
	}
	c->old = c->old > 0 ? c->old : INFINITY;
}

/* Returns whether a slower processor may have raised the finding as much as it was: a cost, if the
 * processor slows the program down at most TWICE as much as the loop; a spread and a share, if it
 * was slower at all, because a part of the run may have been much slower. */
static bool
compare_explains(const struct comparison *c, const struct st_ann_finding *f)
{
	enum { TWICE = 2 };
	static const double slower_at_all = 1.02;
	const double pace = c->out->pace, slower = 1 + TWICE * (pace - 1);
	if (f->aspect == ST_ANN_ASPECT_MEAN || f->aspect == ST_ANN_ASPECT_LARGEST)
		return pace > 1 &&
		       f->low <= slower * f->annotated + c->how.margin * fabs(f->annotated);
	return pace > slower_at_all;
}

/* Returns whether a faster processor may hide that the cost is above the margin: it is, if the
 * program became faster by as much as the loop. */
static bool
compare_hides(const struct comparison *c, const struct st_ann_finding *f)
{
	const double pace = c->out->pace;
	return pace > 0 && pace < 1 / ST_ANN_PACE_MARGIN &&
	       (f->aspect == ST_ANN_ASPECT_MEAN || f->aspect == ST_ANN_ASPECT_LARGEST) &&
	       f->high / pace > f->annotated + c->how.margin * fabs(f->annotated);
}

/* Takes back what another speed of the processor may have caused. */
static void
compare_allow_pace(const struct comparison *c)
{
	for (size_t i = 0; i < c->out->findings.n; i++) {
		struct st_ann_finding *f = &c->out->findings.v[i];
		if ((f->change == ST_ANN_CHANGE_RAISED && compare_explains(c, f)) ||
		    (f->change == ST_ANN_CHANGE_SAME && compare_hides(c, f)))
			f->change = ST_ANN_CHANGE_UNCERTAIN;
	}
}

static st_status
compare_judge_all(struct comparison *c)
{
	c->out->judged = c->rows.n;
	if (c->rows.n < RECORDS_LEAST) {
		snprintf(c->out->reason, sizeof c->out->reason,
		         "%s inside the observed ranges and conditions, and %d are needed",
		         ST_COUNT(c->rows.n, "record is", "records are"), RECORDS_LEAST);
		c->out->change = ST_ANN_CHANGE_UNCERTAIN;
		return ST_OK;
	}
	for (size_t i = 0; i < c->rows.n; i++) {
		c->low = fmin(c->low, c->rows.v[i].mean);
		c->high = fmax(c->high, c->rows.v[i].mean);
	}
	if (compare_count_processes(c) || compare_costs(c) || compare_shares(c) ||
	    (c->out->disturbed && compare_slow(c)))
		return ST_FAILED;
	compare_allow_pace(c);
	for (size_t i = 0; i < c->out->findings.n; i++)
		if (c->out->findings.v[i].change > c->out->change)
			c->out->change = c->out->findings.v[i].change;
	return ST_OK;
}

st_status
st_ann_compare(const struct st_ann_annotation *a, const struct st_ann_records *r, size_t metric,
               const struct st_ann_comparison *how, struct st_ann_compared *out)
{
	struct comparison c = {.a = a,
	                       .m = &r->metrics.v[metric],
	                       .how = *how,
	                       .at = {a, {r, 0}},
	                       .spread = true,
	                       .low = INFINITY,
	                       .high = -INFINITY,
	                       .out = out};
	st_status status = ST_OK;
	*out = (struct st_ann_compared){0};
	c.names = (struct st_ann_names){compare_find, &c.at};
	if (r->n)
		compare_check_models(&c);
	if (*out->reason) {
		out->change = ST_ANN_CHANGE_UNCERTAIN;
		return ST_OK;
	}
	for (; c.at.record.row < r->n && !status; c.at.record.row++)
		status = compare_add_row(&c);
	if (st_ann_only_grows(c.m->unit) && a->pace > 0)
		out->pace = st_ann_pace(r, NULL) / a->pace;
	if (!status && st_ann_only_grows(c.m->unit))
		status = compare_leave_out_disturbed(&c);
	if (!status)
		status = compare_judge_all(&c);
	free(c.rows.v);
	return status;
}
