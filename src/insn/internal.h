/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_INSN_INTERNAL_H
#define STROBE_INSN_INTERNAL_H

#include <Zydis/Zydis.h>

#include "insn/shape.h"

/* Fills in all of a shape but its number. */
void insn_describe(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                   struct st_shape *shape);

#endif
