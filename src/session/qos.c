/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/qos.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/option.h"
#include "base/parse.h"
#include "base/text.h"

st_status
st_qos_choose_number(double *number, bool *chosen, const char *option, const char *value,
                     struct st_error *e)
{
	const char *end;
	*chosen = true;
	if (!st_parse_real(value, number, &end) && !*end && *number > 0)
		return 0;
	return st_fail(e, ST_EXIT_USAGE, "--%s takes a number greater than 0, not '%s'", option,
	               value);
}

st_status
st_qos_choose_policy(struct st_qos_choice *q, const char *value, struct st_error *e)
{
	static const char *const names[] = {
#define ST_QOS_POLICY(id, name) name,
	        ST_QOS_POLICIES(ST_QOS_POLICY)
#undef ST_QOS_POLICY
	};
	unsigned policy = q->policy;
	int status = st_option_word("qos-policy", value, names, sizeof names / sizeof *names,
	                            &policy, e);
	q->has_policy = true;
	q->policy = (enum st_qos_policy)policy;
	return status;
}

void
st_qos_complete(const struct st_qos_choice *q, struct st_budget_choice *b)
{
	if (!q->source || b->chosen)
		return;
	b->chosen = true;
	b->amount.share = 1;
}

static const char *
kind_name(const void *names, size_t i)
{
	const char *const *list = names;
	return list[i];
}

/* Of something that is no source: the form of the one that is likely meant. */
static st_status
unknown_source(const char *source, struct st_error *e)
{
	enum { MOST = 16 };
	char names[MOST][16], forms[300] = "", word[16];
	const char *list[MOST];
	size_t n = 0;
	for (const char *form; n < MOST && (form = st_qos_form(n)); n++) {
		snprintf(names[n], sizeof *names, "%.*s", (int)strcspn(form, ":"), form);
		list[n] = names[n];
		st_append(forms, sizeof forms, "%s%s", n ? ", " : "", form);
	}
	snprintf(word, sizeof word, "%.*s", (int)strcspn(source, ":"), source);
	const char *near = st_nearest(word, n, kind_name, list);
	for (size_t i = 0; near && i < n; i++)
		if (near == list[i])
			return st_fail(e, ST_EXIT_USAGE,
			               "--qos has no source '%s'; did you mean '%s'?", source,
			               st_qos_form(i));
	return st_fail(e, ST_EXIT_USAGE, "--qos has no source '%s'; the sources are %s", source,
	               forms);
}

static bool
qos_is_known(const char *source)
{
	size_t n = strcspn(source, ":");
	for (size_t i = 0; st_qos_form(i); i++)
		if (strcspn(st_qos_form(i), ":") == n && source[n] == ':' &&
		    !strncmp(st_qos_form(i), source, n))
			return true;
	return false;
}

st_status
st_qos_check(const struct st_qos_choice *q, struct st_error *e)
{
	if (!q->source &&
	    (q->has_min || q->has_max || q->has_policy || q->has_below || q->has_start))
		return st_fail(e, ST_EXIT_USAGE, "--qos-%s needs --qos SOURCE, such as --qos %s",
		               q->has_min      ? "min"
		               : q->has_max    ? "max"
		               : q->has_policy ? "policy"
		               : q->has_below  ? "below"
		                               : "start",
		               st_qos_form(0));
	if (q->source && q->has_min == q->has_max)
		return st_fail(e, ST_EXIT_USAGE,
		               q->has_min ? "--qos-min and --qos-max exclude each other"
		                          : "--qos needs --qos-min N or, where lower is better, "
		                            "--qos-max N");
	if (q->source && !qos_is_known(q->source))
		return unknown_source(q->source, e);
	if ((q->has_below || q->has_start) && q->policy == ST_QOS_WATCH)
		return st_fail(e, ST_EXIT_USAGE,
		               "--qos-%s is for a budget that follows the metric: leave out "
		               "--qos-policy watch",
		               q->has_below ? "below" : "start");
	return 0;
}

/* The amount in seconds of a period, which is not to be more than the budget may be. The budget has
 * been rounded to ticks by now: one that is written alike is not more. */
static st_status
part_of_budget(const char *option, const struct st_budget_amount *amount, double period,
               double most, double *seconds, struct st_error *e)
{
	const double rounding = 1 + 1e-6;
	double wanted = st_budget_seconds(amount, period);
	*seconds = fmin(wanted, most);
	if (wanted <= most * rounding)
		return 0;
	return st_fail(e, ST_EXIT_USAGE,
	               "--%s is %g s of each period, but --budget allows only %g s", option, wanted,
	               most);
}

st_status
st_qos_apply(const struct st_qos_choice *q, struct st_run_options *o, struct st_error *e)
{
	if (st_qos_check(q, e))
		return -1;
	if (!q->source)
		return 0;
	double ticks = (double)o->budget.ticks_per_second * ST_BUDGET_UNITS;
	double period = (double)o->budget.period_ns / 1e9, most = (double)o->budget.most / ticks;
	double below, start;
	if (part_of_budget("qos-below", &q->below, period, most, &below, e) ||
	    part_of_budget("qos-start", &q->start, period, most, &start, e))
		return -1;
	const struct st_qos_goal goal = {.threshold = q->has_min ? q->min : q->max,
	                                 .lower = q->has_max,
	                                 .policy = q->policy,
	                                 .period = period,
	                                 .least = below,
	                                 .start = start,
	                                 .most = most};
	o->qos = st_qos_open(q->source, &goal, e);
	if (q->policy != ST_QOS_WATCH)
		o->budget.amount = (uint64_t)(start * ticks);
	return o->qos ? 0 : -1;
}
