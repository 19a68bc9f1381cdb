/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Contracts: upper bounds on the cost of calls, or on its growth, written by a person, against
 * which records are checked.
 *
 *	instructions(parse) <= 12*n + 300
 *	time(sort) <= 9ns*n*log(n) @p95 for n in 1e3..1e6
 *	allocations(parse) ~ n
 */
#ifndef STROBE_ANNOTATE_CONTRACT_H
#define STROBE_ANNOTATE_CONTRACT_H

#include "annotate/annotation.h"
#include "annotate/growth.h"
#include "annotate/records.h"

struct st_ann_contract {
	char *text; /* as it was written */
	unsigned line;
	char *metric, *function;
	bool growth; /* the metric grows no faster than the bound: "~" */
	struct st_ann_expr *bound;
	double quantile; /* share of the calls that must keep to it; 1: all */
	char *range;     /* the feature of `for`; NULL: none */
	double low, high;
};

struct st_ann_contracts {
	ST_VEC(struct st_ann_contract) list;
};

enum st_ann_verdict {
	ST_ANN_KEPT,
	ST_ANN_BROKEN,
	ST_ANN_NOT_EXERCISED, /* the contract applies to no record */
	ST_ANN_CANNOT_TELL    /* too few records for the share of calls, or for the growth */
};

struct st_ann_outcome {
	enum st_ann_verdict verdict;
	size_t records, above; /* to which it applies; of these, those above the bound */
	/* The 95 % interval (Clopper and Pearson) of the share of calls within the bound. NAN with
	 * a quantile of 1, for which one record above the bound breaks the contract. */
	double share_low, share_high;
	double worst, bound;         /* the value farthest above, or nearest below, and its bound */
	size_t worst_record;         /* from 1, of the function's records */
	struct st_ann_growth growth; /* of a contract on growth; above and worst are then 0 */
};

/* Each line is a contract; empty lines and lines that begin with # are ignored. The caller frees
 * `out` in both cases. */
st_status st_ann_contracts_parse(const char *text, size_t n, const char *name,
                                 struct st_ann_contracts *out, struct st_error *e);
st_status st_ann_contracts_read(const char *path, struct st_ann_contracts *out, struct st_error *e);
void st_ann_contracts_free(struct st_ann_contracts *c);

/* Returns ST_FAILED with *e if the function's records lack a feature of the bound, or if the bound
 * is undefined or infinite for a record that has all its features. */
st_status st_ann_contract_check(const struct st_ann_contract *c, const struct st_ann_data *d,
                                struct st_ann_outcome *out, struct st_error *e);

#endif
