/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_costs.h"

#include <string.h>

#include "annotate/analyse.h"
#include "annotate/picture.h"
#include "base/regular.h"
#include "report/annotation.h"
#include "report/json.h"

bool
st_report_is_records(const char *path)
{
	static const char mark[] = "#strobe-records,";
	char begin[sizeof mark - 1];
	FILE *f = st_fopen_regular(path);
	if (!f)
		return false;
	const size_t n = fread(begin, 1, sizeof begin, f);
	fclose(f);
	return n == sizeof begin && !memcmp(begin, mark, sizeof begin);
}

/* NULL with *e. */
static json_t *
report_cost_json(const struct st_ann_records *r, size_t metric, struct st_error *e)
{
	const struct st_ann_options options = {0};
	struct st_ann_annotation made;
	struct st_ann_picture picture;
	struct st_error why;
	const bool has_made = !st_ann_analyse(r, metric, &options, &made, &why);
	json_t *json = NULL;
	if (!st_ann_picture_make(has_made ? &made : NULL, r, metric, NULL, &picture, e)) {
		json = st_annotation_picture_json(r, metric, has_made ? &made : NULL,
		                                  has_made ? NULL : why.text, &picture);
		if (!json)
			st_cause(e, ST_EXIT_FAILED, "no memory left for the pictures of calls");
	}
	st_ann_picture_free(&picture);
	st_ann_annotation_free(&made);
	return json;
}

json_t *
st_report_costs(const char *path, struct st_error *e)
{
	const struct st_ann_columns columns = {0};
	struct st_ann_data data = {0};
	json_t *costs = json_array();
	st_status status = st_ann_data_read(&data, path, &columns, e);
	for (size_t i = 0; i < data.functions.n && !status; i++) {
		const struct st_ann_records *r = &data.functions.v[i];
		for (size_t k = 0; k < r->metrics.n && !status; k++) {
			if (r->metrics.v[k].of || !r->n)
				continue;
			json_t *one = report_cost_json(r, k, e);
			status = one ? ST_OK : ST_FAILED;
			json_array_append_new(costs, one);
		}
	}
	st_ann_data_free(&data);
	json_t *root = NULL;
	if (!status && !(root = json_pack("{s:{s:i, s:s}, s:o}", "strobe", "version",
	                                  ST_JSON_VERSION, "tool", "annotate", "costs", costs)))
		st_cause(e, ST_EXIT_FAILED, "no memory left to report %s", path);
	if (status)
		json_decref(costs);
	return root;
}
