/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes rows of the differences of calling contexts; the location of a row is its whole path. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/difference.h"

/* Returns "main;f;g", the root first. malloc'ed; NULL: no memory. */
static char *
path_of_row(const struct st_comparison *c, const struct st_diff_row *row)
{
	const struct st_forest *f = &row->trees->forest;
	uint32_t *path = malloc((f->n + 1) * sizeof *path), n = 0;
	struct st_text built;
	FILE *out = path ? st_text_begin(&built) : NULL;
	for (uint32_t i = row->node; out && i != ST_NO_NODE; i = f->nodes[i].parent)
		path[n++] = f->nodes[i].label;
	while (out && n-- > 0)
		fprintf(out, "%s%s", c->labels[path[n]]->name, n ? ";" : "");
	free(path);
	return out ? st_text_end(&built) : NULL;
}

static st_status
add_context_row(struct st_difference *d, const struct st_diff_report *r,
                const struct st_diff_rows *rows, const struct st_diff_row *row)
{
	const struct st_compared *n = &row->trees->nodes.v[row->node];
	struct st_difference_row *out = ST_PUSH(&d->rows);
	if (!out)
		return ST_FAILED;
	*out = (struct st_difference_row){
	        .location = path_of_row(r->comparison, row),
	        .metric = strdup(st_diff_metric_name(r->metric)),
	        .unit = strdup(strstr(st_diff_metric_name(r->metric), "time") ? "ns" : ""),
	        .change = row->change,
	        .low = NAN,
	        .high = NAN,
	        .share = NAN};
	for (int side = 0; side < ST_SIDES; side++) {
		out->n[side] = n->there[side];
		out->value[side] = !n->there[side] ? NAN
		                   : r->shares     ? st_diff_share(r, rows, row, side)
		                                   : (double)st_diff_value(r, row, side);
	}
	out->exact = !*out->unit;
	if (out->exact)
		out->low = out->high = out->change;
	if (rows->whole[ST_A])
		out->share = r->shares ? out->change : out->change / (double)rows->whole[ST_A];
	return out->location && out->metric && out->unit ? ST_OK : ST_FAILED;
}

st_status
st_difference_of_contexts(struct st_difference *d, const struct st_diff_report *r,
                          struct st_error *e)
{
	struct st_diff_rows rows;
	*d = (struct st_difference){.shares = r->shares};
	st_status status = st_diff_list(r, &rows, e);
	for (size_t i = 0; i < rows.n && !status; i++)
		if (add_context_row(d, r, &rows, &rows.v[i]))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left to compare");
	free(rows.v);
	d->about = status ? NULL
	                  : st_text_of("%s of contexts, B less A", st_diff_metric_name(r->metric));
	if (!status && !d->about)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to compare");
	return status;
}
