/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe report: comparisons of repeated measurements, for the page. */
#ifndef STROBE_CLI_REPORT_CHECK_H
#define STROBE_CLI_REPORT_CHECK_H

#include <jansson.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/profile.h"

/* Profiles with repeated measurements, and which result of the page each is. */
struct st_report_measured {
	ST_VEC(struct st_profile *) profiles;
	ST_VEC(size_t) results;
	size_t left_out; /* number of profiles that are too many */
};

/* Keeps the profile if it has repeated measurements, and frees it otherwise. ST_FAILED with *e:
 * memory is exhausted; the profile is freed then, too. */
st_status st_report_keep_measured(struct st_report_measured *all, struct st_profile *p,
                                  size_t result, struct st_error *e);
/* Compares each pair of them, and adds the findings and values to the page. ST_FAILED with *e:
 * memory is exhausted. */
st_status st_report_add_checks(json_t *page, const struct st_report_measured *all,
                               struct st_error *e);
void st_report_measured_free(struct st_report_measured *all);

#endif
