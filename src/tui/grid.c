/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages of tables: any grid of report/grid.h. */
#include <stdlib.h>
#include <string.h>

#include "tui/pages.h"

struct grid_page {
	struct st_grid grid;
	ST_VEC(const struct st_grid_column *) columns;
	uint32_t *first;     /* the rows in their first order, which decides between equal ones */
	uint32_t *rows;      /* in the order in which they are shown */
	st_tui_links *links; /* NULL: rows lead nowhere */
};

static char *
grid_page_cell(const struct st_tui_page *p, size_t row, size_t column)
{
	const struct grid_page *of = p->of;
	const struct st_grid *g = &of->grid;
	const struct st_grid_column *c = of->columns.v[column];
	struct st_grid_cell cell;
	char *text;
	if (g->text) {
		text = g->text(g, of->rows[row], c);
	} else {
		g->cell(g, of->rows[row], c, &cell);
		text = st_grid_plain(&cell);
	}
	char *clean = text ? st_printable(text) : NULL;
	free(text);
	return clean;
}

/* By the share of the total, if that is the first column. */
static enum st_tui_look
grid_page_look(const struct st_tui_page *p, size_t row)
{
	const struct grid_page *of = p->of;
	struct st_grid_cell cell;
	if (!of->columns.n || !strchr(of->columns.v[0]->name, '%'))
		return ST_TUI_PLAIN;
	of->grid.cell(&of->grid, of->rows[row], of->columns.v[0], &cell);
	return cell.kind == ST_GRID_REAL ? st_tui_look_of_percent(cell.real) : ST_TUI_PLAIN;
}

static st_status
grid_page_sort(struct st_tui_page *p, size_t column, bool reverse)
{
	struct grid_page *of = p->of;
	const size_t n = p->n - of->grid.others; /* the others' row stays last */
	memcpy(of->rows, of->first, p->n * sizeof *of->rows);
	if (st_grid_order(&of->grid, of->columns.v[column], of->rows, n))
		return ST_FAILED;
	for (size_t i = 0; i < n / 2 && reverse; i++) {
		const uint32_t other = of->rows[n - 1 - i];
		of->rows[n - 1 - i] = of->rows[i];
		of->rows[i] = other;
	}
	return ST_OK;
}

static void
grid_page_chosen(struct st_tui *t, size_t function)
{
	st_tui_open_function(t, &(struct st_tui_link){NULL, (uint32_t)function, UINT32_MAX});
}

/* The menu of the functions that a row names, such as a caller and a callee. */
static struct st_tui_page *
grid_page_menu(const struct grid_page *of, const struct st_profile *p, size_t row)
{
	struct st_tui_page *menu = st_tui_menu_page("functions of the row", grid_page_chosen);
	struct st_tui_link link;
	bool bad = !menu;
	for (size_t i = 0; !bad && of->links(&of->grid, row, i, &link); i++) {
		char *text = st_text_of("%s: %s", link.what, p->functions.v[link.function].name);
		bad = !text || st_tui_menu_add(menu, text, link.function, false);
		free(text);
	}
	if (!bad)
		return menu;
	st_tui_page_free(menu);
	return NULL;
}

/* Shows a row that names no function with one line for each column. */
static void
grid_page_show_row(struct st_tui *t, const struct st_tui_page *p, size_t row)
{
	struct st_text built;
	struct st_error e;
	FILE *out = st_text_begin(&built);
	for (size_t c = 0; out && c < p->columns.n; c++) {
		char *text = grid_page_cell(p, row, c);
		fprintf(out, "%20s  %s\n", p->columns.v[c].title, text ? text : "");
		free(text);
	}
	struct st_tui_page *all = st_tui_text_page("row", out ? st_text_end(&built) : NULL, &e);
	if (all)
		all->transient = true;
	st_tui_push(t, all);
}

static void
grid_page_open(struct st_tui *t, struct st_tui_page *p, size_t row)
{
	const struct grid_page *of = p->of;
	struct st_tui_link first, second;
	if (!of->links || !of->links(&of->grid, of->rows[row], 0, &first))
		grid_page_show_row(t, p, row);
	else if (of->links(&of->grid, of->rows[row], 1, &second))
		st_tui_push(t, grid_page_menu(of, t->profile, of->rows[row]));
	else
		st_tui_open_function(t, &first);
}

static void
grid_page_free(struct st_tui_page *p)
{
	struct grid_page *of = p->of;
	if (!of)
		return;
	st_grid_free(&of->grid);
	free(of->columns.v);
	free(of->first);
	free(of->rows);
	free(of);
}

static const struct st_tui_kind grid_page_kind = {.keys = "s sort  r reverse  Enter open",
                                                  .cell = grid_page_cell,
                                                  .look = grid_page_look,
                                                  .sort = grid_page_sort,
                                                  .open = grid_page_open,
                                                  .free = grid_page_free};

static st_status
grid_page_columns(struct st_tui_page *p, struct grid_page *of)
{
	const struct st_grid_column *c;
	for (size_t i = 0; (c = st_grid_shown_column(&of->grid, i)); i++) {
		const struct st_grid_column **slot = ST_PUSH(&of->columns);
		if (!slot || st_tui_page_add_column(p, c->name, c->left))
			return ST_FAILED;
		*slot = c;
	}
	return ST_OK;
}

struct st_tui_page *
st_tui_grid_page(struct st_grid *g, uint32_t *order, const char *title, struct st_error *e)
{
	struct st_tui_page *p = st_tui_page_new(&grid_page_kind, "%s", title);
	struct grid_page *of = p ? calloc(1, sizeof *of) : NULL;
	if (!of) {
		st_grid_free(g);
		free(order);
	} else {
		*of = (struct grid_page){.grid = *g, .first = order};
		p->of = of;
		p->n = g->rows;
		of->rows = calloc(p->n + 1, sizeof *of->rows);
	}
	if (of && of->rows && of->first && !grid_page_columns(p, of)) {
		memcpy(of->rows, of->first, p->n * sizeof *of->rows);
		return p;
	}
	st_tui_page_free(p);
	st_cause(e, ST_EXIT_FAILED, "no memory left for the table");
	return NULL;
}

uint32_t *
st_tui_order_of(size_t n)
{
	uint32_t *order = calloc(n + 1, sizeof *order);
	for (size_t i = 0; order && i < n; i++)
		order[i] = (uint32_t)i;
	return order;
}

void
st_tui_grid_links(struct st_tui_page *p, st_tui_links *links)
{
	struct grid_page *of = p->of;
	of->links = links;
}

/* The functions that the keys of a tool's table name. */
static bool
grid_page_table_link(const struct st_grid *g, size_t row, size_t i, struct st_tui_link *link)
{
	const struct st_profile_table *t = g->of;
	for (size_t c = 0; c < t->n_keys && row < st_profile_rows(t); c++) {
		const uint32_t function = t->values.v[row * t->n_columns + c].function;
		const enum strobe_type type = t->columns[c].type;
		if ((type != STROBE_ADDRESS && type != STROBE_FUNCTION) ||
		    function >= g->profile->functions.n || i--)
			continue;
		*link = (struct st_tui_link){t->columns[c].name, function, UINT32_MAX};
		return true;
	}
	return false;
}

/* The function that a row names, for tables of the profile that belong to no tool. */
static bool
grid_page_named_link(const struct st_grid *g, size_t row, size_t i, struct st_tui_link *link)
{
	const struct st_profile *p = g->profile;
	struct st_grid_cell cell = {0};
	for (size_t c = 0; c < g->columns.n && !cell.text; c++)
		if (!strcmp(g->columns.v[c].name, "function"))
			g->cell(g, row, &g->columns.v[c], &cell);
	for (uint32_t f = 0; f < p->functions.n && cell.text && !i; f++)
		if (p->functions.v[f].name && !strcmp(p->functions.v[f].name, cell.text)) {
			*link = (struct st_tui_link){"function", f, UINT32_MAX};
			return true;
		}
	return false;
}

struct st_tui_page *
st_tui_table_page(const struct st_profile *p, const char *name, struct st_error *e)
{
	struct st_grid g;
	char title[200];
	bool of_tool = false;
	if (st_grid_open(&g, p, name, e)) {
		st_grid_free(&g);
		return NULL;
	}
	for (size_t i = 0; i < p->tables.n; i++)
		of_tool |= g.of == &p->tables.v[i];
	snprintf(title, sizeof title, "%s%s%s", g.name, *g.help ? ": " : "", g.help);
	struct st_tui_page *page = st_tui_grid_page(&g, st_tui_order_of(g.rows), title, e);
	if (page)
		st_tui_grid_links(page, of_tool ? grid_page_table_link : grid_page_named_link);
	return page;
}
