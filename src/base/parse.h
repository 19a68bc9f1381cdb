/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers, sizes and times as users write them. Hosted code only. */
#ifndef STROBE_BASE_PARSE_H
#define STROBE_BASE_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* A whole number that is not negative: digits and nothing else. */
st_status st_parse_whole(const char *text, uint64_t *number);
/* The same from low to high, of either sign. */
st_status st_parse_between(const char *text, long low, long high, long *number);
/* A whole number, perhaps with k, M or G behind it, in either case: times 1024, 1024^2, 1024^3. */
st_status st_parse_size(const char *text, uint64_t *number);
/* A number that is finite, and where it ends. */
st_status st_parse_real(const char *text, double *number, const char **end);
/* A time such as 5s or 100ms, in seconds; units are h, m, s, ms and us, and none is seconds. It may
 * be 0 or less. */
st_status st_parse_time(const char *text, double *seconds);

#endif
