/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which mnemonics are executed, seen by single-stepping the sequences natively. */
#ifndef FUZZ_COVER_H
#define FUZZ_COVER_H

#include "machine.h"

void fz_cover_start(void);
void fz_cover_begin(const struct fz_gen *g);

/* Prints each mnemonic of the corpus (if there is one), how often it occurs, and what became of it.
 */
void fz_cover_print(const struct fz_corpus *c, enum fz_isa isa);

#endif
