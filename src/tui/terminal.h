/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_TUI_TERMINAL_H
#define STROBE_TUI_TERMINAL_H

#include "base/error.h"

/* Whether curses can draw on the terminal: its name is known, and its size can be used. -1 with *e:
 * no. */
st_status st_tui_terminal_check(struct st_error *e);

#endif
