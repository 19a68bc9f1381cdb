/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A quantity by location and over a number: over a feature of repeated measurements, or the memory
 * of a program over time. What bars, flows and heat maps show. */
#ifndef STROBE_VIEWS_MATRIX_H
#define STROBE_VIEWS_MATRIX_H

#include "base/error.h"
#include "mem/mem.h"
#include "profile/profile.h"

/* What becomes of several values at one location and x. F(identifier, "name") */
#define ST_MATRIX_FUNCTIONS(F)                                                                     \
	F(SUM, "sum")                                                                              \
	F(MEAN, "mean")                                                                            \
	F(MEDIAN, "median")                                                                        \
	F(MIN, "min")                                                                              \
	F(MAX, "max")                                                                              \
	F(COUNT, "count")
enum st_matrix_function {
#define F(id, name) ST_MATRIX_##id,
	ST_MATRIX_FUNCTIONS(F)
#undef F
	        ST_MATRIX_FUNCTION_COUNT
};

struct st_matrix_choice {
	const char *name;   /* of the profile, for messages */
	const char *metric; /* NULL: the first */
	const char *of;     /* only these locations, a name or shell pattern; NULL: all */
	const char *per;    /* a feature; NULL: the usual one */
	enum st_matrix_function function;
	size_t top; /* rows; 0: all */
};

struct st_matrix {
	ST_VEC(char *) rows; /* names, the one with the greatest sum first */
	double *x;           /* ascending */
	size_t n;            /* of them */
	double *values;      /* values[row * n + i]; NAN: none */
	char *metric, *unit, *x_name;
	const char *x_unit;
	bool adds_up;    /* rows are parts of one whole */
	bool others;     /* the last row stands for all that has no row of its own */
	size_t left_out; /* locations that have no row */
};

/* Of repeated measurements. -1 with *e: there are none that fit, or memory is exhausted. The caller
 * frees in both cases. */
st_status st_matrix_of_series(struct st_matrix *m, const struct st_profile *p,
                              const struct st_matrix_choice *choice, struct st_error *e);
/* The live heap memory at each snapshot, by the function that asked for it; rows add up to all that
 * was live. */
st_status st_matrix_of_memory(struct st_matrix *m, const struct st_profile *p,
                              const struct st_matrix_choice *choice, struct st_error *e);
/* Whichever the profile has. */
st_status st_matrix_make(struct st_matrix *m, const struct st_profile *p,
                         const struct st_matrix_choice *choice, struct st_error *e);
void st_matrix_free(struct st_matrix *m);

/* Each value becomes the sum of all up to it. */
void st_matrix_accumulate(struct st_matrix *m);
/* At most `most` of the x, at regular distances, the first and the last among them. */
void st_matrix_thin(struct st_matrix *m, size_t most);

/* Inside: keeps the choice->top rows with the greatest sums, in that order; those that are left out
 * are added to a last row if that means something. -1: memory is exhausted. */
st_status st_matrix_cut(struct st_matrix *m, size_t top, bool sums);

#endif
