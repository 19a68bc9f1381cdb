/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Internal: what the runtime has for the built-in tools `calltimes` and `records`, beside the tool
 * API. Tools from files cannot use it, and it may change with any commit.
 */
#ifndef STROBE_TOOLS_CELLS_H
#define STROBE_TOOLS_CELLS_H

#include <strobe/tool.h>

/*
 * The numbers of the row that the cell, one of a table, is in; keys first. For rows that one thread
 * alone writes, as those with the thread as a key; others need strobe_cell_add. What found no room
 * in the table shares a row, whose numbers are then a little too low.
 */
uint64_t *strobe_row_numbers(strobe_cell cell);

/* Calls `entered` when the function is entered and `returned` when it returns, as strobe_at_return
 * has it, both with the function's address and the stack pointer as values. Once for a function:
 * the call at its entry, and what the engine needs to know of its return, cost one way into the
 * runtime together. */
void strobe_enter_and_return(strobe_function *f, strobe_callee *entered, strobe_callee *returned);

/* Ticks that the engine has needed for the thread: to translate code, and to wait for the
 * controller when code is mapped. They are counted from the first call in the process on. */
uint64_t strobe_engine_ticks(const strobe_thread *t);

/* Can functions that were entered at lower stack pointers have been left behind the instruction,
 * by a jump (longjmp), an exception or a switch to another stack? It is one for which
 * strobe_insn_moves_stack holds, or a pop directly after one. */
int strobe_insn_lands(const strobe_insn *i);

/* ---- records ---- */

struct st_record_scratch;
struct st_record_op;

/* What the controller says of the function at the address, at a multiple of 8 bytes; NULL: nothing.
 */
const void *strobe_function_data(uint64_t function);
/* Adds a constant to the thread's own count, which can be read at any time. At a point without a
 * condition, and for two counters of a tool. */
void strobe_count_own(strobe_point at, strobe_counter *counter, uint64_t amount);
uint64_t strobe_own_count(strobe_thread *t, const strobe_counter *counter);
/* In a function that is called where another one is entered: runs operations (wire/record.h) on
 * the program's registers and memory. */
void strobe_run_ops(strobe_thread *t, struct st_record_scratch *own, const struct st_record_op *ops,
                    uint32_t n);

#endif
