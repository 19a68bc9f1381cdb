/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/rows.h"

static uint64_t
hash_keys(const struct st_profile_table *t, const struct st_profile_value *row)
{
	uint64_t h = 0x9e3779b97f4a7c15u;
	for (size_t i = 0; i < t->n_keys; i++) {
		h = (h ^ row[i].number) * 0xbf58476d1ce4e5b9u;
		h = (h ^ h >> 29 ^ (uintptr_t)row[i].text ^ row[i].image) * 0x94d049bb133111ebu;
	}
	return h ^ h >> 32;
}

static bool
same_keys(const struct st_profile_table *t, const struct st_profile_value *a,
          const struct st_profile_value *b)
{
	for (size_t i = 0; i < t->n_keys; i++)
		if (a[i].number != b[i].number || a[i].text != b[i].text ||
		    a[i].image != b[i].image)
			return false;
	return true;
}

static struct st_profile_value *
row_at(const struct st_profile_table *t, size_t row)
{
	return t->values.v + row * t->n_columns;
}

static uint32_t *
slot_of(const struct st_rows *r, const struct st_profile_value *row)
{
	size_t at = hash_keys(r->table, row) & (r->size - 1);
	while (r->slots[at] && !same_keys(r->table, row_at(r->table, r->slots[at] - 1), row))
		at = (at + 1) & (r->size - 1);
	return &r->slots[at];
}

static int
grow(struct st_rows *r, size_t n)
{
	free(r->slots);
	r->size = r->size ? 2 * r->size : 1024;
	r->slots = calloc(r->size, sizeof *r->slots);
	if (!r->slots)
		return -1;
	for (size_t i = 0; i < n; i++)
		*slot_of(r, row_at(r->table, i)) = (uint32_t)i + 1;
	return 0;
}

static bool
is_greater(const struct st_profile_column *c, uint64_t a, uint64_t b)
{
	return c->type == STROBE_SIGNED ? (int64_t)a > (int64_t)b : a > b;
}

void
st_rows_add_up(const struct st_profile_table *t, struct st_profile_value *to,
               const struct st_profile_value *from)
{
	for (size_t i = t->n_keys; i < t->n_columns; i++)
		if (t->columns[i].role == STROBE_IS_SUM)
			to[i].number += from[i].number;
		else if (is_greater(&t->columns[i], from[i].number, to[i].number))
			to[i].number = from[i].number;
}

int
st_rows_add(struct st_rows *r, const struct st_profile_value *row)
{
	struct st_profile_table *t = r->table;
	size_t n = st_profile_rows(t);
	if (2 * (n + 1) > r->size && grow(r, n))
		return -1;
	uint32_t *slot = slot_of(r, row);
	if (*slot) {
		st_rows_add_up(t, row_at(t, *slot - 1), row);
		return 0;
	}
	for (size_t i = 0; i < t->n_columns; i++) {
		struct st_profile_value *value = ST_PUSH(&t->values);
		if (!value)
			return -1;
		*value = row[i];
	}
	*slot = (uint32_t)n + 1;
	return 0;
}

void
st_rows_free(struct st_rows *r)
{
	free(r->slots);
	*r = (struct st_rows){0};
}

static int
value_order(const struct st_profile_value *a, const struct st_profile_value *b)
{
	int texts = a->text == b->text ? 0 : strcmp(a->text ? a->text : "", b->text ? b->text : "");
	if (texts)
		return texts;
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int
row_order(const void *a, const void *b, void *arg)
{
	const struct st_profile_table *t = arg;
	const struct st_profile_value *x = row_at(t, *(const uint32_t *)a);
	const struct st_profile_value *y = row_at(t, *(const uint32_t *)b);
	for (size_t i = t->n_keys; i < t->n_columns; i++)
		if (x[i].number != y[i].number)
			return is_greater(&t->columns[i], x[i].number, y[i].number) ? -1 : 1;
	for (size_t i = 0; i < t->n_keys; i++) {
		int order = value_order(&x[i], &y[i]);
		if (order)
			return order;
	}
	return 0;
}

int
st_rows_sort(struct st_profile_table *t)
{
	size_t n = st_profile_rows(t);
	if (n < 2)
		return 0;
	int status = -1;
	uint32_t *order = calloc(n, sizeof *order);
	struct st_profile_value *sorted = calloc(t->values.n, sizeof *sorted);
	for (size_t i = 0; order && i < n; i++)
		order[i] = (uint32_t)i;
	if (order && sorted) {
		qsort_r(order, n, sizeof *order, row_order, t);
		for (size_t i = 0; i < n; i++)
			memcpy(sorted + i * t->n_columns, row_at(t, order[i]),
			       t->n_columns * sizeof *sorted);
		free(t->values.v);
		t->values.v = sorted;
		t->values.cap = t->values.n;
		sorted = NULL;
		status = 0;
	}
	free(sorted);
	free(order);
	return status;
}
