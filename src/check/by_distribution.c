/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method `distribution`: compares the values of repeated runs of each location and total. */
#include <math.h>
#include <stdlib.h>

#include "check/check.h"

struct by_distribution {
	struct st_check_result *out;
	struct st_distribution_choice how;           /* of the locations */
	const struct st_distribution_choice *totals; /* of the totals */
	struct st_sample_pair *pairs;
	struct st_distribution *compared;
	double *nothing; /* zeros: runs of the side that does not have a location */
};

static struct st_sample_pair
pair_of_subject(const struct by_distribution *d, const struct st_check_subject *s)
{
	const struct st_check_subjects *all = d->out->subjects;
	const struct st_check_metric *metric = &all->metrics.v[s->metric];
	const struct st_check_total *whole = st_check_whole(all, s->metric);
	const struct st_check_item *a = s->item[ST_A], *b = s->item[ST_B];
	struct st_sample_pair pair = {.from = a ? a->runs.v : NULL,
	                              .to = b ? b->runs.v : NULL,
	                              .n_from = a ? a->runs.n : 0,
	                              .n_to = b ? b->runs.n : 0,
	                              .counts = metric->counts};
	if (!whole) {
		pair.whole_from = pair.n_from ? st_median(pair.from, pair.n_from) : 0;
		pair.whole_to = pair.n_to ? st_median(pair.to, pair.n_to) : 0;
		return pair;
	}
	pair.whole_from = st_median(whole->runs[ST_A].v, whole->runs[ST_A].n);
	pair.whole_to = st_median(whole->runs[ST_B].v, whole->runs[ST_B].n);
	if (!a) {
		pair.from = d->nothing;
		pair.n_from = all->sides[ST_A]->profiles.n;
	}
	if (!b) {
		pair.to = d->nothing;
		pair.n_to = all->sides[ST_B]->profiles.n;
	}
	return pair;
}

static struct st_sample_pair
pair_of_total(const struct by_distribution *d, const struct st_check_total *t)
{
	const struct st_check_subjects *all = d->out->subjects;
	const struct st_check_total *whole = st_check_whole(all, t->metric);
	return (struct st_sample_pair){
	        .from = t->runs[ST_A].v,
	        .to = t->runs[ST_B].v,
	        .n_from = t->runs[ST_A].n,
	        .n_to = t->runs[ST_B].n,
	        .whole_from = st_median(whole->runs[ST_A].v, whole->runs[ST_A].n),
	        .whole_to = st_median(whole->runs[ST_B].v, whole->runs[ST_B].n),
	        .counts = all->metrics.v[t->metric].counts};
}

static void
set_distribution(const struct by_distribution *d, struct st_finding *f,
                 const struct st_distribution *c)
{
	f->kind = c->kind;
	f->p = c->p;
	f->q = c->q;
	st_finding_set_rate(f, d->out, c->shift);
	if (c->evidence == ST_EVIDENCE_COUNT) {
		f->confidence = 1;
		f->confidence_kind = "count";
	} else if (c->evidence == ST_EVIDENCE_TEST) {
		f->confidence = 1 - c->q;
		f->confidence_kind = "1-q";
	}
	if (c->kind == ST_FINDING_UNKNOWN)
		f->cause = c->evidence == ST_EVIDENCE_FEW
		                   ? ST_CHECK_FEW
		                   : "the runs of one version differ too much";
}

/* The existence of a function needs no test; its cost decides whether it matters. */
static void
set_new_or_gone(const struct by_distribution *d, struct st_finding *f)
{
	const struct st_check_subject *s = f->subject;
	const struct st_sample_pair pair = pair_of_subject(d, s);
	if (!d->out->subjects->metrics.v[s->metric].additive) {
		f->cause = s->item[ST_A] ? "the target has no values of it"
		                         : "the baseline has no values of it";
		return;
	}
	const double least = d->how.smallest * fabs(pair.whole_from);
	const double shift = f->to - f->from;
	if (isnan(f->rate.at))
		st_finding_set_rate(f, d->out, (struct st_interval){shift, NAN, NAN});
	f->kind = fabs(shift) < least || shift == 0 ? ST_FINDING_NO_CHANGE
	          : s->item[ST_B]                   ? ST_FINDING_NOT_IN_BASELINE
	                                            : ST_FINDING_NOT_IN_TARGET;
	f->cause = NULL;
}

static st_status
compare_subjects(struct by_distribution *d)
{
	const struct st_check_subjects *s = d->out->subjects;
	for (size_t i = 0; i < s->list.n; i++)
		d->pairs[i] = pair_of_subject(d, &s->list.v[i]);
	if (st_distribution_compare(d->pairs, s->list.n, &d->how, d->compared))
		return ST_FAILED;
	for (size_t i = 0; i < s->list.n; i++) {
		const struct st_check_subject *subject = &s->list.v[i];
		struct st_finding *f = st_check_add(d->out, subject, ST_CHECK_distribution);
		if (!f)
			return ST_FAILED;
		set_distribution(d, f, &d->compared[i]);
		d->out->tests += !isnan(f->p);
		if (!subject->item[ST_A] || !subject->item[ST_B])
			set_new_or_gone(d, f);
	}
	return ST_OK;
}

static enum st_finding_kind
total_kind(enum st_finding_kind kind)
{
	switch (kind) {
	case ST_FINDING_DEGRADATION:
	case ST_FINDING_SEVERE_DEGRADATION:
		return ST_FINDING_TOTAL_DEGRADATION;
	case ST_FINDING_OPTIMIZATION:
	case ST_FINDING_SEVERE_OPTIMIZATION:
		return ST_FINDING_TOTAL_OPTIMIZATION;
	default:
		return kind;
	}
}

static st_status
compare_totals(struct by_distribution *d)
{
	const struct st_check_subjects *s = d->out->subjects;
	for (size_t i = 0; i < s->totals.n; i++)
		d->pairs[i] = pair_of_total(d, &s->totals.v[i]);
	if (st_distribution_compare(d->pairs, s->totals.n, d->totals, d->compared))
		return ST_FAILED;
	for (size_t i = 0; i < s->totals.n; i++) {
		struct st_finding *f = ST_PUSH(&d->out->totals);
		if (!f)
			return ST_FAILED;
		*f = (struct st_finding){.method = ST_CHECK_distribution,
		                         .total = &s->totals.v[i],
		                         .metric = s->totals.v[i].metric,
		                         .from = d->compared[i].from,
		                         .to = d->compared[i].to,
		                         .confidence = NAN,
		                         .calls_from = NAN,
		                         .calls_to = NAN,
		                         .x_low = NAN,
		                         .x_high = NAN};
		set_distribution(d, f, &d->compared[i]);
		f->kind = total_kind(f->kind);
	}
	return ST_OK;
}

st_status
st_check_compare_runs(struct st_check_result *out, const struct st_check_how *how, double smallest)
{
	const struct st_check_subjects *s = out->subjects;
	const size_t n = s->list.n > s->totals.n ? s->list.n : s->totals.n;
	const size_t a = s->sides[ST_A]->profiles.n, b = s->sides[ST_B]->profiles.n;
	struct by_distribution d = {.out = out,
	                            .how = how->distribution,
	                            .totals = &how->distribution,
	                            .pairs = calloc(n + 1, sizeof *d.pairs),
	                            .compared = calloc(n + 1, sizeof *d.compared),
	                            .nothing = calloc((a > b ? a : b) + 1, sizeof *d.nothing)};
	d.how.smallest = smallest;
	st_status status = d.pairs && d.compared && d.nothing ? ST_OK : ST_FAILED;
	if (!status)
		status = compare_subjects(&d);
	if (!status)
		status = compare_totals(&d);
	out->runs_needed =
	        st_distribution_runs_needed(out->tests ? out->tests : 1, how->distribution.alpha);
	free(d.pairs);
	free(d.compared);
	free(d.nothing);
	return status;
}

st_status
st_check_by_distribution(struct st_check_result *out, const struct st_check_how *how)
{
	return st_check_compare_runs(out, how, how->distribution.smallest);
}
