/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the timelines of the page have in common. */
#ifndef STROBE_REPORT_PAGE_TIMELINE_H
#define STROBE_REPORT_PAGE_TIMELINE_H

#include <jansson.h>

#include "profile/profile.h"
#include "trace/lanes.h"

/* Slices in a page, at most: a browser draws this many in a tenth of a second, and they take about
 * 2 MB. */
enum { ST_TIMELINE_SLICES = 100000 };

/* The timeline as the page reads it. p: names the threads. functions: of the slices, taken over.
 * NULL: no memory. */
json_t *st_timeline_json(const struct st_lanes *l, const struct st_profile *p, json_t *functions);

#endif
