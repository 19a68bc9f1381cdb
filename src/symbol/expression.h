/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The DWARF expressions that unwind information uses. */
#ifndef STROBE_SYMBOL_EXPRESSION_H
#define STROBE_SYMBOL_EXPRESSION_H

#include <elfutils/libdw.h>

#include "symbol/unwind.h"

struct sym_expression {
	const uint64_t *registers;
	const struct st_stack_copy *stack;
	uint64_t cfa;
};

/*
 * Evaluates an expression. location: its result is an address whose content is wanted, unless it
 * says that it is the value. False when it reads what is not there or uses what is not known here.
 */
bool sym_evaluate(const struct sym_expression *at, const Dwarf_Op *ops, size_t n, bool location,
                  uint64_t *value);

#endif
