/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an instruction is and which registers it reads and writes: for tools that tell instructions
 * apart by more than their address. Instructions that differ in an address or a constant alone have
 * the same shape.
 */
#ifndef STROBE_INSN_SHAPE_H
#define STROBE_INSN_SHAPE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A register is a number below ST_REGISTERS. General registers count as the 64-bit register that
 * they are part of, xmm and ymm as zmm; the flags are one register, rflags.
 *
 * Read is what the instruction's result or an address depends on, as the manual has it: xor eax,
 * eax reads rax. A write of a part, or under a condition, is a write and no read; a merging opmask
 * makes the old destination read. fs and gs count where an override or an operand names them, rip
 * where an address is relative to it and in transfers of control. Nops use nothing. Not listed:
 * what fxsave, xsave, fnsave and their kin save and load as a block, the x87 tags, and the control
 * words (mxcsr, x87control) that arithmetic obeys.
 */
enum { ST_REGISTERS = 272, ST_SHAPE_REGISTERS = 20 };

struct st_shape {
	const char *mnemonic; /* lower case */
	const char *category; /* Zydis's name: "BINARY", "CALL", "AVX2" .. */
	uint32_t number;      /* shapes of one cache are numbered from 0 */
	uint8_t n_read, n_written;
	uint16_t read[ST_SHAPE_REGISTERS], written[ST_SHAPE_REGISTERS]; /* in rising order */
};

/* A cache of shapes: memory grows by 24 bytes for each different instruction. */
struct st_shapes;

/* NULL: memory is exhausted. */
struct st_shapes *st_shapes_new(void);
void st_shapes_free(struct st_shapes *shapes);

/*
 * The shape of the instruction at p, of which n bytes may be read: its own, or more. It lives as
 * long as the cache. *length (may be NULL) is the instruction's length. NULL, with a length of 0,
 * when the bytes are no instruction or memory is exhausted.
 */
const struct st_shape *st_shapes_find(struct st_shapes *shapes, const uint8_t *p, size_t n,
                                      unsigned *length);

/* The number of shapes, and each shape by its number. */
uint32_t st_shapes_count(const struct st_shapes *shapes);
const struct st_shape *st_shapes_get(const struct st_shapes *shapes, uint32_t number);

/* Lower case: "rax", "zmm0", "k1", "rflags", "st0", "mm0". */
const char *st_register_name(unsigned number);

#endif
