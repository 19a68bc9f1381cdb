/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/rates.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parse.h"
#include "profile/profile.h"
#include "session/region.h"
#include "trace/choose.h"

/* In names of C++ there may be more of them. */
static const char *
number_in(const char *value)
{
	const char *equals = strrchr(value, '=');
	return equals ? equals + 1 : value;
}

st_status
st_trace_rates_add(struct st_trace_rates *r, const char *value, struct st_error *e)
{
	long every;
	const char *number = number_in(value);
	if (number == value + 1 || st_parse_between(number, 1, ST_TRACE_MOST_EVERY, &every))
		return st_fail(e, ST_EXIT_USAGE,
		               "--every takes a number from 1 to %d, or FUNCTION=N with such a "
		               "number, not '%s'",
		               ST_TRACE_MOST_EVERY, value);
	struct st_trace_rate *rate = ST_PUSH(&r->rates);
	if (!rate)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	rate->every = (uint32_t)every;
	if (number == value)
		return ST_OK;
	rate->pattern = strndup(value, (size_t)(number - 1 - value));
	return rate->pattern ? ST_OK : st_fail(e, ST_EXIT_FAILED, "out of memory");
}

void
st_trace_rates_free(struct st_trace_rates *r)
{
	for (size_t i = 0; i < r->rates.n; i++)
		free(r->rates.v[i].pattern);
	free(r->rates.v);
	*r = (struct st_trace_rates){0};
}

uint32_t
st_trace_rate_of(struct st_trace_rates *r, const struct st_function *f)
{
	uint32_t every = 1;
	for (size_t i = 0; i < r->rates.n; i++) {
		struct st_trace_rate *rate = &r->rates.v[i];
		if (rate->pattern && !st_trace_fits_name(f, rate->pattern))
			continue;
		rate->matched++;
		every = rate->every;
	}
	return every;
}

bool
st_trace_rates_sample(const struct st_trace_rates *r)
{
	for (size_t i = 0; i < r->rates.n; i++)
		if (r->rates.v[i].every > 1)
			return true;
	return false;
}

static bool
has_fitted_nothing(const struct st_trace_rate *rate)
{
	return rate->pattern && !rate->matched;
}

bool
st_trace_rates_miss(const struct st_trace_rates *r)
{
	for (size_t i = 0; i < r->rates.n; i++)
		if (has_fitted_nothing(&r->rates.v[i]))
			return true;
	return false;
}

void
st_trace_rates_note(const struct st_trace_rates *r, const struct st_region *region,
                    struct st_profile *p)
{
	for (size_t i = 0; i < r->rates.n; i++) {
		const struct st_trace_rate *rate = &r->rates.v[i];
		char question[512];
		if (!has_fitted_nothing(rate))
			continue;
		struct st_nearest_few near = st_region_near(rate->pattern);
		if (!strpbrk(rate->pattern, "*?["))
			st_region_try_functions(region, NULL, &near);
		st_profile_note(p, "--every %s=%u: no traced function has that name%s",
		                rate->pattern, rate->every,
		                st_nearest_question(&near, question, sizeof question));
	}
}
