/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source lines straight from .debug_line. Since version 5 the line tables of DWARF are complete in
 * themselves; reading them alone spares the decompression of all the other debugging information,
 * which is most of what a short run would cost.
 */
#ifndef STROBE_SYMBOL_LINETABLE_H
#define STROBE_SYMBOL_LINETABLE_H

#include "base/status.h"
#include "symbol/internal.h"

struct sym_linetable;

/* Read on first use; NULL when there is none, or one that is older than version 5 in any part: then
 * the compilation units know (units.h). */
struct sym_linetable *sym_linetable(struct st_image *image);
void sym_linetable_free(struct sym_linetable *table);
/* 0, or -1 when no row holds the address. */
st_status sym_linetable_find(struct st_image *image, struct sym_linetable *table, uint64_t address,
                             struct st_line *line);
/* The path of a file, by its number in the unit that has code at an address. NULL: there is none.
 */
const char *sym_linetable_file(struct st_image *image, struct sym_linetable *table,
                               uint64_t address, uint32_t file);

#endif
