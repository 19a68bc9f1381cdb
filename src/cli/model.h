/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of strobe model, and the points that profiles have for them. */
#ifndef STROBE_CLI_MODEL_H
#define STROBE_CLI_MODEL_H

#include "base/vec.h"
#include "model/choice.h"
#include "model/smooth.h"
#include "model/ways.h"
#include "profile/profile.h"

struct st_model_arguments {
	ST_VEC(const char *) files;
	const char *csv, *of, *x, *y;
	struct st_way_choice how;
	ST_VEC(double) at;
	ST_VEC(struct st_smooth_choice) smooths;
	const char *fit_option; /* the last option that changes how models are fitted; NULL: none */
	bool save, kept, json, help;
};

/* Whether a name is the one that was asked for, or fits its pattern. */
bool st_model_is_name(const char *asked, const char *name);

/* A series of one of the profiles. */
struct st_model_entry {
	char *uid;
	char *variant; /* entries that differ in it are of different series; NULL: "" */
	const struct st_series *series;
	size_t order, group; /* of all series; of the first one that belongs to it */
};

/* Those that --of and --y name; those of one location, metric and unit stand together, in the order
 * of the profiles. */
struct st_model_entries {
	ST_VEC(struct st_model_entry) list;
};

/* Fails when memory is exhausted. The caller frees in both cases. */
st_status st_model_add_entries(struct st_model_entries *entries, const struct st_model_arguments *a,
                               const struct st_profile *p);
void st_model_sort_entries(struct st_model_entries *entries);
/* The number of entries from this one on that belong together. */
size_t st_model_group(const struct st_model_entries *entries, size_t first);
void st_model_free_entries(struct st_model_entries *entries);

struct st_model_series {
	const char *uid, *x_name, *y_name, *unit;
	double *x, *y;
	size_t n, left_out;
};

/* The points of a group. Fails with *e when it does not have the feature, or memory is exhausted;
 * the caller frees in both cases. */
st_status st_model_take_series(const struct st_model_arguments *a,
                               const struct st_model_entry *group, size_t n,
                               struct st_model_series *out, struct st_error *e);
void st_model_free_series(struct st_model_series *s);

#endif
