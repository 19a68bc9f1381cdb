/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is typed to search for: the cursor goes to the first match while it is typed. */
#ifndef STROBE_TUI_PROMPT_H
#define STROBE_TUI_PROMPT_H

#include "tui/tui.h"

void st_tui_prompt_open(struct st_tui *t);
void st_tui_prompt_press(struct st_tui *t, int key);
/* The next match of what was searched last, or the previous one. */
void st_tui_search_again(struct st_tui *t, bool forward);

#endif
