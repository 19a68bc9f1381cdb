/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of calls: the features (inputs) and the metrics (costs) of each call. They are read from
 * files in the format of docs/annotations-records.md, or from any text file of columns. Records of
 * one function are pooled over all files.
 */
#ifndef STROBE_ANNOTATE_RECORDS_H
#define STROBE_ANNOTATE_RECORDS_H

#include <stdint.h>

#include "annotate/expression.h"
#include "base/error.h"
#include "base/vec.h"

/* O(identifier, "word in the file"), in the order in which features are preferred. */
#define ST_ANN_ORIGINS(O)                                                                          \
	O(PARAMETER, "parameter")                                                                  \
	O(MEMBER, "member")                                                                        \
	O(GLOBAL, "global")                                                                        \
	O(SYSTEM, "system")

enum st_ann_origin {
#define O(id, name) ST_ANN_##id,
	ST_ANN_ORIGINS(O)
#undef O
	        ST_ANN_ORIGIN_COUNT
};

/* K(identifier, "word in the file"). Numbers may be terms of models; categories and flags may only
 * be conditions. */
#define ST_ANN_KINDS(K)                                                                            \
	K(NUMERIC, "number")                                                                       \
	K(CATEGORY, "category")                                                                    \
	K(FLAG, "flag")

enum st_ann_kind {
#define K(id, name) ST_ANN_##id,
	ST_ANN_KINDS(K)
#undef K
	        ST_ANN_KIND_COUNT
};

struct st_ann_metric {
	char *name, *unit;
	double overhead; /* mean cost of recording, already subtracted; NAN: not known */
	double *v;       /* NAN: not measured */
	/* Of a cost of the calls that the call has made itself: the callee, "" for all that are not
	 * told apart, and the metric or "calls". NULL: it is a cost of the whole call. */
	char *callee, *of;
};

struct st_ann_feature {
	char *name, *path;
	enum st_ann_kind kind;
	enum st_ann_origin origin;
	ST_VEC(char *)
	labels;    /* of a category: the names of its values; v has their indices */
	double *v; /* NAN: absent */
};

/* The first outcome of a branch of the function's code in each call; NAN: it was not executed. */
struct st_ann_branch {
	char *name;
	double *v;
	ST_VEC(struct st_ann_way {
		double outcome;
		char *where; /* the place to which it leads */
	})
	ways;
};

struct st_ann_records {
	char *name, *image, *address; /* the last two may be NULL */
	ST_VEC(struct st_ann_metric) metrics;
	ST_VEC(struct st_ann_feature) features;
	ST_VEC(struct st_ann_branch) branches;
	size_t n, cap;
	uint32_t *run; /* of each record: the number of the process that made it, from 1 */
	uint32_t runs;
	/* Of each process: the mean time that it took for a fixed loop, in ns; NAN, or missing at
	 * the end: not known. */
	ST_VEC(double) paces;
	uint64_t calls, left; /* all calls; of these, those left without a return */
	bool counted;         /* the file has the number of calls */
	uint64_t missing;     /* records that the files say they have, and do not have */
	size_t impossible;    /* records that were dropped, because they cannot be right */
	size_t checked;       /* the first records, among which none is impossible */
};

struct st_ann_data {
	ST_VEC(struct st_ann_records) functions;
	char *notes;       /* of the files, a line each; NULL: none */
	double unfinished; /* seconds of the shortest recording that did not end; 0: all ended */
};

/* The options for reading a text file of columns. */
struct st_ann_columns {
	const char *function;       /* its name; NULL: that of the file */
	const char *const *metrics; /* the measured columns, as "time" or "time:ms" */
	size_t n;                   /* 0: the first column is the metric */
};
/* Adds the records of a file; "-" is standard input. A text file without Strobe's first line is a
 * file of columns. The caller frees `d` in both cases. */
st_status st_ann_data_read(struct st_ann_data *d, const char *path, const struct st_ann_columns *c,
                           struct st_error *e);
/* The same for text in memory; `name` is the file's, for messages. */
st_status st_ann_data_take(struct st_ann_data *d, const char *text, size_t n, const char *name,
                           const struct st_ann_columns *c, struct st_error *e);
void st_ann_data_free(struct st_ann_data *d);

/* Keeps only the records of all functions for which the condition holds. Its names are those of
 * features and metrics. */
struct st_ann_filter {
	size_t before, kept;
};
st_status st_ann_data_filter(struct st_ann_data *d, const struct st_ann_expr *condition,
                             struct st_ann_filter *out, struct st_error *e);

/* Removes the features whose names or paths a pattern fits, as of fnmatch(3); returns their number.
 */
size_t st_ann_data_leave_out(struct st_ann_data *d, const char *pattern);

/* One record, whose names expressions can look up. */
struct st_ann_record {
	const struct st_ann_records *records;
	size_t row;
};
struct st_ann_names st_ann_record_names(const struct st_ann_record *r);

const char *st_ann_kind_name(enum st_ann_kind kind);
const char *st_ann_origin_name(enum st_ann_origin origin);

/* Internal, for the readers. Finds the function or adds it, and begins a process of it. An index is
 * the number of elements when memory is exhausted. */
struct st_ann_records *st_ann_data_function(struct st_ann_data *d, const char *name,
                                            const char *image, const char *address);
size_t st_ann_metric_index(struct st_ann_records *r, const char *name, const char *unit);
size_t st_ann_feature_index(struct st_ann_records *r, const struct st_ann_feature *like);
size_t st_ann_branch_index(struct st_ann_records *r, const char *name);
/* The place to which an outcome of the branch leads; one that is known stays. */
st_status st_ann_branch_way(struct st_ann_branch *b, double outcome, const char *where);
st_status st_ann_label_index(struct st_ann_feature *f, const char *label, double *index);
/* Adds a record without values. run: the process; r->runs of the last one that has begun. */
st_status st_ann_record_new(struct st_ann_records *r, uint32_t run);
/* Sets the pace of a process. */
st_status st_ann_record_pace(struct st_ann_records *r, uint32_t run, double ns);
/* Copies a record to the place of another one. */
void st_ann_record_move(struct st_ann_records *r, size_t from, size_t to);
/* Drops the new records in which a part of the time is longer than the time, or a time is negative,
 * and counts them. */
void st_ann_records_drop_impossible(struct st_ann_records *r);

#endif
