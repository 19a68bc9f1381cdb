/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the functions of a unit are declared, by their entries. */
#ifndef STROBE_SYMBOL_DECLARATIONS_H
#define STROBE_SYMBOL_DECLARATIONS_H

#include "symbol/units.h"

struct sym_declaration {
	uint64_t entry;
	Dwarf_Die die;
};

struct sym_declarations {
	struct sym_declaration *v; /* ordered by entry */
	size_t n;
	size_t room;
};

void sym_declarations_free(struct sym_declarations *d);

#endif
