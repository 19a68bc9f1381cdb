/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a table that conditions choose, and their order. */
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/grid.h"

/* The comparisons of cells: O(identifier, "operator"), the longer ones first. */
#define GRID_OPERATORS(O)                                                                          \
	O(AT_MOST, "<=")                                                                           \
	O(AT_LEAST, ">=")                                                                          \
	O(OTHER, "!=")                                                                             \
	O(EQUAL, "=")                                                                              \
	O(LESS, "<")                                                                               \
	O(MORE, ">")                                                                               \
	O(LIKE, "~")

enum grid_operator {
#define O(id, name) GRID_##id,
	GRID_OPERATORS(O)
#undef O
	        GRID_OPERATOR_COUNT
};

static const char *const operator_names[] = {
#define O(id, name) name,
        GRID_OPERATORS(O)
#undef O
};

struct condition {
	const struct st_grid_column *column;
	enum grid_operator how;
	char *copy;        /* of the text that was given */
	const char *value; /* in it */
	long double number;
};

static char *
trimmed(char *from, char *end)
{
	while (from < end && isspace((unsigned char)*from))
		from++;
	while (end > from && isspace((unsigned char)end[-1]))
		end--;
	*end = 0;
	return from;
}

static enum grid_operator
operator_at(const char *text)
{
	for (size_t i = 0; i < GRID_OPERATOR_COUNT; i++)
		if (!strncmp(text, operator_names[i], strlen(operator_names[i])))
			return (enum grid_operator)i;
	return GRID_OPERATOR_COUNT;
}

static st_status
condition_number(struct condition *c, struct st_error *e)
{
	char *end;
	if (!c->column->number || c->how == GRID_LIKE)
		return ST_OK;
	c->number = strtold(c->value, &end);
	if (!*c->value || *end || isnan(c->number))
		return st_fail(e, ST_EXIT_USAGE,
		               "--where compares %s, which has numbers, with '%s', which is none",
		               c->column->name, c->value);
	return ST_OK;
}

static st_status
condition_read(struct condition *c, const struct st_grid *g, const char *text, struct st_error *e)
{
	c->copy = strdup(text);
	if (!c->copy)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to choose rows");
	char *at = c->copy + strcspn(c->copy, "=!<>~");
	c->how = *at ? operator_at(at) : GRID_OPERATOR_COUNT;
	if (c->how == GRID_OPERATOR_COUNT)
		return st_fail(e, ST_EXIT_USAGE,
		               "--where takes a column, one of = != < <= > >= ~, and a value, such "
		               "as 'calls>=100', not '%s'",
		               text);
	char *value = at + strlen(operator_names[c->how]);
	c->value = trimmed(value, value + strlen(value));
	c->column = st_grid_column_of(g, trimmed(c->copy, at), e);
	return c->column ? condition_number(c, e) : ST_FAILED;
}

static bool
order_fits(enum grid_operator how, int order)
{
	switch (how) {
	case GRID_AT_MOST:
		return order <= 0;
	case GRID_AT_LEAST:
		return order >= 0;
	case GRID_OTHER:
		return order != 0;
	case GRID_EQUAL:
		return order == 0;
	case GRID_LESS:
		return order < 0;
	default:
		return order > 0;
	}
}

static long double
grid_number(const struct st_grid_cell *cell)
{
	if (cell->kind == ST_GRID_REAL)
		return cell->real;
	return cell->kind == ST_GRID_SIGNED ? (long double)(int64_t)cell->number
	                                    : (long double)cell->number;
}

/* A number that is not known fits no condition; a text that is not known is empty. */
static bool
condition_holds(const struct condition *c, const struct st_grid *g, size_t row)
{
	struct st_grid_cell cell;
	g->cell(g, row, c->column, &cell);
	if (c->how == GRID_LIKE || !c->column->number) {
		char *made = cell.text ? NULL : st_grid_plain(&cell);
		const char *text = made ? made : cell.text;
		bool fits = c->how == GRID_LIKE
		                    ? !fnmatch(c->value, text ? text : "", 0)
		                    : order_fits(c->how, strcmp(text ? text : "", c->value));
		free(made);
		return fits;
	}
	if (cell.kind == ST_GRID_NULL || (cell.kind == ST_GRID_REAL && isnan(cell.real)))
		return false;
	long double number = grid_number(&cell);
	return order_fits(c->how, (number > c->number) - (number < c->number));
}

st_status
st_grid_filter(const struct st_grid *g, const char *const *where, size_t n_where, uint32_t *rows,
               size_t *n, struct st_error *e)
{
	st_status status = ST_OK;
	for (size_t i = 0; i < n_where && !status; i++) {
		struct condition c = {0};
		size_t kept = 0;
		status = condition_read(&c, g, where[i], e);
		for (size_t k = 0; k < *n && !status; k++)
			if (condition_holds(&c, g, rows[k]))
				rows[kept++] = rows[k];
		if (!status)
			*n = kept;
		free(c.copy);
	}
	return status;
}

/* A cell to sort by, made once for each row. */
struct sort_key {
	struct st_grid_cell cell;
	uint32_t row;
	size_t at; /* equal ones stay in their order */
};

static int
grid_number_order(const struct st_grid_cell *a, const struct st_grid_cell *b)
{
	bool known_a = a->kind != ST_GRID_NULL && !(a->kind == ST_GRID_REAL && isnan(a->real));
	bool known_b = b->kind != ST_GRID_NULL && !(b->kind == ST_GRID_REAL && isnan(b->real));
	if (!known_a || !known_b)
		return (int)known_b - (int)known_a;
	long double x = grid_number(a), y = grid_number(b);
	return (x < y) - (x > y);
}

/* Numbers: the greatest first; texts in alphabetical order, equal ones by offset. */
static int
key_order(const void *a, const void *b, void *number)
{
	const struct sort_key *x = a, *y = b;
	int order = 0;
	if (*(const bool *)number) {
		order = grid_number_order(&x->cell, &y->cell);
	} else {
		const char *s = x->cell.text, *t = y->cell.text;
		order = strcmp(s ? s : "", t ? t : "");
		if (!order)
			order = (x->cell.number > y->cell.number) -
			        (x->cell.number < y->cell.number);
	}
	return order ? order : (x->at > y->at) - (x->at < y->at);
}

st_status
st_grid_order(const struct st_grid *g, const struct st_grid_column *column, uint32_t *rows,
              size_t n)
{
	if (!column || n < 2)
		return ST_OK;
	struct sort_key *keys = calloc(n, sizeof *keys);
	bool number = column->number;
	for (size_t i = 0; keys && i < n; i++) {
		g->cell(g, rows[i], column, &keys[i].cell);
		keys[i].row = rows[i];
		keys[i].at = i;
	}
	if (keys)
		qsort_r(keys, n, sizeof *keys, key_order, &number);
	for (size_t i = 0; keys && i < n; i++)
		rows[i] = keys[i].row;
	free(keys);
	return keys ? ST_OK : ST_FAILED;
}
