/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models that a profile keeps (profile/kept.h), to and from models that can be evaluated. */
#ifndef STROBE_CHECK_KEPT_H
#define STROBE_CHECK_KEPT_H

#include "model/choice.h"
#include "model/ways.h"
#include "profile/profile.h"

/* Identifies a fit: the location, the metric, x, the options and the points. */
struct st_kept_key {
	const char *uid, *metric, *unit, *x;
	const struct st_way_choice *how;
	int64_t points_hash;
};

/* The options of models that nobody chose. */
struct st_way_choice st_kept_default_how(void);

/* A number that differs if the points differ; their order does not matter. */
int64_t st_kept_hash(const struct st_points *points);

/* Adds the answer of one part of the points. ST_FAILED: memory is exhausted. */
st_status st_kept_add(struct st_profile *p, const struct st_kept_key *key,
                      const struct st_choice *c, size_t segment, size_t n_segments,
                      size_t rows_left_out, int64_t time_ns);
/* Removes the answers of the same subject by the same options. ST_FAILED: memory is exhausted. */
st_status st_kept_forget(struct st_profile *p, const struct st_kept_key *key);

/* Whether the answer is of these points, by these options, as one part. */
bool st_kept_fits(const struct st_kept_answer *a, const struct st_kept_key *key);
/* Makes a choice of the answer with this index. ST_FAILED: it has kinds of models that this version
 * does not know, or no models, or a part is missing. */
st_status st_kept_choice(const struct st_kept *k, size_t answer, struct st_choice *out);
/* Looks for the answer of a series by x, NULL: the order of its values, with these options. Returns
 * false if there is none that fits the points. */
bool st_kept_find(const struct st_profile *p, const struct st_series *s, const char *x,
                  const struct st_points *points, struct st_choice *out);
/* Whether a choice between the models was made. */
bool st_kept_is_judged(const struct st_kept_answer *a);
/* The way by its name; ST_WAY_COUNT: unknown. */
enum st_way st_kept_way(const struct st_kept_answer *a);

#endif
