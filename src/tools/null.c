/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

STROBE_TOOL(null, .help = "run the program in the engine without instrumentation");
