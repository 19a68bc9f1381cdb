/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of the terminal. They have a file for themselves because term.h defines macros with common
 * names. */
#include "tui/terminal.h"

#include <curses.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

/* Called before newterm, which leaks memory if the terminal is not known. */
static st_status
terminal_check_name(struct st_error *e)
{
	int reason; /* with it, setupterm returns instead of ending the program */
	if (setupterm(NULL, STDOUT_FILENO, &reason) == OK) {
		del_curterm(cur_term);
		return ST_OK;
	}
	return st_fail(e, ST_EXIT_USAGE,
	               "--interactive cannot draw on this terminal (TERM is %s): it is not "
	               "known here; set TERM to a name that is, such as xterm",
	               getenv("TERM"));
}

/* Checks the limits of curses, and limits its memory: a real screen has a million cells at most. */
static st_status
terminal_check_size(struct st_error *e)
{
	enum { MOST_CELLS = 1 << 22 };
	struct winsize w;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w))
		return ST_OK; /* curses finds one elsewhere */
	if (w.ws_row <= SHRT_MAX && w.ws_col <= SHRT_MAX &&
	    (size_t)w.ws_row * w.ws_col <= MOST_CELLS)
		return ST_OK;
	return st_fail(e, ST_EXIT_USAGE,
	               "--interactive cannot use the size of this terminal, %d lines and %d "
	               "columns: set another one with stty rows and cols",
	               w.ws_row, w.ws_col);
}

st_status
st_tui_terminal_check(struct st_error *e)
{
	return terminal_check_name(e) || terminal_check_size(e) ? ST_FAILED : ST_OK;
}
