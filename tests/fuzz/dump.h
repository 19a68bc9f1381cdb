/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readable forms of sequences and results. */
#ifndef FUZZ_DUMP_H
#define FUZZ_DUMP_H

#include "machine.h"

/* Prints the code of the sequence, with its units. */
void fz_dump_code(const struct fz_gen *g);

/* Prints a result and the memory that differs from what the run began with. */
void fz_dump_result(const struct fz_gen *g, unsigned round, const struct fz_result *r);

#endif
