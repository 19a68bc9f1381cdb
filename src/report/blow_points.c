/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress points in words. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "blow/infer.h"
#include "blow/latency.h"
#include "blow/points.h"
#include "report/blow.h"

void
st_blow_point_print(const struct st_blow *b, uint32_t point, FILE *out)
{
	const char *name = st_blow_point_name(b, point);
	switch (st_blow_point_kind(b, point)) {
	case ST_BLOW_CALLS:
		fprintf(out, "increase of the calls of %s per second", name);
		break;
	case ST_BLOW_SOURCE:
		fprintf(out, "increase of %s", name);
		break;
	case ST_BLOW_SITE:
		fprintf(out, "increase of the passes of %s per second", name);
		break;
	case ST_BLOW_LATENCY:
		fprintf(out, "decrease of the %s", name);
		break;
	default:
		fputs("decrease of the run time", out);
	}
}

void
st_blow_gain_say(const struct st_blow *b, uint32_t point, uint32_t function, uint64_t percent,
                 const struct st_blow_gain *gain, FILE *out)
{
	const enum st_blow_point_kind kind = st_blow_point_kind(b, point);
	const bool shorter = kind == ST_BLOW_NO_POINT || kind == ST_BLOW_LATENCY;
	fprintf(out, "making %s %d %% faster makes %s %.1f %% (%.1f to ",
	        b->functions.v[function].name, (int)percent,
	        kind == ST_BLOW_NO_POINT  ? "the run"
	        : kind == ST_BLOW_LATENCY ? "the latency"
	                                  : "the progress per second",
	        gain->at * 100, gain->low * 100);
	if (isnan(gain->high))
		fputs("unknown", out);
	else
		fprintf(out, "%.1f", gain->high * 100);
	fputs(shorter ? ") shorter\n" : ") greater\n", out);
}

void
st_blow_bend_say(const struct st_blow *b, uint32_t function, const struct st_blow_bend *bend,
                 FILE *out)
{
	const char *name = b->functions.v[function].name;
	fprintf(out,
	        "the gain of %s bends at about %d %%: until there, each percent by which it is "
	        "faster "
	        "saves %.2f %% of the time, from there on %.2f %%\n",
	        name, (int)bend->percent, bend->before,
	        fabs(bend->after) < 0.005 ? 0 : bend->after /* without its sign */);
}

const char *
st_blow_kind_name(const struct st_blow *b, uint32_t point)
{
	static const char *const names[ST_BLOW_POINT_KINDS] = {[ST_BLOW_NO_POINT] = "end",
	                                                       [ST_BLOW_CALLS] = "throughput",
	                                                       [ST_BLOW_SOURCE] = "metric",
	                                                       [ST_BLOW_LATENCY] = "latency",
	                                                       [ST_BLOW_SITE] = "probe"};
	if (st_blow_point_kind(b, point) == ST_BLOW_SITE &&
	    st_blow_site_is_line(st_blow_point_name(b, point)))
		return "line";
	return names[st_blow_point_kind(b, point)];
}

void
st_blow_percents_tried(const struct st_blow *b, uint32_t function, bool tried[101])
{
	memset(tried, 0, 101 * sizeof *tried);
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct st_blow_run *r = &b->runs.v[i];
		if (r->function == function && st_blow_is_good(r) &&
		    r->noise.type == ST_BLOW_VIRTUAL && r->noise.strength <= 100)
			tried[r->noise.strength] = true;
	}
}

/* "1234 calls per second without noise, standard deviation 1.0 % (5 runs)" */
static void
print_rate(const struct st_blow *b, uint32_t point, FILE *out)
{
	const char *run = b->live ? "window" : "run", *without = b->causal ? "a speed-up" : "noise";
	const enum st_blow_point_kind kind = st_blow_point_kind(b, point);
	const bool counts = kind != ST_BLOW_SOURCE;
	const struct st_blow_rate rate = st_blow_rate_of(b, point);
	fprintf(out, "progress by %s%s: ", st_blow_point_name(b, point),
	        !st_blow_point_is_inferred(b, point) ? ""
	        : st_blow_is_transfer(b->functions.v[point].image, st_blow_point_name(b, point))
	                ? " (inferred: completed system calls)"
	                : " (inferred: executions of its first block)");
	if (!rate.runs) {
		fprintf(out, "it %s in %ss without %s, so there are no %ss\n",
		        kind == ST_BLOW_CALLS ? "was not called"
		        : counts              ? "was not passed"
		                              : "gave no number",
		        run, without, b->causal ? "gain" : "slope");
		return;
	}
	fprintf(out, "%.4g%s per second without %s", rate.at,
	        kind == ST_BLOW_CALLS ? " calls"
	        : counts              ? " passes"
	                              : "",
	        without);
	if (rate.runs > 1)
		fprintf(out, ", standard deviation %.1f %%", rate.sd / rate.at * 100);
	fprintf(out, " (%s %s%s)\n", ST_NUMBER(rate.runs), run, rate.runs == 1 ? "" : "s");
}

static void
print_latency(const struct st_blow *b, uint32_t point, FILE *out)
{
	const char *run = b->live ? "window" : "run";
	const struct st_blow_mean_latency l = st_blow_latency_of(b, point);
	fprintf(out, "%s: ", st_blow_point_name(b, point));
	if (!l.runs) {
		fprintf(out, "no request ended in %ss without a speed-up, so there are no gains\n",
		        run);
		return;
	}
	fprintf(out, "%.4g ms without a speed-up", l.ns / 1e6);
	if (l.runs > 1)
		fprintf(out, ", standard deviation %.1f %%", l.sd / l.ns * 100);
	fprintf(out, "; %.4g per second, %.3g in flight (%s %s%s)\n", l.rate, l.in_flight,
	        ST_NUMBER(l.runs), run, l.runs == 1 ? "" : "s");
}

void
st_blow_rates_print(const struct st_blow *b, FILE *out)
{
	for (uint32_t i = 0; i < b->functions.n; i++)
		if (b->functions.v[i].progress == ST_BLOW_LATENCY)
			print_latency(b, i, out);
		else if (b->functions.v[i].progress && b->functions.v[i].progress != ST_BLOW_BEGINS)
			print_rate(b, i, out);
}
