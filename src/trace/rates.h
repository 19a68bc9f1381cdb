/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of which functions one of how many calls is timed: --every. */
#ifndef STROBE_TRACE_RATES_H
#define STROBE_TRACE_RATES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/status.h"
#include "base/vec.h"
#include "symbol/symbol.h"

struct st_profile;
struct st_region;

enum { ST_TRACE_MOST_EVERY = 1000000 };

/* All zeros: all calls are timed. */
struct st_trace_rates {
	ST_VEC(struct st_trace_rate {
		char *pattern; /* malloc'ed; NULL: all functions */
		uint32_t every;
		uint64_t matched; /* functions */
	})
	rates;
};

/* "N", or "PATTERN=N". 0, or -1 with *e. */
st_status st_trace_rates_add(struct st_trace_rates *r, const char *value, struct st_error *e);
void st_trace_rates_free(struct st_trace_rates *r);
/* One of how many calls of the function is timed: what was added last of all that fits it. */
uint32_t st_trace_rate_of(struct st_trace_rates *r, const struct st_function *f);
/* Are there functions whose calls are not all timed? */
bool st_trace_rates_sample(const struct st_trace_rates *r);
/* Notes the patterns that have fitted no function that was asked for, and names that are near them
 * in the region's images. */
void st_trace_rates_note(const struct st_trace_rates *r, const struct st_region *region,
                         struct st_profile *p);
/* Is there a pattern of that kind? */
bool st_trace_rates_miss(const struct st_trace_rates *r);

#endif
