/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "report/blow.h"
#include "report/json.h"

/* Takes the value over, as json_object_set_new does. */
#define SET(object, key, value) bad |= json_object_set_new(object, key, value)
#define APPEND(array, value) bad |= json_array_append_new(array, value)

static const char *
forecast_text(enum st_blow_forecast_state state)
{
	static const char noisy[] = "cannot tell: the measured gains are too noisy; make more runs "
	                            "with --repeat, or on an idle machine";
	static const char *const texts[] = {
	        [ST_BLOW_FORECAST_MEASURED] = "measured",
	        [ST_BLOW_FORECAST_BETWEEN] = "between measured speed-ups",
	        [ST_BLOW_FORECAST_NOT_MEASURED] = "not measured: no speed-up as great was tried",
	        [ST_BLOW_FORECAST_NOISY] = noisy,
	        [ST_BLOW_FORECAST_ABOVE_ALL] =
	                "cannot tell: the gains add up to the whole time, so the functions overlap",
	};
	return texts[state];
}

/* The gain in the terms of the point: for a function, as an increase of calls per second. */
static struct st_blow_gain
gain_of_forecast(const struct st_blow *b, uint32_t point, const struct st_blow_forecast *f)
{
	const struct st_blow_gain gain = {0, f->at, f->low, f->high, false};
	return st_blow_point_gain(b, point, gain);
}

/* ---- text ---- */

static void
print_forecast(const struct st_blow *b, uint32_t point, const struct st_blow_forecast *f, FILE *out)
{
	const struct st_blow_gain g = gain_of_forecast(b, point, f);
	if (isnan(g.at)) {
		fprintf(out, "%s\n", forecast_text(f->state));
		return;
	}
	fprintf(out, "%.1f %% (%.1f to ", g.at * 100, g.low * 100);
	if (isnan(g.high))
		fputs("unknown", out);
	else
		fprintf(out, "%.1f", g.high * 100);
	fprintf(out, "), %s\n", forecast_text(f->state));
}

static st_status
print_what_if_of(const struct st_blow *b, uint32_t point, const struct st_blow_wishes *w, FILE *out)
{
	struct st_blow_forecast f;
	if (st_blow_forecast_all(b, point, w, &f))
		return ST_FAILED;
	fputs("  ", out);
	st_blow_point_print(b, point, out);
	fputs(": ", out);
	print_forecast(b, point, &f, out);
	for (size_t i = 0; i < w->list.n && w->list.n > 1; i++) {
		if (st_blow_forecast_one(b, point, &w->list.v[i], &f))
			return ST_FAILED;
		fprintf(out, "    %s alone: ", b->functions.v[w->list.v[i].function].name);
		print_forecast(b, point, &f, out);
	}
	return ST_OK;
}

st_status
st_blow_what_if_print(const struct st_blow *b, const struct st_blow_wishes *w, FILE *out)
{
	fputs("\nforecast if ", out);
	for (size_t i = 0; i < w->list.n; i++)
		fprintf(out, "%s%s were %g %% faster", i ? " and " : "",
		        b->functions.v[w->list.v[i].function].name, w->list.v[i].percent);
	fputs(", with 95 % intervals:\n", out);
	for (size_t i = 0; i < st_blow_points(b); i++)
		if (print_what_if_of(b, st_blow_point_at(b, i), w, out))
			return ST_FAILED;
	if (w->list.n > 1)
		fputs("  The sum assumes that none of the functions calls another one, and that "
		      "they do not run at the same time.\n",
		      out);
	return ST_OK;
}

/* ---- JSON ---- */

/* Adds the forecast to the object. */
static int
json_forecast(json_t *out, const struct st_blow *b, uint32_t point,
              const struct st_blow_forecast *f)
{
	const struct st_blow_gain g = gain_of_forecast(b, point, f);
	int bad = 0;
	SET(out, "gain", st_json_real(g.at));
	SET(out, "lo", st_json_real(g.low));
	SET(out, "hi", st_json_real(g.high));
	SET(out, "state", json_string(forecast_text(f->state)));
	return bad;
}

static json_t *
json_what_if_function(const struct st_blow *b, uint32_t point, const struct st_blow_wish *wish)
{
	struct st_blow_forecast f;
	json_t *out = json_object();
	int bad = st_blow_forecast_one(b, point, wish, &f);
	SET(out, "function", st_json_text(b->functions.v[wish->function].name));
	SET(out, "speedup", json_real(wish->percent / 100));
	if (!bad)
		bad = json_forecast(out, b, point, &f);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
json_what_if_point(const struct st_blow *b, uint32_t point, const struct st_blow_wishes *w)
{
	struct st_blow_forecast f;
	json_t *out = json_object(), *functions = json_array();
	int bad = st_blow_forecast_all(b, point, w, &f);
	SET(out, "progress", st_json_text(st_blow_point_name(b, point)));
	if (!bad)
		bad = json_forecast(out, b, point, &f);
	for (size_t i = 0; i < w->list.n; i++)
		APPEND(functions, json_what_if_function(b, point, &w->list.v[i]));
	SET(out, "functions", functions);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

json_t *
st_blow_what_if_json(const struct st_blow *b, const struct st_blow_wishes *w)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < st_blow_points(b); i++)
		APPEND(out, json_what_if_point(b, st_blow_point_at(b, i), w));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}
