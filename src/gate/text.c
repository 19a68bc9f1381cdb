/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a gate as text. */
#include "base/text.h"
#include "base/number.h"
#include "gate/findings.h"
#include "gate/why.h"

/* The reason for the verdict on time. */
static void
text_time_reason(const struct st_gate_time *t, FILE *out)
{
	const double limit = t->limit * 100;
	switch (t->verdict) {
	case ST_GATE_REGRESSION:
		fprintf(out,
		        "  the target is slower: with equal sides, at most one gate in %.3g shows "
		        "this\n",
		        t->evidence);
		break;
	case ST_GATE_PASS:
		fprintf(out, "  the target is not slower by %.4g %% or more\n", limit);
		break;
	case ST_GATE_INCONCLUSIVE:
		fprintf(out,
		        "  %s: these pairs do not decide whether the target is slower by %.4g %%; "
		        "%s\n",
		        t->interrupted ? "interrupted" : "the gate's limits are reached", limit,
		        "allow more with --pairs and --for, or measure on a quieter machine");
		break;
	}
}

void
st_gate_put_counts(const struct st_gate_counts *counts, FILE *out)
{
	enum { MOST = 10 };
	const size_t n = counts->functions.n;
	for (int i = 0; counts->runs && i < ST_GATE_N_COUNTED; i++) {
		const struct st_gate_count *c = &counts->program[i];
		if (!(c->value[ST_GATE_BASE] > 0) && !(c->value[ST_GATE_TARGET] > 0))
			continue;
		fprintf(out, "  %s: ", st_gate_counted[i]);
		st_gate_put_count(c, out);
		fprintf(out, "%s%s\n", c->verdict == ST_GATE_PASS ? "" : ": ",
		        c->verdict == ST_GATE_PASS ? "" : st_gate_verdicts[c->verdict]);
	}
	for (size_t i = 0; i < n && i < MOST; i++) {
		const struct st_gate_function *f = &counts->functions.v[i];
		fprintf(out, "    %s of %s: ", f->name, st_base_name(f->image));
		st_gate_put_function(counts, f, out);
		fputc('\n', out);
	}
	if (n > MOST)
		fprintf(out, "    and %zu functions that changed less; --format json has them\n",
		        n - MOST);
}

static void
text_function_times(const struct st_gate_function_times *t, FILE *out)
{
	enum { MOST = 10 };
	if (!t->pairs)
		return;
	fprintf(out,
	        "  run time of %s, by %s of traced runs; at most %.3g %% of gates of equal "
	        "sides raise an alarm for any of them\n",
	        ST_COUNT(t->v.n, "function", "functions"), ST_COUNT(t->pairs, "pair", "pairs"),
	        100 * t->alarm);
	for (size_t i = 0; i < t->v.n && i < MOST; i++) {
		const struct st_gate_function_time *f = &t->v.v[i];
		fprintf(out, "    %s of %s: ", f->name, f->image);
		st_gate_put_function_time(f, out);
		fprintf(out, ": %s\n", st_gate_verdicts[f->time.verdict]);
	}
	if (t->v.n > MOST)
		fprintf(out, "    and %s; --format json has them\n",
		        ST_COUNT(t->v.n - MOST, "more function", "more functions"));
}

void
st_gate_print_text(const struct st_gate_options *o, const struct st_gate_result *r, FILE *out)
{
	fprintf(out, "%s: %s against %s\n", st_gate_verdicts[r->verdict], o->names[ST_GATE_TARGET],
	        o->names[ST_GATE_BASE]);
	for (size_t i = 0; i < r->benchmarks.n; i++) {
		const struct st_gate_benchmark *b = &r->benchmarks.v[i];
		fprintf(out, "%s: %s\n", b->title, st_gate_verdicts[b->verdict]);
		st_gate_put_counts(&b->counts, out);
		if (o->rule.pairs) {
			fputs("  ", out);
			st_gate_put_time(o, &b->time, out);
			fputc('\n', out);
			text_time_reason(&b->time, out);
		}
		text_function_times(&b->functions, out);
	}
	for (size_t i = 0; i < r->notes.n; i++)
		fprintf(out, "%s\n", r->notes.v[i]);
}
