/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Branches of the function's code. Where a branch follows from a feature, split.c makes a condition
 * of it; here the condition gets the name of the branch. Where the outcome follows from no feature,
 * the outcomes are modes: they have probabilities, and the records of each are known exactly.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/scopes.h"
#include "base/text.h"

enum { WAYS_SHOWN = 4 };
static const double modes_gain = 10;
static const double modes_explain = 0.3;

/* Characters that end a note are replaced. */
static void
ann_note_safe(char *text)
{
	for (; text && *text; text++)
		if (strchr(";\r\n", *text))
			*text = ' ';
}

/* Writes where an outcome leads to: a line of the source, or the outcome itself. */
static void
ann_write_way(FILE *out, const struct st_ann_branch *b, double outcome)
{
	for (size_t i = 0; i < b->ways.n; i++)
		if (b->ways.v[i].outcome == outcome) {
			fputs(b->ways.v[i].where, out);
			return;
		}
	fprintf(out, "outcome %.15g", outcome);
}

/* "x.c:12 to x.c:13 or x.c:20": all outcomes that the rows have. */
static void
ann_write_branch(FILE *out, const struct st_ann_branch *b, struct st_ann_rows rows)
{
	double seen[WAYS_SHOWN];
	size_t n = 0;
	fprintf(out, "%s to ", b->name);
	for (size_t i = 0; i < rows.n; i++) {
		const double outcome = b->v[rows.v[i]];
		size_t k = 0;
		while (k < n && seen[k] != outcome)
			k++;
		if (k < n || isnan(outcome))
			continue;
		if (n == WAYS_SHOWN) {
			fputs(" or others", out);
			return;
		}
		if (n)
			fputs(" or ", out);
		ann_write_way(out, b, outcome);
		seen[n++] = outcome;
	}
}

char *
st_ann_branch_note(const struct st_ann_problem *p, const struct st_ann_leaf *leaf,
                   struct st_ann_rows rows)
{
	struct st_text text;
	bool any = false;
	if (!st_text_begin(&text))
		return NULL;
	for (size_t i = 0; i < leaf->tests.n; i++) {
		const uint16_t branch = leaf->tests.v[i].branch;
		bool named = !branch;
		for (size_t k = 0; k < i && !named; k++)
			named = leaf->tests.v[k].branch == branch;
		if (named)
			continue;
		if (any)
			fputs(", ", text.out);
		ann_write_branch(text.out, &p->records->branches.v[branch - 1], rows);
		any = true;
	}
	char *note = st_text_end(&text);
	ann_note_safe(note);
	return note;
}

/* ---- modes ---- */

/* The records of each outcome of a branch. */
struct ann_modes {
	double outcome[ST_ANN_PARTS_MOST];
	struct st_ann_fit fit[ST_ANN_PARTS_MOST];
	bool good[ST_ANN_PARTS_MOST];
	size_t n; /* 0: the branch has no modes */
	double bic, rss;
	uint16_t branch;
};

static void
ann_find_outcomes(const struct st_ann_branch *b, struct st_ann_rows rows, struct ann_modes *m)
{
	m->n = 0;
	for (size_t i = 0; i < rows.n; i++) {
		const double outcome = b->v[rows.v[i]];
		size_t k = 0;
		while (k < m->n && m->outcome[k] != outcome)
			k++;
		if (k < m->n)
			continue;
		if (isnan(outcome) || m->n == ST_ANN_PARTS_MOST) {
			m->n = 0;
			return;
		}
		m->outcome[m->n++] = outcome;
	}
	m->n = m->n > 1 ? m->n : 0;
}

static struct st_ann_rows
ann_rows_of_outcome(const struct st_ann_branch *b, struct st_ann_rows rows, double outcome,
                    uint32_t *v)
{
	struct st_ann_rows own = {v, 0};
	for (size_t i = 0; i < rows.n; i++)
		if (b->v[rows.v[i]] == outcome)
			v[own.n++] = rows.v[i];
	return own;
}

/* Fits a model to each outcome; m->n becomes 0 if one has too few records. */
static st_status
ann_fit_modes(const struct st_ann_problem *p, struct st_ann_rows rows, uint32_t *v,
              struct ann_modes *m)
{
	const struct st_ann_branch *b = &p->records->branches.v[m->branch];
	m->bic = m->rss = 0;
	for (size_t k = 0; k < m->n; k++) {
		const struct st_ann_rows own = ann_rows_of_outcome(b, rows, m->outcome[k], v);
		struct st_ann_formula formula;
		if (own.n < ST_ANN_RECORDS_LEAST) {
			m->n = 0;
			return ST_OK;
		}
		if (st_ann_formulate(p, own, &formula))
			return ST_FAILED;
		m->fit[k] = formula.best;
		m->good[k] = formula.good && formula.best.n_terms;
		m->bic += formula.best.bic;
		m->rss += formula.best.rss;
	}
	return ST_OK;
}

/* Do the two branches divide the rows in the same way? */
static bool
ann_divide_alike(const struct st_ann_branch *a, const struct st_ann_branch *b,
                 struct st_ann_rows rows)
{
	const double first_a = a->v[rows.v[0]], first_b = b->v[rows.v[0]];
	for (size_t i = 1; i < rows.n; i++)
		if ((a->v[rows.v[i]] == first_a) != (b->v[rows.v[i]] == first_b))
			return false;
	return true;
}

static bool
ann_is_repeated(const struct st_ann_problem *p, struct st_ann_rows rows, size_t branch, size_t n)
{
	struct ann_modes m;
	for (size_t i = 0; i < branch; i++) {
		ann_find_outcomes(&p->records->branches.v[i], rows, &m);
		if (m.n == n && n == 2 &&
		    ann_divide_alike(&p->records->branches.v[i], &p->records->branches.v[branch],
		                     rows))
			return true;
	}
	return false;
}

static st_status
ann_add_mode(const struct st_ann_problem *p, struct st_ann_rows rows, uint32_t *v,
             const struct ann_modes *m, size_t k, struct st_ann_leaf *leaf)
{
	const struct st_ann_branch *b = &p->records->branches.v[m->branch];
	const struct st_ann_rows own = ann_rows_of_outcome(b, rows, m->outcome[k], v);
	struct st_ann_part *part = st_ann_add_part(leaf, own.n);
	struct st_text text;
	if (!part || !st_text_begin(&text))
		return ST_FAILED;
	part->weight = (double)own.n / (double)rows.n;
	ann_write_branch(text.out, b, own);
	part->branches = st_text_end(&text);
	ann_note_safe(part->branches);
	if (!part->branches)
		return ST_FAILED;
	return st_ann_model_part(p, own, m->good[k] ? &m->fit[k] : NULL, part);
}

st_status
st_ann_find_branch_modes(const struct st_ann_problem *p, struct st_ann_rows rows,
                         const struct st_ann_fit *whole, struct st_ann_leaf *leaf, bool *found)
{
	const double n = (double)rows.n;
	const size_t branches = p->records->branches.n;
	struct ann_modes *m = malloc(2 * sizeof *m), *best = m + 1;
	uint32_t *v = malloc(rows.n * sizeof *v);
	st_status status = m && v ? ST_OK : ST_FAILED;
	*found = false;
	if (!status)
		best->n = 0;
	if (whole->rss / n <= st_ann_variance_floor(p, rows))
		goto out;
	for (size_t i = 0; i < branches && i < UINT16_MAX && !status; i++) {
		m->branch = (uint16_t)i;
		ann_find_outcomes(&p->records->branches.v[i], rows, m);
		if (!m->n || ann_is_repeated(p, rows, i, m->n))
			continue;
		status = ann_fit_modes(p, rows, v, m);
		if (!status && m->n && (!best->n || m->bic < best->bic))
			*best = *m;
	}
	if (status || !best->n || best->bic + 2 * log(n) > whole->bic - modes_gain ||
	    best->rss > (1 - modes_explain) * whole->rss)
		goto out;
	*found = true;
	for (size_t k = 0; k < best->n && !status; k++)
		status = ann_add_mode(p, rows, v, best, k, leaf);
out:
	free(m);
	free(v);
	return status;
}
