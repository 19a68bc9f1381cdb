/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/remark.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/processes.h"
#include "annotate/undisturbed.h"
#include "base/number.h"
#include "base/text.h"

/* EXTRA: classes that are tried on request. SCOPES_MANY: fewer scopes need no other class. */
enum {
	SCOPES_MANY = 3,
	EXTRA = 1 << ST_ANN_CLASS_LOGARITHMIC | 1 << ST_ANN_CLASS_ROOT | 1 << ST_ANN_CLASS_CUBIC
};

/* ---- features that no model can have ---- */

enum remark_state {
	REMARK_VARIES,
	REMARK_ABSENT,
	REMARK_CONSTANT,
	REMARK_NO_SIZE,
	REMARK_EXTREME,
	REMARK_UNUSABLE
};

static enum remark_state
remark_state_of(const struct st_ann_problem *p, size_t feature, struct st_ann_rows rows)
{
	const struct st_ann_feature *f = &p->records->features.v[feature];
	double low = INFINITY, high = -INFINITY;
	size_t absent = 0;
	for (size_t i = 0; i < rows.n; i++) {
		absent += isnan(f->v[rows.v[i]]);
		low = fmin(low, f->v[rows.v[i]]);
		high = fmax(high, f->v[rows.v[i]]);
	}
	if (f->kind == ST_ANN_NUMERIC && low < high && !st_ann_has_scale(low, high))
		return REMARK_UNUSABLE;
	if (f->kind == ST_ANN_NUMERIC && low < high && !st_ann_has_powers(low, high))
		return REMARK_EXTREME;
	if (f->kind == ST_ANN_NUMERIC && low < high &&
	    (p->huge[feature] || !st_ann_differs(low, high, ST_ANN_LEAST_DIFFERENCE)))
		return REMARK_NO_SIZE;
	if (absent && absent < rows.n && f->kind == ST_ANN_NUMERIC)
		return REMARK_ABSENT;
	return low < high || (absent && absent < rows.n) ? REMARK_VARIES : REMARK_CONSTANT;
}

static void
remark_extremes(const struct st_ann_problem *p, struct st_ann_rows rows, FILE *out)
{
	for (size_t i = 0; i < p->records->features.n; i++) {
		const struct st_ann_feature *f = &p->records->features.v[i];
		const enum remark_state state = remark_state_of(p, i, rows);
		if (state == REMARK_EXTREME)
			fprintf(out,
			        "powers and products of %s are not tried, because its values are "
			        "not between 1e-100 and 1e100: record it in another unit. ",
			        f->name);
		else if (state == REMARK_UNUSABLE)
			fprintf(out,
			        "%s is not used, because its values are too large or too small "
			        "for calculations: record it in another unit. ",
			        f->name);
	}
}

/* ---- why nothing depends on a feature ---- */

static bool
remark_has_formula(const struct st_ann_leaves *leaves)
{
	for (size_t i = 0; i < leaves->list.n; i++)
		for (size_t k = 0; k < leaves->list.v[i].parts.n; k++) {
			const struct st_ann_part *part = &leaves->list.v[i].parts.v[k];
			if (!part->independent && part->fit.n_terms)
				return true;
		}
	return leaves->list.n > 1;
}

static void
remark_without_formula(const struct st_ann_problem *p, struct st_ann_rows rows, FILE *out)
{
	size_t n[REMARK_UNUSABLE + 1] = {0};
	for (size_t i = 0; i < p->records->features.n; i++)
		n[remark_state_of(p, i, rows)]++;
	if (!p->records->features.n)
		fputs("the records have no feature: record data of the calls that the cost may "
		      "depend on. ",
		      out);
	else if (!n[REMARK_VARIES] && n[REMARK_CONSTANT] == p->records->features.n)
		fputs("all features are the same in all records: record calls with different "
		      "data. ",
		      out);
	else if (!n[REMARK_VARIES] && n[REMARK_NO_SIZE])
		fputs("the values of the features that vary are no sizes: they are integers above "
		      "2^53, or differ by less than a millionth, as addresses do. ",
		      out);
	else if (!n[REMARK_VARIES] && n[REMARK_ABSENT])
		fputs("no feature that varies is present in all records: choose records in which "
		      "one is with --where 'NAME == NAME'. ",
		      out);
}

/* ---- a class that was not tried ---- */

/* Returns whether several scopes follow from ranges that no branch of the code confirms. */
static bool
remark_has_ranges(const struct st_ann_leaves *leaves)
{
	for (size_t i = 0; i < leaves->list.n; i++)
		for (size_t k = 0; k < leaves->list.v[i].tests.n; k++) {
			const struct st_ann_test *t = &leaves->list.v[i].tests.v[k];
			if (!t->branch &&
			    (t->comparison == ST_ANN_AT_MOST || t->comparison == ST_ANN_ABOVE))
				return true;
		}
	return false;
}

/* Returns the set of the extra classes that the models have. */
static unsigned
remark_extra_classes(const struct st_ann_leaves *leaves)
{
	unsigned set = 0;
	for (size_t i = 0; i < leaves->list.n; i++)
		for (size_t k = 0; k < leaves->list.v[i].parts.n; k++) {
			const struct st_ann_part *part = &leaves->list.v[i].parts.v[k];
			set |= part->independent ? 0 : EXTRA & 1u << part->fit.class;
		}
	return set;
}

static void
remark_print_classes(unsigned classes, FILE *out)
{
	const char *between = "";
	for (enum st_ann_class c = 0; c < ST_ANN_CLASS_COUNT; c++)
		if (classes & 1u << c) {
			fprintf(out, "%s%s", between, st_ann_class_name(c));
			between = ",";
		}
}

/* If the records were divided into several ranges, divides them again with all classes: a law of
 * another class looks like many laws of the usual ones. */
static st_status
remark_class(const struct st_ann_problem *p, struct st_ann_rows rows,
             const struct st_ann_leaves *leaves, bool times, FILE *out)
{
	struct st_ann_problem own = *p;
	struct st_ann_leaves other = {0};
	if (p->options.classes || leaves->list.n < SCOPES_MANY || !remark_has_ranges(leaves))
		return ST_OK;
	own.options.classes = ST_ANN_CLASSES_USUAL | EXTRA;
	const st_status status =
	        times ? st_ann_divide_times(&own, rows, &other) : st_ann_divide(&own, rows, &other);
	const unsigned extra = status ? 0 : remark_extra_classes(&other);
	if (extra && other.list.n < leaves->list.n) {
		fprintf(out, other.list.n == 1 ? "one scope" : "%zu scopes", other.list.n);
		fprintf(out, " instead of %zu may describe the records: try --class ",
		        leaves->list.n);
		remark_print_classes(ST_ANN_CLASSES_USUAL | extra, out);
		fputs(". ", out);
	}
	st_ann_leaves_free(&other);
	return status;
}

st_status
st_ann_remark(const struct st_ann_problem *p, struct st_ann_rows rows,
              const struct st_ann_leaves *leaves, bool times, size_t slower, char **out)
{
	struct st_text text;
	*out = NULL;
	if (!st_text_begin(&text))
		return ST_FAILED;
	remark_extremes(p, rows, text.out);
	if (slower)
		fprintf(text.out,
		        "the records of %s of %" PRIu32
		        " processes are left out, because the processor was "
		        "slower then: it took more than %g times as long for a fixed loop. ",
		        ST_NUMBER(slower), p->records->runs, ST_ANN_PACE_MARGIN);
	if (!remark_has_formula(leaves))
		remark_without_formula(p, rows, text.out);
	const st_status status = remark_class(p, rows, leaves, times, text.out);
	char *v = st_text_end(&text);
	if (!v || status) {
		free(v);
		return ST_FAILED;
	}
	const size_t n = strlen(v);
	if (n > 2) {
		v[n - 2] = 0; /* without the last ". " */
		*out = v;
	} else {
		free(v);
	}
	return ST_OK;
}
