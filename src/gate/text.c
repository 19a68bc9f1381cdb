/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gate for people. */
#include <math.h>

#include "base/number.h"
#include "gate/result.h"

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

void
st_gate_print_text(const struct st_gate_options *o, const struct st_gate_result *r, FILE *out)
{
	fprintf(out, "%s: %s against %s\n", st_gate_verdicts[r->verdict], o->names[ST_GATE_TARGET],
	        o->names[ST_GATE_BASE]);
	for (size_t i = 0; i < r->benchmarks.n; i++) {
		const struct st_gate_benchmark *b = &r->benchmarks.v[i];
		fprintf(out, "%s: %s\n", b->title, st_gate_verdicts[b->verdict]);
		text_time(o, &b->time, out);
	}
}
