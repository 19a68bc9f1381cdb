/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gate as JSON. */
#include <math.h>

#include "gate/result.h"
#include "report/json.h"

static const char *const json_metrics[] = {
#define M(id, name, title) name,
        ST_GATE_METRICS(M)
#undef M
};
static const char *const json_duets[] = {
#define A(id, name) name,
        ST_GATE_DUETS(A)
#undef A
};

/* What is not known is null. */
static json_t *
gate_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *
gate_ratios_json(const struct st_gate_time *t)
{
	json_t *all = json_array();
	for (size_t i = 0; i < t->ratios.n; i++)
		json_array_append_new(all, json_real(expm1(t->ratios.v[i])));
	return all;
}

static json_t *
gate_time_json(const struct st_gate_options *o, const struct st_gate_time *t)
{
	if (!o->rule.pairs)
		return json_null();
	return json_pack("{ss, ss, so, so, so, so, s[o, o], so, so, so, so}", "metric",
	                 json_metrics[o->metric], "verdict", st_gate_verdicts[t->verdict], "pairs",
	                 st_json_count(t->ratios.n), "base_ns", gate_real(t->ns[ST_GATE_BASE]),
	                 "target_ns", gate_real(t->ns[ST_GATE_TARGET]), "change",
	                 gate_real(t->change.at), "interval", gate_real(t->change.low),
	                 gate_real(t->change.high), "evidence", gate_real(t->evidence), "spread",
	                 gate_real(t->spread), "seconds", gate_real(t->seconds), "changes",
	                 gate_ratios_json(t));
}

static json_t *
gate_rule_json(const struct st_gate_options *o)
{
	const struct st_gate_rule *rule = &o->rule;
	return json_pack("{so, so, so, so, so, ss, sI}", "alarm", gate_real(rule->alarm), "miss",
	                 gate_real(rule->miss), "limit", gate_real(rule->limit), "pairs",
	                 st_json_count(rule->pairs), "seconds", gate_real(rule->seconds), "duet",
	                 json_duets[o->duet], "seed", (json_int_t)o->seed);
}

json_t *
st_gate_json(const struct st_gate_options *o, const struct st_gate_result *r)
{
	json_t *all = json_array();
	for (size_t i = 0; i < r->benchmarks.n; i++) {
		const struct st_gate_benchmark *b = &r->benchmarks.v[i];
		json_array_append_new(all,
		                      json_pack("{so, ss, so}", "benchmark", st_json_text(b->title),
		                                "verdict", st_gate_verdicts[b->verdict], "time",
		                                gate_time_json(o, &b->time)));
	}
	return json_pack("{s{si, si}, ss, so, so, so, so}", "strobe", "version", ST_JSON_VERSION,
	                 "gate", 1, "verdict", st_gate_verdicts[r->verdict], "base",
	                 st_json_text(o->names[ST_GATE_BASE]), "target",
	                 st_json_text(o->names[ST_GATE_TARGET]), "rule", gate_rule_json(o),
	                 "benchmarks", all);
}
