/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where single instructions come from: the corpus, mutations of it, the encoder, and random
 * opcodes. */
#ifndef FUZZ_PICK_H
#define FUZZ_PICK_H

#include "gen.h"

/* Chooses some valid instruction; false when this attempt gave none. */
bool fz_pick_insn(struct fz_gen *g, struct fz_insn *i);

#endif
