/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One step up a stack by an image's unwind information (.eh_frame, else .debug_frame). The rules of
 * a place are worked out once and kept: stacks are unwound by the hundred per second.
 */
#ifndef STROBE_SYMBOL_UNWIND_H
#define STROBE_SYMBOL_UNWIND_H

#include <stdbool.h>

#include "symbol/symbol.h"

/* Registers by their DWARF numbers; those of the list are known, the others are not. */
enum {
	ST_DWARF_RBX = 3,
	ST_DWARF_RBP = 6,
	ST_DWARF_RSP = 7,
	ST_DWARF_R12 = 12,
	ST_DWARF_R13 = 13,
	ST_DWARF_R14 = 14,
	ST_DWARF_R15 = 15,
	ST_DWARF_PC = 16,
	ST_DWARF_REGISTERS = 17,
};

/* A part of a stack, copied: bytes[0] was at address base. */
struct st_stack_copy {
	const unsigned char *bytes;
	uint64_t base;
	size_t size;
};

/* Reads a word of the stack; false when the copy does not hold it. */
bool st_stack_read(const struct st_stack_copy *stack, uint64_t address, uint64_t *value);

enum st_unwind {
	ST_UNWIND_CALLER,    /* the registers are now the caller's */
	ST_UNWIND_OUTERMOST, /* the frame has no caller */
	ST_UNWIND_UNKNOWN,   /* there is no unwind information for the place */
	ST_UNWIND_LOST,      /* it needs a word that the copy does not hold */
};

/*
 * Steps from a frame at link-time address `offset` of the image to its caller. *interrupted becomes
 * whether the frame is a signal's: its caller's pc is then where the signal came, else it is a
 * return address.
 */
enum st_unwind st_image_unwind(struct st_image *image, uint64_t offset,
                               uint64_t registers[ST_DWARF_REGISTERS],
                               const struct st_stack_copy *stack, bool *interrupted);

/*
 * Where the frame at link-time address `offset` has its return address on the stack, when only the
 * stack and frame pointers are known. False when the unwind information does not say that by one of
 * these, or the frame has no caller or a signal's.
 */
bool st_image_frame(struct st_image *image, uint64_t offset, uint64_t sp, uint64_t bp,
                    uint64_t *slot);

/* Whether code of the image may handle exceptions: calls of it need not be gone on with behind
 * them. */
bool st_image_has_handlers(const struct st_image *image);

#endif
