/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that strobe gate and strobe bisect share. */
#ifndef STROBE_CLI_GATE_H
#define STROBE_CLI_GATE_H

#include <limits.h>

#include "cli/progress.h"
#include "gate/rules.h"

/* Sets the defaults of a gate, then reads the rules of the project (file NULL: those of the project
 * around the current folder). 0, or -1 with *e. */
st_status st_gate_usual(struct st_gate_options *o, struct st_gate_rules *rules, const char *file,
                        struct st_error *e);

/* Prepares a run: progress, signals, the path of strobe, and the seed unless the user has set it.
 */
struct st_gate_setting {
	struct st_progress progress;
	char strobe[PATH_MAX];
};
st_status st_gate_begin(struct st_gate_setting *s, struct st_gate_options *o, bool quiet,
                        struct st_error *e);
void st_gate_end(struct st_gate_setting *s, struct st_gate_options *o);

#endif
