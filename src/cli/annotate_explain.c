/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe annotate --explain: which callees carry the growth of a function's cost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/analyse.h"
#include "annotate/explain.h"
#include "base/text.h"
#include "cli/annotate.h"
#include "cli/commands.h"
#include "cli/result.h"
#include "profile/output.h"
#include "report/annotation.h"
#include "report/json.h"

enum { INCONCLUSIVE = 3, EXPLAIN_DIGITS = 5 };

/* An explained metric of a function, and the annotations of its callees by their own features. */
struct explanation {
	const struct st_ann_records *r;
	const char *unit;
	struct st_ann_explained x;
	ST_VEC(struct explain_callee {
		bool made;
		struct st_ann_annotation a;
	})
	callees; /* by part */
};

struct explanations {
	const struct st_annotate_arguments *arguments;
	const struct st_ann_data *data;
	ST_VEC(struct explanation) list;
};

/* ---- finding ---- */

/* Analyses the records of a callee. Of several functions of this name, takes the last one with
 * records. */
static void
explain_callee(const struct explanations *all, const char *name, const char *metric,
               struct explain_callee *out)
{
	struct st_error why;
	for (size_t i = all->data->functions.n; i-- > 0 && !out->made;) {
		const struct st_ann_records *r = &all->data->functions.v[i];
		for (size_t k = 0; k < r->metrics.n && !out->made && !strcmp(r->name, name); k++) {
			if (strcmp(r->metrics.v[k].name, metric))
				continue;
			out->made = !st_ann_analyse(r, k, &all->arguments->analysis, &out->a, &why);
			if (!out->made)
				st_ann_annotation_free(&out->a);
		}
	}
}

static st_status
explain_metric(struct explanations *all, const struct st_ann_records *r, size_t metric,
               struct st_error *e)
{
	struct explanation *x = ST_PUSH(&all->list);
	if (!x)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to explain the records");
	*x = (struct explanation){.r = r, .unit = r->metrics.v[metric].unit};
	if (st_ann_explain(r, metric, &all->arguments->analysis, &x->x, e))
		return ST_FAILED;
	for (size_t k = 0; k < x->x.parts.n; k++) {
		const char *const name = x->x.parts.v[k].callee;
		struct explain_callee *c = ST_PUSH(&x->callees);
		if (!c)
			return st_fail(e, ST_EXIT_FAILED, "no memory left to explain the records");
		*c = (struct explain_callee){.made = false};
		if (name && *name)
			explain_callee(all, name, r->metrics.v[metric].name, c);
	}
	return ST_OK;
}

/* Do the records have the costs of callees for this metric? */
static bool
explain_has_callees(const struct st_ann_records *r, const char *metric)
{
	for (size_t i = 0; i < r->metrics.n; i++)
		if (r->metrics.v[i].of && !strcmp(r->metrics.v[i].of, metric))
			return true;
	return false;
}

static st_status
explain_function(struct explanations *all, const struct st_ann_records *r, struct st_error *e)
{
	const size_t before = all->list.n;
	for (size_t k = 0; k < r->metrics.n; k++) {
		const struct st_ann_metric *m = &r->metrics.v[k];
		if (m->of || !st_annotate_chooses_metric(all->arguments, m->name) ||
		    (!all->arguments->chosen.n && !explain_has_callees(r, m->name)))
			continue;
		if (explain_metric(all, r, k, e))
			return ST_FAILED;
	}
	if (all->list.n > before)
		return ST_OK;
	if (all->arguments->chosen.n)
		return st_fail(e, ST_EXIT_USAGE, "no metric of %.200s is named '%s'", r->name,
		               all->arguments->chosen.text[0]);
	return st_fail(e, ST_EXIT_FAILED,
	               "the records of %.200s do not say what its callees cost: record it and its "
	               "callees with strobe annotate -o FILE -m callees",
	               r->name);
}

static st_status
explain_find(struct explanations *all, struct st_error *e)
{
	bool found = false;
	for (size_t i = 0; i < all->data->functions.n; i++) {
		const struct st_ann_records *r = &all->data->functions.v[i];
		if (!st_annotate_fits(all->arguments->explain, r->name))
			continue;
		found = true;
		if (explain_function(all, r, e))
			return ST_FAILED;
	}
	return found ? ST_OK
	             : st_fail(e, ST_EXIT_USAGE,
	                       "no function of the records matches '%s'; the first one is %s",
	                       all->arguments->explain,
	                       all->data->functions.n ? all->data->functions.v[0].name : "none");
}

/* Is it known which parts carry the growth, where the cost grows? */
static bool
explain_is_known(const struct st_ann_explained *x)
{
	for (size_t i = 0; i < x->scopes.n; i++) {
		const struct st_ann_explained_scope *s = &x->scopes.v[i];
		if (s->undecided)
			return false;
		for (size_t k = 0; k < s->terms.n; k++)
			if (!s->terms.v[k].explained)
				return false;
	}
	return true;
}

/* ---- text ---- */

static const char *
explain_part_name(const struct st_ann_part *p)
{
	return !p->callee ? "(its own code)" : *p->callee ? p->callee : "(other callees)";
}

/* Prints models on one line. */
static void
explain_print_models(const struct st_ann_annotation *a, FILE *out)
{
	bool any = false;
	for (size_t i = 0; i < a->scopes.n; i++)
		for (size_t k = 0; k < a->scopes.v[i].models.n; k++) {
			const struct st_ann_scope *s = &a->scopes.v[i];
			fputs(any ? "; " : "", out);
			any = true;
			if (s->condition) {
				putc('[', out);
				st_ann_expr_print(s->condition, out, EXPLAIN_DIGITS);
				fputs("] ", out);
			}
			if (!isnan(s->models.v[k].weight))
				fprintf(out, "{%.3g} ", s->models.v[k].weight);
			st_ann_print_model(&s->models.v[k], out, EXPLAIN_DIGITS);
		}
	putc('\n', out);
}

static void
explain_print_share(const struct st_ann_explained *x, const struct st_ann_explained_term *t,
                    size_t part, FILE *out)
{
	const struct st_ann_share *s = &t->parts.v[part];
	fprintf(out, "    %s: %.3g %% (%.3g %% to %.3g %%): %s\n",
	        explain_part_name(&x->parts.v[part]), 100 * s->share, 100 * s->low, 100 * s->high,
	        st_ann_carrier_name(s->carrier));
}

/* The parts with the largest shares first. */
static void
explain_print_shares(const struct st_ann_explained *x, const struct st_ann_explained_term *t,
                     FILE *out)
{
	double above = INFINITY;
	size_t last = SIZE_MAX;
	for (size_t done = 0; done < t->parts.n; done++) {
		size_t best = SIZE_MAX;
		for (size_t k = 0; k < t->parts.n; k++) {
			const double share = t->parts.v[k].share;
			const bool later = share < above || (share == above && k > last);
			if (later && (best == SIZE_MAX || share > t->parts.v[best].share))
				best = k;
		}
		if (best == SIZE_MAX)
			return;
		explain_print_share(x, t, best, out);
		above = t->parts.v[best].share;
		last = best;
	}
}

static void
explain_print_scope(const struct st_ann_explained *x, const struct st_ann_explained_scope *s,
                    const char *unit, FILE *out)
{
	if (s->scope->condition) {
		fputs("  where ", out);
		st_ann_expr_print(s->scope->condition, out, EXPLAIN_DIGITS);
		fputs(":\n", out);
	}
	if (*s->reason)
		fprintf(out, "  %s%s\n", s->undecided ? "cannot tell: " : "", s->reason);
	for (size_t i = 0; i < s->terms.n; i++) {
		const struct st_ann_explained_term *t = &s->terms.v[i];
		fputs("  growth by ", out);
		st_ann_expr_print(t->term, out, EXPLAIN_DIGITS);
		if (t->is_sum)
			fputs(" (", out);
		else
			fprintf(out, " (coefficient %.5g, ", t->coefficient);
		fprintf(out, "up to %.5g%s%s of a call)%s\n", t->growth, *unit ? " " : "", unit,
		        t->explained ? "" : ": cannot tell");
		explain_print_shares(x, t, out);
	}
}

/* Are the models of a part of interest? It carries growth, or is a large part of the cost that no
 * growth is known of. */
static bool
explain_is_relevant(const struct st_ann_explained *x, size_t part)
{
	bool any = false;
	for (size_t i = 0; i < x->scopes.n; i++)
		for (size_t k = 0; k < x->scopes.v[i].terms.n; k++) {
			any = true;
			if (x->scopes.v[i].terms.v[k].parts.v[part].carrier != ST_ANN_CARRIES_NOT)
				return true;
		}
	return !any && 20 * x->parts.v[part].mean > x->mean;
}

static void
explain_print_part(const struct explanation *e, size_t part, FILE *out)
{
	const struct st_ann_part *p = &e->x.parts.v[part];
	fprintf(out, "  %s: %.3g %% of the mean cost\n", explain_part_name(p),
	        e->x.mean != 0 ? 100 * p->mean / e->x.mean : 0);
	if (!explain_is_relevant(&e->x, part))
		return;
	if (p->has_cost) {
		fputs("    in all: ", out);
		explain_print_models(&p->cost, out);
	}
	if (p->has_number) {
		fputs("    calls: ", out);
		explain_print_models(&p->number, out);
	}
	if (p->has_each) {
		fputs("    each, on average: ", out);
		explain_print_models(&p->each, out);
	}
	if (e->callees.v[part].made) {
		fputs("    each, by its own data: ", out);
		explain_print_models(&e->callees.v[part].a, out);
	}
}

/* Returns whether recording may have changed a share by much. */
static bool
explain_is_recording_large(const struct st_ann_explained *x)
{
	static const double much = 0.05;
	for (size_t i = 0; i < x->scopes.n; i++)
		for (size_t k = 0; k < x->scopes.v[i].terms.n; k++)
			for (size_t p = 0; p < x->parts.n; p++)
				if (x->scopes.v[i].terms.v[k].parts.v[p].recording > much)
					return true;
	return false;
}

static void
explain_print(const struct explanation *e, FILE *out)
{
	const struct st_ann_explained *x = &e->x;
	fprintf(out, "%s of %s, %s:\n  ", x->caller.metric, x->caller.function,
	        ST_COUNT(x->n, "record", "records"));
	explain_print_models(&x->caller, out);
	for (size_t i = 0; i < x->scopes.n; i++)
		explain_print_scope(x, &x->scopes.v[i], e->unit, out);
	for (size_t k = 0; k < x->parts.n && x->mean != 0; k++)
		explain_print_part(e, k, out);
	if (explain_is_recording_large(x))
		fputs("  Recording a call may add its overhead to the times of the callees and of "
		      "the code that calls them; the intervals allow for it. Record fewer of the "
		      "short functions that are called often.\n",
		      out);
	if (!isnan(x->difference))
		fprintf(out,
		        "  The sum of the models of these parts differs from the model of %s by at "
		        "most %.2g %% of its largest prediction.\n",
		        x->caller.function, 100 * x->difference);
}

static char *
explain_text(const struct explanations *all, struct st_error *e)
{
	struct st_text text;
	st_text_begin(&text);
	for (size_t i = 0; text.out && i < all->list.n; i++) {
		fputs(i ? "\n" : "", text.out);
		explain_print(&all->list.v[i], text.out);
	}
	char *v = text.out ? st_text_end(&text) : NULL;
	if (!v)
		ST_IGNORE(st_fail(e, ST_EXIT_FAILED, "no memory left to print the explanation"));
	return v;
}

/* ---- JSON ---- */

static json_t *
explain_expression_json(const struct st_ann_expr *x)
{
	struct st_text text;
	if (!x || !st_text_begin(&text))
		return json_null();
	st_ann_expr_print(x, text.out, 0);
	char *v = st_text_end(&text);
	json_t *json = v ? st_json_text(v) : NULL;
	free(v);
	return json;
}

static const char *
explain_part_kind(const struct st_ann_part *p)
{
	return !p->callee ? "own" : *p->callee ? "callee" : "others";
}

static json_t *
explain_callee_json(const struct st_ann_part *p)
{
	return p->callee && *p->callee ? st_json_text(p->callee) : json_null();
}

static json_t *
explain_term_json(const struct st_ann_explained *x, const struct st_ann_explained_term *t)
{
	json_t *shares = json_array();
	for (size_t k = 0; k < t->parts.n; k++) {
		const struct st_ann_share *s = &t->parts.v[k];
		json_array_append_new(shares,
		                      json_pack("{s:s, s:o, s:o, s:o, s:[o, o], s:s}", "part",
		                                explain_part_kind(&x->parts.v[k]), "callee",
		                                explain_callee_json(&x->parts.v[k]), "coefficient",
		                                st_json_real(s->coefficient), "share",
		                                st_json_real(s->share), "interval",
		                                st_json_real(s->low), st_json_real(s->high),
		                                "verdict", st_ann_carrier_name(s->carrier)));
	}
	return json_pack("{s:o, s:o, s:o, s:b, s:o}", "term", explain_expression_json(t->term),
	                 "coefficient", st_json_real(t->coefficient), "growth",
	                 st_json_real(t->growth), "explained", t->explained, "shares", shares);
}

static json_t *
explain_scope_json(const struct st_ann_explained *x, const struct st_ann_explained_scope *s)
{
	json_t *terms = json_array();
	for (size_t i = 0; i < s->terms.n; i++)
		json_array_append_new(terms, explain_term_json(x, &s->terms.v[i]));
	return json_pack("{s:o, s:o, s:o, s:b, s:o}", "condition",
	                 explain_expression_json(s->scope->condition), "records",
	                 st_json_count(s->n), "reason",
	                 *s->reason ? st_json_text(s->reason) : json_null(), "undecided",
	                 s->undecided, "terms", terms);
}

static json_t *
explain_annotation_json(bool made, const struct st_ann_annotation *a)
{
	return made ? st_annotation_json(a) : json_null();
}

static json_t *
explain_part_json(const struct explanation *e, size_t part)
{
	const struct st_ann_part *p = &e->x.parts.v[part];
	const struct explain_callee *c = &e->callees.v[part];
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "part", explain_part_kind(p),
	                 "callee", explain_callee_json(p), "mean", st_json_real(p->mean), "calls",
	                 st_json_real(p->calls), "cost",
	                 explain_annotation_json(p->has_cost, &p->cost), "number",
	                 explain_annotation_json(p->has_number, &p->number), "each",
	                 explain_annotation_json(p->has_each, &p->each), "annotation",
	                 explain_annotation_json(c->made, &c->a));
}

static json_t *
explanation_json(const struct explanation *e)
{
	const struct st_ann_explained *x = &e->x;
	json_t *scopes = json_array(), *parts = json_array();
	for (size_t i = 0; i < x->scopes.n; i++)
		json_array_append_new(scopes, explain_scope_json(x, &x->scopes.v[i]));
	for (size_t k = 0; k < x->parts.n; k++)
		json_array_append_new(parts, explain_part_json(e, k));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "function",
	                 st_json_text(x->caller.function), "metric", st_json_text(x->caller.metric),
	                 "records", st_json_count(x->n), "mean", st_json_real(x->mean),
	                 "annotation", st_annotation_json(&x->caller), "difference",
	                 st_json_real(x->difference), "scopes", scopes, "parts", parts);
}

static char *
explain_json(const struct explanations *all, struct st_error *e)
{
	json_t *list = json_array();
	for (size_t i = 0; i < all->list.n; i++)
		json_array_append_new(list, explanation_json(&all->list.v[i]));
	return st_json_document(json_pack("{s:{s:i, s:s}, s:o}", "strobe", "version",
	                                  ST_JSON_VERSION, "tool", "annotate-explain",
	                                  "explanations", list),
	                        JSON_INDENT(1) | JSON_REAL_PRECISION(17), "the explanation", e);
}

/* ---- all together ---- */

static st_status
explain_put(const struct explanations *all, struct st_error *e)
{
	const bool json = all->arguments->json;
	char *text = json ? explain_json(all, e) : explain_text(all, e);
	if (!text)
		return ST_FAILED;
	st_status status = st_result_write_text(text, json, e);
	free(text);
	return status;
}

static void
explain_all_free(struct explanations *all)
{
	for (size_t i = 0; i < all->list.n; i++) {
		struct explanation *x = &all->list.v[i];
		for (size_t k = 0; k < x->callees.n; k++)
			if (x->callees.v[k].made)
				st_ann_annotation_free(&x->callees.v[k].a);
		free(x->callees.v);
		st_ann_explained_free(&x->x);
	}
	free(all->list.v);
}

int
st_annotate_explain(const struct st_annotate_arguments *a, const struct st_ann_data *d,
                    struct st_error *e)
{
	struct explanations all = {.arguments = a, .data = d};
	int code = ST_EXIT_OK;
	st_status status = explain_find(&all, e);
	if (!status)
		status = explain_put(&all, e);
	for (size_t i = 0; i < all.list.n && !status; i++)
		if (!explain_is_known(&all.list.v[i].x))
			code = INCONCLUSIVE;
	explain_all_free(&all);
	return status ? st_complain(e) : code;
}
