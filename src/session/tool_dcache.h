/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The caches that the tool dcache is asked to simulate. */
#ifndef STROBE_SESSION_TOOL_DCACHE_H
#define STROBE_SESSION_TOOL_DCACHE_H

#include "base/error.h"
#include "session/toolset.h"

/* Whether its options, of which each is what it may be, fit together: it finds a set by bits of the
 * address. 0, or -1 with *e. */
st_status st_dcache_check(const struct st_tool_setting *settings, size_t n, struct st_error *e);

#endif
