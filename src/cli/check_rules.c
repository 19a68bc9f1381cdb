/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/check_rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "store/traits.h"

void
st_check_method_add(struct st_check_method_list *l, enum st_check_method method, size_t rule)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == method)
			return;
	l->v[l->n] = method;
	l->rules[l->n++] = rule;
}

/* ---- reading ---- */

static st_status
rules_take_method(struct st_check_rules *r, yaml_node_t *node, struct st_check_rule *rule,
                  struct st_error *e)
{
	const char *word;
	if (st_yaml_text(&r->yaml, node, "a method", &word, e))
		return ST_FAILED;
	for (int i = 0; i < ST_CHECK_METHOD_COUNT; i++)
		if (!strcmp(word, st_check_method_name((enum st_check_method)i))) {
			st_check_method_add(&rule->methods, (enum st_check_method)i, r->v.n + 1);
			return ST_OK;
		}
	return st_yaml_bad(&r->yaml, node, e,
	                   "unknown method '%s'; strobe-check(1) lists the methods", word);
}

static st_status
rules_take_rule(struct st_check_rules *r, const yaml_node_t *map, struct st_error *e)
{
	enum { PROFILES = ST_CHECK_CONDITION_COUNT, METHODS, N };
	static const char *const keys[] = {
#define C(id, key) key,
	        ST_CHECK_CONDITIONS(C)
#undef C
	                "profiles",
	        "methods"};
	yaml_node_t *v[N];
	struct st_check_rule rule = {0};
	if (st_yaml_fields(&r->yaml, map, "a rule", keys, N, v, e))
		return ST_FAILED;
	for (int i = 0; i < ST_CHECK_CONDITION_COUNT; i++)
		if (v[i] && st_yaml_text(&r->yaml, v[i], keys[i], &rule.patterns[i], e))
			return ST_FAILED;
	if (v[PROFILES] &&
	    st_yaml_number(&r->yaml, v[PROFILES], "profiles", 1, 1000000, &rule.profiles, e))
		return ST_FAILED;
	for (size_t i = 0; i < st_yaml_count(v[METHODS]); i++)
		if (rules_take_method(r, st_yaml_item(&r->yaml, v[METHODS], i), &rule, e))
			return ST_FAILED;
	if (!rule.methods.n)
		return st_yaml_bad(&r->yaml, map, e, "a rule needs methods");
	struct st_check_rule *slot = ST_PUSH(&r->v);
	if (!slot)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the rules of the check");
	*slot = rule;
	return ST_OK;
}

static st_status
rules_take_apply(struct st_check_rules *r, const yaml_node_t *node, struct st_error *e)
{
	const char *word = "first";
	if (node && st_yaml_text(&r->yaml, node, "apply", &word, e))
		return ST_FAILED;
	r->all = !strcmp(word, "all");
	return r->all || !strcmp(word, "first")
	               ? ST_OK
	               : st_yaml_bad(&r->yaml, node, e, "apply is first or all, not '%s'", word);
}

st_status
st_check_rules_of_bytes(struct st_check_rules *r, const char *path, const char *bytes, size_t n,
                        struct st_error *e)
{
	enum { APPLY, RULES, N };
	static const char *const keys[] = {"apply", "rules"};
	yaml_node_t *v[N];
	if (st_yaml_read(&r->yaml, path, bytes, n, e) ||
	    st_yaml_fields(&r->yaml, st_yaml_root(&r->yaml), "the check", keys, N, v, e) ||
	    rules_take_apply(r, v[APPLY], e))
		return ST_FAILED;
	for (size_t i = 0; i < st_yaml_count(v[RULES]); i++)
		if (rules_take_rule(r, st_yaml_item(&r->yaml, v[RULES], i), e))
			return ST_FAILED;
	return r->v.n ? ST_OK
	              : st_fail(e, ST_EXIT_USAGE, "%s has no rules: add a list under 'rules'",
	                        path);
}

st_status
st_check_rules_read(struct st_check_rules *r, const char *path, struct st_error *e)
{
	*r = (struct st_check_rules){0};
	if (st_project_file_read(&r->file, path, ST_CHECK_FILE, e))
		return ST_FAILED;
	return r->file.bytes ? st_check_rules_of_bytes(r, r->file.path, r->file.bytes, r->file.n, e)
	                     : ST_OK;
}

void
st_check_rules_free(struct st_check_rules *r)
{
	st_yaml_free(&r->yaml);
	st_project_file_free(&r->file);
	free(r->v.v);
	r->v.v = NULL;
	r->v.n = r->v.cap = 0;
}

/* ---- choosing ---- */

static bool
rules_fits(const char *pattern, const char *text)
{
	return !pattern || !fnmatch(pattern, text, 0);
}

static bool
rules_fits_series(const struct st_check_rule *rule, const struct st_series *s)
{
	const char *feature = rule->patterns[ST_CHECK_IF_FEATURE];
	bool has = !feature;
	for (size_t i = 0; i < s->features.n && !has; i++)
		has = rules_fits(feature, s->features.v[i].name);
	return has && rules_fits(rule->patterns[ST_CHECK_IF_METRIC], s->key.metric);
}

/* Functions have the metric of the collector that measured them. */
static bool
rules_fits_functions(const char *metric, const struct st_profile *p)
{
	return (rules_fits(metric, ST_CHECK_INSTRUCTIONS) && st_check_has_instructions(p)) ||
	       (rules_fits(metric, ST_CHECK_BYTES) && st_check_has_bytes(p)) ||
	       (rules_fits(metric, ST_CHECK_WAITS) && st_check_has_waits(p)) ||
	       (rules_fits(metric, ST_CHECK_TRACED) && st_profile_has_tool(p, "calltimes"));
}

/* Whether a profile has a series with the feature and the metric, or functions with the metric.
 * Functions have no features. */
static bool
rules_fits_values(const struct st_check_rule *rule, const struct st_profile *p)
{
	const char *feature = rule->patterns[ST_CHECK_IF_FEATURE];
	const char *metric = rule->patterns[ST_CHECK_IF_METRIC];
	if (!feature && (!metric || rules_fits_functions(metric, p)))
		return true;
	for (size_t i = 0; i < p->measurements.series.n; i++)
		if (rules_fits_series(rule, &p->measurements.series.v[i]))
			return true;
	return false;
}

static bool
rules_fits_profile(const struct st_check_rule *rule, const struct st_profile *p,
                   const struct st_traits *t)
{
	return rules_fits(rule->patterns[ST_CHECK_IF_COLLECTOR], t->collector) &&
	       rules_fits(rule->patterns[ST_CHECK_IF_COMMAND], t->command) &&
	       rules_fits(rule->patterns[ST_CHECK_IF_WORKLOAD], t->workload) &&
	       rules_fits_values(rule, p);
}

/* Clears the rules that do not fit one of the profiles. */
static st_status
rules_strike(const struct st_check_rules *r, const struct st_check_profiles *side, bool *fits)
{
	for (size_t i = 0; i < r->v.n; i++)
		fits[i] &= side->n >= (size_t)r->v.v[i].profiles;
	for (size_t k = 0; k < side->n; k++) {
		struct st_traits t;
		st_status status = st_traits_of(&t, side->v[k], NULL);
		for (size_t i = 0; i < r->v.n && !status; i++)
			fits[i] = fits[i] && rules_fits_profile(&r->v.v[i], side->v[k], &t);
		st_traits_free(&t);
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_check_rules_choose(const struct st_check_rules *r,
                      const struct st_check_profiles sides[ST_SIDES],
                      struct st_check_method_list *out)
{
	bool *fits = malloc(r->v.n + 1);
	if (!fits)
		return ST_FAILED;
	memset(fits, true, r->v.n);
	st_status status = rules_strike(r, &sides[ST_A], fits);
	if (!status)
		status = rules_strike(r, &sides[ST_B], fits);
	for (size_t i = 0; i < r->v.n && !status; i++) {
		const struct st_check_method_list *l = &r->v.v[i].methods;
		if (!fits[i])
			continue;
		for (size_t k = 0; k < l->n; k++)
			st_check_method_add(out, l->v[k], i + 1);
		if (!r->all)
			break;
	}
	free(fits);
	return status;
}
