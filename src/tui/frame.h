/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a screen that show the state of the browser, for a terminal of any size. */
#ifndef STROBE_TUI_FRAME_H
#define STROBE_TUI_FRAME_H

#include "tui/tui.h"

/* The style of a line; browse.c maps it to attributes of the terminal. */
enum st_tui_style {
	ST_TUI_STYLE_PLAIN,
	ST_TUI_STYLE_HOT,
	ST_TUI_STYLE_WARM,
	ST_TUI_STYLE_HEAD,   /* a heading */
	ST_TUI_STYLE_BAR,    /* the titles of columns, and the last line */
	ST_TUI_STYLE_CURSOR, /* the row that keys act on */
	ST_TUI_STYLES
};

struct st_tui_line {
	char *text; /* malloc'ed; as wide as the screen */
	enum st_tui_style style;
};

struct st_tui_frame {
	ST_VEC(struct st_tui_line) lines;
	/* The position of the terminal's cursor; typing: it is visible. */
	size_t line, column;
	bool typing;
};

/* Makes the lines, and scrolls: sets t->height and the first row of the page. -1: no memory. The
 * caller frees in both cases. */
st_status st_tui_frame_make(struct st_tui_frame *f, struct st_tui *t, size_t lines, size_t columns);
void st_tui_frame_free(struct st_tui_frame *f);

#endif
