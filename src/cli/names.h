/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of functions that options have, with commas between them, and the contexts that --under and
 * --calls choose by them. */
#ifndef STROBE_CLI_NAMES_H
#define STROBE_CLI_NAMES_H

#include "base/status.h"
#include "session/region.h"

struct st_names {
	struct st_patterns under, calls;
};

/* A sentence for each name of --under and --calls that no function of any of the profiles has. -1
 * with *e when no name of one of them has. */
st_status st_names_unknown(const struct st_names *n, const struct st_profile *const *profiles,
                           size_t n_profiles, void (*say)(FILE *out, const char *sentence),
                           FILE *out, struct st_error *e);
/* The sentence as a line of strobe's. */
void st_names_say(FILE *out, const char *sentence);
void st_names_free(struct st_names *n);

#endif
