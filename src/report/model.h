/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models for people and for other programs. */
#ifndef STROBE_REPORT_MODEL_H
#define STROBE_REPORT_MODEL_H

#include <jansson.h>

#include "model/choice.h"
#include "model/smooth.h"
#include "model/ways.h"
#include "profile/kept.h"
#include "report/text.h"

/* The subject of a model. */
struct st_model_subject {
	const char *file;
	size_t more_files;
	const char *function; /* NULL: no function */
	const char *x, *y;    /* names of both */
	const char *unit;     /* of y; NULL: unknown */
	size_t left_out;      /* rows without x or y */
};

struct st_model_report {
	const struct st_model_subject *subject;
	const struct st_choice *choice;
	const struct st_kept_answer *kept; /* where the choice comes from; NULL: it is new */
	enum st_way way;
	size_t segment, n_segments; /* of those that the way made */
	struct st_smooth *smooths;  /* evaluating them changes them */
	size_t n_smooths;
	const double *at; /* predict here */
	size_t n_at;
	struct st_style style;
};

void st_model_print(const struct st_model_report *r, FILE *out);
/* The answer and the exponent alone. */
void st_model_print_brief(const struct st_model_report *r, FILE *out);
/* Adds what the document has of one subject to the array `models` and returns its summary, an
 * object. NULL: no memory. */
json_t *st_model_json(const struct st_model_report *r);
/* The whole, malloc'ed. subjects: an array of the above, which is released. */
char *st_model_document(json_t *subjects, struct st_error *e);

/* The answer as one line, such as "quadratic: time grows as n^2". */
void st_model_answer(const struct st_model_report *r, FILE *out);

/* "The model is linear, b0 + b1 x: b0 = 1 (0.5 to 1.5), b1 = ...; r² = 0.999.", or that the points
 * cannot tell. malloc'ed; NULL: no memory. */
char *st_model_caption(const struct st_choice *c);

/* Inside: models without a formula. */
void st_smooth_print(const struct st_model_report *r, FILE *out);
json_t *st_smooth_json(const struct st_model_report *r);

#endif
