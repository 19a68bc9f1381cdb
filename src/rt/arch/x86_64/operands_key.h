/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the accesses of an instruction depend on, apart from its opcode, and the shape of the tables
 * that lead from there to the accesses. For operands.c and the program that makes its tables.
 */
#ifndef STROBE_RT_ARCH_X86_64_OPERANDS_KEY_H
#define STROBE_RT_ARCH_X86_64_OPERANDS_KEY_H

#include <stdint.h>

/* Opcode maps: four legacy ones, then VEX and EVEX by their map's number. */
enum {
	OM_ONE,
	OM_0F,
	OM_38,
	OM_3A,
	OM_VEX,               /* 1 to 3 */
	OM_EVEX = OM_VEX + 3, /* 1 to 6 */
	OM_COUNT = OM_EVEX + 6
};

/*
 * The key. A bit that makes no difference to an opcode is not in its mask, so that few opcodes have
 * more than one entry.
 */
enum {
	OK_66 = 1 << 0, /* legacy and VEX.pp alike */
	OK_F3 = 1 << 1,
	OK_F2 = 1 << 2,
	OK_W = 1 << 3,
	OK_B = 1 << 4,     /* EVEX.b */
	OK_L = 1 << 5,     /* two bits: VEX.L, EVEX.L'L */
	OK_MODRM = 1 << 7, /* ModRM.reg; with OK_REGISTER also ModRM.rm, else 0 */
	OK_RM = OK_MODRM,
	OK_REG = 1 << 10,
	OK_REGISTER = 1 << 13, /* ModRM.mod is 3 */
	OK_BITS = 14
};

/* Of an opcode: which bits of the key count, and where its entries begin: one for every value of
   those bits, packed. */
struct operand_opcode {
	uint16_t mask, entries;
};

/* Of an entry: its accesses, as indices of the table of all. */
struct operand_set {
	uint8_t count, access[2];
};

#endif
