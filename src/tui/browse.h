/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terminal browser on a real terminal. */
#ifndef STROBE_TUI_BROWSE_H
#define STROBE_TUI_BROWSE_H

#include "tui/tui.h"

/* Whether standard input and output are a terminal that can be drawn on. 0, or -1 with *e. */
st_status st_tui_check_terminal(struct st_error *e);
/* Shows the browser until it is quit. The terminal is given back as it was, also when a signal
 * ends the process. 0, or -1 with *e. */
st_status st_tui_browse(const struct st_profile *p, const char *file,
                        const struct st_tui_begin *begin, struct st_error *e);

#endif
