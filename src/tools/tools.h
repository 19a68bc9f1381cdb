/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of built-in tools: one list, read by the runtime and by the controller. */
#ifndef STROBE_TOOLS_TOOLS_H
#define STROBE_TOOLS_TOOLS_H

#include <strobe/tool.h>

/* clang-format finds no layout for this that it leaves as it is. */
/* clang-format off */
#define ST_TOOLS(ST_TOOL) \
	ST_TOOL(null) \
	ST_TOOL(inscount) \
	ST_TOOL(bbcount) \
	ST_TOOL(hot) \
	ST_TOOL(opmix) \
	ST_TOOL(regmix) \
	ST_TOOL(branches) \
	ST_TOOL(edges) \
	ST_TOOL(calls) \
	ST_TOOL(memtrace) \
	ST_TOOL(dcache) \
	ST_TOOL(syscalls) \
	ST_TOOL(coverage) \
	ST_TOOL(alloc) \
	ST_TOOL(locks) \
	ST_TOOL(calltimes) \
	ST_TOOL(contexts) \
	ST_TOOL(records)
/* clang-format on */

#define ST_TOOL(name) extern strobe_tool strobe_tool_##name;
ST_TOOLS(ST_TOOL)
#undef ST_TOOL

enum st_tool_index {
#define ST_TOOL(name) ST_TOOL_##name,
	ST_TOOLS(ST_TOOL)
#undef ST_TOOL
	        ST_TOOL_COUNT
};

/* In the order of enum st_tool_index. */
extern strobe_tool *const st_tools[ST_TOOL_COUNT];

#endif
