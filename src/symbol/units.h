/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The compilation units of an image by address. .debug_aranges is not trusted: clang leaves it out.
 */
#ifndef STROBE_SYMBOL_UNITS_H
#define STROBE_SYMBOL_UNITS_H

#include "symbol/internal.h"

struct sym_row {
	uint64_t address;
	const char *file; /* NULL: from here on nothing is known */
	uint32_t line;
	uint32_t column;
};

/* A relative path as in the line table, and what it becomes with the compilation directory. */
struct sym_path {
	const char *relative;
	const char *absolute;
};

struct sym_declarations;
struct sym_scopes;

struct sym_unit {
	Dwarf_Die die;
	struct sym_row *rows; /* the line table, ordered, one row per address; read on first use */
	size_t rows_n;
	struct sym_path *paths; /* those that were asked for */
	size_t paths_n;
	size_t paths_room;
	struct sym_scopes *scopes;             /* read on first use */
	struct sym_declarations *declarations; /* read on first use */
	bool rows_read;
	bool functions_read;
};

struct sym_unit_range {
	uint64_t start;
	uint64_t end;
	uint64_t reach; /* the largest end of this and of all ranges before it */
	size_t unit;
};

struct sym_units {
	struct sym_unit *v;
	size_t n;
	size_t room;
	struct sym_unit_range *ranges;
	size_t ranges_n;
	size_t ranges_room;
};

/* Read on first use; NULL when there is no debug information. */
struct sym_units *sym_units(struct st_image *image);
void sym_units_free(struct sym_units *units);

/*
 * Calls use for each unit with a range that holds address, the latest start first, until it returns
 * true. Returns whether it did.
 */
bool sym_units_at(struct sym_units *units, uint64_t address,
                  bool (*use)(struct sym_unit *unit, void *context), void *context);

/* Where a function begins to run: of one in several ranges the first, if it does not say. */
bool sym_entry_of(Dwarf_Die *die, uint64_t *entry);

/* lines.c: the path as the compiler that ran in the unit's compilation directory would find it. */
const char *sym_absolute_path(struct st_image *image, struct sym_unit *unit, const char *file);

#endif
