/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_REPORT_PAGE_SHARES_H
#define STROBE_REPORT_PAGE_SHARES_H

#include <jansson.h>

#include "profile/profile.h"

/* An object for each process, with its counts, and those of the functions that are in the page's
 * list: the first n of `order`. NULL: no memory. */
json_t *st_page_shares(const struct st_profile *p, const uint32_t *order, size_t n);

#endif
