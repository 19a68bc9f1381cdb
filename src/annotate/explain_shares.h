/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal: the shares that parts of a cost have in the terms of a model. */
#ifndef STROBE_ANNOTATE_EXPLAIN_SHARES_H
#define STROBE_ANNOTATE_EXPLAIN_SHARES_H

#include "annotate/explain.h"

/* A cost that is the sum of its parts, for each of the records `rows`. */
struct st_ann_parted {
	const struct st_ann_records *rows;
	const double *whole;
	double *const *parts;
	double *const *calls; /* by part: of recorded functions, which recording may make longer;
	                       * NULL: not known */
	double overhead;      /* of recording a call; NAN: not known */
	size_t n_parts;
};

/* Fills in a scope, whose `scope` is set. Fails when memory is exhausted. */
st_status st_ann_explain_scope(const struct st_ann_parted *p, const struct st_ann_annotation *a,
                               struct st_ann_explained_scope *out);

#endif
