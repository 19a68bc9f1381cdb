/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Put before the source of the built-in tools when they are compiled for the controller, which
 * reads their descriptions only: the functions of the tool API exist in the runtime and nowhere
 * else. Weak, they need not be there.
 */
#ifndef STROBE_CLI_TOOL_API_H
#define STROBE_CLI_TOOL_API_H

#pragma weak strobe_block_entry
#pragma weak strobe_block_length
#pragma weak strobe_block_address
#pragma weak strobe_count

#endif
