/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_SESSION_TOOL_CALIBRATE_H
#define STROBE_SESSION_TOOL_CALIBRATE_H

#include <stdbool.h>

#include "base/status.h"
#include "toolkit/compile.h"

enum st_action_kind {
	ST_ACTION_COUNT,
	ST_ACTION_CONDITION,
	ST_ACTION_ADD,
	ST_ACTION_RECORD,
	ST_ACTION_INVOKE,
	ST_ACTIONS,
};

/* Nanoseconds that each action wanted costs under the engine, on this machine now. include: where
 * to look for headers, as for the tool itself. -1: it cannot be measured. */
st_status st_calibrate(const char *const *include, const bool wanted[ST_ACTIONS],
                       double ns[ST_ACTIONS]);

/* Is this the process that is measured? Then it has answered, and may end. */
bool st_calibrate_answer(void);

#endif
