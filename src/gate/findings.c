/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate/findings.h"

#include <math.h>
#include <string.h>

#include "gate/calibrate.h"
#include "gate/why.h"
#include "report/json.h"
#include "report/text.h"

/* ---- sentences ---- */

static const char *const metric_titles[] = {
#define M(id, name, title) title,
        ST_GATE_METRICS(M)
#undef M
};

/* The certainty of the change of a count. */
static const char *
finding_certainty(const struct st_gate_count *c, char *text, size_t size)
{
	if (c->exact)
		snprintf(text, size, "exact");
	else if (isnan(c->low))
		snprintf(text, size, "one run");
	else
		snprintf(text, size, "99 %%: %+.2f %% to %+.2f %%", c->low * 100, c->high * 100);
	return text;
}

void
st_gate_put_count(const struct st_gate_count *c, FILE *out)
{
	char base[ST_NUMBER_SIZE], target[ST_NUMBER_SIZE], change[ST_GATE_CHANGE_SIZE], known[64];
	fprintf(out, "%s -> %s, %s (%s)",
	        st_number(base, (uint64_t)llround(c->value[ST_GATE_BASE])),
	        st_number(target, (uint64_t)llround(c->value[ST_GATE_TARGET])),
	        st_gate_change(c, change), finding_certainty(c, known, sizeof known));
}

void
st_gate_put_function(const struct st_gate_counts *all, const struct st_gate_function *f, FILE *out)
{
	const struct st_gate_count *c = &f->instructions;
	const double whole = all->program[ST_GATE_INSTRUCTIONS].value[ST_GATE_BASE];
	const double share = (c->value[ST_GATE_TARGET] - c->value[ST_GATE_BASE]) / whole;
	char change[ST_GATE_CHANGE_SIZE];
	fprintf(out, "instructions %s, %+.2f %% of the program%s%s: ", st_gate_change(c, change),
	        share * 100, c->verdict == ST_GATE_PASS ? "" : ", ",
	        c->verdict == ST_GATE_PASS ? "" : st_gate_verdicts[c->verdict]);
	st_gate_put_why(f, out);
}

static void
finding_percent(char *text, size_t size, double share)
{
	if (!isfinite(share) || share <= -1)
		snprintf(text, size, "%s", share > 0 ? "any" : "-100 %");
	else
		snprintf(text, size, "%+.2f %%", share * 100);
}

void
st_gate_put_time(const struct st_gate_options *o, const struct st_gate_time *t, FILE *out)
{
	char base[ST_NUMBER_SIZE], target[ST_NUMBER_SIZE], at[32], low[32], high[32];
	finding_percent(at, sizeof at, t->change.at);
	finding_percent(low, sizeof low, t->change.low);
	finding_percent(high, sizeof high, t->change.high);
	fprintf(out, "%s: %s -> %s, %s (90 %%: %s to %s), %s", metric_titles[o->metric],
	        st_duration(base, (int64_t)t->ns[ST_GATE_BASE]),
	        st_duration(target, (int64_t)t->ns[ST_GATE_TARGET]), at, low, high,
	        ST_COUNT(t->ratios.n, "pair", "pairs"));
}

void
st_gate_put_function_time(const struct st_gate_function_time *f, FILE *out)
{
	const struct st_gate_time *t = &f->time;
	char base[ST_NUMBER_SIZE], target[ST_NUMBER_SIZE], at[32], low[32], high[32];
	if (!t->ratios.n) {
		fputs("run time: cannot tell, no pair has it on both sides", out);
		return;
	}
	finding_percent(at, sizeof at, t->change.at);
	finding_percent(low, sizeof low, t->change.low);
	finding_percent(high, sizeof high, t->change.high);
	fprintf(out, "run time: %s -> %s, %s (90 %%: %s to %s), %s%s",
	        st_duration(base, (int64_t)t->ns[ST_GATE_BASE]),
	        st_duration(target, (int64_t)t->ns[ST_GATE_TARGET]), at, low, high,
	        ST_COUNT(t->ratios.n, "pair", "pairs"),
	        f->offset ? "; here, and as much less elsewhere" : "");
}

/* ---- the list ---- */

/* The path relative to the project; NULL: the file is not part of it. */
static const char *
finding_file(const struct st_gate_result *r, const char *file)
{
	const size_t n = r->folder ? strlen(r->folder) : 0;
	return file && n && !strncmp(file, r->folder, n) && file[n] == '/' ? file + n + 1 : NULL;
}

struct finder {
	struct st_gate_findings *to;
	const struct st_gate_options *o;
	const struct st_gate_result *r;
	const struct st_gate_benchmark *b;
};

/* Adds a finding whose message is `text`, which ends. */
static st_status
finding_add(const struct finder *x, struct st_text *text, const struct st_gate_finding *filled)
{
	char *message = st_text_end(text);
	struct st_gate_finding *f = message ? ST_PUSH(&x->to->v) : NULL;
	if (!f) {
		free(message);
		return ST_FAILED;
	}
	*f = *filled;
	f->benchmark = x->b->title;
	f->message = message;
	return ST_OK;
}

static st_status
finding_of_count(const struct finder *x, int what)
{
	const struct st_gate_count *c = &x->b->counts.program[what];
	struct st_text text;
	if (isinf(x->o->limits.program[what]))
		return ST_OK;
	FILE *out = st_text_begin(&text);
	if (out) {
		fprintf(out, "%s: ", st_gate_counted[what]);
		st_gate_put_count(c, out);
	}
	return finding_add(x, &text,
	                   &(struct st_gate_finding){.verdict = c->verdict,
	                                             .quantity = st_gate_counted[what],
	                                             .blamed = true});
}

static st_status
finding_of_function(const struct finder *x, const struct st_gate_function *f)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (out) {
		fprintf(out, "%s: ", f->name);
		st_gate_put_function(&x->b->counts, f, out);
	}
	return finding_add(x, &text,
	                   &(struct st_gate_finding){.verdict = f->instructions.verdict,
	                                             .quantity = "instructions",
	                                             .blamed = st_gate_is_blamed(f),
	                                             .function = f->name,
	                                             .file = finding_file(x->r, f->file),
	                                             .line = f->line});
}

static st_status
finding_of_time(const struct finder *x)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (out)
		st_gate_put_time(x->o, &x->b->time, out);
	return finding_add(x, &text,
	                   &(struct st_gate_finding){.verdict = x->b->time.verdict,
	                                             .quantity = "time",
	                                             .blamed = true});
}

static st_status
finding_of_function_time(const struct finder *x, const struct st_gate_function_time *f)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (out) {
		fprintf(out, "%s: ", f->name);
		st_gate_put_function_time(f, out);
	}
	return finding_add(x, &text,
	                   &(struct st_gate_finding){.verdict = f->time.verdict,
	                                             .quantity = "run time",
	                                             .blamed = true,
	                                             .function = f->name});
}

st_status
st_gate_findings_make(struct st_gate_findings *f, const struct st_gate_options *o,
                      const struct st_gate_result *r)
{
	st_status status = ST_OK;
	*f = (struct st_gate_findings){0};
	for (size_t i = 0; i < r->benchmarks.n; i++) {
		const struct finder x = {f, o, r, &r->benchmarks.v[i]};
		const struct st_gate_counts *c = &x.b->counts;
		for (int what = 0; c->runs && what < ST_GATE_N_COUNTED && !status; what++)
			status = finding_of_count(&x, what);
		for (size_t k = 0; k < c->functions.n && !status; k++)
			status = finding_of_function(&x, &c->functions.v[k]);
		if (o->rule.pairs && !status)
			status = finding_of_time(&x);
		for (size_t k = 0; k < x.b->functions.v.n && !status; k++)
			status = finding_of_function_time(&x, &x.b->functions.v.v[k]);
	}
	return status;
}

void
st_gate_findings_free(struct st_gate_findings *f)
{
	for (size_t i = 0; i < f->v.n; i++)
		free(f->v.v[i].message);
	free(f->v.v);
	*f = (struct st_gate_findings){0};
}

/* ---- formats ---- */

static st_status
finding_put_json(json_t *root, FILE *out)
{
	struct st_error e;
	char *text = st_json_document(root, ST_JSON_DOCUMENT, "the gate", &e);
	if (text)
		st_print_json_safely(out, text);
	free(text);
	return text ? ST_OK : ST_FAILED;
}

st_status
st_gate_write(enum st_gate_format format, const struct st_gate_options *o,
              const struct st_gate_result *r, FILE *out)
{
	struct st_gate_findings f = {0};
	if (format == ST_GATE_FORMAT_JSON)
		return finding_put_json(
		        o->gates ? st_gate_calibrate_json(o, r) : st_gate_json(o, r), out);
	if (o->gates) {
		st_gate_calibrate_text(r, out);
		return ST_OK;
	}
	st_status status = st_gate_findings_make(&f, o, r);
	if (!status && format == ST_GATE_FORMAT_SARIF)
		status = finding_put_json(st_gate_sarif(&f), out);
	else if (!status && format == ST_GATE_FORMAT_TEXT)
		st_gate_print_text(o, r, out);
	else if (!status && format == ST_GATE_FORMAT_MARKDOWN)
		st_gate_put_markdown(o, r, &f, out);
	else if (!status && format == ST_GATE_FORMAT_JUNIT)
		st_gate_put_junit(r, &f, out);
	else if (!status)
		st_gate_put_github(&f, out);
	st_gate_findings_free(&f);
	return status;
}
