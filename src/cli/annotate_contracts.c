/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe annotate --contracts: checks records against bounds that a person wrote. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/contract.h"
#include "base/number.h"
#include "cli/annotate.h"
#include "cli/commands.h"
#include "profile/output.h"
#include "report/json.h"

enum { BROKEN = 1, INCONCLUSIVE = 3 };

static const char *const verdict_words[] = {[ST_ANN_KEPT] = "kept",
                                            [ST_ANN_BROKEN] = "broken",
                                            [ST_ANN_NOT_EXERCISED] = "not exercised",
                                            [ST_ANN_CANNOT_TELL] = "cannot tell"};

/* Prints the values by which a contract on growth was judged. */
static void
contract_print_growth(const struct st_ann_outcome *o, FILE *out)
{
	const struct st_ann_growth *g = &o->growth;
	fprintf(out, "  %s, in which the expression goes from %.6g to %.6g; ",
	        ST_COUNT(o->records, "record", "records"), g->low, g->high);
	if (g->verdict == ST_ANN_GROWTH_FEW_VALUES)
		fputs("at least four records and three clearly different values of the expression "
		      "are needed\n",
		      out);
	else if (g->verdict == ST_ANN_GROWTH_NARROW)
		fputs("the least value must not be below 0, and the largest must be at least twice "
		      "the least\n",
		      out);
	else if (isnan(g->bend))
		fputs(g->verdict == ST_ANN_GROWTH_WITHIN
		              ? "the metric does not grow\n"
		              : "it is not certain that the metric grows\n",
		      out);
	else
		fprintf(out,
		        "the bend is %.1f %% (%.1f %% to %.1f %%; that of x*log(x) is %.1f %%)\n",
		        100 * g->bend, 100 * g->bend_low, 100 * g->bend_high, 100 * g->faster);
}

static void
contract_print(const struct st_ann_contract *c, const struct st_ann_outcome *o, FILE *out)
{
	fprintf(out, "%s: %s\n", verdict_words[o->verdict], c->text + strspn(c->text, " \t"));
	if (!o->records) {
		fprintf(out,
		        "  the contract applies to no record: record calls of %s with the metric "
		        "%s%s\n",
		        c->function, c->metric, c->range ? " in this range" : "");
		return;
	}
	if (c->growth) {
		contract_print_growth(o, out);
		return;
	}
	fprintf(out, "  %s of %s above the bound; ", ST_NUMBER(o->above),
	        ST_COUNT(o->records, "record is", "records are"));
	fprintf(out, "record %s has %.10g, and its bound is %.10g\n", ST_NUMBER(o->worst_record),
	        o->worst, o->bound);
	if (c->quantile < 1)
		fprintf(out,
		        "  %.4g %% to %.4g %% of the calls are within the bound (95 %% "
		        "confidence)\n",
		        100 * o->share_low, 100 * o->share_high);
}

static json_t *
contract_growth_json(const struct st_ann_growth *g)
{
	return json_pack("{s:[o, o], s:o, s:[o, o], s:o}", "range", st_json_real(g->low),
	                 st_json_real(g->high), "bend", st_json_real(g->bend), "interval",
	                 st_json_real(g->bend_low), st_json_real(g->bend_high), "faster",
	                 st_json_real(g->faster));
}

static json_t *
contract_json(const struct st_ann_contract *c, const struct st_ann_outcome *o)
{
	const bool share = o->records && c->quantile < 1, bounded = o->records && !c->growth;
	return json_pack("{s:o, s:i, s:o, s:o, s:f, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "contract",
	                 st_json_text(c->text + strspn(c->text, " \t")), "line", (int)c->line,
	                 "function", st_json_text(c->function), "metric", st_json_text(c->metric),
	                 "quantile", c->quantile, "verdict", verdict_words[o->verdict], "records",
	                 st_json_count(o->records), "above", st_json_count(o->above), "share",
	                 share ? json_pack("[f, f]", o->share_low, o->share_high) : json_null(),
	                 "worst", bounded ? json_real(o->worst) : json_null(), "bound",
	                 bounded ? json_real(o->bound) : json_null(), "growth",
	                 c->growth && o->records ? contract_growth_json(&o->growth) : json_null());
}

/* Combines exit codes: a contract that is broken or not exercised outweighs the others. */
static int
contract_exit(int code, enum st_ann_verdict verdict)
{
	if (verdict == ST_ANN_BROKEN || verdict == ST_ANN_NOT_EXERCISED || code == BROKEN)
		return BROKEN;
	return verdict == ST_ANN_CANNOT_TELL ? INCONCLUSIVE : code;
}

static st_status
contracts_print(const struct st_annotate_arguments *a, const struct st_ann_contracts *c,
                const struct st_ann_data *d, int *code, struct st_error *e)
{
	json_t *list = json_array();
	struct st_text text;
	st_status status =
	        st_text_begin(&text) ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (size_t i = 0; i < c->list.n && !status; i++) {
		struct st_ann_outcome o;
		status = st_ann_contract_check(&c->list.v[i], d, &o, e);
		if (status)
			break;
		*code = contract_exit(*code, o.verdict);
		json_array_append_new(list, contract_json(&c->list.v[i], &o));
		if (!a->quiet || o.verdict != ST_ANN_KEPT)
			contract_print(&c->list.v[i], &o, text.out);
	}
	char *v = text.out ? st_text_end(&text) : NULL;
	if (!status && a->json) {
		free(v);
		v = st_json_document(json_pack("{s:{s:i, s:s}, s:O}", "strobe", "version",
		                               ST_JSON_VERSION, "tool", "contracts", "contracts",
		                               list),
		                     ST_JSON_DOCUMENT, "the contracts", e);
		status = v ? ST_OK : ST_FAILED;
	}
	json_decref(list);
	if (!status && a->json)
		st_print_json_safely(stdout, v);
	else if (!status && v)
		st_print_safely(stdout, v);
	free(v);
	if (!status)
		status = st_output_flush(e);
	return status;
}

int
st_annotate_contracts(const struct st_annotate_arguments *a, const struct st_ann_data *d,
                      struct st_error *e)
{
	struct st_ann_contracts contracts;
	int code = ST_EXIT_OK;
	st_status status = st_ann_contracts_read(a->contracts, &contracts, e);
	if (!status)
		status = contracts_print(a, &contracts, d, &code, e);
	st_ann_contracts_free(&contracts);
	return status ? st_complain(e) : code;
}
