/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of a unit and what was inlined into them, by address. */
#ifndef STROBE_SYMBOL_SCOPES_H
#define STROBE_SYMBOL_SCOPES_H

#include "symbol/units.h"

enum { SYM_NO_SCOPE = UINT32_MAX };

/* A function with code of its own, or one place where a function was inlined. */
struct sym_scope {
	Dwarf_Die die;
	uint32_t parent; /* what it was inlined into; SYM_NO_SCOPE */
	bool inlined;
	const char *name; /* made when first asked for */
};

/* From start on, up to the next one, code belongs to the scope: the innermost of those there. */
struct sym_segment {
	uint64_t start;
	uint32_t scope; /* SYM_NO_SCOPE: to none */
};

struct sym_scopes {
	Dwarf_Die root; /* of the entries: that of the unit or of its split part */
	struct sym_scope *v;
	size_t n;
	size_t room;
	struct sym_segment *segments;
	size_t segments_n;
	size_t segments_room;
};

/* The scopes of the unit, read on first use; NULL when memory is exhausted. */
struct sym_scopes *sym_scopes(struct st_image *image, struct sym_unit *unit);
/* The innermost scope at an address, or SYM_NO_SCOPE. */
uint32_t sym_scope_at(const struct sym_scopes *scopes, uint64_t address);
void sym_scopes_free(struct sym_scopes *scopes);

/* Entry of the function whose code is at address; UINT64_MAX when the debug information does not
 * tell. */
uint64_t sym_scope_entry(struct st_image *image, uint64_t address);

#endif
