/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/what_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "trace/choose.h"

/* ---- reading ---- */

/* The '%' that ends the first wish: names may have any other '%', '=' and ','. NULL: none does. */
static const char *
end_of_wish(const char *text)
{
	for (const char *at = text; (at = strchr(at, '%')); at++)
		if (!at[1] || at[1] == ',')
			return at;
	return NULL;
}

/* Reads the number between the last '=' and the '%'. */
static bool
read_percent(const char *from, const char *end, double *percent)
{
	const char *rest;
	return from < end && !st_parse_real(from, percent, &rest) && rest == end && *percent > 0 &&
	       *percent <= 100;
}

static const char *
last_equals(const char *text, const char *end)
{
	while (end > text && *end != '=')
		end--;
	return end > text ? end : NULL;
}

st_status
st_blow_wishes_parse(struct st_blow_wishes *w, const char *text, struct st_error *e)
{
	const char *at = text;
	for (;;) {
		const char *end = end_of_wish(at), *equals = end ? last_equals(at, end) : NULL;
		double percent;
		if (!equals || !read_percent(equals + 1, end, &percent))
			return st_fail(e, ST_EXIT_USAGE,
			               "--what-if takes functions and how much faster they are, "
			               "more than 0 and at most 100 %%, such as 'f=30%%,g=50%%', "
			               "not '%s'",
			               text);
		struct st_blow_wish *wish = ST_PUSH(&w->list);
		if (!wish)
			return st_fail(e, ST_EXIT_FAILED, "no memory left for --what-if");
		*wish = (struct st_blow_wish){at, (size_t)(equals - at), percent, ST_BLOW_NONE};
		if (!end[1])
			return ST_OK;
		at = end + 2;
	}
}

/* ---- functions ---- */

static bool
is_wished(const struct st_blow_function *f, const char *name)
{
	const struct st_function named = {.name = f->name};
	return f->chosen && (!strcmp(f->raw_name, name) || !strcmp(f->name, name) ||
	                     st_trace_is_named(&named, name));
}

static st_status
find_wished(struct st_blow_wish *wish, const struct st_blow *b, const char *name,
            struct st_error *e)
{
	size_t n = 0;
	for (uint32_t i = 0; i < b->functions.n; i++)
		if (is_wished(&b->functions.v[i], name)) {
			wish->function = i;
			n++;
		}
	if (n == 1)
		return ST_OK;
	return n ? st_fail(e, ST_EXIT_USAGE,
	                   "--what-if: %zu functions have the name '%s': use the name of the "
	                   "symbol, which --format json shows",
	                   n, name)
	         : st_fail(e, ST_EXIT_USAGE,
	                   "--what-if: the campaign did not make '%s' faster: use the names in its "
	                   "table, or measure the function with --funcs",
	                   name);
}

st_status
st_blow_wishes_find(struct st_blow_wishes *w, const struct st_blow *b, struct st_error *e)
{
	if (!b->causal)
		return st_fail(e, ST_EXIT_USAGE,
		               "--what-if needs a campaign of --mode causal: this one made "
		               "functions slower, which does not tell what faster ones bring");
	for (size_t i = 0; i < w->list.n; i++) {
		struct st_blow_wish *wish = &w->list.v[i];
		char *name = strndup(wish->name, wish->length);
		st_status status =
		        name ? find_wished(wish, b, name, e)
		             : st_fail(e, ST_EXIT_FAILED, "no memory left for --what-if");
		for (size_t k = 0; k < i && !status; k++)
			if (w->list.v[k].function == wish->function)
				status = st_fail(
				        e, ST_EXIT_USAGE,
				        "--what-if names '%s' twice: leave out one of them", name);
		free(name);
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- forecasts ---- */

/* A point of the curve of a function: the gain at a speed-up. */
struct curve_point {
	double percent, at, low, high;
};

static double
between(double a, double b, double part)
{
	return a + (b - a) * part;
}

static struct st_blow_forecast
forecast_between(const struct curve_point *a, const struct curve_point *b, double percent)
{
	const double part = (percent - a->percent) / (b->percent - a->percent);
	return (struct st_blow_forecast){percent < b->percent ? ST_BLOW_FORECAST_BETWEEN
	                                                      : ST_BLOW_FORECAST_MEASURED,
	                                 between(a->at, b->at, part), between(a->low, b->low, part),
	                                 between(a->high, b->high, part)};
}

/* Gains without an interval, and those that leave all open that is possible, tell nothing. */
static void
drop_if_unknown(const struct st_blow *b, uint32_t point, double most, struct st_blow_forecast *f)
{
	const double limit = fmin(st_blow_most_gain(b, point, most), 1);
	if (f->state < ST_BLOW_FORECAST_NOT_MEASURED &&
	    (isnan(f->low) || (f->low <= 0 && f->high >= limit)))
		*f = (struct st_blow_forecast){ST_BLOW_FORECAST_NOISY, NAN, NAN, NAN};
}

/* A speed-up whose gain is too noisy is left out, as if it had not been tried. */
st_status
st_blow_forecast_one(const struct st_blow *b, uint32_t point, const struct st_blow_wish *wish,
                     struct st_blow_forecast *out)
{
	struct curve_point before = {0}; /* no speed-up brings no gain */
	*out = (struct st_blow_forecast){ST_BLOW_FORECAST_NOT_MEASURED, NAN, NAN, NAN};
	for (uint64_t percent = 1; percent <= 100; percent++) {
		struct st_blow_gain g;
		if (st_blow_find_gain(b, point, wish->function, percent, &g))
			return ST_FAILED;
		if (g.noisy && (double)percent >= wish->percent)
			out->state = ST_BLOW_FORECAST_NOISY;
		if (isnan(g.at))
			continue;
		const struct curve_point after = {(double)percent, g.at, g.low, g.high};
		if (after.percent >= wish->percent) {
			*out = forecast_between(&before, &after, wish->percent);
			drop_if_unknown(b, point, wish->percent / 100, out);
			return ST_OK;
		}
		before = after;
	}
	return ST_OK;
}

st_status
st_blow_forecast_all(const struct st_blow *b, uint32_t point, const struct st_blow_wishes *w,
                     struct st_blow_forecast *out)
{
	double most = 0;
	*out = (struct st_blow_forecast){.state = ST_BLOW_FORECAST_MEASURED};
	for (size_t i = 0; i < w->list.n; i++) {
		struct st_blow_forecast one;
		if (st_blow_forecast_one(b, point, &w->list.v[i], &one))
			return ST_FAILED;
		if (one.state > out->state)
			out->state = one.state;
		out->at += one.at;
		out->low += one.low;
		out->high += one.high;
		most += w->list.v[i].percent / 100;
	}
	if (out->state < ST_BLOW_FORECAST_NOT_MEASURED && out->at >= 1)
		out->state = ST_BLOW_FORECAST_ABOVE_ALL;
	out->high = isnan(out->high) ? NAN : fmin(out->high, 1);
	drop_if_unknown(b, point, most, out);
	if (out->state >= ST_BLOW_FORECAST_NOT_MEASURED)
		out->at = out->low = out->high = NAN;
	return ST_OK;
}
