/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a stored profile says that can be compared: instructions of its functions, which are exact
 * counts, the bytes that they allocated, or else the values of its measurements. Only the columns
 * that are needed are read. */
#ifndef STROBE_STORE_QUANTITIES_H
#define STROBE_STORE_QUANTITIES_H

#include "check/match.h"
#include "store/store.h"

struct st_value_range {
	uint64_t n; /* values; 0: none */
	double least, most, sum;
};

void st_value_range_add(struct st_value_range *to, const struct st_value_range *more);
double st_value_range_mean(const struct st_value_range *s);

struct st_quantities {
	bool exact; /* counts: else values with noise */
	const char *metric;
	struct st_match_image *images;
	size_t n_images;
	struct st_match_function *items; /* functions, or metrics at their locations */
	struct st_value_range *values;   /* of each item */
	size_t n;
	ST_VEC(char *) texts; /* storage of the names */
	/* Of all that tells functions apart. Profiles of one build have the same, and then the same
	 * functions in the same order. */
	struct st_hash identity;
	bool same; /* as the one it was read like: items and images are left out */
};

/* n is 0 when the profile has nothing to compare. like: another profile, of which the names need
 * not be read again; may be NULL. 0, or -1 with *e. The caller frees in both cases. */
st_status st_quantities_read(struct st_store *s, const struct st_stored *p,
                             const struct st_quantities *like, struct st_quantities *out,
                             struct st_error *e);
void st_quantities_free(struct st_quantities *q);
struct st_match_side st_quantities_side(const struct st_quantities *q);

#endif
