/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Menus of metrics and of threads. Without a choice, a message says so. */
#ifndef STROBE_TUI_THREADS_H
#define STROBE_TUI_THREADS_H

#include "tui/tui.h"

void st_tui_metric_menu(struct st_tui *t);
void st_tui_threads_menu(struct st_tui *t);

#endif
