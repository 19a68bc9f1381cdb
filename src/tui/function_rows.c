/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of tables that name a function, for its page: its callers in a trace, its branches. */
#include "tui/function_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/allocations.h"
#include "report/grid.h"
#include "tui/width.h"

enum { ROWS_MOST = 40 }; /* of each table */

/* The function of a key of a row; UINT32_MAX: the key names none. */
static uint32_t
rows_function(const struct st_profile_table *t, size_t row, size_t key)
{
	const enum strobe_type type = t->columns[key].type;
	return type == STROBE_ADDRESS || type == STROBE_FUNCTION
	               ? t->values.v[row * t->n_columns + key].function
	               : UINT32_MAX;
}

/* Whether a row names the function; *other receives another one that it names, else UINT32_MAX. */
static bool
rows_names(const struct st_profile_table *t, size_t row, uint32_t function, uint32_t *other)
{
	bool names = false;
	*other = UINT32_MAX;
	for (size_t key = 0; key < t->n_keys; key++) {
		const uint32_t found = rows_function(t, row, key);
		if (found == function)
			names = true;
		else if (found != UINT32_MAX)
			*other = found;
	}
	return names;
}

/* The widest text of each column among the rows; titles have row SIZE_MAX. */
struct rows_shown {
	const struct st_grid *g;
	const struct st_grid_column *columns[STROBE_MOST_COLUMNS];
	size_t n, width[STROBE_MOST_COLUMNS];
};

static char *
rows_cell(const struct rows_shown *s, size_t row, size_t i)
{
	return row == SIZE_MAX ? strdup(s->columns[i]->name) : s->g->text(s->g, row, s->columns[i]);
}

static void
rows_measure(struct rows_shown *s, size_t row)
{
	for (size_t i = 0; i < s->n; i++) {
		char *cell = rows_cell(s, row, i);
		const size_t width = cell ? st_tui_width(cell) : 0;
		s->width[i] = width > s->width[i] ? width : s->width[i];
		free(cell);
	}
}

static char *
rows_line(const struct rows_shown *s, size_t row)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	for (size_t i = 0; out && i < s->n; i++) {
		char *cell = rows_cell(s, row, i);
		const bool left = s->columns[i]->left, last = i + 1 == s->n;
		char *fitted =
		        cell ? st_tui_fit(cell, last && left ? st_tui_width(cell) : s->width[i],
		                          left)
		             : NULL;
		fprintf(out, "  %s", fitted ? fitted : "");
		free(cell);
		free(fitted);
	}
	return out ? st_text_end(&built) : NULL;
}

static void
rows_choose(struct rows_shown *s)
{
	const struct st_grid_column *c;
	while (s->n < STROBE_MOST_COLUMNS && (c = st_grid_shown_column(s->g, s->n)))
		s->columns[s->n++] = c;
}

static st_status
rows_add_table(const struct st_grid *g, const struct st_profile_table *t, uint32_t function,
               const struct st_tui_rows_taker *taker)
{
	struct rows_shown s = {.g = g};
	size_t found[ROWS_MOST], n = 0;
	uint32_t other;
	rows_choose(&s);
	for (size_t row = 0; row < st_profile_rows(t) && n < ROWS_MOST; row++)
		if (rows_names(t, row, function, &other)) {
			found[n++] = row;
			rows_measure(&s, row);
		}
	if (!n)
		return ST_OK;
	rows_measure(&s, SIZE_MAX);
	char *title = st_text_of("%s: %s", t->name, t->help);
	st_status status = taker->head(taker->of, title);
	free(title);
	if (!status)
		status = taker->line(taker->of, rows_line(&s, SIZE_MAX), UINT32_MAX);
	for (size_t i = 0; i < n && !status; i++) {
		(void)rows_names(t, found[i], function, &other);
		status = taker->line(taker->of, rows_line(&s, found[i]), other);
	}
	return status;
}

st_status
st_tui_rows_of_function(const struct st_profile *p, uint32_t function,
                        const struct st_tui_rows_taker *taker)
{
	for (size_t i = 0; i < p->tables.n; i++) {
		struct st_grid g = {0};
		if (st_is_table_of_frames(&p->tables.v[i]))
			continue;
		st_status status = st_grid_of_table(&g, p, &p->tables.v[i]);
		if (!status)
			status = rows_add_table(&g, &p->tables.v[i], function, taker);
		st_grid_free(&g);
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}
