/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engine's side of include/strobe/tool.h: what a tool asks for becomes rows of amounts in the
 * results. */
#ifndef STROBE_RT_INSTRUMENT_H
#define STROBE_RT_INSTRUMENT_H

#include "rt/jit/jit.h"

/* Chooses the tool by its index in the table of built-in tools. */
void instrument_init(uint32_t tool);
/* After a fork: counters are declared anew in the child's results. */
void instrument_restart(void);
/* Lets the tool see the block; what it asks for is written to the block's row of amounts. */
void instrument_block(const struct build *b, uint32_t id);
/* Does the block with this id carry a counter? */
bool instrument_counts(uint32_t id);

#endif
