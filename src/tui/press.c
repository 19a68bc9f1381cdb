/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The handlers of keys. */
#include <stdlib.h>
#include <string.h>

#include "tui/pages.h"
#include "tui/prompt.h"
#include "tui/threads.h"

/* ---- moving ---- */

static void
press_move(struct st_tui *t, long rows)
{
	struct st_tui_page *p = st_tui_top(t);
	const size_t back = rows < 0 ? (size_t)-rows : 0;
	if (rows < 0)
		st_tui_page_go(p, p->cursor > back ? p->cursor - back : 0);
	else
		st_tui_page_go(p, p->cursor + (size_t)rows);
}

/* Shows the columns that had no space, then scrolls within the last one. */
static void
press_shift(struct st_tui *t, bool right)
{
	enum { STEP = 8, MOST = 4000 };
	struct st_tui_page *p = st_tui_top(t);
	if (right && p->more)
		p->first++;
	else if (right && p->shift < MOST)
		p->shift += STEP;
	else if (!right && p->shift)
		p->shift -= p->shift < STEP ? p->shift : STEP;
	else if (!right && p->first)
		p->first--;
}

/* ---- opening and closing ---- */

static void
press_open(struct st_tui *t)
{
	struct st_tui_page *p = st_tui_top(t);
	if (p->kind->open && p->n)
		p->kind->open(t, p, p->cursor);
}

static void
press_right(struct st_tui *t)
{
	struct st_tui_page *p = st_tui_top(t);
	if (!p->kind->expand)
		press_open(t);
	else if (p->n)
		(void)p->kind->expand(t, p, p->cursor);
}

/* In a tree, collapses the row, or goes to its parent if it is not expanded. */
static void
press_left(struct st_tui *t)
{
	struct st_tui_page *p = st_tui_top(t);
	if (!p->kind->collapse) {
		st_tui_pop(t);
		return;
	}
	if (!p->n || p->kind->collapse(p, p->cursor))
		return;
	const size_t parent = p->kind->parent(p, p->cursor);
	if (parent != SIZE_MAX)
		st_tui_page_go(p, parent);
}

static void
press_expand(struct st_tui *t, bool open)
{
	struct st_tui_page *p = st_tui_top(t);
	if (!p->kind->expand || !p->n)
		st_tui_say(t, "this page is no tree: v chooses one, if the profile has calls");
	else if (open)
		(void)p->kind->expand(t, p, p->cursor);
	else
		(void)p->kind->collapse(p, p->cursor);
}

static void
press_follow(struct st_tui *t)
{
	struct st_tui_page *p = st_tui_top(t);
	if (p->kind->follow && p->n)
		st_tui_page_go(p, p->kind->follow(t, p, p->cursor));
	else
		st_tui_say(t, "this page is no tree: v chooses one, if the profile has calls");
}

/* Goes to the next heading between the rows, or to the previous one. */
static void
press_heading(struct st_tui *t, bool forward)
{
	struct st_tui_page *p = st_tui_top(t);
	size_t row = p->cursor;
	while (p->kind->look && (forward ? ++row < p->n : row-- > 0))
		if (p->kind->look(p, row) == ST_TUI_HEAD) {
			st_tui_page_go(p, row);
			return;
		}
	st_tui_say(t, "there is no further heading");
}

static void
press_quit(struct st_tui *t)
{
	if (st_tui_top(t)->transient)
		st_tui_pop(t);
	else
		t->quit = true;
}

static void
press_help(struct st_tui *t)
{
	struct st_error e;
	struct st_tui_page *p = st_tui_help_page(&e);
	if (!st_tui_top(t)->transient)
		st_tui_push(t, p);
	else
		st_tui_page_free(p);
}

/* ---- views ---- */

static void
press_views(struct st_tui *t)
{
	st_tui_views views;
	bool bad = st_tui_views_of(t->profile, &views);
	struct st_tui_page *menu = st_tui_menu_page("views", st_tui_show_view);
	for (size_t i = 0; menu && i < views.n && !bad; i++)
		bad = st_tui_menu_add(menu, views.v[i].name, i, i == t->view);
	free(views.v);
	st_tui_push_menu(t, menu, bad);
}

/* ---- order ---- */

static void
press_chosen_column(struct st_tui *t, size_t column)
{
	if (st_tui_page_sort(st_tui_top(t), column, false))
		st_tui_say(t, "no memory left to sort the rows");
}

static void
press_sort(struct st_tui *t)
{
	const struct st_tui_page *p = st_tui_top(t);
	if (!p->kind->sort) {
		st_tui_say(t, "the rows of this page have one order only");
		return;
	}
	bool bad = false;
	struct st_tui_page *menu = st_tui_menu_page("sort by", press_chosen_column);
	for (size_t i = 0; menu && i < p->columns.n && !bad; i++)
		bad = st_tui_menu_add(menu, p->columns.v[i].title, i, (long)i == p->sorted);
	st_tui_push_menu(t, menu, bad);
}

static void
press_reverse(struct st_tui *t)
{
	struct st_tui_page *p = st_tui_top(t);
	if (!p->kind->sort)
		st_tui_say(t, "the rows of this page have one order only");
	else if (p->sorted == ST_TUI_UNSORTED)
		st_tui_say(t, "choose the column to sort by first: s");
	else if (st_tui_page_sort(p, (size_t)p->sorted, !p->reversed))
		st_tui_say(t, "no memory left to sort the rows");
}

/* ---- keys ---- */

static void
press_character(struct st_tui *t, int key)
{
	switch (key) {
	case 'q':
		press_quit(t);
		break;
	case '?':
		press_help(t);
		break;
	case '/':
		st_tui_prompt_open(t);
		break;
	case 'n':
	case 'N':
		st_tui_search_again(t, key == 'n');
		break;
	case 's':
		press_sort(t);
		break;
	case 'r':
		press_reverse(t);
		break;
	case 'v':
		press_views(t);
		break;
	case 'm':
		st_tui_metric_menu(t);
		break;
	case 't':
		st_tui_threads_menu(t);
		break;
	case '[':
	case ']':
		press_heading(t, key == ']');
		break;
	case '+':
	case '-':
		press_expand(t, key == '+');
		break;
	case '*':
		press_follow(t);
		break;
	case '<':
	case '>':
		press_shift(t, key == '>');
		break;
	default:
		st_tui_say(t, "this key does nothing here: ? lists the keys");
	}
}

/* Maps the keys of vi that move the cursor to the usual ones. */
static int
press_usual(int key)
{
	static const struct {
		int from, to;
	} same[] = {{'k', ST_TUI_UP},
	            {'j', ST_TUI_DOWN},
	            {'g', ST_TUI_HOME},
	            {'G', ST_TUI_END},
	            {' ', ST_TUI_PAGE_DOWN},
	            {'\n', ST_TUI_ENTER},
	            {ST_TUI_ESCAPE, ST_TUI_BACKSPACE}};
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (same[i].from == key)
			return same[i].to;
	return key;
}

static void
press_key(struct st_tui *t, int key)
{
	const long screen = t->height > 1 ? (long)t->height - 1 : 1;
	switch (press_usual(key)) {
	case ST_TUI_UP:
		press_move(t, -1);
		break;
	case ST_TUI_DOWN:
		press_move(t, 1);
		break;
	case ST_TUI_PAGE_UP:
		press_move(t, -screen);
		break;
	case ST_TUI_PAGE_DOWN:
		press_move(t, screen);
		break;
	case ST_TUI_HOME:
		st_tui_page_go(st_tui_top(t), 0);
		break;
	case ST_TUI_END:
		st_tui_page_go(st_tui_top(t), SIZE_MAX);
		break;
	case ST_TUI_ENTER:
		press_open(t);
		break;
	case ST_TUI_RIGHT:
		press_right(t);
		break;
	case ST_TUI_LEFT:
		press_left(t);
		break;
	case ST_TUI_BACKSPACE:
		st_tui_pop(t);
		break;
	case ST_TUI_TAB:
		st_tui_show_view(t, t->view + 1);
		break;
	case ST_TUI_HELP:
		press_help(t);
		break;
	default:
		press_character(t, key);
	}
}

void
st_tui_press(struct st_tui *t, int key)
{
	*t->message = '\0';
	if (t->prompt.open)
		st_tui_prompt_press(t, key);
	else
		press_key(t, key);
}
