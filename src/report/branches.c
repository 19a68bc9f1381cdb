/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/branches.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/text.h"

/* Columns of the table. */
enum { BRANCH_SOURCE, BRANCH_TARGET, BRANCH_KIND, BRANCH_TAKEN, BRANCH_NOT_TAKEN, BRANCH_COLUMNS };

static int
branch_order(const void *a, const void *b)
{
	const struct st_branch *x = a, *y = b;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static st_status
take_branches(struct st_branches *b, const struct st_profile_table *t)
{
	const size_t n = st_profile_rows(t);
	for (size_t i = 0; i < n; i++) {
		const struct st_profile_value *v = &t->values.v[i * t->n_columns];
		if (!v[BRANCH_KIND].text || strcmp(v[BRANCH_KIND].text, "conditional"))
			continue;
		struct st_branch *branch = ST_PUSH(&b->v);
		if (!branch)
			return ST_FAILED;
		*branch = (struct st_branch){v[BRANCH_SOURCE].image, v[BRANCH_SOURCE].function,
		                             v[BRANCH_SOURCE].number, v[BRANCH_TAKEN].number,
		                             v[BRANCH_NOT_TAKEN].number};
	}
	return ST_OK;
}

/* Code that was loaded at several addresses has a row for each. */
static void
join_branches(struct st_branches *b)
{
	size_t kept = 0;
	if (b->v.n)
		qsort(b->v.v, b->v.n, sizeof *b->v.v, branch_order);
	for (size_t i = 0; i < b->v.n; i++) {
		struct st_branch *last = kept ? &b->v.v[kept - 1] : NULL;
		if (last && !branch_order(last, &b->v.v[i])) {
			last->taken += b->v.v[i].taken;
			last->not_taken += b->v.v[i].not_taken;
		} else {
			b->v.v[kept++] = b->v.v[i];
		}
	}
	b->v.n = kept;
}

st_status
st_branches_open(struct st_branches *b, const struct st_profile *p)
{
	*b = (struct st_branches){0};
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		if (strcmp(t->tool, "branches") != 0 || strcmp(t->name, "branches") != 0 ||
		    t->n_keys != BRANCH_TAKEN || t->n_columns < BRANCH_COLUMNS)
			continue;
		if (take_branches(b, t))
			return ST_FAILED;
	}
	join_branches(b);
	return ST_OK;
}

void
st_branches_close(struct st_branches *b)
{
	free(b->v.v);
	*b = (struct st_branches){0};
}

size_t
st_branches_from(const struct st_branches *b, uint32_t image, uint64_t offset, uint64_t limit,
                 size_t *end)
{
	const struct st_branch wanted = {.image = image, .offset = offset};
	size_t low = 0, high = b->v.n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (branch_order(&b->v.v[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*end = low;
	while (*end < b->v.n && b->v.v[*end].image == image && b->v.v[*end].offset < limit)
		++*end;
	return low;
}

void
st_branch_print(const struct st_branch *branch, FILE *out)
{
	char taken[ST_NUMBER_SIZE];
	fprintf(out, "taken %s of %s", st_number(taken, branch->taken),
	        ST_COUNT(branch->taken + branch->not_taken, "time", "times"));
}
