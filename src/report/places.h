/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The images of a profile as they were when the program ran, for what the profile does not hold. */
#ifndef STROBE_REPORT_PLACES_H
#define STROBE_REPORT_PLACES_H

#include <stdbool.h>

#include "base/status.h"
#include "profile/profile.h"
#include "symbol/symbol.h"

struct st_places {
	const struct st_profile *profile;
	struct st_opened {
		struct st_image *image; /* NULL: cannot be read, or is another file by now */
		struct st_error why;
		bool tried;
	} * opened; /* one for each image of the profile */
};

/* -1 when memory is exhausted. */
st_status st_places_open(struct st_places *places, const struct st_profile *profile);
void st_places_close(struct st_places *places);

/* An image of the profile, opened on first use; NULL and *why when it cannot be had as it was. */
struct st_image *st_places_image(struct st_places *places, uint32_t image, const char **why);

/*
 * Where the code of each source line begins that ran, lines being those of one function, or of all
 * when function is UINT32_MAX: offsets[i] is that of the profile's line i, UINT64_MAX when it
 * cannot be told.
 */
void st_places_of_lines(struct st_places *places, uint32_t function, uint64_t *offsets);

#endif
