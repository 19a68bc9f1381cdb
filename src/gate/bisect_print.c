/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the result of a bisection. */
#include <math.h>

#include "base/number.h"
#include "gate/bisect.h"
#include "gate/findings.h"
#include "report/json.h"

static const char *
bisect_quantity_name(const struct st_bisect_quantity *q)
{
	return q->time ? "time" : st_gate_counted[q->counted];
}

static void
bisect_put_value(const struct st_bisect_quantity *q, double value, FILE *out)
{
	char number[ST_NUMBER_SIZE];
	if (isnan(value))
		fputc('-', out);
	else if (q->time)
		fprintf(out, "%+.2f %%", value * 100);
	else
		fputs(st_number(number, (uint64_t)llround(value)), out);
}

static void
bisect_put_steps(const struct st_bisect_result *r, FILE *out)
{
	for (size_t i = 0; i < r->steps.n; i++) {
		const struct st_bisect_step *s = &r->steps.v[i];
		if (!s->number && i + 1 < r->steps.n)
			continue;
		fprintf(out, "  %.10s  %s  ", s->commit, st_bisect_states[s->state]);
		bisect_put_value(&r->quantity, s->value, out);
		fprintf(out, "%s%s\n", s->reason ? "  " : "", s->reason ? s->reason : "");
	}
}

static void
bisect_put_answer(const struct st_bisect_result *r, FILE *out)
{
	if (r->first == r->last) {
		fprintf(out, "the first bad commit is %s\n", r->steps.v[r->first].commit);
		return;
	}
	fprintf(out, "the first bad commit is one of these %zu, which could not all be judged:\n",
	        r->last - r->first + 1);
	for (size_t i = r->first; i <= r->last; i++)
		fprintf(out, "  %s\n", r->steps.v[i].commit);
}

void
st_bisect_print_text(const struct st_gate_options *o, const struct st_bisect_result *r, FILE *out)
{
	const struct st_bisect_quantity *q = &r->quantity;
	if (r->nothing) {
		fprintf(out, "nothing to bisect: the gate of the two ends says %s\n",
		        st_gate_verdicts[r->ends.verdict]);
		st_gate_print_text(o, &r->ends, out);
		return;
	}
	fprintf(out, "%s: %s%s%s, ", r->title, bisect_quantity_name(q), q->function ? " of " : "",
	        q->function ? q->function : "");
	bisect_put_value(q, q->value[ST_GATE_BASE], out);
	fprintf(out, " at %s, ", o->names[ST_GATE_BASE]);
	bisect_put_value(q, q->value[ST_GATE_TARGET], out);
	fprintf(out, " at %s\n", o->names[ST_GATE_TARGET]);
	bisect_put_steps(r, out);
	bisect_put_answer(r, out);
	st_gate_put_counts(&r->why, out);
}

static json_t *
bisect_steps_json(const struct st_bisect_result *r)
{
	json_t *all = json_array();
	for (size_t i = 0; i < r->steps.n; i++) {
		const struct st_bisect_step *s = &r->steps.v[i];
		json_array_append_new(
		        all,
		        json_pack("{ss, ss, so, so, so}", "commit", s->commit, "state",
		                  st_bisect_states[s->state], "value", st_json_real(s->value),
		                  "reason", s->reason ? st_json_text(s->reason) : json_null(),
		                  "judged", s->number ? st_json_count(s->number) : json_null()));
	}
	return all;
}

static json_t *
bisect_answer_json(const struct st_bisect_result *r)
{
	json_t *all = json_array();
	for (size_t i = r->first; i <= r->last && i < r->steps.n && !r->nothing; i++)
		json_array_append_new(all, json_string(r->steps.v[i].commit));
	return all;
}

json_t *
st_bisect_json(const struct st_gate_options *o, const struct st_bisect_result *r)
{
	const struct st_bisect_quantity *q = &r->quantity;
	return json_pack("{s{si, si}, so, so, so, so, s[o, o], so, so, so}", "strobe", "version",
	                 ST_JSON_VERSION, "bisect", 1, "benchmark",
	                 r->title ? st_json_text(r->title) : json_null(), "quantity",
	                 r->nothing ? json_null() : json_string(bisect_quantity_name(q)),
	                 "function", q->function ? st_json_text(q->function) : json_null(),
	                 "first_bad", bisect_answer_json(r), "values",
	                 st_json_real(q->value[ST_GATE_BASE]),
	                 st_json_real(q->value[ST_GATE_TARGET]), "steps", bisect_steps_json(r),
	                 "why", r->why.runs ? st_gate_counts_json(&r->why) : json_null(), "ends",
	                 st_gate_json(o, &r->ends));
}
