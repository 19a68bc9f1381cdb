/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_campaigns.h"

#include <stdlib.h>
#include <string.h>

#include "cli/show_stored.h"
#include "report/blow.h"
#include "report/json.h"

enum { MOST_CAMPAIGNS = 10 }; /* they make 45 pairs */

struct campaign_loaded {
	struct st_profile *p;
	struct st_blow b;
};

st_status
st_report_note_campaign(struct st_report_campaigns *all, const struct st_profile *p,
                        const char *file, size_t result, struct st_error *e)
{
	if (strcmp(p->run.tool, ST_BLOW_TOOL) != 0 || all->files.n == MOST_CAMPAIGNS)
		return ST_OK;
	const char **slot = ST_PUSH(&all->files);
	size_t *number = slot ? ST_PUSH(&all->results) : NULL;
	if (!number)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to compare the campaigns");
	*slot = file;
	*number = result;
	return ST_OK;
}

void
st_report_campaigns_free(struct st_report_campaigns *all)
{
	free(all->files.v);
	free(all->results.v);
}

static st_status
campaign_load(struct campaign_loaded *c, const char *file, struct st_error *e)
{
	c->p = st_show_load(file, e);
	if (!c->p)
		return ST_FAILED;
	if (!st_blow_read(&c->b, c->p, e))
		return ST_OK;
	st_profile_free(c->p);
	return ST_FAILED;
}

static void
campaign_unload(struct campaign_loaded *c)
{
	st_blow_free(&c->b);
	st_profile_free(c->p);
}

/* What strobe blow --compare writes, or only why the two cannot be compared. */
static json_t *
campaigns_pair_json(const struct st_blow *a, const struct st_blow *b)
{
	struct st_blow_comparison c;
	struct st_error why;
	json_t *out;
	if (st_blow_compare(a, b, &c, &why))
		out = json_pack("{s:o}", "missing", st_json_text(why.text));
	else
		out = st_blow_compare_object(a, &c);
	free(c.pairs.v);
	return out;
}

static st_status
campaigns_add_pair(json_t *list, const struct st_report_campaigns *all,
                   const struct campaign_loaded *first, size_t a, size_t b, struct st_error *e)
{
	struct campaign_loaded second;
	if (campaign_load(&second, all->files.v[b], e))
		return ST_FAILED;
	json_t *pair = campaigns_pair_json(&first->b, &second.b);
	int bad = json_object_set_new(pair, "a", st_json_count(all->results.v[a]));
	bad |= json_object_set_new(pair, "b", st_json_count(all->results.v[b]));
	bad |= json_array_append_new(list, pair);
	campaign_unload(&second);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left to compare the campaigns") : ST_OK;
}

st_status
st_report_add_campaigns(json_t *page, const struct st_report_campaigns *all, struct st_error *e)
{
	st_status status = ST_OK;
	if (all->files.n < 2)
		return ST_OK;
	json_t *list = json_array();
	for (size_t a = 0; a + 1 < all->files.n && !status; a++) {
		struct campaign_loaded first;
		status = campaign_load(&first, all->files.v[a], e);
		if (status)
			break;
		for (size_t b = a + 1; b < all->files.n && !status; b++)
			status = campaigns_add_pair(list, all, &first, a, b, e);
		campaign_unload(&first);
	}
	if (json_object_set_new(page, "campaigns", list) && !status)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to compare the campaigns");
	return status;
}
