/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A campaign of strobe blow, for the page: what strobe blow writes as JSON, without what the page
 * has elsewhere. */
#include "report/blow.h"
#include "report/page.h"

/* The list of all runs stays in the tables of the profile. */
static int
page_blow_fill(json_t *entry, const struct st_blow *b, const struct st_profile *p)
{
	const struct st_blow_view view = {0};
	json_t *out = st_blow_object(b, p, &view);
	json_t *timeline = json_object_get(out, "timeline");
	int bad =
	        !out || (json_is_object(timeline) && json_object_set(entry, "timeline", timeline));
	if (!bad)
		bad = json_object_del(out, "timeline") | json_object_del(out, "experiments") |
		      json_object_del(out, "run") | json_object_del(out, "notes");
	if (!bad)
		return json_object_set_new(entry, "blow", out);
	json_decref(out);
	return -1;
}

st_status
st_page_add_blow(json_t *page, const struct st_profile *p, struct st_error *e)
{
	struct st_blow b;
	if (st_blow_read(&b, p, e))
		return ST_FAILED;
	const int bad = page_blow_fill(st_page_last(page), &b, p);
	st_blow_free(&b);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left for the experiments") : ST_OK;
}
