/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The features of functions without debug information: registers of arguments. A register with
 * addresses is no number: sizes and addresses often grow together, because memory is given out in
 * ascending order, so that a law of an address would seem to be one of the size. Such a register is
 * only compared with 0.
 *
 *	st_registers_find (before the run) -> st_registers_see (each record) -> st_registers_decide
 */
#ifndef STROBE_RECORDING_REGISTERS_H
#define STROBE_RECORDING_REGISTERS_H

#include <stdbool.h>

#include "features/find.h"

enum { ST_REGISTERS = 6 };

/* Values of the registers in records. */
struct st_registers_seen {
	uint64_t others[ST_REGISTERS]; /* that are not 0 */
	uint64_t mapped[ST_REGISTERS]; /* of these, addresses of readable memory */
	bool far[ST_REGISTERS];        /* one of them is too large for the usual size */
};

/* Makes the registers the features of a function. Fails when memory is exhausted. */
st_status st_registers_find(struct st_feature_table *table, struct st_image *image, uint64_t entry);
/* Takes a record: its kept values, and a bit for each absent one. */
void st_registers_see(struct st_registers_seen *s, const uint64_t *values, const uint64_t *absent);
/* Makes flags of the registers that hold addresses. Fails when memory is exhausted. */
st_status st_registers_decide(const struct st_registers_seen *s, struct st_feature_table *table);

#endif
