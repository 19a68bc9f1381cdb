/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress points and forecasts, on runs with invented times, so that each gain is known exactly.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "blow/points.h"
#include "printed.h"
#include "profile/profile.h"
#include "session/region.h"

enum { F, G, POINT, FUNCTIONS };

static bool
is_near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static struct st_blow_run *
add_run(struct st_blow *b, uint32_t function, uint64_t percent, uint64_t total_ns)
{
	struct st_blow_run *r = ST_PUSH(&b->runs);
	assert_non_null(r);
	*r = (struct st_blow_run){
	        .function = function, .noise = {ST_BLOW_VIRTUAL, percent}, .total_ns = total_ns};
	return r;
}

static void
add_sample(struct st_blow_run *r, uint32_t function, uint32_t thread, uint64_t calls, uint64_t paid)
{
	struct st_blow_sample *s = ST_PUSH(&r->samples);
	assert_non_null(s);
	*s = (struct st_blow_sample){
	        .function = function, .thread = thread, .calls = calls, .noise_ns = paid};
	st_blow_sort_samples(r);
}

/* A run whose first thread has paid `paid`; the point was called ten times by two threads, of which
 * one has paid less. */
static void
add_virtual(struct st_blow *b, uint32_t function, uint64_t percent, uint64_t total, uint64_t paid)
{
	struct st_blow_run *r = add_run(b, function, percent, total);
	add_sample(r, function, 0, 1, paid);
	add_sample(r, POINT, 1, 6, paid / 2);
	add_sample(r, POINT, 2, 4, paid + 50000);
}

static struct st_blow
campaign_of(uint64_t differs)
{
	static const char *const names[] = {"f", "g(int)", "point"};
	struct st_blow b = {.causal = true};
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct st_blow_function *f = ST_PUSH(&b.functions);
		*f = (struct st_blow_function){.name = names[i],
		                               .raw_name = i == G ? "_Z1gi" : names[i],
		                               .image = "/bin/p",
		                               .chosen = i != POINT,
		                               .progress = i == POINT ? ST_BLOW_CALLS
		                                                      : ST_BLOW_NO_POINT,
		                               .calls = 10};
	}
	for (uint64_t i = 0; i < 4; i++) {
		struct st_blow_run *r = add_run(&b, ST_BLOW_NONE, 0, 1000000 + differs * (i % 2));
		add_sample(r, POINT, 1, 10, 0);
	}
	add_virtual(&b, F, 25, 1000000, 100000);
	add_virtual(&b, F, 50, 1100000, 300000);
	add_virtual(&b, G, 25, 1000000, 50000);
	return b;
}

/* ---- progress points ---- */

static void
test_points(void **state)
{
	struct st_blow b = campaign_of(0);
	(void)state;
	assert_int_equal(st_blow_points(&b), 2);
	assert_int_equal(st_blow_point_at(&b, 0), POINT);
	assert_int_equal(st_blow_point_at(&b, 1), ST_BLOW_NONE);
	assert_string_equal(st_blow_point_name(&b, POINT), "point");
	assert_string_equal(st_blow_point_name(&b, ST_BLOW_NONE), "end of the run");
	b.cut = true;
	assert_int_equal(st_blow_points(&b), 1);
	b.functions.v[POINT].progress = ST_BLOW_NO_POINT;
	b.cut = false;
	assert_int_equal(st_blow_points(&b), 1);
	assert_int_equal(st_blow_point_at(&b, 0), ST_BLOW_NONE);
	st_blow_free(&b);
}

/* The end of the run counts what the first thread has paid; a function, the greatest payment of a
 * thread that has called it. */
static void
test_gains(void **state)
{
	struct st_blow b = campaign_of(0);
	struct st_blow_gain g;
	(void)state;
	assert_int_equal(st_blow_find_gain(&b, ST_BLOW_NONE, F, 25, &g), ST_OK);
	assert_true(is_near(g.at, 0.1) && is_near(g.low, 0.1) && is_near(g.high, 0.1));
	assert_int_equal(st_blow_find_gain(&b, POINT, F, 25, &g), ST_OK);
	assert_true(is_near(g.at, 0.15));
	g = st_blow_throughput_of(g);
	assert_true(is_near(g.at, 0.15 / 0.85));
	assert_int_equal(st_blow_find_gain(&b, POINT, F, 75, &g), ST_OK);
	assert_true(g.runs == 0 && isnan(g.at));
	const struct st_blow_rate rate = st_blow_rate_of(&b, POINT);
	assert_int_equal(rate.runs, 4);
	assert_true(is_near(rate.at, 10000) && is_near(rate.sd, 0));
	st_blow_free(&b);
}

/* A gain or a loss that exceeds the speed-up is noise, and so is the interval of one run where runs
 * differ by 10 %. */
static void
test_noisy(void **state)
{
	static const struct {
		uint64_t total, differs;
		bool noisy, interval;
	} cases[] = {{1100000, 0, false, true}, /* gain 20 % by 50 % */
	             {750000, 0, true, false},  /* 55 % */
	             {1850000, 0, true, false}, /* -55 % */
	             {1780000, 0, false, true}, /* -48 % */
	             {1100000, 400000, false, false}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct st_blow b = campaign_of(cases[i].differs);
		struct st_blow_gain g;
		for (size_t k = 0; k < b.runs.n; k++)
			if (b.runs.v[k].function == F && b.runs.v[k].noise.strength == 50)
				b.runs.v[k].total_ns = cases[i].total;
		assert_int_equal(st_blow_find_gain(&b, ST_BLOW_NONE, F, 50, &g), ST_OK);
		assert_int_equal(g.runs, 1);
		assert_int_equal(g.noisy, cases[i].noisy);
		assert_int_equal(isnan(g.at), cases[i].noisy);
		assert_int_equal(!isnan(g.low), cases[i].interval);
		st_blow_free(&b);
	}
}

/* Intervals end at what is possible: a speed-up of 25 % saves at most 25 %, and no time is less
 * than 0. A gain that chance makes greater than that is shown as that. */
static void
test_cut(void **state)
{
	struct st_blow b = campaign_of(200000), latency = campaign_of(200000);
	struct st_blow_gain g;
	(void)state;
	assert_int_equal(st_blow_estimate_gain(&b, ST_BLOW_NONE, F, 50, &g), ST_OK);
	assert_true(g.high > 0.5 && g.at < 0.5);
	assert_int_equal(st_blow_find_gain(&b, ST_BLOW_NONE, F, 50, &g), ST_OK);
	assert_true(is_near(g.high, 0.5) || isnan(g.high));
	add_virtual(&b, F, 50, 1100000, 300000);
	assert_int_equal(st_blow_find_gain(&b, ST_BLOW_NONE, F, 50, &g), ST_OK);
	assert_true(g.high <= 0.5 && g.low >= -0.5 && g.low < g.at);
	/* 55 % by 50 %, but with a wide interval. */
	add_virtual(&b, G, 50, 480000, 0);
	add_virtual(&b, G, 50, 540000, 0);
	assert_int_equal(st_blow_find_gain(&b, ST_BLOW_NONE, G, 50, &g), ST_OK);
	assert_true(!g.noisy && is_near(g.at, 0.5) && is_near(g.high, 0.5) && g.low < 0.5);
	assert_int_equal(st_blow_find_control(&b, ST_BLOW_NONE, &g), ST_OK);
	assert_true(!(g.high > 1));
	assert_true(is_near(st_blow_most_gain(&b, ST_BLOW_NONE, 0.25), 0.25));
	latency.functions.v[POINT].progress = ST_BLOW_LATENCY;
	assert_true(is_near(st_blow_most_gain(&latency, POINT, 0.25), 1));
	st_blow_free(&b);
	st_blow_free(&latency);
}

static bool
is_dot(const struct st_blow_dot *d, double x, double y)
{
	return is_near(d->x, x) && is_near(d->y, y);
}

/* A line for each function, from (0, 0) on, with the gain at the progress point. */
static void
test_curves(void **state)
{
	struct st_blow b = campaign_of(0);
	struct st_blow_curves c;
	(void)state;
	assert_int_equal(st_blow_curves_make(&b, ST_BLOW_NONE, NULL, SIZE_MAX, &c), ST_OK);
	assert_int_equal(c.lines.n, 2);
	assert_int_equal(c.points.n, 5);
	assert_string_equal(c.y, "decrease of the run time in %");
	const struct st_blow_line *f = &c.lines.v[c.lines.v[0].function == F ? 0 : 1];
	assert_int_equal(f->n, 3);
	assert_int_equal(f->thread, ST_BLOW_NONE);
	assert_true(is_dot(&c.points.v[f->first], 0, 0));
	assert_true(is_dot(&c.points.v[f->first + 1], 25, 10));
	assert_true(is_dot(&c.points.v[f->first + 2], 50, 20));
	assert_true(is_near(c.points.v[f->first + 1].low, 10));
	assert_true(isnan(c.points.v[f->first].low));
	/* Up to a speed-up: the end of the line of F; none: no line at all. */
	st_blow_curves_cut(&c, 25);
	assert_int_equal(c.lines.n, 2);
	assert_int_equal(c.points.n, 4);
	f = &c.lines.v[c.lines.v[0].function == F ? 0 : 1];
	assert_int_equal(f->n, 2);
	assert_true(is_dot(&c.points.v[f->first], 0, 0));
	assert_true(is_dot(&c.points.v[f->first + 1], 25, 10));
	st_blow_curves_cut(&c, 24.9);
	assert_int_equal(c.lines.n + c.points.n, 0);
	st_blow_curves_free(&c);
	assert_int_equal(st_blow_curves_make(&b, POINT, "g*", SIZE_MAX, &c), ST_OK);
	assert_int_equal(c.lines.n, 1);
	assert_int_equal(c.lines.v[0].function, G);
	assert_true(is_dot(&c.points.v[1], 25, 100 * 0.1 / 0.9));
	st_blow_curves_free(&c);
	assert_int_equal(st_blow_curves_make(&b, POINT, NULL, 1, &c), ST_OK);
	assert_int_equal(c.lines.n, 1);
	st_blow_curves_free(&c);
	st_blow_free(&b);
}

/* JSON has the lines of each progress point. */
static void
test_curves_json(void **state)
{
	struct st_blow b = campaign_of(0);
	(void)state;
	json_t *out = st_blow_curves_json(&b), *end = json_array_get(out, 1);
	assert_int_equal(json_array_size(out), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(out, 0), "progress")),
	                    "point");
	assert_string_equal(json_string_value(json_object_get(end, "progress")), "end of the run");
	const json_t *line = json_array_get(json_object_get(end, "lines"), 0);
	const json_t *points = json_object_get(line, "points");
	assert_true(json_is_null(json_object_get(line, "thread")));
	assert_int_equal(json_array_size(json_array_get(points, 0)), 2);
	assert_int_equal(json_array_size(json_array_get(points, 1)), 4);
	assert_true(is_near(json_real_value(json_array_get(json_array_get(points, 1), 0)), 25));
	json_decref(out);
	st_blow_free(&b);
}

/* If the interval of the decrease reaches 1, that of the increase has no end. */
static void
test_unknown_end(void **state)
{
	const struct st_blow_view view = {0};
	struct st_blow b = campaign_of(1500000);
	(void)state;
	b.cut = true;
	add_virtual(&b, F, 100, 1000000, 100000);
	add_virtual(&b, F, 100, 1000000, 100000);
	char *written = print_campaign(&b, &view);
	assert_non_null(strstr(written, " to unknown)"));
	assert_null(strstr(written, "nan"));
	free(written);
	st_blow_free(&b);
}

/* Fewer calls in the same time are a loss, and runs without a call have no time. */
static void
test_calls(void **state)
{
	struct st_blow b = campaign_of(0);
	struct st_blow_gain g;
	(void)state;
	struct st_blow_run *r = add_run(&b, G, 50, 1000000);
	add_sample(r, POINT, 1, 5, 0);
	assert_int_equal(st_blow_estimate_gain(&b, POINT, G, 50, &g), ST_OK);
	assert_true(is_near(g.at, -1) && is_near(st_blow_throughput_of(g).at, -0.5));
	add_run(&b, G, 100, 1000000);
	assert_int_equal(st_blow_find_gain(&b, POINT, G, 100, &g), ST_OK);
	assert_true(g.runs == 0 && isnan(g.at));
	add_run(&b, ST_BLOW_NONE, 0, 1000000);
	assert_int_equal(st_blow_rate_of(&b, POINT).runs, 4);
	/* There is no throughput if no time is left. */
	assert_true(isnan(st_blow_throughput_of((struct st_blow_gain){1, 1, 0.5, 1.5, false}).at));
	assert_true(
	        isnan(st_blow_throughput_of((struct st_blow_gain){1, 0.5, 0.5, 1.5, false}).high));
	st_blow_free(&b);
}

static void
test_deviation(void **state)
{
	struct st_blow b = campaign_of(0);
	(void)state;
	while (b.runs.n)
		st_blow_run_clear(&b.runs.v[--b.runs.n]);
	add_sample(add_run(&b, ST_BLOW_NONE, 0, 1000000), 0, 0, 10, 0);
	assert_true(isnan(st_blow_rate_of(&b, 0).sd));
	add_sample(add_run(&b, ST_BLOW_NONE, 0, 1000000), 0, 0, 20, 0);
	add_sample(add_run(&b, ST_BLOW_NONE, 0, 1000000), 0, 0, 30, 0);
	const struct st_blow_rate rate = st_blow_rate_of(&b, 0);
	assert_true(fabs(rate.at - 20000) < 1e-6 && fabs(rate.sd - 10000) < 1e-6);
	st_blow_free(&b);
}

/* Progress points are not made faster, even if they meet the other criteria. */
static void
test_choice(void **state)
{
	struct st_blow b = campaign_of(0);
	const char *names[] = {"po*", "_Z1gi"};
	const struct st_blow_points points = {.calls = {.text = names, .n = 2}};
	const struct st_blow_criteria criteria = {.all = true, .points = &points};
	(void)state;
	assert_int_equal(st_blow_choose(&b, &criteria), 1);
	assert_true(b.functions.v[F].chosen && !b.functions.v[F].progress);
	assert_true(b.functions.v[G].progress && !b.functions.v[G].chosen);
	assert_true(b.functions.v[POINT].progress && !b.functions.v[POINT].chosen);
	b.functions.v[POINT].why = "it is too short";
	assert_int_equal(st_blow_choose(&b, &criteria), 1);
	assert_false(b.functions.v[POINT].progress);
	st_blow_free(&b);
}

static void
test_kept(void **state)
{
	struct st_blow b = campaign_of(0), back;
	struct st_profile *p = st_profile_new();
	struct st_error e;
	(void)state;
	st_profile_add_tool(p, ST_BLOW_TOOL);
	b.cut = true;
	assert_int_equal(st_blow_put(&b, p), ST_OK);
	assert_int_equal(st_blow_read(&back, p, &e), ST_OK);
	assert_true(back.cut && back.causal);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		assert_int_equal(back.functions.v[i].progress, i == POINT);
		assert_int_equal(back.functions.v[i].chosen, i != POINT);
	}
	st_blow_free(&back);
	st_profile_free(p);
	p = st_profile_new();
	st_profile_add_tool(p, ST_BLOW_TOOL);
	b.cut = false;
	assert_int_equal(st_blow_put(&b, p), ST_OK);
	assert_int_equal(st_blow_read(&back, p, &e), ST_OK);
	assert_false(back.cut);
	st_blow_free(&b);
	st_blow_free(&back);
	st_profile_free(p);
}

/* ---- forecasts ---- */

/* The forecast for the progress point. */
static struct st_blow_forecast
forecast(const struct st_blow *b, uint32_t point, const char *text)
{
	struct st_blow_wishes w = {0};
	struct st_blow_forecast out;
	struct st_error e;
	if (st_blow_wishes_parse(&w, text, &e) || st_blow_wishes_find(&w, b, &e))
		fail_msg("%s", e.text);
	assert_int_equal(st_blow_forecast_all(b, point, &w, &out), ST_OK);
	free(w.list.v);
	return out;
}

static void
test_forecasts(void **state)
{
	struct st_blow b = campaign_of(0);
	struct st_blow_forecast f;
	(void)state;
	f = forecast(&b, ST_BLOW_NONE, "f=25%");
	assert_true(f.state == ST_BLOW_FORECAST_MEASURED && is_near(f.at, 0.1));
	f = forecast(&b, ST_BLOW_NONE, "f=30%");
	assert_true(f.state == ST_BLOW_FORECAST_BETWEEN && is_near(f.at, 0.12));
	f = forecast(&b, ST_BLOW_NONE, "f=10%");
	assert_true(f.state == ST_BLOW_FORECAST_BETWEEN && is_near(f.at, 0.04));
	f = forecast(&b, ST_BLOW_NONE, "f=30%,g=25%");
	assert_true(f.state == ST_BLOW_FORECAST_BETWEEN && is_near(f.at, 0.17));
	f = forecast(&b, POINT, "f=25%,g(int)=25%");
	assert_true(f.state == ST_BLOW_FORECAST_MEASURED && is_near(f.at, 0.25));
	f = forecast(&b, ST_BLOW_NONE, "f=25%,_Z1gi=50%");
	assert_true(f.state == ST_BLOW_FORECAST_NOT_MEASURED);
	assert_true(isnan(f.at) && isnan(f.low) && isnan(f.high));
	st_blow_free(&b);
}

/* Intervals become wider with each function. */
static void
test_intervals(void **state)
{
	struct st_blow b = campaign_of(1000);
	(void)state;
	const struct st_blow_forecast f = forecast(&b, ST_BLOW_NONE, "f=50%"),
	                              g = forecast(&b, ST_BLOW_NONE, "g=25%"),
	                              both = forecast(&b, ST_BLOW_NONE, "f=50%,g=25%"),
	                              half = forecast(&b, ST_BLOW_NONE, "g=12.5%");
	assert_true(f.low < f.at && f.at < f.high);
	assert_true(is_near(both.low, f.low + g.low) && is_near(both.high, f.high + g.high));
	assert_true(is_near(half.low, g.low / 2) && is_near(half.high, g.high / 2));
	st_blow_free(&b);
}

/* A gain that is too noisy is no input; one that leaves all open that is possible gives no
 * forecast, and neither does a sum with it. */
static void
test_unsupported(void **state)
{
	struct st_blow b = campaign_of(0), wide = campaign_of(900000);
	(void)state;
	for (size_t i = 0; i < b.runs.n; i++)
		if (b.runs.v[i].function == F && b.runs.v[i].noise.strength == 50)
			b.runs.v[i].total_ns = 750000; /* 55 % by 50 % */
	struct st_blow_forecast f = forecast(&b, ST_BLOW_NONE, "f=50%");
	assert_true(f.state == ST_BLOW_FORECAST_NOISY && isnan(f.at) && isnan(f.high));
	f = forecast(&b, ST_BLOW_NONE, "f=50%,g=25%");
	assert_true(f.state == ST_BLOW_FORECAST_NOISY && isnan(f.at));
	f = forecast(&b, ST_BLOW_NONE, "f=25%");
	assert_true(f.state == ST_BLOW_FORECAST_MEASURED && is_near(f.at, 0.1));
	add_virtual(&b, F, 75, 1200000, 500000);
	f = forecast(&b, ST_BLOW_NONE, "f=50%"); /* between 25 and 75 % */
	assert_true(f.state == ST_BLOW_FORECAST_BETWEEN && is_near(f.at, 0.2));
	f = forecast(&wide, ST_BLOW_NONE, "f=50%"); /* one run where runs differ much */
	assert_true(f.state == ST_BLOW_FORECAST_NOISY && isnan(f.at));
	add_virtual(&wide, F, 50, 1700000, 0);
	add_virtual(&wide, F, 50, 800000, 0);
	f = forecast(&wide, ST_BLOW_NONE, "f=50%");
	assert_true(f.state == ST_BLOW_FORECAST_NOISY && isnan(f.at));
	st_blow_free(&b);
	st_blow_free(&wide);
}

static void
test_above_all(void **state)
{
	struct st_blow b = campaign_of(0);
	(void)state;
	add_virtual(&b, F, 100, 1000000, 700000);
	add_virtual(&b, G, 100, 1000000, 300000);
	const struct st_blow_forecast f = forecast(&b, ST_BLOW_NONE, "f=100%,g=100%");
	assert_true(f.state == ST_BLOW_FORECAST_ABOVE_ALL && isnan(f.at));
	st_blow_free(&b);
}

static void
test_names(void **state)
{
	static const char *const wrong[] = {"",       "f",       "f=",     "f=30",  "=30%",
	                                    "f=0%",   "f=101%",  "f=-5%",  "f=x%",  "f=30%,",
	                                    "f=30%%", ",f=30%g", "f=nan%", "f=3 0%"};
	struct st_blow b = campaign_of(0);
	struct st_blow_wishes w = {0};
	struct st_error e;
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		w.list.n = 0;
		assert_int_equal(st_blow_wishes_parse(&w, wrong[i], &e), ST_FAILED);
		assert_int_equal(e.code, ST_EXIT_USAGE);
		assert_non_null(strstr(e.text, "--what-if takes"));
	}
	w.list.n = 0;
	assert_int_equal(st_blow_wishes_parse(&w, "operator==30%,h<1, 2>()=2.5%", &e), ST_OK);
	assert_int_equal(w.list.n, 2);
	assert_int_equal(w.list.v[0].length, strlen("operator="));
	assert_int_equal(w.list.v[1].length, strlen("h<1, 2>()"));
	assert_true(is_near(w.list.v[1].percent, 2.5));
	assert_int_equal(st_blow_wishes_find(&w, &b, &e), ST_FAILED);
	assert_non_null(strstr(e.text, "did not make 'operator=' faster"));
	w.list.n = 0;
	assert_int_equal(st_blow_wishes_parse(&w, "g=1%,_Z1gi=2%", &e), ST_OK);
	assert_int_equal(st_blow_wishes_find(&w, &b, &e), ST_FAILED);
	assert_non_null(strstr(e.text, "twice"));
	b.functions.v[F].name = "g(char)";
	assert_int_equal(st_blow_wishes_find(&w, &b, &e), ST_FAILED);
	assert_non_null(strstr(e.text, "2 functions have the name 'g'"));
	b.causal = false;
	assert_int_equal(st_blow_wishes_find(&w, &b, &e), ST_FAILED);
	assert_non_null(strstr(e.text, "--mode causal"));
	free(w.list.v);
	st_blow_free(&b);
}

/* Any text is read or refused; what is read lies within the text. */
static void
test_any_text(void **state)
{
	static const char alphabet[] = "f=%,309.";
	uint64_t random = 1;
	size_t read = 0;
	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct st_blow_wishes w = {0};
		struct st_error e;
		char text[16] = "";
		const size_t n = st_random_below(&random, sizeof text);
		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[st_random_below(&random, sizeof alphabet - 1)];
		if (!st_blow_wishes_parse(&w, text, &e)) {
			read++;
			assert_true(w.list.n > 0);
			for (size_t k = 0; k < w.list.n; k++) {
				const struct st_blow_wish *wish = &w.list.v[k];
				assert_true(wish->length > 0);
				assert_true(wish->name + wish->length < text + n);
				assert_true(wish->percent > 0 && wish->percent <= 100);
			}
		}
		free(w.list.v);
	}
	assert_true(read > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_points),      cmocka_unit_test(test_gains),
	        cmocka_unit_test(test_noisy),       cmocka_unit_test(test_calls),
	        cmocka_unit_test(test_deviation),   cmocka_unit_test(test_choice),
	        cmocka_unit_test(test_kept),        cmocka_unit_test(test_forecasts),
	        cmocka_unit_test(test_cut),         cmocka_unit_test(test_unsupported),
	        cmocka_unit_test(test_intervals),   cmocka_unit_test(test_above_all),
	        cmocka_unit_test(test_names),       cmocka_unit_test(test_any_text),
	        cmocka_unit_test(test_unknown_end), cmocka_unit_test(test_curves),
	        cmocka_unit_test(test_curves_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
