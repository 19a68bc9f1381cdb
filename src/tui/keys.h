/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of the terminal browser: characters are their code points, other keys are above these. */
#ifndef STROBE_TUI_KEYS_H
#define STROBE_TUI_KEYS_H

enum st_tui_key {
	ST_TUI_TAB = '\t',
	ST_TUI_ENTER = '\r',
	ST_TUI_ESCAPE = 27,
	ST_TUI_UP = 0x110000,
	ST_TUI_DOWN,
	ST_TUI_LEFT,
	ST_TUI_RIGHT,
	ST_TUI_PAGE_UP,
	ST_TUI_PAGE_DOWN,
	ST_TUI_HOME,
	ST_TUI_END,
	ST_TUI_BACKSPACE,
	ST_TUI_HELP, /* F1 */
};

#endif
