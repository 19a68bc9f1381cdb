/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws frames with curses, and reads keys. */
#include "tui/browse.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/bytes.h"
#include "tui/frame.h"
#include "tui/restore.h"
#include "tui/terminal.h"
#include "tui/width.h"

st_status
st_tui_check_terminal(struct st_error *e)
{
	const char *term = getenv("TERM");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return st_fail(e, ST_EXIT_USAGE,
		               "--interactive needs a terminal, and standard %s is none: leave it "
		               "out to print the tables, or make a page with strobe report",
		               isatty(STDIN_FILENO) ? "output" : "input");
	if (!term || !*term || !strcmp(term, "dumb"))
		return st_fail(e, ST_EXIT_USAGE,
		               "--interactive cannot draw on this terminal (TERM is %s): leave it "
		               "out to print the tables, or use another terminal",
		               term && *term ? term : "not set");
	return ST_OK;
}

/* ---- drawing ---- */

/* The attributes of each style, with and without colours. */
static void
browse_styles(attr_t attributes[ST_TUI_STYLES])
{
	const char *no_color = getenv("NO_COLOR");
	attributes[ST_TUI_STYLE_PLAIN] = A_NORMAL;
	attributes[ST_TUI_STYLE_HOT] = attributes[ST_TUI_STYLE_WARM] = A_NORMAL;
	attributes[ST_TUI_STYLE_HEAD] = A_BOLD;
	attributes[ST_TUI_STYLE_BAR] = A_REVERSE;
	attributes[ST_TUI_STYLE_CURSOR] = A_REVERSE | A_BOLD;
	if ((no_color && *no_color) || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_GREEN, -1);
	init_pair(3, COLOR_BLACK, COLOR_CYAN);
	attributes[ST_TUI_STYLE_HOT] = (attr_t)COLOR_PAIR(1);
	attributes[ST_TUI_STYLE_WARM] = (attr_t)COLOR_PAIR(2);
	attributes[ST_TUI_STYLE_CURSOR] = (attr_t)COLOR_PAIR(3);
}

static void
browse_put(size_t line, const char *text)
{
	move((int)line, 0);
	for (uint32_t c; *text;) {
		wchar_t wide[2] = {0};
		text += st_tui_character(text, &c);
		wide[0] = (wchar_t)c;
		addnwstr(wide, 1);
	}
}

static st_status
browse_draw(struct st_tui *t, const attr_t attributes[ST_TUI_STYLES])
{
	struct st_tui_frame f;
	const size_t lines = LINES > 0 ? (size_t)LINES : 1, columns = COLS > 0 ? (size_t)COLS : 1;
	const st_status status = st_tui_frame_make(&f, t, lines, columns);
	erase();
	for (size_t i = 0; i < f.lines.n && !status; i++) {
		attrset((int)attributes[f.lines.v[i].style]);
		browse_put(i, f.lines.v[i].text);
	}
	attrset(A_NORMAL);
	if (!status) {
		curs_set(f.typing);
		move((int)f.line, (int)f.column);
	}
	refresh();
	st_tui_frame_free(&f);
	return status;
}

/* ---- keys ---- */

enum { BROWSE_NO_KEY = 0, BROWSE_RESIZED = -1, BROWSE_GONE = -2 };

/* Converts a function key of curses to the browser's. */
static int
browse_function_key(int key)
{
	static const struct {
		int from, to;
	} keys[] = {{KEY_UP, ST_TUI_UP},         {KEY_DOWN, ST_TUI_DOWN},
	            {KEY_LEFT, ST_TUI_LEFT},     {KEY_RIGHT, ST_TUI_RIGHT},
	            {KEY_PPAGE, ST_TUI_PAGE_UP}, {KEY_NPAGE, ST_TUI_PAGE_DOWN},
	            {KEY_HOME, ST_TUI_HOME},     {KEY_END, ST_TUI_END},
	            {KEY_ENTER, ST_TUI_ENTER},   {KEY_BACKSPACE, ST_TUI_BACKSPACE},
	            {KEY_F(1), ST_TUI_HELP},     {KEY_RESIZE, BROWSE_RESIZED}};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].from == key)
			return keys[i].to;
	return BROWSE_NO_KEY;
}

/* Waits for a key. ERR: a signal came (EINTR), or the terminal is gone. The time is limited, as
 * curses notices a change of the size only when it waits or when its time is over. */
static int
browse_getch(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	for (bool ready = false;;) {
		errno = 0;
		const int key = getch();
		if (key != ERR || ready || errno == EINTR)
			return key;
		ready = poll(&input, 1, 0) > 0; /* then there is a key, or the end */
	}
}

/* The next key. By bytes: after one that is not UTF-8, get_wch never returns a key again. */
static int
browse_read(struct st_tui_bytes *bytes)
{
	const int key = browse_getch();
	if (key == ERR)
		return errno == EINTR ? BROWSE_NO_KEY : BROWSE_GONE;
	if (key >= KEY_MIN)
		return browse_function_key(key);
	const uint32_t c = st_tui_bytes_add(bytes, (unsigned char)key);
	return c == 127 || c == '\b' ? ST_TUI_BACKSPACE : (int)c;
}

/* Draws and handles keys until the user quits or the terminal is gone. */
static st_status
browse_loop(struct st_tui *t, struct st_error *e)
{
	enum { REDRAW = 'L' - 64 };
	attr_t attributes[ST_TUI_STYLES];
	struct st_tui_bytes bytes = {0};
	browse_styles(attributes);
	while (!t->quit) {
		if (browse_draw(t, attributes))
			return st_fail(e, ST_EXIT_FAILED, "no memory left to draw the page");
		const int key = browse_read(&bytes);
		if (key == BROWSE_GONE)
			return st_fail(e, ST_EXIT_FAILED, "the terminal cannot be read any more");
		if (key == REDRAW || key == BROWSE_RESIZED)
			clearok(stdscr, TRUE);
		else if (key != BROWSE_NO_KEY)
			st_tui_press(t, key);
	}
	return ST_OK;
}

/* Names are UTF-8, whatever the locale is. */
static void
browse_locale(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

static st_status
browse_on_terminal(struct st_tui *t, struct st_error *e)
{
	enum {
		ESCAPE_MS = 25, /* the time in which the rest of a key's sequence comes */
		WAIT_MS = 250,  /* between looks at the size of the terminal */
	};
	if (st_tui_terminal_check(e))
		return ST_FAILED;
	browse_locale();
	st_restore_before();
	SCREEN *screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		st_restore_after();
		return st_fail(e, ST_EXIT_FAILED,
		               "--interactive cannot use this terminal: unset LINES and COLUMNS, "
		               "or leave it out to print the tables");
	}
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	scrollok(stdscr, FALSE);
	timeout(WAIT_MS);
	st_restore_begin();
	const st_status status = browse_loop(t, e);
	endwin();
	st_restore_after();
	delscreen(screen);
	return status;
}

st_status
st_tui_browse(const struct st_profile *p, const char *file, const struct st_tui_begin *begin,
              struct st_error *e)
{
	struct st_tui t;
	st_status status = st_tui_open(&t, p, file, begin, e);
	if (!status)
		status = browse_on_terminal(&t, e);
	st_tui_close(&t);
	return status;
}
