/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the matrix of the live heap memory by ranges of addresses over time. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/mem.h"
#include "views/matrix.h"

static int
order_of_numbers(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Sorts numbers, and leaves each once. Returns their number. */
static size_t
numbers_once(uint64_t *v, size_t n)
{
	size_t kept = 0;
	if (n)
		qsort(v, n, sizeof *v, order_of_numbers);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[kept - 1] != v[i])
			v[kept++] = v[i];
	return kept;
}

static size_t
index_of_number(const uint64_t *v, size_t n, uint64_t number)
{
	const uint64_t *found = bsearch(&number, v, n, sizeof *v, order_of_numbers);
	return found ? (size_t)(found - v) : 0;
}

/* Doubles the ranges until at most `top` are left; 0: any number. Returns their number. */
static size_t
ranges_widen(uint64_t *from, size_t n, size_t top, uint64_t *bytes)
{
	n = numbers_once(from, n);
	while (top && n > top) {
		*bytes *= 2;
		for (size_t i = 0; i < n; i++)
			from[i] = from[i] / *bytes * *bytes;
		n = numbers_once(from, n);
	}
	return n;
}

/* Makes the rows: the greatest address is at the top. */
static st_status
addresses_name(struct st_matrix *m, const uint64_t *from, size_t n)
{
	for (size_t i = n; i-- > 0;) {
		char **slot = ST_PUSH(&m->rows);
		if (!slot || !(*slot = st_text_of("0x%llx", (unsigned long long)from[i])))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
addresses_fill(struct st_matrix *m, const struct st_mem *mem, size_t top)
{
	const size_t all = mem->places.n;
	uint64_t *times = malloc((all + 1) * sizeof *times),
	         *from = malloc((all + 1) * sizeof *from);
	st_status status = times && from ? ST_OK : ST_FAILED;
	size_t rows = 0;
	m->range_bytes = mem->range_bytes;
	for (size_t i = 0; i < all && !status; i++) {
		times[i] = mem->places.v[i].ns;
		from[i] = mem->places.v[i].from;
	}
	if (!status) {
		m->n = numbers_once(times, all);
		rows = ranges_widen(from, all, top, &m->range_bytes);
		m->x = calloc(m->n + 1, sizeof *m->x);
		m->values = calloc(rows * m->n + 1, sizeof *m->values);
		status = m->x && m->values ? addresses_name(m, from, rows) : ST_FAILED;
	}
	for (size_t i = 0; i < m->n && !status; i++)
		m->x[i] = (double)times[i];
	for (size_t i = 0; i < all && !status; i++) {
		const struct st_mem_place *p = &mem->places.v[i];
		const uint64_t range = p->from / m->range_bytes * m->range_bytes;
		const size_t row = rows - 1 - index_of_number(from, rows, range);
		m->values[row * m->n + index_of_number(times, m->n, p->ns)] += (double)p->live;
	}
	free(times);
	free(from);
	return status;
}

st_status
st_matrix_of_addresses(struct st_matrix *m, const struct st_mem *mem,
                       const struct st_matrix_choice *choice, struct st_error *e)
{
	if (choice->of)
		return st_fail(e, ST_EXIT_USAGE,
		               "ranges of addresses have no names: leave out --of %s, or --by "
		               "address",
		               choice->of);
	if (!mem->range_bytes)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has no addresses: it was made by an older strobe mem; measure "
		               "again",
		               choice->name);
	return addresses_fill(m, mem, choice->top)
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left for the picture")
	               : ST_OK;
}
