/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The conditional branches that were counted, for the page: it shows them beside source and code.
 */
#include <stdlib.h>
#include <string.h>

#include "report/branches.h"
#include "report/json.h"
#include "report/page.h"
#include "report/places.h"

static uint64_t
branch_executions(const struct st_branch *b)
{
	return b->taken + b->not_taken;
}

static int
by_executions(const void *a, const void *b)
{
	const struct st_branch *x = a, *y = b;
	if (branch_executions(x) != branch_executions(y))
		return branch_executions(x) < branch_executions(y) ? 1 : -1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* file, line: null where the image has no line information, or cannot be read. */
static json_t *
branch_object(struct st_places *places, const struct st_branch *b)
{
	const struct st_profile *p = places->profile;
	struct st_image *image = st_places_image(places, b->image, NULL);
	struct st_line line;
	const bool known = image && !st_image_line(image, b->offset, &line);
	return json_pack("{s:o, s:o, s:I, s:o, s:o, s:I, s:I}", "image",
	                 st_json_text(p->images.v[b->image].path), "function",
	                 st_json_text(p->functions.v[b->function].name), "offset",
	                 (json_int_t)b->offset, "file",
	                 known ? st_json_text(line.file) : json_null(), "line",
	                 known ? json_integer(line.line) : json_null(), "taken",
	                 (json_int_t)b->taken, "not_taken", (json_int_t)b->not_taken);
}

/* Leaves out branches of code without a function, which the page has no source or code of. */
static void
keep_named(struct st_branches *b, const struct st_profile *p)
{
	size_t kept = 0;
	for (size_t i = 0; i < b->v.n; i++)
		if (b->v.v[i].image < p->images.n && b->v.v[i].function < p->functions.n)
			b->v.v[kept++] = b->v.v[i];
	b->v.n = kept;
}

json_t *
st_page_branches(const struct st_profile *p, size_t most, size_t *n)
{
	struct st_branches branches;
	struct st_places places = {0};
	json_t *out = json_array();
	int bad = st_branches_open(&branches, p) || st_places_open(&places, p);
	if (!bad) {
		keep_named(&branches, p);
		if (branches.v.n)
			qsort(branches.v.v, branches.v.n, sizeof *branches.v.v, by_executions);
		for (size_t i = 0; i < branches.v.n && (!most || i < most) && !bad; i++)
			bad = json_array_append_new(out, branch_object(&places, &branches.v.v[i]));
		st_places_close(&places);
	}
	*n = branches.v.n;
	st_branches_close(&branches);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}
