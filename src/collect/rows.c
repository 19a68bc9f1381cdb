/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/rows.h"

static uint32_t
hash_keys(const struct st_profile_table *t, const struct st_profile_value *row)
{
	uint64_t h = 0x9e3779b97f4a7c15u;
	for (size_t i = 0; i < t->n_keys; i++) {
		h = (h ^ row[i].number) * 0xbf58476d1ce4e5b9u;
		h = (h ^ h >> 29 ^ (uintptr_t)row[i].text ^ row[i].image) * 0x94d049bb133111ebu;
	}
	return (uint32_t)(h ^ h >> 32);
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
rows_row_at(const struct st_profile_table *t, size_t row)
{
	return t->values.v + row * t->n_columns;
}

static bool
is_greater(const struct st_profile_column *c, uint64_t a, uint64_t b)
{
	return c->type == STROBE_SIGNED ? (int64_t)a > (int64_t)b : a > b;
}

/* Combines two numbers of a column that is no key. */
static uint64_t
rows_merge(const struct st_profile_column *c, uint64_t a, uint64_t b)
{
	if (c->role == STROBE_IS_SUM)
		return a + b;
	/* A least of 0 is none. */
	if (c->role == STROBE_IS_MIN && (!a || !b))
		return a ? a : b;
	return is_greater(c, a, b) == (c->role == STROBE_IS_MAX) ? a : b;
}

void
st_rows_add_up(const struct st_profile_table *t, struct st_profile_value *to,
               const struct st_profile_value *from)
{
	for (size_t i = t->n_keys; i < t->n_columns; i++)
		to[i].number = rows_merge(&t->columns[i], to[i].number, from[i].number);
}

st_status
st_rows_add(struct st_rows *r, const struct st_profile_value *row)
{
	struct st_profile_table *t = r->table;
	size_t n = st_profile_rows(t);
	const uint32_t hash = hash_keys(t, row);
	const uint32_t same =
	        ST_HASHMAP_FIND(&r->index, hash, i, same_keys(t, rows_row_at(t, i), row));
	if (same != ST_HASHMAP_NONE) {
		st_rows_add_up(t, rows_row_at(t, same), row);
		return 0;
	}
	for (size_t i = 0; i < t->n_columns; i++) {
		struct st_profile_value *value = ST_PUSH(&t->values);
		if (!value)
			return -1;
		*value = row[i];
	}
	return st_hashmap_add(&r->index, hash, (uint32_t)n);
}

void
st_rows_free(struct st_rows *r)
{
	st_hashmap_free(&r->index);
	*r = (struct st_rows){0};
}

static int
rows_value_order(const struct st_profile_value *a, const struct st_profile_value *b)
{
	int texts = a->text == b->text ? 0 : strcmp(a->text ? a->text : "", b->text ? b->text : "");
	if (texts)
		return texts;
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* A row to be sorted: what it is ordered by first, so that few need a look at the row. */
struct sortable {
	uint64_t numbers[2];
	uint64_t place; /* the first key, if it is one: see digest */
	uint32_t row;
};

static uint64_t
rows_at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/* A number of which the lesser is that of the lesser place: by name, image, offset. What does not
 * fit is the same for all such. */
static uint64_t
digest(const struct st_profile_value *v, const uint32_t *ranks)
{
	enum { NAMES = (1 << 20) - 1, IMAGES = (1 << 12) - 1 };
	uint64_t name = rows_at_most(v->function == UINT32_MAX ? 0 : ranks[v->function], NAMES);
	uint64_t image = name == NAMES ? IMAGES : rows_at_most(v->image, IMAGES);
	uint64_t number = image == IMAGES ? UINT32_MAX : rows_at_most(v->number, UINT32_MAX);
	return name << 44 | image << 32 | number;
}

static struct sortable
sortable_of(const struct st_profile_table *t, size_t row, const uint32_t *ranks)
{
	const struct st_profile_value *v = rows_row_at(t, row);
	size_t numbers = t->n_columns - t->n_keys;
	struct sortable s = {.row = (uint32_t)row};
	for (size_t i = 0; i < 2 && i < numbers; i++)
		s.numbers[i] = v[t->n_keys + i].number;
	if (numbers <= 2 && t->n_keys && st_profile_shape(t->columns[0].type) == ST_VALUE_PLACE)
		s.place = digest(v, ranks);
	return s;
}

static int
whole_row_order(const struct st_profile_table *t, const struct st_profile_value *x,
                const struct st_profile_value *y)
{
	for (size_t i = t->n_keys; i < t->n_columns; i++)
		if (x[i].number != y[i].number)
			return is_greater(&t->columns[i], x[i].number, y[i].number) ? -1 : 1;
	for (size_t i = 0; i < t->n_keys; i++) {
		int order = rows_value_order(&x[i], &y[i]);
		if (order)
			return order;
	}
	return 0;
}

static int
row_order(const void *a, const void *b, void *arg)
{
	const struct st_profile_table *t = arg;
	const struct sortable *x = a, *y = b;
	for (size_t i = 0; i < 2; i++)
		if (x->numbers[i] != y->numbers[i])
			return is_greater(&t->columns[t->n_keys + i], x->numbers[i], y->numbers[i])
			               ? -1
			               : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return whole_row_order(t, rows_row_at(t, x->row), rows_row_at(t, y->row));
}

/* Brings the rows into an order without room for a second table: each cycle of rows that take one
 * another's place goes one place on. */
static void
rows_put_in_order(struct st_profile_table *t, struct sortable *order, size_t n)
{
	struct st_profile_value saved[STROBE_MOST_COLUMNS];
	size_t bytes = t->n_columns * sizeof *saved;
	for (size_t i = 0; i < n; i++) {
		if (order[i].row == i)
			continue;
		memcpy(saved, rows_row_at(t, i), bytes);
		size_t at = i;
		for (size_t from; (from = order[at].row) != i; at = from) {
			memcpy(rows_row_at(t, at), rows_row_at(t, from), bytes);
			order[at].row = (uint32_t)at;
		}
		memcpy(rows_row_at(t, at), saved, bytes);
		order[at].row = (uint32_t)at;
	}
}

st_status
st_rows_sort(struct st_profile_table *t, const uint32_t *ranks)
{
	size_t n = st_profile_rows(t);
	if (n < 2)
		return 0;
	struct sortable *order = calloc(n, sizeof *order);
	if (!order)
		return -1;
	for (size_t i = 0; i < n; i++)
		order[i] = sortable_of(t, i, ranks);
	qsort_r(order, n, sizeof *order, row_order, t);
	rows_put_in_order(t, order, n);
	free(order);
	return 0;
}
