/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two campaigns of strobe blow side by side. */
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "report/blow.h"
#include "report/json.h"
#include "report/text.h"

/* Takes the value over, as json_object_set_new does. */
#define SET(object, key, value) bad |= json_object_set_new(object, key, value)

/* ---- text ---- */

static void
print_correlation(const struct st_blow_comparison *c, FILE *out)
{
	fputs("rank correlation (Spearman): ", out);
	if (isnan(c->correlation)) {
		fputs("cannot tell, since fewer than two different results were measured\n", out);
		return;
	}
	fprintf(out, "%.3f, ", c->correlation);
	if (!isnan(c->low))
		fprintf(out, "95 %% interval %.3f to %.3f\n", c->low, c->high);
	else
		fprintf(out, "without an interval, since %s\n",
		        fabs(c->correlation) < 1 ? "there are fewer than four functions"
		        : c->correlation > 0     ? "the order is the same"
		                                 : "the order is reversed");
}

static void
effect_cells(struct st_table *t, const struct st_blow_effect *e)
{
	st_table_cell(t, "%.1f", e->rank);
	if (isnan(e->low))
		st_table_cell(t, "%.4f", e->at);
	else
		st_table_cell(t, "%.4f (%.4f to %.4f)", e->at, e->low, e->high);
}

st_status
st_blow_compare_print(const struct st_blow *b, const struct st_blow_comparison *c,
                      const struct st_blow_view *view, FILE *out)
{
	const struct st_table_column columns[] = {{"rank", false},  {st_blow_effect_name(b), true},
	                                          {"rank", false},  {"in the other one", true},
	                                          {"differ", true}, {"function", true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	if (!t)
		return ST_FAILED;
	fprintf(out,
	        "functions measured in both campaigns: %s; not measured in one of them: %s; tried "
	        "only in the first one: %s, only in the other one: %s\n",
	        ST_NUMBER(c->pairs.n), ST_NUMBER(c->unmeasured), ST_NUMBER(c->alone[0]),
	        ST_NUMBER(c->alone[1]));
	print_correlation(c, out);
	for (size_t i = 0; i < c->pairs.n && (!view->top || i < view->top); i++) {
		const struct st_blow_pair *pair = &c->pairs.v[i];
		effect_cells(t, &pair->effects[0]);
		effect_cells(t, &pair->effects[1]);
		st_table_cell(t, "%s", st_blow_differs(pair) ? "yes" : "-");
		st_table_cell(t, "%s", b->functions.v[pair->function].name);
	}
	if (c->pairs.n) {
		fputc('\n', out);
		st_table_print(t, out, (struct st_style){0});
	}
	st_table_free(t);
	return ST_OK;
}

/* ---- JSON ---- */

static json_t *
json_interval(double at, double low, double high)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "value", st_json_real(at));
	SET(out, "lo", st_json_real(low));
	SET(out, "hi", st_json_real(high));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
json_effect(const struct st_blow_effect *e)
{
	json_t *out = json_interval(e->at, e->low, e->high);
	if (out && !json_object_set_new(out, "rank", json_real(e->rank)))
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
json_pair(const struct st_blow *b, const struct st_blow_pair *pair)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "function", st_json_text(b->functions.v[pair->function].name));
	SET(out, "symbol", st_json_text(b->functions.v[pair->function].raw_name));
	SET(out, "a", json_effect(&pair->effects[0]));
	SET(out, "b", json_effect(&pair->effects[1]));
	SET(out, "differ", json_boolean(st_blow_differs(pair)));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

json_t *
st_blow_compare_object(const struct st_blow *b, const struct st_blow_comparison *c)
{
	json_t *out = json_object(), *strobe = json_object(), *functions = json_array();
	int bad = 0;
	SET(strobe, "version", json_integer(ST_JSON_VERSION));
	SET(strobe, "tool", json_string(ST_BLOW_TOOL));
	SET(out, "strobe", strobe);
	SET(out, "compared", json_string(st_blow_effect_name(b)));
	SET(out, "correlation", json_interval(c->correlation, c->low, c->high));
	SET(out, "not_measured", st_json_count(c->unmeasured));
	SET(out, "only_a", st_json_count(c->alone[0]));
	SET(out, "only_b", st_json_count(c->alone[1]));
	for (size_t i = 0; i < c->pairs.n; i++)
		bad |= json_array_append_new(functions, json_pair(b, &c->pairs.v[i]));
	SET(out, "functions", functions);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

st_status
st_blow_compare_json(const struct st_blow *b, const struct st_blow_comparison *c, FILE *out,
                     struct st_error *e)
{
	char *text = st_json_document(st_blow_compare_object(b, c), ST_JSON_DOCUMENT,
	                              "the comparison", e);
	if (!text)
		return ST_FAILED;
	fputs(text, out);
	free(text);
	return ST_OK;
}
