/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe annotate --check: compares records with the annotations that a project keeps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/analyse.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/annotate.h"
#include "cli/annotate_kept.h"
#include "cli/commands.h"
#include "cli/result.h"
#include "profile/output.h"
#include "report/annotation.h"
#include "report/json.h"

enum { BROKEN = 1, INCONCLUSIVE = 3 };

/* An annotation, and the records that it is compared with. */
struct check_pair {
	const struct st_ann_annotation *a;
	const struct st_ann_records *r; /* NULL: there are none */
	size_t metric;
	struct st_ann_compared compared;
	struct st_ann_annotation now; /* of the records, if the comparison is broken */
	bool has_now;
};

struct check {
	const struct st_annotate_arguments *arguments;
	struct st_ann_file kept;
	ST_VEC(struct check_pair) pairs;
	size_t findings; /* at most, of all pairs with records */
};

static bool
check_is_image(const struct st_ann_annotation *a, const struct st_ann_records *r)
{
	return !a->image || !r->image || !*r->image ||
	       !strcmp(st_base_name(a->image), st_base_name(r->image));
}

/* Of several functions of the same name in an image, takes the last one, as --save does. */
static void
check_find_records(struct check_pair *p, const struct st_ann_data *d)
{
	for (size_t i = 0; i < d->functions.n; i++) {
		const struct st_ann_records *r = &d->functions.v[i];
		if (strcmp(r->name, p->a->function) || !check_is_image(p->a, r) || !r->n)
			continue;
		for (size_t k = 0; k < r->metrics.n; k++)
			if (!strcmp(r->metrics.v[k].name, p->a->metric)) {
				p->r = r;
				p->metric = k;
			}
	}
}

static st_status
check_pair_all(struct check *c, const struct st_ann_data *d, const char *place, struct st_error *e)
{
	size_t exercised = 0;
	for (size_t i = 0; i < c->kept.list.n; i++) {
		const struct st_ann_annotation *a = &c->kept.list.v[i];
		if (!st_annotate_chooses(c->arguments, a->function) ||
		    !st_annotate_chooses_metric(c->arguments, a->metric))
			continue;
		struct check_pair *p = ST_PUSH(&c->pairs);
		if (!p)
			return st_fail(e, ST_EXIT_FAILED, "no memory left for the check");
		*p = (struct check_pair){.a = a};
		check_find_records(p, d);
		if (p->r) {
			exercised++;
			c->findings += st_ann_compare_findings(a);
		}
	}
	return exercised ? ST_OK
	                 : st_fail(e, ST_EXIT_USAGE,
	                           "%s has no annotation of a function and a metric of the "
	                           "records%s",
	                           place,
	                           c->arguments->functions.n || c->arguments->chosen.n
	                                   ? " that --func and --metrics choose"
	                                   : "");
}

static st_status
check_compare(struct check *c, struct st_error *e)
{
	const struct st_ann_comparison how = {.margin = c->arguments->margin,
	                                      .error = c->arguments->alarm / (double)c->findings};
	for (size_t i = 0; i < c->pairs.n; i++) {
		struct check_pair *p = &c->pairs.v[i];
		struct st_error why;
		if (!p->r)
			continue;
		if (st_ann_compare(p->a, p->r, p->metric, &how, &p->compared))
			return st_fail(e, ST_EXIT_FAILED, "no memory left for the check");
		if (p->compared.change != ST_ANN_CHANGE_RAISED)
			continue;
		p->has_now =
		        !st_ann_analyse(p->r, p->metric, &c->arguments->analysis, &p->now, &why);
		if (!p->has_now)
			st_ann_annotation_free(&p->now);
	}
	return ST_OK;
}

static const char *
check_word(const struct check_pair *p)
{
	return p->r ? st_ann_change_name(p->compared.change) : "not exercised";
}

static int
check_code(const struct check *c)
{
	int code = ST_EXIT_OK;
	for (size_t i = 0; i < c->pairs.n; i++) {
		const struct check_pair *p = &c->pairs.v[i];
		if (p->r && p->compared.change == ST_ANN_CHANGE_RAISED)
			return BROKEN;
		if (!p->r || p->compared.change == ST_ANN_CHANGE_UNCERTAIN)
			code = INCONCLUSIVE;
	}
	return code;
}

/* Prints a change in percent of what the annotation says, or the value if that is 0. */
static void
check_print_cost(const struct st_ann_finding *f, const char *unit, FILE *out)
{
	const double base = fabs(f->annotated);
	if (base > 0)
		fprintf(out, "%.6g%s%s, %+.3g %% (%+.3g %% to %+.3g %%)", f->value,
		        *unit ? " " : "", unit, 100 * (f->value - f->annotated) / base,
		        100 * (f->low - f->annotated) / base,
		        100 * (f->high - f->annotated) / base);
	else
		fprintf(out, "%.6g%s%s (%.6g to %.6g), annotated: 0", f->value, *unit ? " " : "",
		        unit, f->low, f->high);
}

static void
check_print_finding(const struct check_pair *p, const struct st_ann_finding *f, FILE *out)
{
	const char *const unit = p->a->unit ? p->a->unit : "";
	switch (f->aspect) {
	case ST_ANN_ASPECT_MEAN:
		fputs("  mean: ", out);
		check_print_cost(f, unit, out);
		break;
	case ST_ANN_ASPECT_LARGEST:
		fprintf(out, "  where %.6g is predicted: ", f->annotated);
		check_print_cost(f, unit, out);
		break;
	case ST_ANN_ASPECT_SPREAD:
		fprintf(out, "  standard deviation: %.4g (%.4g to %.4g), annotated: %.4g", f->value,
		        f->low, f->high, f->annotated);
		break;
	case ST_ANN_ASPECT_SLOW:
		fprintf(out,
		        "  calls far above the others: %.3g %% (%.3g %% to %.3g %%), annotated: "
		        "%.3g %%",
		        100 * f->value, 100 * f->low, 100 * f->high, 100 * f->annotated);
		break;
	case ST_ANN_ASPECT_SHARE:
		fprintf(out, "  share of model %zu", f->mode + 1);
		if (p->a->scopes.n > 1)
			fprintf(out, " of condition %zu", f->scope + 1);
		fputs(" and costlier ones: ", out);
		fprintf(out, "%.3g %% (%.3g %% to %.3g %%), annotated: %.3g %%", 100 * f->value,
		        100 * f->low, 100 * f->high, 100 * f->annotated);
		break;
	}
	fprintf(out, ": %s\n", st_ann_change_name(f->change));
}

static void
check_print_models(const struct st_ann_annotation *a, const char *word, FILE *out)
{
	for (size_t i = 0; i < a->scopes.n; i++) {
		const struct st_ann_scope *s = &a->scopes.v[i];
		for (size_t k = 0; k < s->models.n; k++) {
			fprintf(out, "  %s: ", word);
			if (s->condition) {
				putc('[', out);
				st_ann_expr_print(s->condition, out, 5);
				fputs("] ", out);
			}
			if (!isnan(s->models.v[k].weight))
				fprintf(out, "{%.3g} ", s->models.v[k].weight);
			st_ann_print_model(&s->models.v[k], out, 5);
			putc('\n', out);
		}
	}
}

static void
check_print_pair(const struct check_pair *p, FILE *out)
{
	const struct st_ann_compared *c = &p->compared;
	fprintf(out, "%s: %s of %s\n", check_word(p), p->a->metric, p->a->function);
	if (!p->r) {
		fputs("  the records have no call of this function with this metric\n", out);
		return;
	}
	if (*c->reason)
		fprintf(out, "  %s\n", c->reason);
	else
		fprintf(out, "  %s compared\n", ST_COUNT(c->judged, "record is", "records are"));
	if (c->outside || c->uncovered)
		fprintf(out,
		        "  not compared: %s with features outside the observed ranges, %s for "
		        "which "
		        "no condition holds\n",
		        ST_NUMBER(c->outside), ST_NUMBER(c->uncovered));
	if (c->disturbed)
		fprintf(out, "  left out as disturbed: %s, far above the others\n",
		        ST_NUMBER(c->disturbed));
	if (c->pace > 0 && (c->pace > ST_ANN_PACE_MARGIN || c->pace < 1 / ST_ANN_PACE_MARGIN))
		fprintf(out,
		        "  the processor took %.3g times as long for a fixed loop as for the "
		        "annotation: make the %s again when nothing else runs\n",
		        c->pace, c->pace > 1 ? "records" : "annotation");
	for (size_t i = 0; i < c->findings.n; i++)
		check_print_finding(p, &c->findings.v[i], out);
	if (p->has_now) {
		check_print_models(p->a, "annotation", out);
		check_print_models(&p->now, "records", out);
	}
}

static json_t *
check_findings_json(const struct st_ann_compared *c)
{
	json_t *list = json_array();
	for (size_t i = 0; i < c->findings.n; i++) {
		const struct st_ann_finding *f = &c->findings.v[i];
		const bool share = f->aspect == ST_ANN_ASPECT_SHARE;
		json_array_append_new(
		        list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:[o, o]}", "aspect",
		                        st_ann_aspect_name(f->aspect), "verdict",
		                        st_ann_change_name(f->change), "scope",
		                        share ? st_json_count(f->scope) : json_null(), "mode",
		                        share ? st_json_count(f->mode) : json_null(), "annotated",
		                        st_json_real(f->annotated), "value", st_json_real(f->value),
		                        "interval", st_json_real(f->low), st_json_real(f->high)));
	}
	return list;
}

static json_t *
check_pair_json(const struct check_pair *p)
{
	const struct st_ann_compared *c = &p->compared;
	return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
	                 "function", st_json_text(p->a->function), "metric",
	                 st_json_text(p->a->metric), "verdict", check_word(p), "reason",
	                 *c->reason ? st_json_text(c->reason) : json_null(), "records",
	                 st_json_count(c->records), "compared", st_json_count(c->judged), "outside",
	                 st_json_count(c->outside), "uncovered", st_json_count(c->uncovered),
	                 "disturbed", st_json_count(c->disturbed), "pace",
	                 st_json_real(c->pace > 0 ? c->pace : NAN), "findings",
	                 check_findings_json(c), "annotation", st_annotation_json(p->a), "now",
	                 p->has_now ? st_annotation_json(&p->now) : json_null());
}

static char *
check_json(const struct check *c, struct st_error *e)
{
	json_t *list = json_array();
	for (size_t i = 0; i < c->pairs.n; i++)
		json_array_append_new(list, check_pair_json(&c->pairs.v[i]));
	return st_json_document(json_pack("{s:{s:i, s:s}, s:f, s:f, s:o}", "strobe", "version",
	                                  ST_JSON_VERSION, "tool", "annotate-check", "margin",
	                                  c->arguments->margin, "alarm", c->arguments->alarm,
	                                  "checks", list),
	                        JSON_INDENT(1) | JSON_REAL_PRECISION(17), "the check", e);
}

static char *
check_text(const struct check *c, struct st_error *e)
{
	struct st_text text;
	st_text_begin(&text);
	for (size_t i = 0; text.out && i < c->pairs.n; i++) {
		const struct check_pair *p = &c->pairs.v[i];
		if (!c->arguments->quiet || !p->r || p->compared.change >= ST_ANN_CHANGE_UNCERTAIN)
			check_print_pair(p, text.out);
	}
	char *v = text.out ? st_text_end(&text) : NULL;
	if (!v)
		ST_IGNORE(st_fail(e, ST_EXIT_FAILED, "no memory left to print the check"));
	return v;
}

static st_status
check_put(const struct check *c, struct st_error *e)
{
	char *text = c->arguments->json ? check_json(c, e) : check_text(c, e);
	if (!text)
		return ST_FAILED;
	st_status status = st_result_write_text(text, c->arguments->json, e);
	free(text);
	return status;
}

static void
check_free(struct check *c)
{
	for (size_t i = 0; i < c->pairs.n; i++) {
		free(c->pairs.v[i].compared.findings.v);
		if (c->pairs.v[i].has_now)
			st_ann_annotation_free(&c->pairs.v[i].now);
	}
	free(c->pairs.v);
	st_ann_file_free(&c->kept);
}

int
st_annotate_check(const struct st_annotate_arguments *a, const struct st_ann_data *d,
                  struct st_error *e)
{
	struct check c = {.arguments = a};
	char *folder = NULL;
	st_status status = a->kept ? st_ann_read(a->kept, &c.kept, e)
	                           : st_annotations_read(&c.kept, &folder, e);
	if (!status)
		status = check_pair_all(&c, d, a->kept ? a->kept : folder, e);
	if (!status)
		status = check_compare(&c, e);
	if (!status)
		status = check_put(&c, e);
	const int code = status ? st_complain(e) : check_code(&c);
	check_free(&c);
	free(folder);
	return code;
}
