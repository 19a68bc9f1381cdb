/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory that an instruction accesses: where, how many bytes, read or written. What st_decode
 * leaves open, for tools that ask for memory accesses.
 *
 * A pure function over tables that operands_make.c generates from Zydis at build time; no
 * allocation, no relocations, freestanding. tests/decode compares it with Zydis and with the
 * processor.
 *
 * No access: lea, nops, prefetches, clflush and its kin (though they fault where they may not
 * read), invlpg, ud0 and ud1, and MPX, whose instructions no Linux kernel enables. Not told: the
 * shadow stack (call and ret, incssp, saveprevssp, setssbsy), tables that only the kernel writes
 * (descriptors, virtual machines), and what system calls do.
 */
#ifndef STROBE_RT_ARCH_X86_64_OPERANDS_H
#define STROBE_RT_ARCH_X86_64_OPERANDS_H

#include "decode.h"

/*
 * The address, before the base of a segment override is added. Under ST_I_ADDR32 all but those of
 * the stack (PUSH, POP, LEAVE, FRAME) are cut to 32 bits. Registers have their values from before
 * the instruction.
 */
enum st_access_kind {
	ST_ACCESS_MODRM, /* what the ModRM byte says; see st_access.pops and .bit_string */
	ST_ACCESS_PUSH,  /* rsp - bytes */
	ST_ACCESS_POP,   /* rsp */
	ST_ACCESS_LEAVE, /* rbp */
	ST_ACCESS_FRAME, /* enter, of an inner level: rbp - bytes */
	ST_ACCESS_RSI,
	ST_ACCESS_RDI,
	ST_ACCESS_MOFFS, /* the address in the instruction, at disp_off */
	ST_ACCESS_XLAT,  /* rbx + al */
	ST_ACCESS_REG,   /* movdir64b, enqcmd: the register of ModRM.reg and REX.R */
	ST_ACCESS_LINE,  /* clzero: the 64-byte line that rax points into */
};

struct st_access {
	uint8_t kind;    /* enum st_access_kind */
	uint8_t count;   /* elements of a gather or scatter; where a mask may leave out some, the
	                    bits of it that count; else 1 */
	uint16_t bytes;  /* from the address on; of one element under .rep and .vsib; the least
	                    under .variable */
	uint8_t element; /* bytes of an element that a mask may leave out; 0: none does */
	uint8_t pops;    /* pop to memory: add this to rsp where it is the base of the address */
	bool read : 1;
	bool write : 1;      /* with .read: the same bytes, read first */
	bool rep : 1;        /* rcx (ecx under ST_I_ADDR32) elements, in the direction of DF; fewer
	                        where cmps and scas find an end; none when it is zero */
	bool vsib : 1;       /* the index is a vector: each element has its own address */
	bool masked : 1;     /* a mask may leave out parts, or all, of these bytes or elements */
	bool variable : 1;   /* the size is known only when it executes: the xsave family, tiles,
	                        PadLock */
	bool bit_string : 1; /* bt and its kin with a bit offset in the register of ModRM.reg: add
	                        the offset, signed and 8 * bytes bits wide, divided by its width,
	                        rounded down, times bytes */
	bool segment : 1;    /* an fs or gs override is in force here (ST_I_FSSEG, ST_I_GSSEG) */
};

enum { ST_MAX_ACCESSES = 2 };

/*
 * The accesses of an instruction that st_decode took from code, in the order in which they happen.
 * Returns their number; out must hold ST_MAX_ACCESSES.
 */
unsigned st_accesses(const struct st_insn *in, const uint8_t *code, struct st_access *out);

#endif
