/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares scales, shapes and charts with coordinates that were calculated by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/text.h"
#include "plot/charts.h"
#include "plot/flame.h"

static void
near_to(double a, double b)
{
	assert_true(fabs(a - b) <= 1e-9 * fmax(1, fabs(b)));
}

static void
ticks_are(const struct st_scale *s, const double *want, size_t n)
{
	assert_int_equal(s->n_ticks, n);
	for (size_t i = 0; i < n; i++)
		near_to(s->ticks[i], want[i]);
	near_to(s->low, want[0]);
	near_to(s->high, want[n - 1]);
}

#define TICKS(scale, ...)                                                                          \
	do {                                                                                       \
		static const double want_[] = {__VA_ARGS__};                                       \
		ticks_are(scale, want_, sizeof want_ / sizeof *want_);                             \
	} while (0)

static void
scales_have_round_ticks(void **state)
{
	(void)state;
	struct st_scale s;
	st_scale_make(&s, 3, 97, 0, 0, 100);
	TICKS(&s, 0, 20, 40, 60, 80, 100);
	near_to(st_scale_at(&s, 25), 25);
	st_scale_make(&s, 0.11, 0.19, 0, 0, 1);
	TICKS(&s, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2);
	st_scale_make(&s, 40, 50, ST_SCALE_ZERO, 400, 0);
	TICKS(&s, 0, 10, 20, 30, 40, 50);
	near_to(st_scale_at(&s, 0), 400); /* y grows upwards */
	near_to(st_scale_at(&s, 50), 0);
	st_scale_make(&s, -30, 60, 0, 0, 1);
	TICKS(&s, -40, -20, 0, 20, 40, 60);
	st_scale_make(&s, 0, 5000, ST_SCALE_BINARY, 0, 1);
	TICKS(&s, 0, 1024, 2048, 3072, 4096, 5120);
}

static void
scales_of_few_values(void **state)
{
	(void)state;
	struct st_scale s;
	st_scale_make(&s, 0, 0, ST_SCALE_ZERO, 0, 1);
	near_to(s.low, 0);
	near_to(s.high, 1);
	st_scale_make(&s, 100, 100, 0, 0, 1);
	assert_true(s.low < 100 && s.high > 100);
	st_scale_make(&s, NAN, INFINITY, 0, 0, 1);
	assert_true(isfinite(s.low) && s.low < s.high);
	st_scale_make(&s, -5, -5, ST_SCALE_ZERO, 0, 1);
	assert_true(s.low <= -5 && s.high >= 0 && s.n_ticks <= ST_SCALE_TICKS);
}

static void
logarithmic_scales(void **state)
{
	(void)state;
	struct st_scale s;
	st_scale_make(&s, 20, 4000, ST_SCALE_LOGARITHMIC, 0, 300);
	TICKS(&s, 10, 100, 1000, 10000);
	near_to(st_scale_at(&s, 100), 100);
	near_to(st_scale_at(&s, 1000), 200);
	st_scale_make(&s, 1, 1, ST_SCALE_LOGARITHMIC, 0, 1);
	TICKS(&s, 1, 10);
	st_scale_make(&s, 1e-200, 1e200, ST_SCALE_LOGARITHMIC, 0, 1);
	assert_true(s.n_ticks > 2 && s.n_ticks <= ST_SCALE_TICKS);
	st_scale_make(&s, 0, 10, ST_SCALE_LOGARITHMIC, 0, 1);
	assert_false(s.logarithmic); /* 0 has no place on it */
}

/* All values lie within the scale, and ticks ascend, for random values. */
static void
scales_contain_their_values(void **state)
{
	(void)state;
	uint64_t random = 88172645463325252u;
	for (size_t i = 0; i < 20000; i++) {
		double v[2];
		for (size_t k = 0; k < 2; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			v[k] = ldexp((double)(random >> 11), (int)(random % 120) - 110);
			v[k] = random & 1024 ? -v[k] : v[k];
		}
		struct st_scale s;
		const double least = fmin(v[0], v[1]), most = fmax(v[0], v[1]);
		st_scale_make(&s, least, most, (unsigned)i % 8, 0, 1);
		const double slack = 1e-6 * (s.high - s.low);
		if (s.low > least + slack || s.high < most - slack)
			fail_msg("%.17g to %.17g, %zu: %.17g to %.17g", least, most, i % 8, s.low,
			         s.high);
		assert_true(s.n_ticks >= 1 && s.n_ticks <= ST_SCALE_TICKS);
		for (size_t k = 1; k < s.n_ticks; k++)
			assert_true(s.ticks[k] > s.ticks[k - 1]);
	}
}

/* ---- shapes ---- */

static char *
after_style(char *text)
{
	char *at = strstr(text, "</style>\n");
	assert_non_null(at);
	return at + strlen("</style>\n");
}

static void
shapes_as_text(void **state)
{
	(void)state;
	struct st_text built;
	struct st_svg s;
	st_svg_begin(&s, st_text_begin(&built), 100, 50, "a<b & \"c\"");
	st_svg_text(&s, 1.005, -2, "left", "x > y\033");
	st_svg_line(&s, 0, 0.1, 1e-9, 99.999, "axis");
	st_svg_rectangle(&s, 1, 2, 3, 4, "bar", "fill:#123456", "1 & 2");
	st_svg_circle(&s, NAN, 2, 3, "point c1", NULL);
	st_svg_path_begin(&s, "line");
	st_svg_path_to(&s, 0, 1);
	st_svg_path_to(&s, 2.5, 1);
	st_svg_path_gap(&s);
	st_svg_path_to(&s, 3, 3);
	st_svg_path_end(&s, 1, NULL);
	st_svg_end(&s);
	char *text = st_text_end(&built);
	assert_non_null(strstr(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" "
	                             "height=\"50\" viewBox=\"0 0 100 50\">\n"
	                             "<title>a&lt;b &amp; &quot;c&quot;</title>\n"));
	assert_string_equal(after_style(text),
	                    "<rect class=\"paper\" x=\"0\" y=\"0\" width=\"100\" height=\"50\"/>\n"
	                    "<text class=\"left\" x=\"1\" y=\"-2\">x &gt; y?</text>\n"
	                    "<line class=\"axis\" x1=\"0\" y1=\"0.1\" x2=\"0\" y2=\"100\"/>\n"
	                    "<rect class=\"bar\" x=\"1\" y=\"2\" width=\"3\" height=\"4\" "
	                    "style=\"fill:#123456\"><title>1 &amp; 2</title></rect>\n"
	                    "<circle class=\"point c1\" cx=\"0\" cy=\"2\" r=\"3\"/>\n"
	                    "<path class=\"line\" d=\"M0 1L2.5 1M3 3Z\"/>\n"
	                    "</svg>\n");
	free(text);
	assert_string_equal(st_svg_series("bar", 13).text, "bar c3");
}

/* Counts the occurrences of part in text. */
static size_t
times(const char *text, const char *part)
{
	size_t n = 0;
	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

static void
has(const char *text, const char *part)
{
	if (!text || !part || !strstr(text, part))
		fail_msg("no %s in:\n%s", part ? part : "text", text ? text : "nothing");
}

/* The area is 100 to 876 wide without names of series, 44 to 416 high. */
static void
points_and_their_curve(void **state)
{
	(void)state;
	static const double x[] = {0, 5, 10, NAN}, y[] = {0, 50, 100, 3};
	static const double cx[] = {0, 10}, cy[] = {0, 100}, low[] = {-10, 90}, high[] = {10, 200};
	const struct st_plot_point_series series = {.x = x,
	                                            .y = y,
	                                            .n = 4,
	                                            .curve_x = cx,
	                                            .curve_y = cy,
	                                            .curve_low = low,
	                                            .curve_high = high,
	                                            .n_curve = 2};
	const struct st_plot_points p = {.words = {.title = "T", .x = "n", .y = "t", .note = "N"},
	                                 .series = &series,
	                                 .n_series = 1};
	struct st_text built;
	st_plot_points(&p, st_text_begin(&built));
	char *text = st_text_end(&built);
	assert_int_equal(times(text, "<circle"), 3);
	has(text, "<circle class=\"point c0\" cx=\"488\" cy=\"230\" r=\"3\"><title>5: 50</title>");
	has(text, "<path class=\"curve\" d=\"M100 416L876 44\"/>");
	/* The band stays within the area. */
	has(text, "<path class=\"band\" d=\"M100 378.8L876 44L876 81.2L100 416Z\"/>");
	has(text, ">N</text>");
	free(text);
}

static void
long_notes_have_several_lines(void **state)
{
	(void)state;
	static const double x[] = {0, 1}, y[] = {0, 1};
	/* 127 characters fit: the first line has 25 words of 5 with their spaces, less the last
	 * one. */
	char note[300] = "", line[150] = "", last[200];
	for (size_t i = 0; i < 30; i++)
		strcat(note, i ? " abcd" : "abcd");
	memcpy(line, note, 25 * 5 - 1);
	memset(last, 'w', 199);
	last[199] = 0;
	const struct st_plot_point_series series = {.x = x, .y = y, .n = 2};
	struct st_plot_points p = {
	        .words = {.title = "T", .note = note}, .series = &series, .n_series = 1};
	struct st_text built;
	char wanted[200];
	st_plot_points(&p, st_text_begin(&built));
	char *text = st_text_end(&built);
	snprintf(wanted, sizeof wanted, "<text class=\"note\" x=\"24\" y=\"472\">%s</text>", line);
	has(text, wanted);
	has(text, "<text class=\"note\" x=\"24\" y=\"486\">abcd abcd abcd abcd abcd</text>");
	has(text, " height=\"494\"");
	free(text);
	/* A word that is longer than a line is shortened. */
	p.words.note = last;
	st_plot_points(&p, st_text_begin(&built));
	text = st_text_end(&built);
	has(text, "www...</text>");
	has(text, " height=\"480\"");
	assert_int_equal(times(text, "class=\"note\""), 1);
	free(text);
}

static void
lines_with_their_spread(void **state)
{
	(void)state;
	static const char *const parts[] = {"v1", "v2", "v3"}, *const names[] = {"f", "g"};
	static const struct st_plot_value values[] = {
	        {50, 40, 60, 10, 100}, {NAN, NAN, NAN, NAN, NAN}, {20, NAN, NAN, 20, 20},
	        {5, NAN, NAN, 5, 5},   {10, NAN, NAN, 10, 10},    {15, NAN, NAN, 15, 15}};
	const struct st_plot_lines p = {.words = {.title = "T"},
	                                .parts = parts,
	                                .n_parts = 3,
	                                .names = names,
	                                .n_series = 2,
	                                .values = values};
	struct st_text built;
	st_plot_lines(&p, st_text_begin(&built));
	char *text = st_text_end(&built);
	assert_int_equal(times(text, "<circle"), 5);
	assert_int_equal(times(text, "class=\"interval"), 1);
	has(text, "<title>v1, f: 50 (40 to 60)</title>");
	has(text, "<title>v3, f: 20</title>");
	/* f has no value in the middle, and so no line; the area is 600 wide. */
	assert_int_equal(times(text, "<path class=\"line"), 1);
	has(text, "<path class=\"line c1\" d=\"M212 397.4L412 378.8L612 360.2\"/>");
	free(text);
}

static void
bars_stacked_and_grouped(void **state)
{
	(void)state;
	static const char *const parts[] = {"a", "b"}, *const names[] = {"f", "g"};
	static const double values[] = {10, 20, 30, NAN};
	struct st_plot_bars p = {.words = {.title = "T"},
	                         .parts = parts,
	                         .n_parts = 2,
	                         .names = names,
	                         .n_series = 2,
	                         .values = values,
	                         .stacked = true};
	struct st_text built;
	st_plot_bars(&p, st_text_begin(&built));
	char *text = st_text_end(&built);
	/* Parts are 300 wide, bars 240; 40 is at the top. */
	has(text, "<rect class=\"bar c0\" x=\"130\" y=\"323\" width=\"240\" height=\"93\">"
	          "<title>a, f: 10</title>");
	has(text, "<rect class=\"bar c1\" x=\"130\" y=\"44\" width=\"240\" height=\"279\">");
	assert_int_equal(times(text, "<rect class=\"bar"), 3);
	free(text);
	p.stacked = false;
	st_plot_bars(&p, st_text_begin(&built));
	text = st_text_end(&built);
	has(text, "<rect class=\"bar c0\" x=\"130\" y=\"292\" width=\"120\" height=\"124\">");
	has(text, "<rect class=\"bar c1\" x=\"250\" y=\"44\" width=\"120\" height=\"372\">");
	free(text);
}

static void
bars_with_their_spread(void **state)
{
	(void)state;
	static const char *const parts[] = {"a", "b"}, *const names[] = {"f", "g"};
	static const double values[] = {20, 0, 30, NAN};
	static const struct st_plot_value spread[] = {{20, 10, 25, 5, 40},
	                                              {0, NAN, NAN, -20, 20},
	                                              {NAN, NAN, NAN, NAN, NAN},
	                                              {NAN, NAN, NAN, NAN, NAN}};
	struct st_plot_bars p = {.words = {.title = "T"},
	                         .parts = parts,
	                         .n_parts = 2,
	                         .names = names,
	                         .n_series = 2,
	                         .values = values,
	                         .spread = spread};
	struct st_text built;
	st_plot_bars(&p, st_text_begin(&built));
	char *text = st_text_end(&built);
	/* -20 to 40 are 416 to 44: 6.2 pixels each. The first bar is from 130 to 250. */
	has(text, "<rect class=\"bar c0\" x=\"130\" y=\"168\" width=\"120\" height=\"124\">"
	          "<title>a, f: 20 (95 % interval: 10 to 25; values: 5 to 40)</title>");
	has(text, "<line class=\"reach\" x1=\"190\" y1=\"261\" x2=\"190\" y2=\"44\"/>\n"
	          "<line class=\"certain\" x1=\"190\" y1=\"230\" x2=\"190\" y2=\"137\"/>");
	/* A value of 0 has no bar, but a range; too few values have no interval. */
	has(text, "<line class=\"reach\" x1=\"490\" y1=\"416\" x2=\"490\" y2=\"168\"/>");
	has(text, "<title>a, g: 30</title>");
	assert_int_equal(times(text, "<line class=\"reach\""), 2);
	assert_int_equal(times(text, "<line class=\"certain\""), 1);
	free(text);
	/* In a stack the spread is a text only, and does not widen the scale. */
	p.stacked = true;
	st_plot_bars(&p, st_text_begin(&built));
	text = st_text_end(&built);
	assert_int_equal(times(text, "<line class=\"reach\""), 0);
	has(text, "<title>a, f: 20 (95 % interval: 10 to 25; values: 5 to 40)</title>");
	free(text);
	p.n_series = 1;
	st_plot_bars(&p, st_text_begin(&built));
	text = st_text_end(&built);
	assert_int_equal(times(text, "<line class=\"reach\""), 2);
	free(text);
}

static void
flows_stacked_and_not(void **state)
{
	(void)state;
	static const char *const names[] = {"f", "g"};
	static const double x[] = {0, 1, 2}, values[] = {1, 2, 3, 4, NAN, 2};
	struct st_plot_flow p = {.words = {.title = "T"},
	                         .x = x,
	                         .n = 3,
	                         .names = names,
	                         .n_series = 2,
	                         .values = values};
	struct st_text built;
	st_plot_flow(&p, st_text_begin(&built));
	char *text = st_text_end(&built);
	has(text, "<path class=\"line c0\" d=\"M100 323L400 230L700 137\"><title>f</title>");
	has(text, "<path class=\"line c1\" d=\"M100 44L700 230\">");
	free(text);
	p.stacked = true;
	st_plot_flow(&p, st_text_begin(&built));
	text = st_text_end(&built);
	has(text, "<path class=\"area c0\" d=\"M100 341.6L400 267.2L700 192.8L700 416L400 416L100 "
	          "416Z\">");
	has(text, "<path class=\"area c1\" d=\"M100 44L400 267.2L700 44L700 192.8L400 267.2L100 "
	          "341.6Z\">");
	free(text);
}

static void
heat_has_a_cell_for_each_run_of_equal_values(void **state)
{
	(void)state;
	static const char *const rows[] = {"f", "g"};
	static const double x[] = {0, 1, 2, 4}, values[] = {8, 8, 4, 0, NAN, 2};
	const struct st_plot_heat p = {.words = {.title = "T", .x = "t"},
	                               .rows = rows,
	                               .n_rows = 2,
	                               .x = x,
	                               .n_columns = 3,
	                               .values = values,
	                               .unit = "B"};
	struct st_text built;
	st_plot_heat(&p, st_text_begin(&built));
	char *text = st_text_end(&built);
	assert_int_equal(times(text, "class=\"cell\""), 3);
	/* 646 pixels for 4. */
	has(text, "<rect class=\"cell\" x=\"230\" y=\"44\" width=\"323\" height=\"21\" "
	          "style=\"fill:#50003c\"><title>f, from 0: 8 bytes</title>");
	has(text, "x=\"553\" y=\"66\" width=\"323\" height=\"21\"");
	free(text);
}

/* ---- flame graphs ---- */

static const struct st_flame_frame frames[] = {{"main", "/a", ST_FLAME_ROOT, 10, 40},
                                               {"z", "/a", 0, 60, 20},
                                               {"f", "/b", 0, 20, 0},
                                               {"g", NULL, 1, 10, 0},
                                               {"gone", "/b", 0, 0, 40}};
enum { N_FRAMES = sizeof frames / sizeof *frames };

static char *
flame_text(bool difference, bool shares, size_t n)
{
	struct st_flame_frame own[N_FRAMES];
	memcpy(own, frames, sizeof own);
	for (size_t i = 0; i < N_FRAMES && !difference; i++)
		own[i].before = 0;
	const struct st_flame f = {.title = "T",
	                           .metric = "time",
	                           .unit = "",
	                           .frames = own,
	                           .n = n,
	                           .difference = difference,
	                           .shares = shares};
	struct st_text built;
	assert_int_equal(st_plot_flame(&f, st_text_begin(&built)), 0);
	return st_text_end(&built);
}

/* 1180 pixels for 100: f (20) comes before z (70) by its name, and main has 10 itself. */
static void
flame_widths(void **state)
{
	(void)state;
	char *text = flame_text(false, false, N_FRAMES);
	has(text, "x=\"10\" y=\"56\" width=\"1180\" height=\"18\" style=\"fill:hsl(40,");
	has(text, "<title>all: 100, 100.00 %</title>");
	has(text, "x=\"10\" y=\"74\" width=\"1180\"");
	has(text, "x=\"10\" y=\"92\" width=\"236\"");
	has(text, "x=\"246\" y=\"92\" width=\"826\"");
	has(text, "<title>z: 70, 70.00 %</title>");
	has(text, "x=\"246\" y=\"110\" width=\"118\"");
	assert_null(strstr(text, "gone"));
	free(text);
}

/* Sides have 100 and 100. main's frames are as wide as the larger side: z 70, f 20, gone 40; with
 * main's own that is 130 or more. */
static void
flame_of_a_difference(void **state)
{
	(void)state;
	char *text = flame_text(true, false, N_FRAMES);
	has(text, "<title>gone: 40 before, 0 now; 40.00 %, 0.00 %</title>");
	has(text, "<title>f: 0 before, 20 now; 0.00 %, 20.00 %</title>");
	has(text, "style=\"fill:hsl(215,75%,50%)\"><title>gone");
	has(text, "style=\"fill:hsl(8,75%,50%)\"><title>f:");
	has(text, "style=\"fill:#e4e4e4\"><title>main");
	char width[64];
	snprintf(width, sizeof width, "width=\"%.2f\"", 1180.0 * 40 / 130);
	has(text, width);
	free(text);
}

static void
flame_of_shares(void **state)
{
	(void)state;
	static const struct st_flame_frame twice[] = {{"f", NULL, ST_FLAME_ROOT, 200, 100},
	                                              {"g", NULL, ST_FLAME_ROOT, 100, 50}};
	for (size_t shares = 0; shares < 2; shares++) {
		const struct st_flame f = {.title = "T",
		                           .metric = "time",
		                           .frames = twice,
		                           .n = 2,
		                           .difference = true,
		                           .shares = shares};
		struct st_text built;
		assert_int_equal(st_plot_flame(&f, st_text_begin(&built)), 0);
		char *text = st_text_end(&built);
		/* In shares nothing has changed. */
		assert_int_equal(times(text, "fill:#e4e4e4"), shares ? 3 : 0);
		free(text);
	}
}

/* A frame of less than a third of a pixel is counted, and the frames below it, too. */
static void
flame_says_what_is_left_out(void **state)
{
	(void)state;
	static const struct st_flame_frame thin[] = {{"f", NULL, ST_FLAME_ROOT, 1e6, 0},
	                                             {"g", NULL, ST_FLAME_ROOT, 1, 0},
	                                             {"h", NULL, 1, 1, 0}};
	const struct st_flame f = {.title = "T", .metric = "time", .frames = thin, .n = 3};
	struct st_text built;
	assert_int_equal(st_plot_flame(&f, st_text_begin(&built)), 0);
	char *text = st_text_end(&built);
	has(text, "2 frames are too narrow or too deep to be drawn.");
	free(text);
}

/* Each series has its own x; an interval is a line, and a single point has none. */
static void
curves_with_their_intervals(void **state)
{
	static const char *const names[] = {"f", "g"};
	static const size_t first[] = {0, 2, 3};
	static const struct st_plot_curve_point points[] = {
	        {1, 1, NAN, NAN}, {2, 1.5, 1, 2}, {3, 3, NAN, NAN}};
	const struct st_plot_curves p = {.words = {.title = "T"},
	                                 .names = names,
	                                 .n_series = 2,
	                                 .first = first,
	                                 .points = points,
	                                 .zero = 1};
	struct st_text built;
	(void)state;
	st_plot_curves(&p, st_text_begin(&built));
	char *text = st_text_end(&built);
	assert_non_null(strstr(text, "<path class=\"line c0\""));
	assert_null(strstr(text, "<path class=\"line c1\""));
	assert_non_null(strstr(text, "<line class=\"line c0\""));
	assert_non_null(strstr(text, "f: 2, 1.5"));
	assert_non_null(strstr(text, "g: 3, 3"));
	free(text);
}

static size_t
count_frames(const char *text)
{
	size_t n = 0;
	for (; (text = strstr(text, "class=\"frame\"")); text++)
		n++;
	return n;
}

static char *
timeline_text(const struct st_plot_timeline *p)
{
	struct st_text built;
	assert_int_equal(st_plot_timeline(p, st_text_begin(&built)), 0);
	return st_text_end(&built);
}

/* The calls of listing 10 of J. Pavela's thesis: four of foo and one of bar in three threads, with
 * their durations there. */
static void
timeline_has_a_rectangle_for_each_call(void **state)
{
	static const struct st_plot_lane lanes[] = {{"0", 1}, {"1", 1}, {"2", 1}};
	static const struct st_plot_call calls[] = {
	        {0, 0, 0, 30070e3, "foo", 1, ST_PLOT_CALL_MARKED},
	        {0, 0, 40000e3, 40024e3, "bar", 1, ST_PLOT_CALL},
	        {1, 0, 0, 39308e3, "foo", 1, ST_PLOT_CALL_MARKED},
	        {1, 0, 50000e3, 76439e3, "foo", 1, ST_PLOT_CALL_MARKED},
	        {2, 0, 73276e3, 100000e3, "foo", 1, ST_PLOT_CALL_MARKED}};
	const struct st_plot_timeline p = {.words = {.title = "T", .x_unit = "ns"},
	                                   .lanes = lanes,
	                                   .n_lanes = 3,
	                                   .calls = calls,
	                                   .n_calls = 5,
	                                   .end = 100000e3,
	                                   .keys = {"others", "foo", NULL}};
	(void)state;
	char *text = timeline_text(&p);
	assert_int_equal(count_frames(text), 5);
	/* The axis reaches from 130 to 876 pixels; a lane takes 16 pixels and a gap of 8. */
	assert_non_null(strstr(text, "x=\"130\" y=\"48\" width=\"224.32\" height=\"14\""));
	assert_non_null(strstr(text, "x=\"428.4\" y=\"48\" width=\"0.4\""));
	assert_non_null(strstr(text, "x=\"503\" y=\"72\" width=\"197.23\""));
	assert_non_null(strstr(text, "x=\"676.64\" y=\"96\" width=\"199.36\""));
	assert_non_null(strstr(text, "(0.000 to 30070.000 us), 0"));
	assert_non_null(strstr(text, ">others<"));
	assert_null(strstr(text, "waits for"));
	free(text);
}

static void
timeline_shows_nesting_waits_and_merged_calls(void **state)
{
	static const struct st_plot_lane lanes[] = {{"0", 2}, {"1", 1}};
	static const struct st_plot_call calls[] = {
	        {0, 0, 0, 100, "outer", 1, ST_PLOT_CALL},
	        {0, 1, 50, 75, "pthread_join", 1, ST_PLOT_CALL_WAITS},
	        {1, 0, 0, 100, "f<1>", 7, ST_PLOT_CALL}};
	const struct st_plot_timeline p = {.words = {.title = "T", .x_unit = "ns"},
	                                   .lanes = lanes,
	                                   .n_lanes = 2,
	                                   .calls = calls,
	                                   .n_calls = 3,
	                                   .end = 100,
	                                   .keys = {NULL, "f", "waits"}};
	(void)state;
	char *text = timeline_text(&p);
	assert_int_equal(count_frames(text), 3);
	assert_non_null(strstr(text, "x=\"503\" y=\"64\" width=\"186.5\""));
	assert_non_null(strstr(text, "fill:url(#waits)"));
	assert_non_null(strstr(text, "x=\"130\" y=\"88\" width=\"746\"")); /* below two rows */
	assert_non_null(strstr(text, "7 calls of f&lt;1&gt;"));
	free(text);
	text = timeline_text(&(struct st_plot_timeline){.words = {.title = "none"}});
	assert_int_equal(count_frames(text), 0);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(scales_have_round_ticks),
	        cmocka_unit_test(scales_of_few_values),
	        cmocka_unit_test(logarithmic_scales),
	        cmocka_unit_test(scales_contain_their_values),
	        cmocka_unit_test(shapes_as_text),
	        cmocka_unit_test(points_and_their_curve),
	        cmocka_unit_test(long_notes_have_several_lines),
	        cmocka_unit_test(lines_with_their_spread),
	        cmocka_unit_test(curves_with_their_intervals),
	        cmocka_unit_test(timeline_has_a_rectangle_for_each_call),
	        cmocka_unit_test(timeline_shows_nesting_waits_and_merged_calls),
	        cmocka_unit_test(bars_stacked_and_grouped),
	        cmocka_unit_test(bars_with_their_spread),
	        cmocka_unit_test(flows_stacked_and_not),
	        cmocka_unit_test(heat_has_a_cell_for_each_run_of_equal_values),
	        cmocka_unit_test(flame_widths),
	        cmocka_unit_test(flame_of_a_difference),
	        cmocka_unit_test(flame_of_shares),
	        cmocka_unit_test(flame_says_what_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
