/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The waits of threads over time, for the page. */
#include "report/json.h"
#include "report/page.h"
#include "report/page_timeline.h"
#include "trace/waits.h"

/* In the place of functions: what each slice is. */
static json_t *
waits_labels_json(const struct st_waits *w)
{
	json_t *out = json_array();
	int bad = !out;
	for (size_t i = 0; i < w->labels.n && !bad; i++) {
		const struct st_waits_label *label = &w->labels.v[i];
		bad = json_array_append_new(
		        out, json_pack("{s:o, s:n, s:s}", "name", st_json_text(label->text),
		                       "image", "kind", label->kind ? "waits" : "lives"));
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

st_status
st_page_add_waits(json_t *page, const struct st_profile *p, struct st_row_reader *rows,
                  struct st_error *e)
{
	struct st_waits w;
	st_status status = st_waits_read(&w, p, rows, ST_TIMELINE_SLICES, e);
	json_t *labels = status ? NULL : waits_labels_json(&w);
	json_t *out = labels ? st_timeline_json(&w.lanes, p, labels) : NULL;
	int bad = !out || json_object_set_new(out, "waits", json_true());
	if (!bad && *w.damage.text)
		bad = json_object_set_new(out, "damage", st_json_text(w.damage.text));
	bad |= json_object_set_new(st_page_last(page), "timeline", out);
	if (!status && bad)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the timeline");
	st_waits_free(&w);
	return status;
}
