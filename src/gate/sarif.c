/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a gate as SARIF 2.1.0, and as annotations of GitHub workflows: regressions and
 * inconclusive findings, at the lines of functions if they are known. */
#include <string.h>

#include "gate/findings.h"
#include "report/json.h"

/* GitHub refuses a file in which a result has no location, so a finding without a file of the
 * project is at the description of the benchmarks. */
static json_t *
sarif_locations(const struct st_gate_finding *f)
{
	const char *file = f->file ? f->file : ST_JOB_FILE;
	const json_int_t line = f->file && f->line ? (json_int_t)f->line : 1;
	return json_pack("[{s{s{so, ss}, s{sI}}}]", "physicalLocation", "artifactLocation", "uri",
	                 st_json_text(file), "uriBaseId", "%SRCROOT%", "region", "startLine", line);
}

static void
sarif_put_words(char *text, size_t size, const char *quantity)
{
	snprintf(text, size, "%s", quantity);
	for (char *at = text; *at; at++)
		if (*at == ' ')
			*at = '-';
}

static const char *
sarif_level(const struct st_gate_finding *f)
{
	if (!f->blamed)
		return "note";
	return f->verdict == ST_GATE_REGRESSION ? "error" : "warning";
}

static json_t *
sarif_result(const struct st_gate_finding *f)
{
	struct st_text text;
	char rule[64];
	FILE *out = st_text_begin(&text);
	if (out)
		fprintf(out, "%s: %s", f->benchmark, f->message);
	char *message = st_text_end(&text);
	sarif_put_words(rule, sizeof rule, f->quantity);
	json_t *result = json_pack("{ss, ss, s{so}, so}", "ruleId", rule, "level", sarif_level(f),
	                           "message", "text", message ? st_json_text(message) : json_null(),
	                           "locations", sarif_locations(f));
	free(message);
	return result;
}

static json_t *
sarif_rules(void)
{
	json_t *rules = json_pack("[{ss, s{ss}}]", "id", "time", "shortDescription", "text",
	                          "The target takes longer than the base");
	for (int i = 0; i < ST_GATE_N_COUNTED; i++) {
		char id[64], text[96];
		sarif_put_words(id, sizeof id, st_gate_counted[i]);
		snprintf(text, sizeof text, "The target has more %s than the base",
		         st_gate_counted[i]);
		json_array_append_new(rules, json_pack("{ss, s{ss}}", "id", id, "shortDescription",
		                                       "text", text));
	}
	return rules;
}

json_t *
st_gate_sarif(const struct st_gate_findings *f)
{
	json_t *results = json_array();
	for (size_t i = 0; i < f->v.n; i++)
		if (f->v.v[i].verdict != ST_GATE_PASS)
			json_array_append_new(results, sarif_result(&f->v.v[i]));
	return json_pack("{ss, ss, s[{s{s{ss, so}}, so}]}", "$schema",
	                 "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0",
	                 "runs", "tool", "driver", "name", "strobe gate", "rules", sarif_rules(),
	                 "results", results);
}

/* ---- annotations ---- */

/* Commas and colons end a property. */
static void
github_put(const char *text, bool property, FILE *out)
{
	for (; *text; text++) {
		const bool escaped = *text == '%' || *text == '\n' || *text == '\r' ||
		                     (property && (*text == ',' || *text == ':'));
		if (escaped)
			fprintf(out, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, out);
	}
}

void
st_gate_put_github(const struct st_gate_findings *f, FILE *out)
{
	for (size_t i = 0; i < f->v.n; i++) {
		const struct st_gate_finding *x = &f->v.v[i];
		if (x->verdict == ST_GATE_PASS)
			continue;
		fprintf(out, "::%s ", x->blamed ? sarif_level(x) : "notice");
		if (x->file) {
			fputs("file=", out);
			github_put(x->file, true, out);
			fprintf(out, ",line=%u,", x->line ? x->line : 1);
		}
		fputs("title=", out);
		github_put(x->verdict == ST_GATE_REGRESSION ? "Performance regression"
		                                            : "Performance inconclusive",
		           true, out);
		fputs("::", out);
		github_put(x->benchmark, false, out);
		fputs(": ", out);
		github_put(x->message, false, out);
		fputc('\n', out);
	}
}
