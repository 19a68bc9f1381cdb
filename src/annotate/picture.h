/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pictures of an annotated metric: the records are points over one feature. Each condition has a
 * panel, with the curve and the band of each mode. Of a second feature on which the
 * models depend, there are curves for its least, its median and its greatest value; all further
 * features have their medians.
 */
#ifndef STROBE_ANNOTATE_PICTURE_H
#define STROBE_ANNOTATE_PICTURE_H

#include "annotate/annotation.h"
#include "annotate/records.h"

enum { ST_ANN_CURVE = 65, ST_ANN_LEVELS = 3 };

struct st_ann_point {
	double x, y;
	double residual; /* y minus the mean of the point's mode; NAN: it has none */
	size_t mode;     /* the most probable one, of the panel's condition */
	size_t row;      /* of the records */
};

struct st_ann_curve {
	size_t mode;
	double weight; /* the probability of the mode; NAN: it is the only one */
	double level;  /* of the second feature; NAN: the mode does not depend on one */
	/* The mean and the central 95 % of the calls at x; NAN: it has no spread. */
	double x[ST_ANN_CURVE], y[ST_ANN_CURVE], low[ST_ANN_CURVE], high[ST_ANN_CURVE];
};

struct st_ann_panel {
	const struct st_ann_expr *condition; /* NULL: none, or `rest` */
	bool rest;                           /* the records for which no condition holds */
	size_t modes;
	ST_VEC(struct st_ann_point) points;
	ST_VEC(struct st_ann_curve) curves;
};

struct st_ann_picture {
	const struct st_ann_feature *x; /* NULL: there is none, x is the number of the record */
	const struct st_ann_feature *second; /* NULL: none */
	bool others; /* the models depend on further features, which have their medians */
	ST_VEC(struct st_ann_panel) panels;
	/* The share of the records that lie in the central 95 % of what is predicted for them; NAN:
	 * the models have no spread, or no record has a prediction. */
	double passed;
	size_t judged;
};

/* Makes the picture of a metric. a: an annotation whose names the features have, by path or by
 * name; NULL: points without models. x: the name of a feature; NULL: the one by which the models
 * change most. ST_FAILED with *e: there is no such feature, or memory is exhausted. The caller
 * frees `out` in both cases, before the annotation and the records. */
st_status st_ann_picture_make(const struct st_ann_annotation *a, const struct st_ann_records *r,
                              size_t metric, const char *x, struct st_ann_picture *out,
                              struct st_error *e);
void st_ann_picture_free(struct st_ann_picture *p);

#endif
