/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints a difference as a table. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/measurements.h"
#include "views/difference.h"

/* C(identifier, "name", is a number, position in the text table; 0: only on request) */
#define DIFFERENCE_COLUMNS(C)                                                                      \
	C(LOCATION, "location", false, 9)                                                          \
	C(IMAGE, "image", false, 8)                                                                \
	C(METRIC, "metric", false, 0)                                                              \
	C(UNIT, "unit", false, 0)                                                                  \
	C(A, "a", true, 5)                                                                         \
	C(B, "b", true, 6)                                                                         \
	C(CHANGE, "change", true, 1)                                                               \
	C(LOW, "change_low", true, 2)                                                              \
	C(HIGH, "change_high", true, 3)                                                            \
	C(RELATIVE, "relative", true, 4)                                                           \
	C(SHARE, "share", true, 0)                                                                 \
	C(STATE, "state", false, 7)                                                                \
	C(N_A, "n_a", true, 0)                                                                     \
	C(N_B, "n_b", true, 0)

enum {
#define C(id, name, number, position) DIFFERENCE_##id,
	DIFFERENCE_COLUMNS(C)
#undef C
};

/* Returns "unsure" for a change that may be noise. */
static const char *
difference_state(const struct st_difference_row *row)
{
	if (!row->n[ST_A])
		return "appeared";
	if (!row->n[ST_B])
		return "vanished";
	return isnan(row->low) || (row->low <= 0 && row->high >= 0 && !row->exact) ? "unsure"
	                                                                           : "changed";
}

static double
difference_number(const struct st_difference_row *row, size_t of)
{
	const double a = row->n[ST_A] ? row->value[ST_A] : 0;
	switch (of) {
	case DIFFERENCE_A:
		return row->value[ST_A];
	case DIFFERENCE_B:
		return row->value[ST_B];
	case DIFFERENCE_CHANGE:
		return row->change;
	case DIFFERENCE_LOW:
		return row->low;
	case DIFFERENCE_HIGH:
		return row->high;
	case DIFFERENCE_RELATIVE:
		return a > 0 || a < 0 ? row->change / fabs(a) : NAN;
	case DIFFERENCE_SHARE:
		return row->share;
	case DIFFERENCE_N_A:
		return (double)row->n[ST_A];
	default:
		return (double)row->n[ST_B];
	}
}

static const char *
difference_word(const struct st_difference_row *row, size_t of)
{
	switch (of) {
	case DIFFERENCE_LOCATION:
		return row->location;
	case DIFFERENCE_IMAGE:
		return row->image;
	case DIFFERENCE_METRIC:
		return row->metric;
	case DIFFERENCE_UNIT:
		return row->unit;
	default:
		return difference_state(row);
	}
}

static void
difference_cell(const struct st_grid *g, size_t i, const struct st_grid_column *c,
                struct st_grid_cell *out)
{
	const struct st_difference *d = g->of;
	const struct st_difference_row *row = &d->rows.v[i];
	*out = (struct st_grid_cell){0};
	if (!c->number) {
		out->text = difference_word(row, c->of);
		out->kind = out->text ? ST_GRID_TEXT : ST_GRID_NULL;
		return;
	}
	out->real = difference_number(row, c->of);
	const bool whole = row->exact && !d->shares && fabs(out->real) < 9e15;
	if (c->of == DIFFERENCE_N_A || c->of == DIFFERENCE_N_B) {
		out->kind = ST_GRID_COUNT;
		out->number = (uint64_t)out->real;
	} else if (whole && c->of != DIFFERENCE_RELATIVE && c->of != DIFFERENCE_SHARE &&
	           out->real == nearbyint(out->real)) {
		out->kind = ST_GRID_SIGNED;
		out->number = (uint64_t)(int64_t)out->real;
	} else {
		out->kind = isnan(out->real) ? ST_GRID_NULL : ST_GRID_REAL;
	}
}

static bool
difference_is_change(size_t of)
{
	return of == DIFFERENCE_CHANGE || of == DIFFERENCE_LOW || of == DIFFERENCE_HIGH;
}

/* "+12.50 %", and from ten times on "x12.5" or "x85,374": so many digits of percents are hard to
 * read. */
static char *
difference_percent(double share, bool relative)
{
	char number[ST_NUMBER_SIZE];
	const double times = 1 + share;
	if (relative && times >= 1000 && times < 1e18)
		return st_text_of("x%s", st_number(number, (uint64_t)(times + 0.5)));
	if (relative && times >= 10)
		return st_text_of("x%.1f", times);
	const double percent = 100 * share;
	return st_text_of("%+.2f %%", fabs(percent) < 0.005 ? 0.0 : percent);
}

static char *
difference_text(const struct st_grid *g, size_t i, const struct st_grid_column *c)
{
	const struct st_difference *d = g->of;
	const struct st_difference_row *row = &d->rows.v[i];
	struct st_grid_cell cell;
	char text[2 * ST_NUMBER_SIZE];
	difference_cell(g, i, c, &cell);
	if (cell.kind == ST_GRID_NULL)
		return strdup(c->number ? "-" : "");
	if (!c->number || cell.kind == ST_GRID_COUNT)
		return st_grid_plain(&cell);
	if (c->of == DIFFERENCE_RELATIVE || c->of == DIFFERENCE_SHARE)
		return difference_percent(cell.real, c->of == DIFFERENCE_RELATIVE);
	const double value = difference_number(row, c->of);
	const char *sign = difference_is_change(c->of) && value > 0 ? "+" : "";
	if (d->shares)
		return st_text_of("%s%.3f %%", sign, 100 * value);
	if (cell.kind == ST_GRID_SIGNED && !*row->unit) {
		char *plain = st_grid_plain(&cell),
		     *all = plain ? st_text_of("%s%s", sign, plain) : NULL;
		free(plain);
		return all;
	}
	return st_text_of("%s%s", sign, st_measured_text(text, row->unit, value));
}

st_status
st_difference_grid(struct st_grid *g, const struct st_difference *d)
{
	static const struct {
		const char *name;
		bool number;
		size_t position;
	} columns[] = {
#define C(id, name, number, position) {name, number, position},
	        DIFFERENCE_COLUMNS(C)
#undef C
	};
	bool several = false, exact = true;
	*g = (struct st_grid){.name = "difference",
	                      .help = d->about,
	                      .more = "--hot 0 prints all",
	                      .rows = d->rows.n,
	                      .of = d,
	                      .cell = difference_cell,
	                      .text = difference_text};
	for (size_t i = 1; i < d->rows.n; i++)
		several |= strcmp(d->rows.v[i].metric, d->rows.v[0].metric) != 0;
	for (size_t i = 0; i < d->rows.n; i++)
		exact &= d->rows.v[i].exact;
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		struct st_grid_column *c = st_grid_add(g, columns[i].name, columns[i].number, i);
		if (!c)
			return ST_FAILED;
		c->position = i == DIFFERENCE_METRIC && several ? 10 : columns[i].position;
		if (exact && (i == DIFFERENCE_LOW || i == DIFFERENCE_HIGH))
			c->position = 0; /* they are the change itself */
	}
	return ST_OK;
}
