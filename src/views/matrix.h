/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A metric by location over a feature of repeated measurements, or live memory by function over
 * time: the data of bars, flows and heat maps. */
#ifndef STROBE_VIEWS_MATRIX_H
#define STROBE_VIEWS_MATRIX_H

#include "base/error.h"
#include "mem/mem.h"
#include "plot/charts.h"
#include "profile/profile.h"

/* Functions that summarize several values at one location and x. F(identifier, "name") */
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
	const char *name;   /* of the profile in messages */
	const char *metric; /* NULL: that of the first series */
	const char *of;     /* a name or shell pattern; NULL: all locations */
	const char *per;    /* a feature; NULL: st_series_default_feature */
	enum st_matrix_function function;
	bool addresses; /* of memory: rows are ranges of addresses */
	size_t top;     /* rows; 0: all */
};

struct st_matrix {
	ST_VEC(char *) rows; /* names, the one with the greatest sum first */
	double *x;           /* ascending */
	size_t n;            /* number of x */
	double *values;      /* values[row * n + i]; NAN: none */
	/* Indexed as values are: of means and medians of several values. NULL: the values are
	 * others, or each is of one value only. */
	struct st_plot_value *spread;
	char *metric, *unit, *x_name;
	const char *x_unit;
	bool adds_up;         /* rows are parts of one total: live memory */
	bool others;          /* the last row is the sum of all locations without a row */
	size_t left_out;      /* number of locations without a row */
	uint64_t range_bytes; /* of a row, if rows are ranges of addresses; 0: they are not */
};

/* Makes the matrix of repeated measurements. ST_FAILED with *e: no measurement fits, or memory is
 * exhausted. The caller frees in both cases. */
st_status st_matrix_of_series(struct st_matrix *m, const struct st_profile *p,
                              const struct st_matrix_choice *choice, struct st_error *e);
/* Makes the matrix of the live heap memory at each snapshot, by the function that asked for it;
 * rows add up to the live total. */
st_status st_matrix_of_memory(struct st_matrix *m, const struct st_profile *p,
                              const struct st_matrix_choice *choice, struct st_error *e);
/* Fills the matrix of the live heap memory, for st_matrix_of_memory: a row is a range of addresses.
 * With more than `top` ranges, they are made longer, so that the sums stay. */
st_status st_matrix_of_addresses(struct st_matrix *m, const struct st_mem *mem,
                                 const struct st_matrix_choice *choice, struct st_error *e);
/* Makes that of the two matrices for which the profile has data. */
st_status st_matrix_make(struct st_matrix *m, const struct st_profile *p,
                         const struct st_matrix_choice *choice, struct st_error *e);
void st_matrix_free(struct st_matrix *m);

/* Replaces each value by the sum of the values of its row up to it, which has no spread. */
void st_matrix_accumulate(struct st_matrix *m);
/* Keeps at most `most` of the x, at regular distances, with the first and the last. */
void st_matrix_thin(struct st_matrix *m, size_t most);
/* Keeps at most `most` of the x: the first, the last, and of each group of neighbours between them
 * the one with the greatest sum of all rows, so that no peak disappears. ST_FAILED: memory is
 * exhausted. */
st_status st_matrix_thin_to_peaks(struct st_matrix *m, size_t most);

/* Internal: returns the row of that name, and adds it if there is none. SIZE_MAX: no memory. */
size_t st_matrix_row(struct st_matrix *m, const char *name);
/* Internal: keeps the top rows (0: all) with the greatest sums, in that order. sums: rows that are
 * left out are added up in a last row, (others). ST_FAILED: memory is exhausted. */
st_status st_matrix_cut(struct st_matrix *m, size_t top, bool sums);

#endif
