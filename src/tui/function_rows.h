/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_TUI_FUNCTION_ROWS_H
#define STROBE_TUI_FUNCTION_ROWS_H

#include "profile/profile.h"

/* Receives the rows: for each table a heading, then its lines. */
struct st_tui_rows_taker {
	st_status (*head)(void *of, const char *title); /* title NULL: no memory */
	/* The taker owns the text from then on, NULL: no memory; function: another one that the row
	 * names, UINT32_MAX: none. */
	st_status (*line)(void *of, char *text, uint32_t function);
	void *of;
};

/* The first rows of each table of a tool whose keys name the function. -1: no memory. */
st_status st_tui_rows_of_function(const struct st_profile *p, uint32_t function,
                                  const struct st_tui_rows_taker *taker);

#endif
