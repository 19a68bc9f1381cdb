/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Explains the growth of a function's cost: which callee carries it, or the function's own code.
 *
 * Records with the costs of callees divide the cost of each call into parts: one for each callee
 * that the call has called itself, and the rest, which is the caller's own. Least squares is
 * linear: if all parts are fitted with the terms of the caller's model, the coefficients of the
 * parts add up to the caller's. The share of a part is its coefficient of the term over that of the
 * caller, with an interval that allows for uneven scatter (HC3). Each part is analysed on its own
 * as well, and the sum of these models is compared with the model of the caller.
 */
#ifndef STROBE_ANNOTATE_EXPLAIN_H
#define STROBE_ANNOTATE_EXPLAIN_H

#include "annotate/annotation.h"
#include "annotate/formulate.h"
#include "annotate/records.h"

/* V(identifier, "name"): what the interval of a share says. */
#define ST_ANN_CARRIERS(V)                                                                         \
	V(CARRIES, "carries")             /* more than a half */                                   \
	V(CARRIES_PART, "carries a part") /* more than a twentieth */                              \
	V(CARRIES_NOT, "does not carry")  /* less than a twentieth */                              \
	V(CARRIES_UNCERTAIN, "cannot tell")

enum st_ann_carrier {
#define V(id, name) ST_ANN_##id,
	ST_ANN_CARRIERS(V)
#undef V
};

/* A part of the caller's cost. */
struct st_ann_part {
	const char *callee; /* NULL: the caller's own code; "": callees that are not told apart */
	size_t column;      /* of the metric in the records */
	double mean;        /* cost in a call of the caller */
	double calls;       /* mean number of calls of the callee in a call of the caller */
	/* Of the cost in a call of the caller, of the number of calls, and of the cost of one call
	 * on average, each as a function of the caller's features. */
	struct st_ann_annotation cost, number, each;
	bool has_cost, has_number, has_each;
};

/* The share of a part in the growth by a term. */
struct st_ann_share {
	double coefficient;
	double share, low, high; /* NAN: not determined */
	double recording;        /* what recording may change in the share; the interval has it */
	enum st_ann_carrier carrier;
};

struct st_ann_explained_term {
	/* Of the caller's model. Terms of the same features that cancel each other are a sum, with
	 * the coefficient 1. */
	struct st_ann_expr *term;
	bool is_sum;
	double coefficient;
	double growth;                     /* of the cost by this term, over the records */
	ST_VEC(struct st_ann_share) parts; /* in the order of the parts */
	bool explained;                    /* at least one part carries some of it */
};

/* The explanation of a scope of the caller's annotation. */
struct st_ann_explained_scope {
	const struct st_ann_scope *scope;
	size_t n;                                   /* records */
	ST_VEC(struct st_ann_explained_term) terms; /* those of most growth first */
	char reason[160];                           /* why there are no terms; empty: there are */
	bool undecided; /* the reason is that it cannot be told, not that there is no growth */
};

struct st_ann_explained {
	struct st_ann_annotation caller;
	size_t n;                         /* records with callees */
	double mean;                      /* of the cost */
	ST_VEC(struct st_ann_part) parts; /* the caller's own is the last */
	ST_VEC(struct st_ann_explained_scope) scopes;
	/* The sum of the models of the parts compared with the model of the caller: the largest
	 * difference over the largest prediction. NAN: a part has no model. */
	double difference;
};

/* Explains one metric of one function. Returns ST_FAILED with *e if the records have no costs of
 * callees, or too few records. The caller frees `out` in both cases, before the records. */
st_status st_ann_explain(const struct st_ann_records *r, size_t metric,
                         const struct st_ann_options *options, struct st_ann_explained *out,
                         struct st_error *e);
void st_ann_explained_free(struct st_ann_explained *x);

const char *st_ann_carrier_name(enum st_ann_carrier carrier);

#endif
