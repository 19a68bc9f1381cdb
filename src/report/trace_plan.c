/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "report/json.h"
#include "report/report.h"
#include "report/trace.h"

void
st_trace_plan_text(const struct st_trace_plan *plan, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"offset", false}, {"image", true}, {"source", true}, {"function", true}};
	struct st_table *table = st_table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < plan->functions.n; i++) {
		const struct st_planned_function *f = &plan->functions.v[i];
		char *name = st_printable(f->name);
		st_table_cell(table, "0x%" PRIx64, f->offset);
		st_table_cell(table, "%s", st_base_name(f->image));
		if (f->file && f->line)
			st_table_cell(table, "%s:%u", st_base_name(f->file), f->line);
		else
			st_table_cell(table, "-");
		st_table_cell(table, "%s", name ? name : "");
		free(name);
	}
	st_table_print(table, out, st_style_of(out));
	st_table_free(table);
	fprintf(out, "\n%s would be traced\n",
	        ST_COUNT(plan->functions.n, "function", "functions"));
}

static json_t *
planned_json(const struct st_planned_function *f)
{
	json_t *out = json_object();
	const bool located = f->file && f->line;
	int bad = json_object_set_new(out, "name", st_json_text(f->name));
	bad |= json_object_set_new(out, "image", st_json_text(f->image));
	bad |= json_object_set_new(out, "offset", st_json_count(f->offset));
	bad |= json_object_set_new(out, "file", located ? st_json_text(f->file) : json_null());
	bad |= json_object_set_new(out, "line", located ? st_json_count(f->line) : json_null());
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

st_status
st_trace_plan_json(const struct st_trace_plan *plan, FILE *out, struct st_error *e)
{
	json_t *root = json_object(), *strobe = json_object(), *functions = json_array();
	int bad = json_object_set_new(strobe, "version", json_integer(ST_JSON_VERSION));
	bad |= json_object_set_new(strobe, "tool", json_string("trace"));
	bad |= json_object_set_new(root, "strobe", strobe);
	bad |= json_object_set_new(root, "dry_run", json_true());
	for (size_t i = 0; i < plan->functions.n && !bad; i++)
		bad = json_array_append_new(functions, planned_json(&plan->functions.v[i]));
	bad |= json_object_set_new(root, "functions", functions);
	if (bad) {
		json_decref(root);
		root = NULL;
	}
	char *text = st_json_document(root, ST_JSON_DOCUMENT, "the functions", e);
	if (!text)
		return ST_FAILED;
	fputs(text, out);
	free(text);
	return ST_OK;
}
