/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe report: campaigns of strobe blow compared with each other, for the page. */
#ifndef STROBE_CLI_REPORT_CAMPAIGNS_H
#define STROBE_CLI_REPORT_CAMPAIGNS_H

#include <jansson.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/profile.h"

/* Profiles of strobe blow, and which result of the page each is. */
struct st_report_campaigns {
	ST_VEC(const char *) files;
	ST_VEC(size_t) results;
};

/* Takes note of the file if the profile is of strobe blow. ST_FAILED with *e: memory is exhausted.
 */
st_status st_report_note_campaign(struct st_report_campaigns *all, const struct st_profile *p,
                                  const char *file, size_t result, struct st_error *e);
/* Compares each pair of the first ten, and adds what comes of it to the page. ST_FAILED with *e: a
 * file cannot be read any more, or memory is exhausted. */
st_status st_report_add_campaigns(json_t *page, const struct st_report_campaigns *all,
                                  struct st_error *e);
void st_report_campaigns_free(struct st_report_campaigns *all);

#endif
