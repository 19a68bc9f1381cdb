/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives the terminal back when a signal ends the process: Ctrl-C, kill, or a crash. curses does so
 * for few of them. */
#ifndef STROBE_TUI_RESTORE_H
#define STROBE_TUI_RESTORE_H

/* Before curses changes the terminal: keeps its settings. */
void st_restore_before(void);
/* When curses has the terminal: catches signals from here on. */
void st_restore_begin(void);
/* When the terminal has been given back. */
void st_restore_after(void);

#endif
