/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tools/tools.h"

strobe_tool *const st_tools[ST_TOOL_COUNT] = {
#define ST_TOOL(name) &strobe_tool_##name,
        ST_TOOLS(ST_TOOL)
#undef ST_TOOL
};
