/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records with a known law, for tests of the analysis. No clock is read. */
#ifndef STROBE_TESTS_ANNOTATE_LAWS_H
#define STROBE_TESTS_ANNOTATE_LAWS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/analyse.h"
#include "base/random.h"
#include "base/text.h"

static uint64_t laws_state;

/* Returns a uniform value above 0 and up to 1. */
static inline double
laws_uniform(void)
{
	return ((double)(st_random_next(&laws_state) >> 11) + 1) / 9007199254740992.0;
}

static inline double
laws_normal(void)
{
	return sqrt(-2 * log(laws_uniform())) * cos(2 * M_PI * laws_uniform());
}

static inline double
laws_exponential(double mean)
{
	return -mean * log(laws_uniform());
}

/* A text of columns that is filled row by row. */
struct laws {
	struct st_text text;
};

static inline void
laws_begin(struct laws *l, const char *names)
{
	*l = (struct laws){0};
	laws_state = 1;
	fprintf(st_text_begin(&l->text), "%s\n", names);
}

__attribute__((format(printf, 2, 3))) static inline void
laws_row(struct laws *l, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vfprintf(l->text.out, format, ap);
	va_end(ap);
	putc('\n', l->text.out);
}

/* Ends the text and reads its records of a metric, given as for --metrics. */
static inline struct st_ann_data
laws_take(struct laws *l, const char *metric)
{
	const char *const metrics[] = {metric};
	const struct st_ann_columns columns = {.function = "f", .metrics = metrics, .n = 1};
	struct st_ann_data d = {0};
	struct st_error e = {0};
	const size_t n = (fflush(l->text.out), l->text.n);
	char *text = st_text_end(&l->text);
	if (st_ann_data_take(&d, text, n, "t", &columns, &e))
		fail_msg("%s", e.text);
	free(text);
	return d;
}

/* Analyses a metric, given as for --metrics. */
static inline struct st_ann_annotation
laws_analyse(struct laws *l, const char *metric)
{
	const struct st_ann_options options = {0};
	struct st_ann_data d = laws_take(l, metric);
	struct st_ann_annotation a;
	struct st_error e = {0};
	if (st_ann_analyse(&d.functions.v[0], 0, &options, &a, &e))
		fail_msg("%s", e.text);
	st_ann_data_free(&d);
	return a;
}

/* Prints an expression; digits: as for st_ann_expr_print. */
static inline const char *
laws_text(const struct st_ann_expr *x, int digits)
{
	static char text[512];
	FILE *out = fmemopen(text, sizeof text, "w");
	if (x)
		st_ann_expr_print(x, out, digits);
	putc(0, out);
	fclose(out);
	return text;
}

/* Coefficients of a sum. */
struct laws_sum {
	size_t n;
	double v[32];
};

static inline st_status
laws_addend(void *arg, double coefficient, const struct st_ann_expr *term)
{
	struct laws_sum *s = arg;
	(void)term;
	s->v[s->n++] = coefficient;
	return ST_OK;
}

static inline struct laws_sum
laws_coefficients(const struct st_ann_expr *x)
{
	struct laws_sum s = {0};
	assert_false(st_ann_each_addend(x, laws_addend, &s));
	return s;
}

#endif
