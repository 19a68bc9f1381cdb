/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate/rules.h"

#include <math.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"

static st_status
rules_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the rules of the gate");
}

st_status
st_gate_share(const char *text, double most, double *share)
{
	const char *end;
	double percent;
	if (st_parse_real(text, &percent, &end) || (*end && strcmp(end, "%") != 0) ||
	    !(percent > 0) || percent > most)
		return ST_FAILED;
	*share = percent / 100;
	return ST_OK;
}

/* ---- values; a key that is not in the file keeps the default ---- */

static st_status
rules_take_share(const struct st_yaml *y, const yaml_node_t *node, const char *what, double most,
                 double *share, struct st_error *e)
{
	const char *text;
	if (!node)
		return ST_OK;
	if (st_yaml_text(y, node, what, &text, e))
		return ST_FAILED;
	if (!strcmp(text, "none") && most > 100) {
		*share = INFINITY;
		return ST_OK;
	}
	return st_gate_share(text, most, share)
	               ? st_yaml_bad(y, node, e,
	                             "%s takes percents that are greater than 0 and at most %g%s, "
	                             "not '%s'",
	                             what, most, most > 100 ? ", or none" : "", text)
	               : ST_OK;
}

static st_status
rules_take_number(const struct st_yaml *y, const yaml_node_t *node, const char *what, long most,
                  size_t *number, struct st_error *e)
{
	long n;
	if (!node)
		return ST_OK;
	if (st_yaml_number(y, node, what, 0, most, &n, e))
		return ST_FAILED;
	*number = (size_t)n;
	return ST_OK;
}

static st_status
rules_take_seconds(const struct st_yaml *y, const yaml_node_t *node, double *seconds,
                   struct st_error *e)
{
	const char *text;
	if (!node)
		return ST_OK;
	if (st_yaml_text(y, node, "for", &text, e))
		return ST_FAILED;
	return st_parse_time(text, seconds) || *seconds <= 0
	               ? st_yaml_bad(y, node, e,
	                             "for is a time such as 10m that is greater than 0, not '%s'",
	                             text)
	               : ST_OK;
}

/* ---- limits and exceptions ---- */

enum { MOST_LIMIT = 100000 };

static st_status
rules_take_limits(struct st_yaml *y, const yaml_node_t *map, struct st_gate_options *o,
                  struct st_error *e)
{
	static const char *const keys[] = {"time", "function", "least",
#define C(id, name, limit) name,
	                                   ST_GATE_COUNTS(C)
#undef C
	};
	enum { TIME, FUNCTION, LEAST, FIRST, N = FIRST + ST_GATE_N_COUNTED };
	yaml_node_t *v[N] = {NULL};
	if (!map)
		return ST_OK;
	if (st_yaml_fields(y, map, "limits", keys, N, v, e) ||
	    rules_take_share(y, v[TIME], "time", MOST_LIMIT, &o->rule.limit, e) ||
	    rules_take_share(y, v[FUNCTION], "function", MOST_LIMIT, &o->limits.function, e) ||
	    rules_take_share(y, v[LEAST], "least", 100, &o->limits.least, e))
		return ST_FAILED;
	for (int i = 0; i < ST_GATE_N_COUNTED; i++)
		if (rules_take_share(y, v[FIRST + i], keys[FIRST + i], MOST_LIMIT,
		                     &o->limits.program[i], e))
			return ST_FAILED;
	return isinf(o->rule.limit) ? st_yaml_bad(y, v[TIME], e,
	                                          "time needs a limit; use pairs: 0 to measure no "
	                                          "time")
	                            : ST_OK;
}

static bool
rules_is_date(const char *text)
{
	int year, month, day, end = 0;
	return sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &end) == 3 && end == 10 &&
	       !text[end] && strspn(text, "0123456789-") == 10 && month >= 1 && month <= 12 &&
	       day >= 1 && day <= 31;
}

static st_status
rules_take_quantity(struct st_yaml *y, yaml_node_t *node, struct st_gate_exception *x,
                    struct st_error *e)
{
	const char *word = "instructions";
	if (node && st_yaml_text(y, node, "quantity", &word, e))
		return ST_FAILED;
	x->counted = ST_GATE_N_COUNTED;
	x->time = !strcmp(word, "time");
	for (int i = 0; i < ST_GATE_N_COUNTED; i++)
		if (!strcmp(word, st_gate_counted[i]))
			x->counted = (enum st_gate_counted)i;
	if (!x->time && x->counted == ST_GATE_N_COUNTED)
		return st_yaml_bad(y, node, e,
		                   "unknown quantity '%s'; the quantities are time, instructions, "
		                   "blocks, calls, allocations and bytes allocated",
		                   word);
	if (x->function && x->counted != ST_GATE_INSTRUCTIONS)
		return st_yaml_bad(
		        y, node, e,
		        "an exception for a function has the quantity instructions, not %s", word);
	return ST_OK;
}

static st_status
rules_take_exception(struct st_yaml *y, yaml_node_t *map, const char *today,
                     struct st_gate_options *o, struct st_error *e)
{
	enum { FUNCTION, QUANTITY, LIMIT, UNTIL, REASON, N };
	static const char *const keys[] = {"function", "quantity", "limit", "until", "reason"};
	yaml_node_t *v[N] = {NULL};
	struct st_gate_exception x = {.limit = INFINITY};
	if (st_yaml_fields(y, map, "an exception", keys, N, v, e))
		return ST_FAILED;
	if (!v[UNTIL] || !v[REASON])
		return st_yaml_bad(y, map, e, "an exception needs %s",
		                   v[UNTIL] ? "a reason" : "a date until which it holds");
	if ((v[FUNCTION] && st_yaml_text(y, v[FUNCTION], "function", &x.function, e)) ||
	    rules_take_quantity(y, v[QUANTITY], &x, e) ||
	    rules_take_share(y, v[LIMIT], "limit", MOST_LIMIT, &x.limit, e) ||
	    st_yaml_text(y, v[UNTIL], "until", &x.until, e) ||
	    st_yaml_text(y, v[REASON], "reason", &x.reason, e))
		return ST_FAILED;
	if (!rules_is_date(x.until))
		return st_yaml_bad(y, v[UNTIL], e, "until is a date such as 2026-12-31, not '%s'",
		                   x.until);
	x.expired = strcmp(x.until, today) < 0;
	struct st_gate_exception *slot = ST_PUSH(&o->limits.exceptions);
	if (!slot)
		return rules_no_memory(e);
	*slot = x;
	return ST_OK;
}

/* Exceptions for the program as a whole replace its limits. */
static void
rules_apply_exceptions(struct st_gate_options *o)
{
	for (size_t i = 0; i < o->limits.exceptions.n; i++) {
		struct st_gate_exception *x = &o->limits.exceptions.v[i];
		if (x->function || x->expired)
			continue;
		x->used = true;
		if (x->time)
			o->rule.limit = x->limit;
		else
			o->limits.program[x->counted] = x->limit;
	}
}

/* ---- the whole ---- */

static st_status
rules_take(struct st_gate_rules *r, const char *today, struct st_gate_options *o,
           struct st_error *e)
{
	enum { ALARM, MISS, PAIRS, FOR, COUNTS, LIMITS, EXCEPTIONS, N };
	static const char *const keys[] = {"alarm",  "miss",   "pairs",     "for",
	                                   "counts", "limits", "exceptions"};
	struct st_yaml *y = &r->yaml;
	yaml_node_t *v[N] = {NULL};
	if (st_yaml_fields(y, st_yaml_root(y), "the gate", keys, N, v, e) ||
	    rules_take_share(y, v[ALARM], "alarm", 50, &o->rule.alarm, e) ||
	    rules_take_share(y, v[MISS], "miss", 50, &o->rule.miss, e) ||
	    rules_take_number(y, v[PAIRS], "pairs", ST_GATE_MOST_PAIRS, &o->rule.pairs, e) ||
	    rules_take_number(y, v[COUNTS], "counts", ST_GATE_MOST_RUNS, &o->counts, e) ||
	    rules_take_seconds(y, v[FOR], &o->rule.seconds, e) ||
	    rules_take_limits(y, v[LIMITS], o, e))
		return ST_FAILED;
	for (size_t i = 0; i < st_yaml_count(v[EXCEPTIONS]); i++)
		if (rules_take_exception(y, st_yaml_item(y, v[EXCEPTIONS], i), today, o, e))
			return ST_FAILED;
	rules_apply_exceptions(o);
	if (isinf(o->rule.limit))
		o->rule.pairs = 0;
	return ST_OK;
}

st_status
st_gate_rules_of_bytes(struct st_gate_rules *r, const char *path, const char *bytes, size_t n,
                       const char *today, struct st_gate_options *o, struct st_error *e)
{
	return st_yaml_read(&r->yaml, path, bytes, n, e) ? ST_FAILED : rules_take(r, today, o, e);
}

st_status
st_gate_rules_read(struct st_gate_rules *r, const char *path, const char *today,
                   struct st_gate_options *o, struct st_error *e)
{
	*r = (struct st_gate_rules){0};
	if (st_project_file_read(&r->file, path, ST_GATE_FILE, e))
		return ST_FAILED;
	return r->file.bytes ? st_gate_rules_of_bytes(r, r->file.path, r->file.bytes, r->file.n,
	                                              today, o, e)
	                     : ST_OK;
}

void
st_gate_rules_free(struct st_gate_rules *r)
{
	st_yaml_free(&r->yaml);
	st_project_file_free(&r->file);
}

void
st_gate_limits_free(struct st_gate_limits *limits)
{
	free(limits->exceptions.v);
}

st_status
st_gate_rules_notes(const struct st_gate_options *o, struct st_gate_result *r)
{
	for (size_t i = 0; i < o->limits.exceptions.n; i++) {
		const struct st_gate_exception *x = &o->limits.exceptions.v[i];
		const char *quantity = x->time ? "time" : st_gate_counted[x->counted];
		const char *of = x->function ? x->function : "the program";
		if (!x->expired && !x->used)
			continue;
		char **slot = ST_PUSH(&r->notes);
		if (!slot)
			return ST_FAILED;
		if (x->expired)
			*slot = st_text_of("the exception for %s of %s has expired on %s and is "
			                   "not applied: %s",
			                   quantity, of, x->until, x->reason);
		else
			*slot = st_text_of("an exception for %s of %s holds until %s: %s", quantity,
			                   of, x->until, x->reason);
		if (!*slot)
			return ST_FAILED;
	}
	return ST_OK;
}
