/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a gate as JSON. */
#include <math.h>

#include "gate/result.h"
#include "gate/why.h"
#include "report/json.h"

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
	return json_pack("{ss, ss, so, so, so, so, s[o, o], so, so, so, so, so}", "metric",
	                 st_gate_metric_words[o->metric], "verdict", st_gate_verdicts[t->verdict],
	                 "pairs", st_json_count(t->ratios.n), "base_ns",
	                 st_json_real(t->ns[ST_GATE_BASE]), "target_ns",
	                 st_json_real(t->ns[ST_GATE_TARGET]), "change", st_json_real(t->change.at),
	                 "interval", st_json_real(t->change.low), st_json_real(t->change.high),
	                 "evidence", st_json_real(t->evidence), "spread", st_json_real(t->spread),
	                 "seconds", st_json_real(t->seconds), "limit", st_json_real(t->limit),
	                 "changes", gate_ratios_json(t));
}

static json_t *
gate_rule_json(const struct st_gate_options *o)
{
	const struct st_gate_rule *rule = &o->rule;
	return json_pack("{so, so, so, so, so, ss, sI}", "alarm", st_json_real(rule->alarm), "miss",
	                 st_json_real(rule->miss), "limit", st_json_real(rule->limit), "pairs",
	                 st_json_count(rule->pairs), "seconds", st_json_real(rule->seconds), "duet",
	                 st_gate_duet_words[o->duet], "seed", (json_int_t)o->seed);
}

/* ---- counts ---- */

static json_t *
gate_count_json(const struct st_gate_count *c)
{
	return json_pack("{so, so, so, s[o, o], sb, ss}", "base",
	                 st_json_real(c->value[ST_GATE_BASE]), "target",
	                 st_json_real(c->value[ST_GATE_TARGET]), "change", st_json_real(c->change),
	                 "interval", st_json_real(c->low), st_json_real(c->high), "exact", c->exact,
	                 "verdict", st_gate_verdicts[c->verdict]);
}

static json_t *
gate_callers_json(const struct st_gate_function *f)
{
	json_t *all = json_array();
	for (size_t i = 0; i < f->callers.n; i++) {
		const struct st_gate_caller *c = &f->callers.v[i];
		json_array_append_new(all, json_pack("{so, ss, so, so}", "function",
		                                     st_json_text(c->name), "code",
		                                     st_gate_codes[c->code], "base",
		                                     st_json_real(c->calls[ST_GATE_BASE]), "target",
		                                     st_json_real(c->calls[ST_GATE_TARGET])));
	}
	return all;
}

static json_t *
gate_function_json(const struct st_gate_function *f)
{
	struct st_text why;
	FILE *out = st_text_begin(&why);
	if (out)
		st_gate_put_why(f, out);
	char *text = st_text_end(&why);
	json_t *json =
	        json_pack("{so, so, so, sI, so, so, ss, ss, so, sb, sb, so}", "function",
	                  st_json_text(f->name), "image", st_json_text(f->image), "file",
	                  f->file ? st_json_text(f->file) : json_null(), "line",
	                  (json_int_t)f->line, "instructions", gate_count_json(&f->instructions),
	                  "calls", gate_count_json(&f->calls), "code", st_gate_codes[f->code],
	                  "why", st_gate_whys[st_gate_why(f)], "explanation",
	                  text ? st_json_text(text) : json_null(), "blamed", st_gate_is_blamed(f),
	                  "offset", f->offset, "callers", gate_callers_json(f));
	free(text);
	return json;
}

json_t *
st_gate_counts_json(const struct st_gate_counts *counts)
{
	json_t *program = json_object(), *functions = json_array();
	for (int i = 0; i < ST_GATE_N_COUNTED; i++)
		json_object_set_new(program, st_gate_counted[i],
		                    gate_count_json(&counts->program[i]));
	for (size_t i = 0; i < counts->functions.n; i++)
		json_array_append_new(functions, gate_function_json(&counts->functions.v[i]));
	return json_pack("{ss, so, so, so}", "verdict", st_gate_verdicts[counts->verdict], "runs",
	                 st_json_count(counts->runs), "program", program, "functions", functions);
}

static json_t *
gate_commit(const struct st_gate_result *r, int side)
{
	return r->commits[side] ? json_string(r->commits[side]) : json_null();
}

static json_t *
gate_function_time_json(const struct st_gate_function_time *f)
{
	const struct st_gate_time *t = &f->time;
	const bool some = t->ratios.n > 0;
	return json_pack("{so, so, ss, so, so, so, so, so, s[o, o], so, so, sb, so}", "function",
	                 st_json_text(f->name), "image", st_json_text(f->image), "verdict",
	                 st_gate_verdicts[t->verdict], "share", st_json_real(f->share), "pairs",
	                 st_json_count(t->ratios.n), "base_ns", st_json_real(t->ns[ST_GATE_BASE]),
	                 "target_ns", st_json_real(t->ns[ST_GATE_TARGET]), "change",
	                 some ? st_json_real(t->change.at) : json_null(), "interval",
	                 some ? st_json_real(t->change.low) : json_null(),
	                 some ? st_json_real(t->change.high) : json_null(), "evidence",
	                 some ? st_json_real(t->evidence) : json_null(), "p", st_json_real(f->p),
	                 "offset", f->offset, "changes", gate_ratios_json(t));
}

static json_t *
gate_function_times_json(const struct st_gate_function_times *t)
{
	json_t *all = json_array();
	for (size_t i = 0; i < t->v.n; i++)
		json_array_append_new(all, gate_function_time_json(&t->v.v[i]));
	return json_pack("{ss, so, so, so, so}", "verdict", st_gate_verdicts[t->verdict], "pairs",
	                 st_json_count(t->pairs), "alarm", st_json_real(t->alarm), "seconds",
	                 st_json_real(t->seconds), "functions", all);
}

json_t *
st_gate_json(const struct st_gate_options *o, const struct st_gate_result *r)
{
	json_t *all = json_array();
	for (size_t i = 0; i < r->benchmarks.n; i++) {
		const struct st_gate_benchmark *b = &r->benchmarks.v[i];
		json_array_append_new(
		        all,
		        json_pack("{so, ss, so, so, so}", "benchmark", st_json_text(b->title),
		                  "verdict", st_gate_verdicts[b->verdict], "counts",
		                  b->counts.runs ? st_gate_counts_json(&b->counts) : json_null(),
		                  "time", gate_time_json(o, &b->time), "function_times",
		                  b->functions.pairs ? gate_function_times_json(&b->functions)
		                                     : json_null()));
	}
	return json_pack("{s{si, si}, ss, so, so, so, so, so, so, so}", "strobe", "version",
	                 ST_JSON_VERSION, "gate", 1, "verdict", st_gate_verdicts[r->verdict],
	                 "base", st_json_text(o->names[ST_GATE_BASE]), "target",
	                 st_json_text(o->names[ST_GATE_TARGET]), "base_commit",
	                 gate_commit(r, ST_GATE_BASE), "target_commit",
	                 gate_commit(r, ST_GATE_TARGET), "rule", gate_rule_json(o), "benchmarks",
	                 all, "notes", st_json_texts((const char *const *)r->notes.v, r->notes.n));
}
