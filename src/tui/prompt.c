/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/prompt.h"

#include <string.h>

#include "tui/pages.h"

void
st_tui_prompt_open(struct st_tui *t)
{
	const struct st_tui_page *p = st_tui_top(t);
	t->prompt = (struct st_tui_prompt){.open = true, .cursor = p->cursor, .top = p->top};
}

/* Searches from the row in which the search began; without a match the cursor goes back to it. */
static void
prompt_search(struct st_tui *t)
{
	struct st_tui_page *p = st_tui_top(t);
	p->cursor = t->prompt.cursor;
	p->top = t->prompt.top;
	const size_t found = st_tui_find(t, p, t->prompt.text, p->cursor, true, true);
	if (found != SIZE_MAX)
		st_tui_page_go(p, found);
	else if (*t->prompt.text)
		st_tui_say(t, "no row has '%s'", t->prompt.text);
}

/* Appends a character as UTF-8; if there is no space for all of its bytes, none is added. */
static void
prompt_add(struct st_tui *t, unsigned c)
{
	char bytes[5] = {0};
	const size_t n = strlen(t->prompt.text);
	if (c < 0x80) {
		bytes[0] = (char)c;
	} else if (c < 0x800) {
		bytes[0] = (char)(0xc0 | c >> 6);
		bytes[1] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		bytes[0] = (char)(0xe0 | c >> 12);
		bytes[1] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (c & 0x3f));
	} else {
		bytes[0] = (char)(0xf0 | c >> 18);
		bytes[1] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[2] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[3] = (char)(0x80 | (c & 0x3f));
	}
	if (n + strlen(bytes) < sizeof t->prompt.text)
		memcpy(t->prompt.text + n, bytes, strlen(bytes) + 1);
}

/* Removes the last character with all of its bytes. */
static void
prompt_remove(struct st_tui *t)
{
	size_t n = strlen(t->prompt.text);
	while (n && ((unsigned char)t->prompt.text[n - 1] & 0xc0) == 0x80)
		n--;
	t->prompt.text[n ? n - 1 : 0] = '\0';
}

static void
prompt_close(struct st_tui *t, bool keep)
{
	struct st_tui_page *p = st_tui_top(t);
	t->prompt.open = false;
	if (keep && *t->prompt.text)
		memcpy(t->search, t->prompt.text, sizeof t->search);
	if (keep)
		return;
	st_tui_page_go(p, t->prompt.cursor);
	p->top = t->prompt.top;
}

void
st_tui_prompt_press(struct st_tui *t, int key)
{
	if (key == ST_TUI_ENTER || key == '\n') {
		if (!*t->prompt.text) { /* as in less: the same text again */
			prompt_close(t, true);
			st_tui_search_again(t, true);
			return;
		}
		prompt_search(t);
		prompt_close(t, true);
		return;
	}
	if (key == ST_TUI_ESCAPE) {
		prompt_close(t, false);
		return;
	}
	if (key == ST_TUI_BACKSPACE && !*t->prompt.text) {
		prompt_close(t, false);
		return;
	}
	if (key == ST_TUI_BACKSPACE)
		prompt_remove(t);
	else if (key >= ' ' && key < ST_TUI_UP)
		prompt_add(t, (unsigned)key);
	prompt_search(t);
}

void
st_tui_prompt_inserted(struct st_tui *t, size_t row, size_t n)
{
	if (!t->prompt.open)
		return;
	t->prompt.cursor += row < t->prompt.cursor ? n : 0;
	t->prompt.top += row < t->prompt.top ? n : 0;
}

void
st_tui_search_again(struct st_tui *t, bool forward)
{
	struct st_tui_page *p = st_tui_top(t);
	if (!*t->search) {
		st_tui_say(t, "type / and what to search for first");
		return;
	}
	const size_t found = st_tui_find(t, p, t->search, p->cursor, forward, false);
	if (found == SIZE_MAX)
		st_tui_say(t, "no row has '%s'", t->search);
	else
		st_tui_page_go(p, found);
}
