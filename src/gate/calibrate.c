/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes calibrations, applies them to gates, and writes them as text and JSON. */
#include "gate/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "base/text.h"
#include "report/json.h"
#include "report/text.h"

#define LEVEL 0.95 /* of the interval of the false-alarm rate */

static st_status
calibrate_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the calibration");
}

/* ---- making ---- */

static st_status
calibrate_begin(struct st_gate_calibration *c, const struct st_gate_task *t, const char *machine,
                struct st_error *e)
{
	char today[16] = "";
	const time_t now = time(NULL);
	struct tm tm;
	if (gmtime_r(&now, &tm))
		strftime(today, sizeof today, "%Y-%m-%d", &tm);
	*c = (struct st_gate_calibration){.machine = strdup(machine),
	                                  .benchmark = strdup(t->base_title),
	                                  .metric = strdup(st_gate_metric_words[t->o->metric]),
	                                  .duet = strdup(st_gate_duet_words[t->o->duet]),
	                                  .date = strdup(today),
	                                  .alarm = t->rule.alarm,
	                                  .limit = t->rule.limit};
	return c->machine && c->benchmark && c->metric && c->duet && c->date
	               ? ST_OK
	               : calibrate_no_memory(e);
}

static st_status
calibrate_note(struct st_gate_calibration *c, const struct st_gate_time *time, struct st_error *e)
{
	double *slot = ST_PUSH(&c->estimates);
	if (!slot)
		return calibrate_no_memory(e);
	*slot = time->change.at;
	c->gates++;
	c->alarms += time->verdict == ST_GATE_REGRESSION;
	c->pairs += time->ratios.n;
	c->largest = fmax(c->largest, fabs(time->change.at));
	return ST_OK;
}

static st_status
calibrate_gates(const struct st_gate_task *of, struct st_gate_calibration *c, bool *interrupted,
                struct st_error *e)
{
	char title[192];
	long times_at = 0;
	struct st_gate_task t = *of;
	st_status status = ST_OK;
	t.title = title;
	t.times_at = &times_at;
	for (size_t i = 0; i < of->o->gates && !status && !*interrupted; i++) {
		struct st_gate_time time = {0};
		t.round = i;
		snprintf(title, sizeof title, "gate %zu of %zu, %s", i + 1, of->o->gates,
		         of->title);
		status = st_gate_time_task(&t, &time, e);
		*interrupted = time.interrupted;
		if (!status && !time.interrupted)
			status = calibrate_note(c, &time, e);
		st_gate_time_free(&time);
	}
	return status;
}

st_status
st_gate_calibrate(const struct st_gate_task *t, struct st_gate_result *out, struct st_error *e)
{
	struct st_gate_calibrations *all = &out->calibrations;
	struct st_gate_calibration *c = ST_PUSH(&all->v);
	if (!c)
		return calibrate_no_memory(e);
	out->calibrated++;
	return calibrate_begin(c, t, all->machine, e) ? ST_FAILED
	                                              : calibrate_gates(t, c, &out->interrupted, e);
}

/* ---- applying ---- */

static char *
calibrate_applied(const struct st_gate_calibration *c, const struct st_gate_task *t)
{
	const struct st_interval rate = st_share(c->alarms, c->gates, LEVEL);
	const double limit = t->rule.limit * 100, largest = c->largest * 100;
	char end[96];
	if (c->largest <= t->rule.limit)
		snprintf(end, sizeof end, "the limit remains %.3g %%", limit);
	else if (t->o->limit_set)
		snprintf(end, sizeof end, "--limit %.3g overrides this", limit);
	else
		snprintf(end, sizeof end, "the limit is %.3g %% instead of %.3g %%", largest,
		         limit);
	return st_text_of("calibration of %s, made on %s on this machine: %s of %s raised "
	                  "a false alarm (%.3g %%; 95 %%: %.3g %% to %.3g %%), and equal sides "
	                  "differed by at most %.3g %%; %s",
	                  c->benchmark, c->date, ST_NUMBER(c->alarms),
	                  ST_COUNT(c->gates, "gate", "gates"), rate.at * 100, rate.low * 100,
	                  rate.high * 100, largest, end);
}

static char *
calibrate_refused(const struct st_gate_calibration *c, const char *machine)
{
	char *differences = st_gate_calibration_differences(c, machine);
	char *text = st_text_of("the calibration of %s was made on another machine (%s) and is not "
	                        "applied; strobe gate --calibrate makes one here",
	                        c->benchmark, differences ? differences : "");
	free(differences);
	return text;
}

st_status
st_gate_calibration_apply(struct st_gate_task *t, struct st_gate_result *out, struct st_error *e)
{
	const struct st_gate_calibration *other,
	        *c = st_gate_calibration_find(&out->calibrations, t->base_title,
	                                      st_gate_metric_words[t->o->metric],
	                                      st_gate_duet_words[t->o->duet], &other);
	if (!t->rule.pairs || (!c && !other))
		return ST_OK;
	char **slot = ST_PUSH(&out->notes);
	if (!slot)
		return calibrate_no_memory(e);
	*slot = c ? calibrate_applied(c, t) : calibrate_refused(other, out->calibrations.machine);
	if (c && !t->o->limit_set)
		t->rule.limit = fmax(t->rule.limit, c->largest);
	return *slot ? ST_OK : calibrate_no_memory(e);
}

/* ---- writing ---- */

/* The number of gates without an alarm that would show a rate of at most `alarm`. */
static double
calibrate_needed(double alarm)
{
	return ceil(log((1 - LEVEL) / 2) / log1p(-alarm));
}

static void
calibrate_put_rate(const struct st_gate_calibration *c, FILE *out)
{
	const struct st_interval rate = st_share(c->alarms, c->gates, LEVEL);
	const double alarm = c->alarm * 100;
	fprintf(out,
	        "  false alarms: %s of %s, %.3g %% (95 %%: %.3g %% to %.3g %%), with the limit "
	        "%.3g %%\n",
	        ST_NUMBER(c->alarms), ST_NUMBER(c->gates), rate.at * 100, rate.low * 100,
	        rate.high * 100, c->limit * 100);
	if (rate.low > c->alarm)
		fprintf(out,
		        "  these are more than the %.3g %% of --alarm: the two builds of the base "
		        "differ in speed\n",
		        alarm);
	else if (rate.high > c->alarm)
		fprintf(out,
		        "  %s too few to tell whether the rate is at most the %.3g %% of --alarm; "
		        "%.0f gates without a false alarm would show it\n",
		        ST_COUNT(c->gates, "gate is", "gates are"), alarm,
		        calibrate_needed(c->alarm));
}

static void
calibrate_put(const struct st_gate_calibration *c, FILE *out)
{
	fprintf(out, "calibration of %s: %s of the base against itself, %s\n", c->benchmark,
	        ST_COUNT(c->gates, "gate", "gates"), ST_COUNT(c->pairs, "pair", "pairs"));
	calibrate_put_rate(c, out);
	fprintf(out,
	        "  changes of the %s time: at most %.3g %%; a further gate of equal sides exceeds "
	        "this with a probability of at most %.3g %%\n",
	        !strcmp(c->metric, "cpu") ? "CPU" : "elapsed", c->largest * 100,
	        100 * st_gate_calibration_exceeded(c->gates));
	if (c->largest > c->limit)
		fprintf(out, "  limit on this machine: %.3g %%, raised from %.3g %%\n",
		        c->largest * 100, c->limit * 100);
	else
		fprintf(out, "  limit on this machine: %.3g %%, as before\n", c->limit * 100);
}

void
st_gate_calibrate_text(const struct st_gate_result *r, FILE *out)
{
	const struct st_gate_calibrations *all = &r->calibrations;
	for (size_t i = all->v.n - r->calibrated; i < all->v.n; i++)
		calibrate_put(&all->v.v[i], out);
	fprintf(out, "kept in %s for this machine\n", all->path);
}

static json_t *
calibrate_json(const struct st_gate_calibration *c)
{
	const struct st_interval rate = st_share(c->alarms, c->gates, LEVEL);
	json_t *estimates = json_array();
	for (size_t i = 0; i < c->estimates.n; i++)
		json_array_append_new(estimates, json_real(c->estimates.v[i]));
	return json_pack("{so, ss, ss, ss, so, so, so, sf, s[f, f], sf, sf, sf, sf, sf, so}",
	                 "benchmark", st_json_text(c->benchmark), "metric", c->metric, "duet",
	                 c->duet, "date", c->date, "gates", st_json_count(c->gates), "pairs",
	                 st_json_count(c->pairs), "false_alarms", st_json_count(c->alarms), "rate",
	                 rate.at, "rate_interval", rate.low, rate.high, "alarm", c->alarm,
	                 "limit_before", c->limit, "largest", c->largest, "exceeded",
	                 st_gate_calibration_exceeded(c->gates), "limit",
	                 fmax(c->limit, c->largest), "changes", estimates);
}

json_t *
st_gate_calibrate_json(const struct st_gate_options *o, const struct st_gate_result *r)
{
	const struct st_gate_calibrations *all = &r->calibrations;
	json_t *list = json_array();
	for (size_t i = all->v.n - r->calibrated; i < all->v.n; i++)
		json_array_append_new(list, calibrate_json(&all->v.v[i]));
	return json_pack("{s{si, si}, so, so, so, so, so}", "strobe", "version", ST_JSON_VERSION,
	                 "gate", 1, "base", st_json_text(o->names[ST_GATE_BASE]), "base_commit",
	                 r->commits[ST_GATE_BASE] ? json_string(r->commits[ST_GATE_BASE])
	                                          : json_null(),
	                 "machine", st_json_text(all->machine), "file", st_json_text(all->path),
	                 "calibrations", list);
}
