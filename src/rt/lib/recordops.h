/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the operations that read the program's data at the entry of a function (wire/record.h). */
#ifndef STROBE_RT_LIB_RECORDOPS_H
#define STROBE_RT_LIB_RECORDOPS_H

#include "wire/record.h"

/* Runs the operations; sets own->values and own->absent. slot: where the return address is;
 * registers: those of arguments, rdi first. */
void record_run_ops(struct st_record_scratch *own, const struct st_record_op *ops, uint32_t n,
                    const uint64_t *slot, const uint64_t *registers);

#endif
