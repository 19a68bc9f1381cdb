/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gate for people. */
#include <math.h>

#include "base/number.h"
#include "gate/result.h"
#include "gate/why.h"
#include "report/text.h"

static const char *const metric_titles[] = {
#define M(id, name, title) title,
        ST_GATE_METRICS(M)
#undef M
};

static void
text_percent(char *text, size_t size, double share)
{
	if (!isfinite(share) || share <= -1)
		snprintf(text, size, "%s", share > 0 ? "any" : "-100 %");
	else
		snprintf(text, size, "%+.2f %%", share * 100);
}

static void
text_interval(const struct st_interval *i, FILE *out)
{
	char at[32], low[32], high[32];
	text_percent(at, sizeof at, i->at);
	text_percent(low, sizeof low, i->low);
	text_percent(high, sizeof high, i->high);
	fprintf(out, "%s (90 %%: %s to %s)", at, low, high);
}

/* The reason for the verdict on time. */
static void
text_time_reason(const struct st_gate_rule *rule, const struct st_gate_time *t, FILE *out)
{
	const double limit = rule->limit * 100;
	switch (t->verdict) {
	case ST_GATE_REGRESSION:
		fprintf(out,
		        "  the target is slower: chance alone looks like this once in %.3g gates\n",
		        t->evidence);
		break;
	case ST_GATE_PASS:
		fprintf(out, "  the target is not slower by %g %% or more\n", limit);
		break;
	case ST_GATE_INCONCLUSIVE:
		fprintf(out,
		        "  %s: these pairs tell neither that the target is slower by %g %% nor "
		        "that it is not; %s\n",
		        t->interrupted ? "interrupted" : "the gate's limits are reached", limit,
		        "allow more with --pairs and --for, or measure on a quieter machine");
		break;
	}
}

static void
text_time(const struct st_gate_options *o, const struct st_gate_time *t, FILE *out)
{
	char base[ST_NUMBER_SIZE], target[ST_NUMBER_SIZE];
	if (!o->rule.pairs)
		return;
	fprintf(out, "  %s: %s -> %s, ", metric_titles[o->metric],
	        st_duration(base, (int64_t)t->ns[ST_GATE_BASE]),
	        st_duration(target, (int64_t)t->ns[ST_GATE_TARGET]));
	text_interval(&t->change, out);
	fprintf(out, ", %s\n", ST_COUNT(t->ratios.n, "pair", "pairs"));
	text_time_reason(&o->rule, t, out);
}

/* ---- counts ---- */

/* How far the change of a count is known. */
static const char *
text_certainty(const struct st_gate_count *c, char *text, size_t size)
{
	if (c->exact)
		snprintf(text, size, "exact");
	else if (isnan(c->low))
		snprintf(text, size, "one run");
	else
		snprintf(text, size, "99 %%: %+.2f %% to %+.2f %%", c->low * 100, c->high * 100);
	return text;
}

static void
text_count(const char *name, const struct st_gate_count *c, FILE *out)
{
	char base[ST_NUMBER_SIZE], target[ST_NUMBER_SIZE], change[ST_GATE_CHANGE_SIZE], known[64];
	fprintf(out, "  %s: %s -> %s, %s (%s)%s%s\n", name,
	        st_number(base, (uint64_t)llround(c->value[ST_GATE_BASE])),
	        st_number(target, (uint64_t)llround(c->value[ST_GATE_TARGET])),
	        st_gate_change(c, change), text_certainty(c, known, sizeof known),
	        c->verdict == ST_GATE_PASS ? "" : ": ",
	        c->verdict == ST_GATE_PASS ? "" : st_gate_verdicts[c->verdict]);
}

static void
text_function(const struct st_gate_counts *counts, const struct st_gate_function *f, FILE *out)
{
	const struct st_gate_count *c = &f->instructions;
	const double whole = counts->program[ST_GATE_INSTRUCTIONS].value[ST_GATE_BASE];
	const double share = (c->value[ST_GATE_TARGET] - c->value[ST_GATE_BASE]) / whole;
	char change[ST_GATE_CHANGE_SIZE];
	fprintf(out, "    %s of %s: instructions %s, %+.2f %% of the program%s%s: ", f->name,
	        st_base_name(f->image), st_gate_change(c, change), share * 100,
	        c->verdict == ST_GATE_PASS ? "" : ", ",
	        c->verdict == ST_GATE_PASS ? "" : st_gate_verdicts[c->verdict]);
	st_gate_put_why(f, out);
	fputc('\n', out);
}

static void
text_counts(const struct st_gate_counts *counts, FILE *out)
{
	enum { MOST = 10 };
	size_t n = counts->functions.n;
	for (int i = 0; counts->runs && i < ST_GATE_N_COUNTED; i++)
		if (counts->program[i].value[ST_GATE_BASE] > 0 ||
		    counts->program[i].value[ST_GATE_TARGET] > 0)
			text_count(st_gate_counted[i], &counts->program[i], out);
	for (size_t i = 0; i < n && i < MOST; i++)
		text_function(counts, &counts->functions.v[i], out);
	if (n > MOST)
		fprintf(out, "    and %zu functions that changed less; --format json has them\n",
		        n - MOST);
}

void
st_gate_print_text(const struct st_gate_options *o, const struct st_gate_result *r, FILE *out)
{
	fprintf(out, "%s: %s against %s\n", st_gate_verdicts[r->verdict], o->names[ST_GATE_TARGET],
	        o->names[ST_GATE_BASE]);
	for (size_t i = 0; i < r->benchmarks.n; i++) {
		const struct st_gate_benchmark *b = &r->benchmarks.v[i];
		fprintf(out, "%s: %s\n", b->title, st_gate_verdicts[b->verdict]);
		text_counts(&b->counts, out);
		text_time(o, &b->time, out);
	}
}
