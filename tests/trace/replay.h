/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An engine for tests: the program is a raw file, and what it says of calls is replayed. */
#ifndef STROBE_TESTS_TRACE_REPLAY_H
#define STROBE_TESTS_TRACE_REPLAY_H

#include "trace/engine.h"

extern const struct st_trace_engine trace_replay;

#endif
