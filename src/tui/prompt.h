/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line in which the text of a search is typed. The cursor goes to the first match after each
 * character. */
#ifndef STROBE_TUI_PROMPT_H
#define STROBE_TUI_PROMPT_H

#include "tui/tui.h"

void st_tui_prompt_open(struct st_tui *t);
void st_tui_prompt_press(struct st_tui *t, int key);
/* Rows were inserted after a row: Esc has to go back to the row in which the search began. */
void st_tui_prompt_inserted(struct st_tui *t, size_t row, size_t n);
/* Goes to the next (or previous) match of the last search. */
void st_tui_search_again(struct st_tui *t, bool forward);

#endif
