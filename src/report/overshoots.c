/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By how much budgets were exceeded when they were spent, over time: strobe show --table
 * overshoots. */
#include <inttypes.h>

#include "base/number.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/report.h"

json_t *
st_overshoots_json(const struct st_profile *p, size_t most)
{
	json_t *array = json_array();
	size_t n = most && most < p->overshoots.n ? most : p->overshoots.n;
	for (size_t i = 0; i < n; i++) {
		const struct st_profile_overshoot *row = &p->overshoots.v[i];
		json_t *out = json_pack(
		        "{s:I, s:I, s:I}", "pid", (json_int_t)p->processes.v[row->process].pid,
		        "time_ns", (json_int_t)row->time_ns, "over_ns", (json_int_t)row->over_ns);
		if (json_array_append_new(array, out)) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static void
overshoots_print_csv(FILE *out, const struct st_profile *p, size_t shown)
{
	fputs("pid,time_ns,over_ns\n", out);
	for (size_t i = 0; i < shown; i++) {
		const struct st_profile_overshoot *row = &p->overshoots.v[i];
		fprintf(out, "%" PRIu32 ",%" PRId64 ",%" PRId64 "\n",
		        (uint32_t)p->processes.v[row->process].pid, row->time_ns, row->over_ns);
	}
}

static void
overshoots_print_text(const struct st_report *r, FILE *out, size_t shown)
{
	static const struct st_table_column columns[] = {
	        {"pid", false}, {"time", false}, {"exceeded by, ns", false}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	const struct st_profile *p = r->profile;
	for (size_t i = 0; t && i < shown; i++) {
		const struct st_profile_overshoot *row = &p->overshoots.v[i];
		st_table_cell(t, "%" PRIu32, (uint32_t)p->processes.v[row->process].pid);
		st_table_cell(t, "%.6f s", (double)row->time_ns / 1e9);
		st_table_count(t, (uint64_t)row->over_ns);
	}
	st_table_print(t, out, r->style);
	st_table_free(t);
	if (shown < p->overshoots.n)
		fprintf(out, "  ... and %s (--top)\n",
		        ST_COUNT(p->overshoots.n - shown, "more row", "more rows"));
}

st_status
st_report_overshoots(const struct st_report *r, FILE *out, enum st_report_format format,
                     struct st_error *e)
{
	const struct st_profile *p = r->profile;
	size_t shown = r->top && r->top < p->overshoots.n ? r->top : p->overshoots.n;
	if (format == ST_FORMAT_CSV)
		overshoots_print_csv(out, p, shown);
	else if (format == ST_FORMAT_TEXT)
		overshoots_print_text(r, out, shown);
	if (format != ST_FORMAT_JSON)
		return 0;
	json_t *root = json_pack("{s:o*}", "overshoots", st_overshoots_json(p, shown));
	int bad = !root || json_dumpf(root, out, ST_JSON_DOCUMENT);
	json_decref(root);
	fputc('\n', out);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left to write the table") : 0;
}
