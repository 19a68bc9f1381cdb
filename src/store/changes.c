/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/text.h"

const char *const st_change_names[] = {"more", "less", "new", "gone"};

enum { ENOUGH_NOISY = 5 };
static const double least_share = 0.001;

/* The first profile of the version is the reference; the others' items are matched with its own. */
struct changing {
	struct st_store *s;
	struct st_changes *out;
	struct st_quantities reference;
	struct st_value_range *from, *to; /* by the reference's items */
	double percent, whole;
};

static st_status
change_add(struct changing *c, enum st_change_kind kind, const struct st_quantities *q, size_t item,
           struct st_value_range from, struct st_value_range to, struct st_error *e)
{
	const struct st_match_function *f = &q->items[item];
	const char *image = f->image == ST_NO_IMAGE ? "" : st_base_name(q->images[f->image].path);
	struct st_change *slot = ST_PUSH(&c->out->v);
	if (!slot)
		return st_store_no_memory(e);
	*slot = (struct st_change){.kind = kind, .image = strdup(image), .from = from, .to = to};
	slot->name =
	        f->name ? strdup(f->name) : st_text_of("0x%llx", (unsigned long long)f->offset);
	return slot->name && slot->image ? 0 : st_store_no_memory(e);
}

static bool
change_is_large(const struct changing *c, double from, double to)
{
	double difference = fabs(to - from);
	if (c->out->exact && difference < least_share * c->whole)
		return false;
	return difference > 0 && difference * 100 >= c->percent * fabs(from);
}

/* Items that only the baseline has. */
static st_status
change_add_gone(struct changing *c, const struct st_quantities *q, const struct st_match *m,
                const uint32_t *item_of, struct st_error *e)
{
	for (size_t i = 0; i < q->n; i++)
		if (item_of[m->function[ST_B][i]] == UINT32_MAX && c->out->exact &&
		    change_is_large(c, st_value_range_mean(&q->values[i]), 0) &&
		    change_add(c, ST_CHANGE_GONE, q, i, q->values[i], (struct st_value_range){0},
		               e))
			return -1;
	return 0;
}

/* Of the same build: the items are the same, one by one. */
static void
change_add_same(const struct st_quantities *q, struct st_value_range *into)
{
	for (size_t i = 0; i < q->n; i++)
		st_value_range_add(&into[i], &q->values[i]);
}

static st_status
change_match(struct changing *c, const struct st_quantities *q, struct st_value_range *into,
             bool gone, struct st_error *e)
{
	const struct st_match_side sides[ST_SIDES] = {st_quantities_side(&c->reference),
	                                              st_quantities_side(q)};
	struct st_match m = {0};
	uint32_t *item_of = NULL;
	int status = 0;
	if (st_match_make(&m, sides) ||
	    !(item_of = reallocarray(NULL, m.n_functions + 1, sizeof *item_of)))
		status = st_store_no_memory(e);
	if (!status) {
		memset(item_of, 0xff, (m.n_functions + 1) * sizeof *item_of);
		for (size_t i = 0; i < c->reference.n; i++)
			item_of[m.function[ST_A][i]] = (uint32_t)i;
		for (size_t i = 0; i < q->n; i++) {
			uint32_t item = item_of[m.function[ST_B][i]];
			if (item != UINT32_MAX)
				st_value_range_add(&into[item], &q->values[i]);
		}
		if (gone)
			status = change_add_gone(c, q, &m, item_of, e);
	}
	free(item_of);
	st_match_free(&m);
	return status ? ST_FAILED : ST_OK;
}

static st_status
change_take_side(struct changing *c, const struct st_stored_list *l, size_t first,
                 struct st_value_range *into, bool gone, struct st_error *e)
{
	int status = 0;
	for (size_t i = first; i < l->v.n && !status; i++) {
		struct st_quantities q;
		status = st_quantities_read(c->s, &l->v.v[i], &c->reference, &q, e);
		if (!status && q.same && q.n == c->reference.n)
			change_add_same(&q, into);
		else if (!status && q.n && !q.same && q.exact == c->out->exact)
			status = change_match(c, &q, into, gone && i == first, e);
		st_quantities_free(&q);
	}
	return status ? ST_FAILED : ST_OK;
}

static st_status
change_judge(struct changing *c, size_t item, struct st_error *e)
{
	const struct st_value_range *from = &c->from[item], *to = &c->to[item];
	bool enough = c->out->exact || (from->n >= ENOUGH_NOISY && to->n >= ENOUGH_NOISY);
	double a = st_value_range_mean(from), b = st_value_range_mean(to);
	if (!from->n)
		return c->out->exact && change_is_large(c, 0, b)
		               ? change_add(c, ST_CHANGE_NEW, &c->reference, item, *from, *to, e)
		               : ST_OK;
	if (!enough) {
		c->out->noisy++;
		return 0;
	}
	bool apart = from->most < to->least || to->most < from->least;
	if (!apart || !change_is_large(c, a, b))
		return 0;
	return change_add(c, b > a ? ST_CHANGE_MORE : ST_CHANGE_LESS, &c->reference, item, *from,
	                  *to, e);
}

static int
change_by_size(const void *a, const void *b)
{
	const struct st_change *x = a, *y = b;
	double dx = fabs(st_value_range_mean(&x->to) - st_value_range_mean(&x->from));
	double dy = fabs(st_value_range_mean(&y->to) - st_value_range_mean(&y->from));
	int names = strcmp(x->name, y->name);
	return dx != dy ? (dx < dy) - (dx > dy) : names ? names : strcmp(x->image, y->image);
}

static st_status
change_compare(struct changing *c, const struct st_stored_list *from,
               const struct st_stored_list *to, struct st_error *e)
{
	size_t n = c->reference.n;
	c->from = calloc(n + 1, sizeof *c->from);
	c->to = calloc(n + 1, sizeof *c->to);
	if (!c->from || !c->to)
		return st_store_no_memory(e);
	for (size_t i = 0; i < n; i++) {
		c->to[i] = c->reference.values[i];
		c->whole += c->reference.values[i].sum;
	}
	if (change_take_side(c, to, 1, c->to, false, e) ||
	    change_take_side(c, from, 0, c->from, true, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (change_judge(c, i, e))
			return -1;
	st_order(c->out->v.v, c->out->v.n, sizeof *c->out->v.v, change_by_size);
	return 0;
}

st_status
st_changes_find(struct st_store *s, const struct st_stored_list *from,
                const struct st_stored_list *to, double percent, struct st_changes *out,
                struct st_error *e)
{
	struct changing c = {.s = s, .out = out, .percent = percent};
	*out = (struct st_changes){0};
	if (!from->v.n || !to->v.n)
		return 0;
	int status = st_quantities_read(s, &to->v.v[0], NULL, &c.reference, e);
	out->metric = c.reference.n ? c.reference.metric : NULL;
	out->exact = c.reference.exact;
	if (!status && c.reference.n)
		status = change_compare(&c, from, to, e);
	st_quantities_free(&c.reference);
	free(c.from);
	free(c.to);
	return status ? ST_FAILED : ST_OK;
}

void
st_changes_free(struct st_changes *c)
{
	for (size_t i = 0; i < c->v.n; i++) {
		free(c->v.v[i].name);
		free(c->v.v[i].image);
	}
	free(c->v.v);
	*c = (struct st_changes){0};
}
