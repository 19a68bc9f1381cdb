/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decoder's tables: one 64-bit word per opcode says which operands there are, which of them are
 * general registers or memory, what is read and written, and which rule of decode.c treats the
 * rest. A word of zero is no instruction. There are no pointers here, so the tables need no
 * relocation. Included by decode.c only.
 */
#ifndef STROBE_RT_ARCH_X86_64_DECODE_TABLES_H
#define STROBE_RT_ARCH_X86_64_DECODE_TABLES_H

#include "decode.h"

/* Immediates, T_K; st_imm_len gives their length. */
enum {
	IMM_NONE,
	IMM_B,     /* one byte */
	IMM_W,     /* two bytes */
	IMM_Z,     /* two bytes under 66, else four */
	IMM_V,     /* as IMM_Z, eight with REX.W */
	IMM_ENTER, /* iw ib */
	IMM_JB,    /* branch displacements: 66 does not shorten them */
	IMM_JZ,
	IMM_MOFFS, /* an address: eight bytes, four under 67 */
	IMM_G3B,   /* groups f6 and f7: only /0 and /1 have one */
	IMM_G3Z,
	IMM_EXTRQ, /* 0f 78: two bytes under 66 and f2 */
	IMM_COUNT
};

/*
 * The low half of a word: operands. Five bits are where struct st_insn has them in .flags
 * (ST_I_MODRM and so on). What is read lies sixteen bits below what is written, as in a set of
 * registers read below a set written: one shift by a register's number adds both. Without a ModRM
 * byte T_RR and T_RW speak of the register in the opcode.
 */
#define T_M (1ull << 0)   /* has a ModRM byte */
#define T_MEM (1ull << 1) /* from here three bits that only st_forms sets */
#define T_RIPREL (1ull << 2)
#define T_SIB (1ull << 3)
#define T_NARROW (1ull << 4) /* registers are written by the byte: never completely */
#define T_MW (1ull << 5)     /* writes its memory operand */
#define T_MR (1ull << 6)     /* reads it */
#define T_V (1ull << 7)    /* registers are written by two bytes under 66, else by four or eight */
#define T_GR (1ull << 8)   /* ModRM.reg is a general register, read */
#define T_RR (1ull << 9)   /* ModRM.rm, if no memory, is a general register, read */
#define T_RM8 (1ull << 10) /* ... of one byte; with T_NARROW, so is ModRM.reg */
#define T_Y (1ull << 12)   /* registers are written by four or eight bytes */
#define T_ESC (1ull << 13) /* one-byte map: 0f, c4, c5, 62 */
#define T_PREFIX (1ull << 14)
#define T_GW (1ull << 24) /* ModRM.reg is a general register, written */
#define T_RW (1ull << 25) /* ModRM.rm likewise */
#define T_K(x) ((uint64_t)(x) << 28)
#define T_FLAGS (ST_I_MODRM | ST_I_MEM | ST_I_RIPREL | ST_I_WRITES_MEM | ST_I_READS_MEM)
/* The high half, one byte each: flags read, flags written, implicit operands, and class or rule. */
#define T_FL(x) ((uint64_t)(x) << 32)
#define T_IM(x) ((uint64_t)(x) << 48)
#define T_ACT(x) ((uint64_t)(x) << 56)
/* A prefix's word holds what it does to dec.pfx. */
#define T_PFX(set, clear) (T_PREFIX | (uint64_t)(set) << 32 | (uint64_t)(clear) << 40)

#define T_B (T_NARROW | T_RM8)
#define T_GRW (T_GR | T_GW)
#define T_ER (T_RR | T_MR)
#define T_EW (T_RW | T_MW)
#define T_ERW (T_ER | T_EW)
#define K_IB T_K(IMM_B)
#define K_IW T_K(IMM_W)
#define K_IZ T_K(IMM_Z)
#define K_JB T_K(IMM_JB)
#define K_JZ T_K(IMM_JZ)

/* Prefixes, as bits of dec.pfx. VEX.pp sets the same bits. */
enum { P_66 = 1, P_67 = 2, P_F2 = 4, P_F3 = 8, P_LOCK = 16, P_FS = 32, P_GS = 64 };

/* Flags read and written, T_FL. The last eight are the conditions, in the order of their encoding.
 */
#define F_ANY (ST_F_ARITH | ST_F_DF)
#define F_SET(read, written) ((read) | (written) << 8)
enum {
	FL_NONE = F_SET(0, 0),
	FL_W = F_SET(0, ST_F_ARITH),
	FL_ADC = F_SET(ST_F_CF, ST_F_ARITH),
	FL_INC = F_SET(0, ST_F_ARITH & ~ST_F_CF),
	FL_CF = F_SET(0, ST_F_CF),
	FL_CMC = F_SET(ST_F_CF, ST_F_CF),
	FL_DFW = F_SET(0, ST_F_DF),
	FL_DFR = F_SET(ST_F_DF, 0),
	FL_CMPS = F_SET(ST_F_DF, ST_F_ARITH),
	/* Of the flags left undefined, some processors leave some as they are: none counts as
	   written. */
	FL_BT = F_SET(0, ST_F_CF),
	FL_SCAN = F_SET(0, ST_F_ZF),
	FL_MUL = F_SET(0, ST_F_CF | ST_F_OF),
	FL_SHIFT = F_SET(0, ST_F_CF | ST_F_PF | ST_F_ZF | ST_F_SF),
	FL_SHIFT1 = F_SET(0, ST_F_ARITH & ~ST_F_AF),
	FL_BMI = F_SET(0, ST_F_CF | ST_F_ZF | ST_F_SF | ST_F_OF),
	FL_BEXTR = F_SET(0, ST_F_CF | ST_F_ZF | ST_F_OF),
	FL_LAHF = F_SET(ST_F_ARITH & ~ST_F_OF, 0),
	FL_SAHF = F_SET(0, ST_F_ARITH & ~ST_F_OF),
	FL_PUSHF = F_SET(F_ANY, 0),
	FL_POPF = F_SET(0, F_ANY),
	FL_ZF = F_SET(0, ST_F_ZF),
	FL_ALL = F_SET(F_ANY, 0),
	FL_O = F_SET(ST_F_OF, 0),
	FL_C = F_SET(ST_F_CF, 0),
	FL_Z = F_SET(ST_F_ZF, 0),
	FL_BE = F_SET(ST_F_CF | ST_F_ZF, 0),
	FL_S = F_SET(ST_F_SF, 0),
	FL_P = F_SET(ST_F_PF, 0),
	FL_L = F_SET(ST_F_SF | ST_F_OF, 0),
	FL_LE = F_SET(ST_F_ZF | ST_F_SF | ST_F_OF, 0),
};

/* Implicit operands, T_IM. From IM_SEG on a segment override applies to the implicit memory
 * operand. */
enum {
	IM_NONE,
	IM_ALL,
	IM_RAX,
	IM_RAX_R,
	IM_CWD,
	IM_PUSH,
	IM_POP,
	IM_LEAVE,
	IM_ENTER,
	IM_STOS,
	IM_SCAS,
	IM_INS,
	IM_IN,
	IM_OUT,
	IM_LOOP,
	IM_RCX_R,
	IM_CPUID,
	IM_RDTSC,
	IM_RDMSR,
	IM_WRMSR,
	IM_ESTRI,
	IM_ESTRM,
	IM_ISTRI,
	IM_LEA,
	IM_SEG,
	IM_MOVS = IM_SEG,
	IM_CMPS,
	IM_LODS,
	IM_OUTS,
	IM_XLAT,
	IM_MASKMOV,
	IM_LOAD,
	IM_STORE,
	IM_COUNT,
};

enum {
	RAX = 1 << 0,
	RCX = 1 << 1,
	RDX = 1 << 2,
	RBX = 1 << 3,
	RSP = 1 << 4,
	RBP = 1 << 5,
	RSI = 1 << 6,
	RDI = 1 << 7,
	ALL_GPR = 0xffff
};

#define IM_R ST_I_READS_MEM
#define IM_W ST_I_WRITES_MEM
#define IM_STACK ST_I_PUSHPOP
#define SETS(read, written) ((uint32_t)(read) | (uint32_t)(written) << 16)

static const struct {
	uint32_t sets, flags;
} st_implicit[IM_COUNT] = {
        [IM_ALL] = {SETS(ALL_GPR, 0), IM_R | IM_W},
        [IM_RAX] = {SETS(RAX, RAX), 0},
        [IM_RAX_R] = {SETS(RAX, 0), 0},
        [IM_CWD] = {SETS(RAX, RDX), 0},
        [IM_PUSH] = {SETS(RSP, RSP), IM_W | IM_STACK},
        [IM_POP] = {SETS(RSP, RSP), IM_R | IM_STACK},
        [IM_LEAVE] = {SETS(RSP | RBP, RSP | RBP), IM_R | IM_STACK},
        [IM_ENTER] = {SETS(RSP | RBP, RSP | RBP), IM_R | IM_W | IM_STACK},
        [IM_MOVS] = {SETS(RSI | RDI, 0), IM_R | IM_W},
        [IM_CMPS] = {SETS(RSI | RDI, 0), IM_R},
        [IM_STOS] = {SETS(RAX | RDI, 0), IM_W},
        [IM_LODS] = {SETS(RSI, RAX), IM_R},
        [IM_SCAS] = {SETS(RAX | RDI, 0), IM_R},
        [IM_INS] = {SETS(RDX | RDI, 0), IM_W},
        [IM_OUTS] = {SETS(RDX | RSI, 0), IM_R},
        [IM_XLAT] = {SETS(RAX | RBX, 0), IM_R},
        [IM_IN] = {SETS(RDX, RAX), 0},
        [IM_OUT] = {SETS(RDX | RAX, 0), 0},
        [IM_LOOP] = {SETS(RCX, RCX), 0},
        [IM_RCX_R] = {SETS(RCX, 0), 0},
        [IM_CPUID] = {SETS(RAX | RCX, RAX | RBX | RCX | RDX), 0},
        [IM_RDTSC] = {SETS(0, RAX | RDX), 0},
        [IM_RDMSR] = {SETS(RCX, RAX | RDX), 0},
        [IM_WRMSR] = {SETS(RAX | RCX | RDX, 0), 0},
        [IM_MASKMOV] = {SETS(RDI, 0), IM_R | IM_W},
        [IM_LOAD] = {SETS(0, RAX), IM_R},
        [IM_STORE] = {SETS(RAX, 0), IM_W},
        [IM_ESTRI] = {SETS(RAX | RDX, RCX), 0},
        [IM_ESTRM] = {SETS(RAX | RDX, 0), 0},
        [IM_ISTRI] = {SETS(0, RCX), 0},
        [IM_LEA] = {SETS(0, 0), ST_I_LEA},
};

/* Rules, T_ACT. Below A_RULES the number is the instruction's class (enum st_class) and nothing
 * else is to do. */
enum {
	A_RULES = 16,
	A_ZERO = A_RULES, /* xor, sub: of a register with itself it reads nothing */
	A_CONTROL,        /* mov to and from control registers: ModRM.mod is taken as 3 */
	A_NOP,            /* 90: unless REX.B makes it xchg r8, rax */
	A_GRP1,
	A_SHIFT,
	A_SHIFT1,
	A_SHIFTCL,
	A_GRP3,
	A_INCDEC,
	A_GRP5,
	A_FROM_SEG,
	A_TO_SEG,
	A_POPE,
	A_STRING,
	A_MOVI,
	A_X87,
	A_GRP6,
	A_GRP7,
	A_CVT,
	A_MOVD,
	A_POPCNT,
	A_RDSSP,
	A_BIT,
	A_GRP9,
	A_GRP15,
	A_SHLD,
	A_LOADIWKEY,
	A_CRC32,
	A_ADX,
	A_VPMOV,
	A_ANDN,
	A_BLS,
	A_BMI,
	A_MULX,
	A_COUNT
};

/* The unknown: everything is read, nothing surely written. */
#define ANY (T_IM(IM_ALL) | T_FL(FL_ALL) | T_Y)
#define CLS(c) (T_ACT(c) | T_Y)
/* Vector or x87 registers and memory, no general register. */
#define LOADS (T_M | T_MR | T_Y)
#define STORES (T_M | T_MW | T_Y)

/* clang-format off */

/* add, or, adc .. cmp: six opcodes each; e and g say whether the first operand is written */
#define ALU(op, fl, e, g, acc, act)                                                                \
	[op] = T_M | T_ER | (e) | T_GR | T_B | T_FL(fl),                                           \
	[op + 1] = T_M | T_ER | (e) | T_GR | T_V | T_FL(fl) | T_ACT(act),                          \
	[op + 2] = T_M | T_ER | T_GR | (g) | T_B | T_FL(fl),                                       \
	[op + 3] = T_M | T_ER | T_GR | (g) | T_V | T_FL(fl) | T_ACT(act),                          \
	[op + 4] = K_IB | T_B | T_IM(acc) | T_FL(fl),                                              \
	[op + 5] = K_IZ | T_V | T_IM(acc) | T_FL(fl)

#define ALU_W(op, fl, act) ALU(op, fl, T_EW, T_GW, IM_RAX, act)

/* Sixteen opcodes, one per condition, with the flags that each reads. */
#define COND(op, w)                                                                                \
	[(op) + 0 ... (op) + 1] = (w) | T_FL(FL_O), [(op) + 2 ... (op) + 3] = (w) | T_FL(FL_C),    \
	[(op) + 4 ... (op) + 5] = (w) | T_FL(FL_Z), [(op) + 6 ... (op) + 7] = (w) | T_FL(FL_BE),   \
	[(op) + 8 ... (op) + 9] = (w) | T_FL(FL_S), [(op) + 10 ... (op) + 11] = (w) | T_FL(FL_P),  \
	[(op) + 12 ... (op) + 13] = (w) | T_FL(FL_L), [(op) + 14 ... (op) + 15] = (w) | T_FL(FL_LE)

#define STRING(im, fl, size) (T_IM(im) | T_FL(fl) | T_ACT(A_STRING) | (size))
#define VEX_IB (LOADS | K_IB)

enum { MAP_ONE, MAP_0F, MAP_38, MAP_3A, MAP_V1, MAP_V2, MAP_V3, MAP_COUNT };

static const uint64_t st_opcodes[MAP_COUNT][256] = {
	[MAP_ONE] = {
		ALU_W(0x00, FL_W, 0),
		ALU_W(0x08, FL_W, 0),
		ALU_W(0x10, FL_ADC, 0),
		ALU_W(0x18, FL_ADC, 0),
		ALU_W(0x20, FL_W, 0),
		ALU_W(0x28, FL_W, A_ZERO),
		ALU_W(0x30, FL_W, A_ZERO),
		ALU(0x38, FL_W, 0, 0, IM_RAX_R, 0),
		[0x0f] = T_ESC,
		[0x26] = T_PFX(0, 0),
		[0x2e] = T_PFX(0, 0),
		[0x36] = T_PFX(0, 0),
		[0x3e] = T_PFX(0, 0),
		[0x40 ... 0x4f] = T_PFX(0, 0),
		[0x50 ... 0x57] = T_RR | T_V | T_IM(IM_PUSH),
		[0x58 ... 0x5f] = T_RW | T_V | T_IM(IM_POP),
		[0x62] = T_ESC,
		[0x63] = T_M | T_ER | T_GW | T_V,
		[0x64] = T_PFX(P_FS, P_GS),
		[0x65] = T_PFX(P_GS, P_FS),
		[0x66] = T_PFX(P_66, 0),
		[0x67] = T_PFX(P_67, 0),
		[0x68] = K_IZ | T_Y | T_IM(IM_PUSH),
		[0x69] = K_IZ | T_M | T_ER | T_GW | T_V | T_FL(FL_MUL),
		[0x6a] = K_IB | T_Y | T_IM(IM_PUSH),
		[0x6b] = K_IB | T_M | T_ER | T_GW | T_V | T_FL(FL_MUL),
		[0x6c ... 0x6d] = STRING(IM_INS, FL_DFR, T_Y),
		[0x6e ... 0x6f] = STRING(IM_OUTS, FL_DFR, T_Y),
		COND(0x70, K_JB | CLS(ST_C_JCC)),
		[0x80] = K_IB | T_M | T_ERW | T_B | T_FL(FL_W) | T_ACT(A_GRP1),
		[0x81] = K_IZ | T_M | T_ERW | T_V | T_FL(FL_W) | T_ACT(A_GRP1),
		[0x83] = K_IB | T_M | T_ERW | T_V | T_FL(FL_W) | T_ACT(A_GRP1),
		[0x84] = T_M | T_ER | T_GR | T_B | T_FL(FL_W),
		[0x85] = T_M | T_ER | T_GR | T_V | T_FL(FL_W),
		[0x86] = T_M | T_ERW | T_GRW | T_B,
		[0x87] = T_M | T_ERW | T_GRW | T_V,
		[0x88] = T_M | T_EW | T_GR | T_B,
		[0x89] = T_M | T_EW | T_GR | T_V,
		[0x8a] = T_M | T_ER | T_GW | T_B,
		[0x8b] = T_M | T_ER | T_GW | T_V,
		[0x8c] = T_M | T_EW | T_V | T_ACT(A_FROM_SEG),
		[0x8d] = T_M | T_GW | T_V | T_IM(IM_LEA),
		[0x8e] = T_M | T_ER | T_Y | T_ACT(A_TO_SEG),
		[0x8f] = T_M | T_EW | T_V | T_IM(IM_POP) | T_ACT(A_POPE),
		[0x90] = T_RR | T_RW | T_V | T_IM(IM_RAX) | T_ACT(A_NOP),
		[0x91 ... 0x97] = T_RR | T_RW | T_V | T_IM(IM_RAX),
		[0x98] = T_V | T_IM(IM_RAX),
		[0x99] = T_V | T_IM(IM_CWD),
		[0x9b] = T_Y,
		[0x9c] = T_Y | T_IM(IM_PUSH) | T_FL(FL_PUSHF),
		[0x9d] = T_Y | T_IM(IM_POP) | T_FL(FL_POPF),
		[0x9e] = T_Y | T_IM(IM_RAX_R) | T_FL(FL_SAHF),
		[0x9f] = T_B | T_IM(IM_RAX) | T_FL(FL_LAHF),
		[0xa0] = T_K(IMM_MOFFS) | T_B | T_IM(IM_LOAD),
		[0xa1] = T_K(IMM_MOFFS) | T_V | T_IM(IM_LOAD),
		[0xa2 ... 0xa3] = T_K(IMM_MOFFS) | T_V | T_IM(IM_STORE),
		[0xa4 ... 0xa5] = STRING(IM_MOVS, FL_DFR, T_Y),
		[0xa6 ... 0xa7] = STRING(IM_CMPS, FL_CMPS, T_Y),
		[0xa8] = K_IB | T_B | T_IM(IM_RAX_R) | T_FL(FL_W),
		[0xa9] = K_IZ | T_V | T_IM(IM_RAX_R) | T_FL(FL_W),
		[0xaa ... 0xab] = STRING(IM_STOS, FL_DFR, T_Y),
		[0xac] = STRING(IM_LODS, FL_DFR, T_B),
		[0xad] = STRING(IM_LODS, FL_DFR, T_V),
		[0xae ... 0xaf] = STRING(IM_SCAS, FL_CMPS, T_Y),
		[0xb0 ... 0xb7] = K_IB | T_RW | T_B,
		[0xb8 ... 0xbf] = T_K(IMM_V) | T_RW | T_V,
		[0xc0] = K_IB | T_M | T_ERW | T_B | T_ACT(A_SHIFT),
		[0xc1] = K_IB | T_M | T_ERW | T_V | T_ACT(A_SHIFT),
		[0xc2] = K_IW | T_IM(IM_POP) | CLS(ST_C_RET),
		[0xc3] = T_IM(IM_POP) | CLS(ST_C_RET),
		[0xc4 ... 0xc5] = T_ESC,
		[0xc6] = K_IB | T_M | T_EW | T_B | T_ACT(A_MOVI),
		[0xc7] = K_IZ | T_M | T_EW | T_V | T_ACT(A_MOVI),
		[0xc8] = T_K(IMM_ENTER) | T_V | T_IM(IM_ENTER),
		[0xc9] = T_V | T_IM(IM_LEAVE),
		[0xca] = K_IW | ANY | CLS(ST_C_FAR),
		[0xcb] = ANY | CLS(ST_C_FAR),
		[0xcc] = ANY | CLS(ST_C_INT3),
		[0xcd] = K_IB | ANY | CLS(ST_C_INT),
		[0xcf] = ANY | CLS(ST_C_FAR),
		[0xd0] = T_M | T_ERW | T_B | T_ACT(A_SHIFT1),
		[0xd1] = T_M | T_ERW | T_V | T_ACT(A_SHIFT1),
		[0xd2] = T_M | T_ERW | T_B | T_IM(IM_RCX_R) | T_ACT(A_SHIFTCL),
		[0xd3] = T_M | T_ERW | T_V | T_IM(IM_RCX_R) | T_ACT(A_SHIFTCL),
		[0xd7] = T_Y | T_IM(IM_XLAT),
		[0xd8 ... 0xdf] = T_M | T_Y | T_ACT(A_X87),
		[0xe0 ... 0xe1] = K_JB | T_IM(IM_LOOP) | T_FL(FL_Z) | CLS(ST_C_LOOP),
		[0xe2] = K_JB | T_IM(IM_LOOP) | CLS(ST_C_LOOP),
		[0xe3] = K_JB | T_IM(IM_RCX_R) | CLS(ST_C_LOOP),
		[0xe4] = K_IB | T_B | T_IM(IM_RAX),
		[0xe5] = K_IB | T_V | T_IM(IM_RAX),
		[0xe6 ... 0xe7] = K_IB | T_Y | T_IM(IM_RAX_R),
		[0xe8] = K_JZ | T_IM(IM_PUSH) | CLS(ST_C_CALL),
		[0xe9] = K_JZ | CLS(ST_C_JMP),
		[0xeb] = K_JB | CLS(ST_C_JMP),
		[0xec] = T_B | T_IM(IM_IN),
		[0xed] = T_V | T_IM(IM_IN),
		[0xee ... 0xef] = T_Y | T_IM(IM_OUT),
		[0xf0] = T_PFX(P_LOCK, 0),
		[0xf1] = ANY | CLS(ST_C_INT),
		[0xf2] = T_PFX(P_F2, P_F3),
		[0xf3] = T_PFX(P_F3, P_F2),
		[0xf4] = ANY,
		[0xf5] = T_Y | T_FL(FL_CMC),
		[0xf6] = T_K(IMM_G3B) | T_M | T_ER | T_B | T_FL(FL_W) | T_ACT(A_GRP3),
		[0xf7] = T_K(IMM_G3Z) | T_M | T_ER | T_V | T_FL(FL_W) | T_ACT(A_GRP3),
		[0xf8 ... 0xf9] = T_Y | T_FL(FL_CF),
		[0xfa ... 0xfb] = T_Y,
		[0xfc ... 0xfd] = T_Y | T_FL(FL_DFW),
		[0xfe] = T_M | T_ERW | T_B | T_FL(FL_INC) | T_ACT(A_INCDEC),
		[0xff] = T_M | T_ER | T_V | T_ACT(A_GRP5),
	},
	[MAP_0F] = {
		[0x00] = T_M | T_RR | T_MR | T_MW | T_Y | T_ACT(A_GRP6),
		[0x01] = T_M | T_RR | T_MR | T_MW | T_Y | T_ACT(A_GRP7),
		[0x02 ... 0x03] = T_M | T_ER | T_GR | T_V | T_FL(FL_ZF),
		[0x05] = ANY | CLS(ST_C_SYSCALL), [0x06] = T_Y, [0x07] = ANY | CLS(ST_C_INT),
		[0x08 ... 0x09] = T_Y, [0x0b] = ANY, [0x0d] = T_M | T_RR | T_Y, [0x0e] = T_Y,
		[0x0f] = VEX_IB, [0x10] = LOADS, [0x11] = STORES, [0x12] = LOADS, [0x13] = STORES,
		[0x14 ... 0x16] = LOADS, [0x17] = STORES, [0x18 ... 0x19] = T_M | T_Y,
		[0x1a] = T_M | T_ER | T_Y, [0x1b] = T_M | T_ER | T_MW | T_Y,
		[0x1c ... 0x1d] = T_M | T_Y,
		[0x1e] = T_M | T_Y | T_ACT(A_RDSSP), [0x1f] = T_M | T_Y,
		[0x20 ... 0x21] = T_M | T_RW | T_Y | T_ACT(A_CONTROL),
		[0x22 ... 0x23] = T_M | T_RR | T_Y | T_ACT(A_CONTROL), [0x28] = LOADS,
		[0x29] = STORES, [0x2a] = LOADS | T_RR, [0x2b] = STORES,
		[0x2c ... 0x2d] = LOADS | T_ACT(A_CVT),
		[0x2e ... 0x2f] = LOADS | T_FL(FL_W), [0x30] = T_Y | T_IM(IM_WRMSR),
		[0x31] = T_Y | T_IM(IM_RDTSC),
		[0x32 ... 0x33] = T_Y | T_IM(IM_RDMSR),
		[0x34 ... 0x35] = ANY | CLS(ST_C_INT), [0x37] = ANY,
		COND(0x40, T_M | T_ER | T_GR | T_V), [0x50] = T_M | T_GW | T_Y,
		[0x51 ... 0x6d] = LOADS, [0x6e] = LOADS | T_RR, [0x6f] = LOADS,
		[0x70 ... 0x73] = VEX_IB, [0x74 ... 0x76] = LOADS, [0x77] = T_Y,
		[0x78] = T_K(IMM_EXTRQ) | T_M | T_ER | T_MW | T_GR | T_Y,
		[0x79] = T_M | T_ER | T_GR | T_Y, [0x7c ... 0x7d] = LOADS,
		[0x7e] = LOADS | T_ACT(A_MOVD), [0x7f] = STORES, COND(0x80, K_JZ | CLS(ST_C_JCC)),
		COND(0x90, T_M | T_EW | T_B), [0xa0] = T_Y | T_IM(IM_PUSH),
		[0xa1] = T_Y | T_IM(IM_POP), [0xa2] = T_Y | T_IM(IM_CPUID),
		[0xa3] = T_M | T_ER | T_GR | T_V | T_FL(FL_BT),
		[0xa4] = K_IB | T_M | T_ER | T_MW | T_GR | T_V | T_ACT(A_SHLD),
		[0xa5] = T_M | T_ER | T_MW | T_GR | T_V | T_IM(IM_RCX_R),
		[0xa6 ... 0xa7] = T_M | ANY,
		[0xa8] = T_IM(IM_PUSH) | CLS(ST_C_GS),
		[0xa9] = T_IM(IM_POP) | CLS(ST_C_GS), [0xaa] = ANY,
		[0xab] = T_M | T_ERW | T_GR | T_V | T_FL(FL_BT),
		[0xac] = K_IB | T_M | T_ER | T_MW | T_GR | T_V | T_ACT(A_SHLD),
		[0xad] = T_M | T_ER | T_MW | T_GR | T_V | T_IM(IM_RCX_R),
		[0xae] = T_M | T_MR | T_MW | T_Y | T_ACT(A_GRP15),
		[0xaf] = T_M | T_ER | T_GRW | T_V | T_FL(FL_MUL),
		[0xb0] = T_M | T_ER | T_MW | T_GR | T_B | T_IM(IM_RAX_R) | T_FL(FL_W),
		[0xb1] = T_M | T_ER | T_MW | T_GR | T_V | T_IM(IM_RAX_R) | T_FL(FL_W),
		[0xb2] = T_M | T_MR | T_GW | T_V,
		[0xb3] = T_M | T_ERW | T_GR | T_V | T_FL(FL_BT), [0xb4] = T_M | T_MR | T_GW | T_V,
		[0xb5] = T_M | T_MR | T_GW | T_V | T_ACT(ST_C_GS),
		[0xb6] = T_M | T_ER | T_GW | T_V | T_RM8, [0xb7] = T_M | T_ER | T_GW | T_V,
		[0xb8] = T_M | T_ER | T_GW | T_V | T_FL(FL_W) | T_ACT(A_POPCNT),
		[0xb9] = T_M | ANY,
		[0xba] = K_IB | T_M | T_ERW | T_V | T_FL(FL_BT) | T_ACT(A_BIT),
		[0xbb] = T_M | T_ERW | T_GR | T_V | T_FL(FL_BT),
		[0xbc ... 0xbd] = T_M | T_ER | T_GR | T_V | T_FL(FL_SCAN),
		[0xbe] = T_M | T_ER | T_GW | T_V | T_RM8, [0xbf] = T_M | T_ER | T_GW | T_V,
		[0xc0] = T_M | T_ERW | T_GRW | T_B | T_FL(FL_W),
		[0xc1] = T_M | T_ERW | T_GRW | T_V | T_FL(FL_W), [0xc2] = VEX_IB,
		[0xc3] = STORES | T_GR, [0xc4] = VEX_IB | T_RR, [0xc5] = K_IB | T_M | T_GW | T_Y,
		[0xc6] = VEX_IB,
		[0xc7] = T_M | T_MR | T_MW | T_V | T_ACT(A_GRP9),
		[0xc8 ... 0xcf] = T_RR | T_RW | T_V, [0xd0 ... 0xd5] = LOADS, [0xd6] = STORES,
		[0xd7] = T_M | T_GW | T_Y, [0xd8 ... 0xe6] = LOADS, [0xe7] = STORES,
		[0xe8 ... 0xf6] = LOADS,
		[0xf7] = T_M | T_Y | T_IM(IM_MASKMOV), [0xf8 ... 0xfe] = LOADS, [0xff] = T_M | ANY,
	},
	[MAP_38] = {
		[0x00 ... 0x0b] = LOADS, [0x10] = LOADS, [0x14 ... 0x15] = LOADS,
		[0x17] = LOADS | T_FL(FL_W), [0x1c ... 0x1e] = LOADS, [0x20 ... 0x25] = LOADS,
		[0x28 ... 0x2b] = LOADS, [0x30 ... 0x35] = LOADS, [0x37 ... 0x41] = LOADS,
		[0x80 ... 0x82] = LOADS | T_GR, [0xc8 ... 0xcd] = LOADS, [0xcf] = LOADS,
		[0xd8] = LOADS, [0xdb] = LOADS,
		[0xdc] = LOADS | T_ACT(A_LOADIWKEY), [0xdd ... 0xdf] = LOADS,
		[0xf0] = T_M | T_ER | T_GW | T_V | T_RM8 | T_ACT(A_CRC32),
		[0xf1] = T_M | T_ER | T_MW | T_GR | T_V, [0xf5] = STORES | T_GR,
		[0xf6] = T_M | T_ER | T_MW | T_GR | T_Y | T_ACT(A_ADX),
		[0xf8] = T_M | T_MR | T_MW | T_GR | T_Y, [0xf9] = STORES | T_GR,
		[0xfa ... 0xfb] = T_M | ANY,
	},
	[MAP_3A] = {
		[0x08 ... 0x0f] = VEX_IB,
		[0x14 ... 0x17] = K_IB | STORES | T_RW, [0x20] = VEX_IB | T_RR, [0x21] = VEX_IB,
		[0x22] = VEX_IB | T_RR, [0x40 ... 0x42] = VEX_IB, [0x44] = VEX_IB,
		[0x60] = VEX_IB | T_IM(IM_ESTRM) | T_FL(FL_W),
		[0x61] = VEX_IB | T_IM(IM_ESTRI) | T_FL(FL_W), [0x62] = VEX_IB | T_FL(FL_W),
		[0x63] = VEX_IB | T_IM(IM_ISTRI) | T_FL(FL_W), [0xcc] = VEX_IB,
		[0xce ... 0xcf] = VEX_IB, [0xdf] = VEX_IB, [0xf0] = K_IB | T_M | ANY,
	},
	/* VEX and EVEX map 1; EVEX map 5 (half precision) gives the same opcodes the same roles */
	[MAP_V1] = {
		[0x10] = LOADS, [0x11] = STORES, [0x12] = LOADS, [0x13] = STORES,
		[0x14 ... 0x16] = LOADS, [0x17] = STORES, [0x1d] = LOADS, [0x28] = LOADS,
		[0x29] = STORES, [0x2a] = LOADS | T_RR, [0x2b] = STORES,
		[0x2c ... 0x2d] = LOADS | T_ACT(A_CVT),
		[0x2e ... 0x2f] = LOADS | T_FL(FL_W), [0x41 ... 0x42] = T_M | T_Y,
		[0x44 ... 0x47] = T_M | T_Y, [0x4a ... 0x4b] = T_M | T_Y,
		[0x50] = T_M | T_GW | T_Y, [0x51 ... 0x6d] = LOADS, [0x6e] = LOADS | T_RR,
		[0x6f] = LOADS, [0x70 ... 0x73] = VEX_IB, [0x74 ... 0x76] = LOADS, [0x77] = T_Y,
		[0x78 ... 0x79] = LOADS | T_ACT(A_CVT), [0x7a] = LOADS, [0x7b] = LOADS | T_RR,
		[0x7c ... 0x7d] = LOADS, [0x7e] = LOADS | T_ACT(A_MOVD), [0x7f] = STORES,
		[0x90] = LOADS, [0x91] = STORES, [0x92] = T_M | T_RR | T_Y,
		[0x93] = T_M | T_GW | T_Y,
		[0x98 ... 0x99] = T_M | T_Y | T_FL(FL_W),
		[0xae] = T_M | T_MR | T_MW | T_Y | T_ACT(A_GRP15), [0xc2] = VEX_IB,
		[0xc4] = VEX_IB | T_RR, [0xc5] = K_IB | T_M | T_GW | T_Y, [0xc6] = VEX_IB,
		[0xd0 ... 0xd5] = LOADS, [0xd6] = STORES, [0xd7] = T_M | T_GW | T_Y,
		[0xd8 ... 0xe6] = LOADS, [0xe7] = STORES, [0xe8 ... 0xf6] = LOADS,
		[0xf7] = T_M | T_Y | T_IM(IM_MASKMOV), [0xf8 ... 0xfe] = LOADS,
	},
	/* VEX and EVEX map 2; EVEX map 6 likewise */
	[MAP_V2] = {
		[0x00 ... 0x0d] = LOADS,
		[0x0e ... 0x0f] = LOADS | T_FL(FL_W),
		[0x10 ... 0x15] = LOADS | T_ACT(A_VPMOV), [0x16] = LOADS,
		[0x17] = LOADS | T_FL(FL_W), [0x18 ... 0x1f] = LOADS,
		[0x20 ... 0x25] = LOADS | T_ACT(A_VPMOV), [0x26 ... 0x2d] = LOADS,
		[0x2e ... 0x2f] = LOADS | T_MW,
		[0x30 ... 0x35] = LOADS | T_ACT(A_VPMOV), [0x36 ... 0x47] = LOADS,
		[0x49] = LOADS | T_MW, [0x4b] = LOADS | T_MW, [0x4c ... 0x5f] = LOADS,
		[0x62] = LOADS, [0x63] = LOADS | T_MW, [0x64 ... 0x66] = LOADS, [0x68] = LOADS,
		[0x70 ... 0x73] = LOADS, [0x75 ... 0x79] = LOADS, [0x7a ... 0x7c] = LOADS | T_RR,
		[0x7d ... 0x7f] = LOADS, [0x83] = LOADS, [0x88 ... 0x89] = LOADS,
		[0x8a ... 0x8b] = LOADS | T_MW, [0x8c ... 0x8d] = LOADS, [0x8e] = LOADS | T_MW,
		[0x8f] = LOADS, [0x90 ... 0x93] = LOADS, [0x96 ... 0x9f] = LOADS,
		[0xa0 ... 0xa3] = LOADS | T_MW, [0xa6 ... 0xaf] = LOADS, [0xb4 ... 0xbf] = LOADS,
		[0xc4] = LOADS, [0xc6 ... 0xc7] = LOADS, [0xc8] = LOADS, [0xca ... 0xcd] = LOADS,
		[0xcf] = LOADS, [0xd6 ... 0xd7] = LOADS, [0xdb ... 0xdf] = LOADS,
		[0xf2] = T_M | T_ER | T_GW | T_Y | T_FL(FL_BMI) | T_ACT(A_ANDN),
		[0xf3] = T_M | T_ER | T_Y | T_FL(FL_BMI) | T_ACT(A_BLS),
		[0xf5] = T_M | T_ER | T_GW | T_Y | T_ACT(A_BMI),
		[0xf6] = T_M | T_ER | T_GW | T_Y | T_ACT(A_MULX),
		[0xf7] = T_M | T_ER | T_GW | T_Y | T_ACT(A_BMI),
	},
	/* VEX and EVEX map 3: all have an immediate byte */
	[MAP_V3] = {
		[0x00 ... 0x06] = VEX_IB, [0x08 ... 0x0f] = VEX_IB,
		[0x14 ... 0x17] = K_IB | STORES | T_RW, [0x18] = VEX_IB, [0x19] = K_IB | STORES,
		[0x1a] = VEX_IB, [0x1b] = K_IB | STORES, [0x1d] = K_IB | STORES,
		[0x1e ... 0x1f] = VEX_IB, [0x20] = VEX_IB | T_RR, [0x21] = VEX_IB,
		[0x22] = VEX_IB | T_RR, [0x23] = VEX_IB, [0x25 ... 0x27] = VEX_IB,
		[0x30 ... 0x33] = VEX_IB, [0x38] = VEX_IB, [0x39] = K_IB | STORES, [0x3a] = VEX_IB,
		[0x3b] = K_IB | STORES, [0x3e ... 0x44] = VEX_IB, [0x46] = VEX_IB,
		[0x48 ... 0x4c] = VEX_IB, [0x50 ... 0x51] = VEX_IB, [0x54 ... 0x57] = VEX_IB,
		[0x5c ... 0x5f] = VEX_IB,
		[0x60] = VEX_IB | T_IM(IM_ESTRM) | T_FL(FL_W),
		[0x61] = VEX_IB | T_IM(IM_ESTRI) | T_FL(FL_W), [0x62] = VEX_IB | T_FL(FL_W),
		[0x63] = VEX_IB | T_IM(IM_ISTRI) | T_FL(FL_W), [0x66 ... 0x73] = VEX_IB,
		[0x78 ... 0x7f] = VEX_IB, [0xc2] = VEX_IB, [0xce ... 0xcf] = VEX_IB,
		[0xdf] = VEX_IB,
		[0xf0] = K_IB | T_M | T_ER | T_GW | T_Y,
	},
};

/* clang-format on */

/* A length, and above it a mask for the offset where it starts: an absent field is at offset 0. */
#define LEN(n) ((n) | 0xff00)

/* Length of an immediate: without 66 and REX.W, with 66, with REX.W, with both. */
#define IMM_ODD 1
#define IMM_LEN(plain, op16, wide)                                                                 \
	{                                                                                          \
		LEN(plain), LEN(op16), LEN(wide), LEN(wide)                                        \
	}

static const uint16_t st_imm_len[IMM_COUNT][4] = {
        [IMM_B] = IMM_LEN(1, 1, 1),
        [IMM_W] = IMM_LEN(2, 2, 2),
        [IMM_Z] = IMM_LEN(4, 2, 4),
        [IMM_V] = IMM_LEN(4, 2, 8),
        [IMM_ENTER] = IMM_LEN(3, 3, 3),
        [IMM_JB] = IMM_LEN(1, 1, 1),
        [IMM_JZ] = IMM_LEN(4, 4, 4),
        [IMM_MOFFS... IMM_EXTRQ] = {IMM_ODD, IMM_ODD, IMM_ODD, IMM_ODD},
};

/*
 * What a ModRM byte does to the low half of the opcode's word, by mod and rm: a memory operand
 * takes the place of the register operand rm, and rm may be its base register.
 */
#define WITH_MEM(set, disp)                                                                        \
	{                                                                                          \
		~(uint32_t)(T_RR | T_RW), (uint32_t)(T_MEM | (set)), disp                          \
	}
#define WITH_BASE(disp) WITH_MEM(T_RR, disp)
#define WITH_REG                                                                                   \
	{                                                                                          \
		~(uint32_t)(T_MR | T_MW), 0, 0                                                     \
	}

static const struct {
	uint32_t keep, set, disp;
} st_forms[32] = {
        [0 ... 3] = WITH_BASE(0),         [4] = WITH_MEM(T_SIB, 0),
        [5] = WITH_MEM(T_RIPREL, LEN(4)), [6 ... 7] = WITH_BASE(0),
        [8 ... 11] = WITH_BASE(LEN(1)),   [12] = WITH_MEM(T_SIB, LEN(1)),
        [13 ... 15] = WITH_BASE(LEN(1)),  [16 ... 19] = WITH_BASE(LEN(4)),
        [20] = WITH_MEM(T_SIB, LEN(4)),   [21 ... 23] = WITH_BASE(LEN(4)),
        [24 ... 31] = WITH_REG,
};

/* Which memory forms (bit = ModRM.reg) of x87 opcodes d8 to df store. */
static const uint8_t st_x87_stores[8] = {0, 0xcc, 0, 0x8e, 0, 0xce, 0, 0xce};

#endif
