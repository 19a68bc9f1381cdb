/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_REPORT_PAGE_SHARES_H
#define STROBE_REPORT_PAGE_SHARES_H

#include <jansson.h>

#include "profile/profile.h"

/* For each process: its numbers, and those of its functions by their place in the page's list, of
 * which `order` has the first n. NULL: no memory. */
json_t *st_page_shares(const struct st_profile *p, const uint32_t *order, size_t n);

#endif
