/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Contracts: bounds on what calls may cost, which a person writes and records are checked against.
 *
 *	instructions(parse) <= 12*n + 300
 *	time(sort) <= 9ns*n*log(n) @p95 for n in 1e3..1e6
 */
#ifndef STROBE_ANNOTATE_CONTRACT_H
#define STROBE_ANNOTATE_CONTRACT_H

#include "annotate/annotation.h"
#include "annotate/records.h"

struct st_ann_contract {
	char *text; /* as it was written */
	unsigned line;
	char *metric, *function;
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
	ST_ANN_NOT_EXERCISED, /* no record is about it */
	ST_ANN_CANNOT_TELL    /* too few records for the share of calls */
};

struct st_ann_outcome {
	enum st_ann_verdict verdict;
	size_t records, above; /* that it is about; those above the bound */
	/* Of the share of calls that keep to the bound: 95 % (Clopper and Pearson). For a quantile
	 * of 1 there is no interval: one record breaks it. */
	double share_low, share_high;
	double worst, bound; /* the y that is farthest above, or nearest below, and its bound */
	size_t worst_record; /* from 1, of the function's records */
};

/* A line is a contract; empty lines and those that begin with # are passed over. The caller frees
 * in both cases. */
st_status st_ann_contracts_parse(const char *text, size_t n, const char *name,
                                 struct st_ann_contracts *out, struct st_error *e);
st_status st_ann_contracts_read(const char *path, struct st_ann_contracts *out, struct st_error *e);
void st_ann_contracts_free(struct st_ann_contracts *c);

/* ST_FAILED with *e: the bound needs a feature that the function's records do not have. */
st_status st_ann_contract_check(const struct st_ann_contract *c, const struct st_ann_data *d,
                                struct st_ann_outcome *out, struct st_error *e);

#endif
