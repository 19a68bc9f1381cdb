/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal: rows of tables as built-in tools may write them, without a call for each number. */
#ifndef STROBE_TOOLS_CELLS_H
#define STROBE_TOOLS_CELLS_H

#include <strobe/tool.h>

/*
 * The numbers of the row that the cell, one of a table, is in; keys first. For rows that one thread
 * alone writes, as those with the thread as a key; others need strobe_cell_add. What found no room
 * in the table shares a row, whose numbers are then a little too low.
 */
uint64_t *strobe_row_numbers(strobe_cell cell);

#endif
