/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An annotation describes the cost of a function as a random variable that depends on its features.
 * It is read from, and printed as, text in the language of docs/annotations.md.
 */
#ifndef STROBE_ANNOTATE_ANNOTATION_H
#define STROBE_ANNOTATE_ANNOTATION_H

#include "annotate/expression.h"
#include "base/error.h"
#include "base/vec.h"

/* D(identifier, "word in the language", "name", parameters): their parameters are
 * normal: mean, standard deviation; exponential: mean; binomial: N, p; log-normal: mean and
 * standard deviation of the natural logarithm; point: the value itself. */
#define ST_ANN_DISTRIBUTIONS(D)                                                                    \
	D(NORMAL, "Norm", "normal", 2)                                                             \
	D(EXPONENTIAL, "Exp", "exponential", 1)                                                    \
	D(BINOMIAL, "Binom", "binomial", 2)                                                        \
	D(LOGNORMAL, "LogNorm", "lognormal", 2)                                                    \
	D(POINT, "", "point", 1)

enum st_ann_distribution {
#define D(id, word, name, parameters) ST_ANN_##id,
	ST_ANN_DISTRIBUTIONS(D)
#undef D
	        ST_ANN_DISTRIBUTION_COUNT
};

/* Selection of the records of a model. PLAIN: all records of its scope; LOWER: the least of each
 * value of a feature; DOMINANT: the largest cluster of each value. */
#define ST_ANN_SELECTIONS(S)                                                                       \
	S(PLAIN, "plain")                                                                          \
	S(LOWER, "lower")                                                                          \
	S(DOMINANT, "dominant")

enum st_ann_selection {
#define S(id, name) ST_ANN_##id,
	ST_ANN_SELECTIONS(S)
#undef S
	        ST_ANN_SELECTION_COUNT
};

enum { ST_ANN_NAME_SIZE = 16 };

struct st_ann_model {
	double weight; /* probability within its scope; NAN: it is the only model */
	enum st_ann_distribution distribution;
	struct st_ann_expr *a, *b; /* parameters; b may be NULL */
	/* Notes; NAN or 0: unknown. */
	size_t n;
	double r2, r2_cv, fit_p; /* fit_p: of the test that the distribution fits */
	char class[ST_ANN_NAME_SIZE];
	enum st_ann_selection selection;
	double dropped;    /* share of the records that the selection left out */
	char *branches;    /* branches whose outcome all records have in common; NULL: none */
	ST_VEC(double) se; /* of the addends of a, in their order */
};

struct st_ann_scope {
	struct st_ann_expr *condition; /* NULL: always */
	ST_VEC(struct st_ann_model) models;
};

/* Declaration of a feature that models or conditions use, under a short name. */
struct st_ann_declaration {
	char *type, *name, *path;
	double low, high; /* observed; NAN: not known */
	char *also;       /* names of indistinguishable features, separated by commas; NULL: none */
};

struct st_ann_annotation {
	char *function, *metric;
	ST_VEC(char *) parameters;
	char *image, *unit, *date, *note; /* NULL: not known */
	size_t records;
	double overhead; /* of recording, as a share of the mean; NAN: not known */
	/* The number of recorded processes, and the standard deviation between their typical costs,
	 * as a share of the cost; 0 and NAN: not known. */
	size_t processes;
	double between;
	double pace; /* mean time of the processes for a fixed loop, in ns; 0: not known */
	ST_VEC(struct st_ann_declaration) declarations;
	ST_VEC(struct st_ann_scope) scopes;
	unsigned line; /* in the file */
};

struct st_ann_file {
	ST_VEC(struct st_ann_annotation) list;
};

/* Reads annotations from text of `length` bytes. `name` is the file's, for messages, which have
 * line and column. The caller frees `out` in both cases. */
st_status st_ann_parse(const char *text, size_t length, const char *name, struct st_ann_file *out,
                       struct st_error *e);
st_status st_ann_read(const char *path, struct st_ann_file *out, struct st_error *e);
/* Reads a single expression or condition, as in a filter. Returns NULL with *e if it is wrong. */
struct st_ann_expr *st_ann_parse_condition(const char *text, const char *name, struct st_error *e);

/* digits: as for st_ann_expr_print. */
void st_ann_print(const struct st_ann_annotation *a, FILE *out, int digits);
void st_ann_print_file(const struct st_ann_file *f, FILE *out);
void st_ann_print_model(const struct st_ann_model *m, FILE *out, int digits);

void st_ann_file_free(struct st_ann_file *f);
void st_ann_annotation_free(struct st_ann_annotation *a);
struct st_ann_model st_ann_model_new(void);

const char *st_ann_distribution_name(enum st_ann_distribution d);
const char *st_ann_distribution_word(enum st_ann_distribution d);
unsigned st_ann_distribution_parameters(enum st_ann_distribution d);
const char *st_ann_selection_name(enum st_ann_selection s);

/* Returns whether each scope has a single model whose mean depends on features. */
bool st_ann_has_laws(const struct st_ann_annotation *a);

/* NULL: there is none. */
const struct st_ann_annotation *st_ann_find(const struct st_ann_file *f, const char *function,
                                            const char *metric);

#endif
