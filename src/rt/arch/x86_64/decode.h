/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runtime's decoder: as much of an x86-64 instruction as translation needs, and no more.
 *
 * It finds the length, the fields that relocation must change, the kind of control transfer, and
 * conservative sets of flags and general registers that the instruction reads and writes. It is a
 * pure function over bytes: no allocation, no globals but constant tables, freestanding, no vector
 * registers. tests/ prove it against Zydis on random bytes and on the text sections of installed
 * packages.
 */
#ifndef STROBE_RT_ARCH_X86_64_DECODE_H
#define STROBE_RT_ARCH_X86_64_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum st_class {
	ST_C_NORMAL = 0, /* executes at any address once a rip-relative operand is fixed */
	ST_C_JMP,        /* direct near jump, target = next + rel */
	ST_C_JCC,        /* conditional near jump (0x70-7f, 0f 80-8f); cc in .cond */
	ST_C_LOOP,       /* loop, loope, loopne, jrcxz, jecxz (short only) */
	ST_C_CALL,       /* direct near call */
	ST_C_IJMP,       /* near indirect jump, ff /4 */
	ST_C_ICALL,      /* near indirect call, ff /2 */
	ST_C_RET,        /* c3, c2 iw (imm field holds iw) */
	ST_C_SYSCALL,    /* 0f 05 */
	ST_C_XBEGIN,     /* c7 f8: target = next + rel is the abort address */
	ST_C_FAR,        /* far jmp/call/ret, iret: cannot be translated */
	ST_C_INT,        /* int imm8 (not int3), sysenter, sysret, sysexit */
	ST_C_INT3,       /* cc */
	ST_C_GS, /* reads or writes the GS base or selector: rdgsbase, wrgsbase, swapgs, mov to/from
	            gs, push/pop gs, lgs */
	ST_C_STEP,    /* never decoded: jit/build.c says so of what is executed where it stands */
	ST_C_INVALID, /* not an instruction (raises #UD whatever the state), longer than 15 bytes,
	                 or cut off by n */
};

enum st_insn_flags {
	ST_I_MODRM = 1 << 0,
	ST_I_MEM = 1 << 1, /* has a ModRM memory operand (also when only its address is used, as lea
	                      and nop do) */
	ST_I_RIPREL = 1 << 2, /* that operand is rip-relative; disp_off names its disp32 */
	ST_I_GSSEG = 1 << 3, /* a gs segment override is in force on a memory access (ModRM, string,
	                        moffs) */
	ST_I_FSSEG = 1 << 4,
	ST_I_WRITES_MEM = 1 << 5, /* may write memory, implicit writes (push, call, stos, maskmov,
	                             fxsave, xsave ..) included; err on the side of true */
	ST_I_READS_MEM = 1 << 6,  /* may read memory; err on the side of true */
	ST_I_REP = 1 << 7,        /* string instruction under rep/repe/repne */
	ST_I_VEX = 1 << 8,        /* VEX encoded; vex_off = offset of the c4/c5 byte */
	ST_I_EVEX = 1 << 9,       /* EVEX encoded; vex_off = offset of the 62 byte */
	ST_I_REX = 1 << 10,       /* has a REX prefix at rex_off */
	ST_I_ADDR32 = 1 << 11,    /* 67 prefix in force */
	ST_I_LEA = 1 << 12,       /* lea */
	ST_I_LOCK = 1 << 13,
	ST_I_OP16 = 1 << 14,    /* 66 prefix present */
	ST_I_PUSHPOP = 1 << 15, /* uses or changes rsp implicitly (push, pop, call, ret, enter,
	                           leave, pushf, popf) */
};

/* Arithmetic flags, as bits of .flags_read and .flags_written. */
enum {
	ST_F_CF = 1,
	ST_F_PF = 2,
	ST_F_AF = 4,
	ST_F_ZF = 8,
	ST_F_SF = 16,
	ST_F_OF = 32,
	ST_F_DF = 64,
	ST_F_ARITH = 63
};

struct st_insn {
	uint8_t len;  /* 1..15; 0 when cls is ST_C_INVALID because n cut it off; else best effort */
	uint8_t cls;  /* enum st_class */
	uint8_t cond; /* low nibble of a jcc opcode */
	uint8_t op_off; /* offset of the opcode byte (the last one, after escapes and prefixes) */
	uint8_t modrm_off; /* 0: no ModRM */
	uint8_t disp_off;  /* 0: no displacement */
	uint8_t disp_len;  /* 0, 1, 4 (8 for moffs a0-a3) */
	uint8_t imm_off;   /* 0: no immediate; for branches the rel field */
	uint8_t imm_len;   /* total immediate bytes (enter: 3) */
	uint8_t rex_off, vex_off;
	uint8_t flags_read;    /* ST_F_*; a superset of the truth */
	uint8_t flags_written; /* ST_F_*: always overwritten or left undefined, whatever the
	                          operands' values, and without dependence on the old flag; a subset
	                          of the truth. Shifts and rotates by a variable or zero count, rep
	                          cmps/scas etc. write nothing for this purpose */
	uint32_t flags;        /* enum st_insn_flags */
	uint16_t gpr_read; /* bit r = register r (0 rax .. 15 r15), any width; a superset: all ones
	                      when unknown. Reads of a partially written register count (mov al, ..
	                      reads rax). Address registers count */
	uint16_t gpr_written; /* bit r = register r always completely overwritten (32- or 64-bit
	                         destination), whatever the values; a subset of the truth: 0 when
	                         unknown. cmovcc with a 32/64-bit register reads and does not
	                         "write" */
	int32_t rel; /* ST_C_JMP, JCC, LOOP, CALL, XBEGIN: displacement from the next instruction,
	                sign-extended */
};

/*
 * Decodes one instruction at p, of which n bytes (n >= 1) may be read. Never reads past p + n.
 * Returns its length, or 0 when the bytes are no instruction or n cut it off (out->cls is
 * ST_C_INVALID then).
 */
unsigned st_decode(const uint8_t *p, size_t n, struct st_insn *out);

#endif
