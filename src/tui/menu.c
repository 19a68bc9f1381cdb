/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Menus: pages in which Enter chooses a row. */
#include <stdlib.h>

#include "report/text.h"
#include "tui/pages.h"

struct menu_choice {
	char *text;
	size_t value;
};

struct menu_page {
	st_tui_choose *choose;
	ST_VEC(struct menu_choice) choices;
};

static char *
menu_cell(const struct st_tui_page *p, size_t row, size_t column)
{
	const struct menu_page *of = p->of;
	(void)column;
	return st_printable(of->choices.v[row].text);
}

static void
menu_open(struct st_tui *t, struct st_tui_page *p, size_t row)
{
	const struct menu_page *of = p->of;
	st_tui_choose *choose = of->choose;
	const size_t value = of->choices.v[row].value;
	st_tui_pop(t);
	choose(t, value);
}

static void
menu_free(struct st_tui_page *p)
{
	struct menu_page *of = p->of;
	if (!of)
		return;
	for (size_t i = 0; i < of->choices.n; i++)
		free(of->choices.v[i].text);
	free(of->choices.v);
	free(of);
}

static const struct st_tui_kind menu_kind = {
        .keys = "Enter choose", .cell = menu_cell, .open = menu_open, .free = menu_free};

struct st_tui_page *
st_tui_menu_page(const char *title, st_tui_choose *choose)
{
	struct st_tui_page *p = st_tui_page_new(&menu_kind, "%s", title);
	struct menu_page *of = p ? calloc(1, sizeof *of) : NULL;
	if (of && !st_tui_page_add_column(p, "", true)) {
		of->choose = choose;
		p->of = of;
		p->transient = true;
		return p;
	}
	free(of);
	st_tui_page_free(p);
	return NULL;
}

st_status
st_tui_menu_add(struct st_tui_page *menu, const char *text, size_t value, bool chosen)
{
	struct menu_page *of = menu->of;
	char *copy = st_text_of("%s", text);
	struct menu_choice *choice = copy ? ST_PUSH(&of->choices) : NULL;
	if (!choice) {
		free(copy);
		return ST_FAILED;
	}
	*choice = (struct menu_choice){copy, value};
	if (chosen)
		menu->cursor = menu->n;
	menu->n++;
	return ST_OK;
}
