/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "insn.h"

#include <string.h>

#define TIME "reads a clock or counter"
#define RANDOM "returns random numbers"
#define CPU "depends on the CPU it runs on"
#define SYSTEM "system instruction"
#define FAR "far transfer"
#define SEGMENT "changes segment registers of the whole process"
#define WAITS "waits for an event or a time"
#define TSX "a transaction may abort at any time"
#define XSTATE "what it stores depends on hidden processor state"
#define KEYS "changes protection keys of the whole process"

static const struct {
	ZydisMnemonic mnemonic;
	const char *why;
} excluded[] = {
        {ZYDIS_MNEMONIC_RDTSC, TIME},
        {ZYDIS_MNEMONIC_RDTSCP, TIME},
        {ZYDIS_MNEMONIC_RDPMC, TIME},
        {ZYDIS_MNEMONIC_RDPRU, TIME},
        {ZYDIS_MNEMONIC_RDRAND, RANDOM},
        {ZYDIS_MNEMONIC_RDSEED, RANDOM},
        {ZYDIS_MNEMONIC_RDPID, CPU},
        {ZYDIS_MNEMONIC_LSL, CPU},
        {ZYDIS_MNEMONIC_SGDT, SYSTEM},
        {ZYDIS_MNEMONIC_SIDT, SYSTEM},
        {ZYDIS_MNEMONIC_SLDT, SYSTEM},
        {ZYDIS_MNEMONIC_STR, SYSTEM},
        {ZYDIS_MNEMONIC_SMSW, SYSTEM},
        {ZYDIS_MNEMONIC_LMSW, SYSTEM},
        {ZYDIS_MNEMONIC_MCOMMIT, SYSTEM},
        {ZYDIS_MNEMONIC_PTWRITE, SYSTEM},
        {ZYDIS_MNEMONIC_INT1, "debug trap"},
        {ZYDIS_MNEMONIC_INT,
         "int 0x80 is a 32-bit system call; other vectors come from the fault unit"},
        {ZYDIS_MNEMONIC_SYSENTER, "32-bit system call"},
        {ZYDIS_MNEMONIC_RSM, SYSTEM},
        {ZYDIS_MNEMONIC_GETSEC, SYSTEM},
        {ZYDIS_MNEMONIC_IRET, FAR},
        {ZYDIS_MNEMONIC_IRETD, FAR},
        {ZYDIS_MNEMONIC_IRETQ, FAR},
        {ZYDIS_MNEMONIC_UIRET, FAR},
        {ZYDIS_MNEMONIC_LFS, SEGMENT},
        {ZYDIS_MNEMONIC_LGS, SEGMENT},
        {ZYDIS_MNEMONIC_LSS, SEGMENT},
        {ZYDIS_MNEMONIC_SWAPGS, SYSTEM},
        {ZYDIS_MNEMONIC_RDGSBASE, "GS base is reserved for the engine"},
        {ZYDIS_MNEMONIC_WRGSBASE, "GS base is reserved for the engine"},
        {ZYDIS_MNEMONIC_TPAUSE, WAITS},
        {ZYDIS_MNEMONIC_UMWAIT, WAITS},
        {ZYDIS_MNEMONIC_UMONITOR, WAITS},
        {ZYDIS_MNEMONIC_MONITOR, WAITS},
        {ZYDIS_MNEMONIC_MWAIT, WAITS},
        {ZYDIS_MNEMONIC_MONITORX, WAITS},
        {ZYDIS_MNEMONIC_MWAITX, WAITS},
        {ZYDIS_MNEMONIC_XBEGIN, TSX},
        {ZYDIS_MNEMONIC_XABORT, TSX},
        {ZYDIS_MNEMONIC_XEND, TSX},
        {ZYDIS_MNEMONIC_XSUSLDTRK, TSX},
        {ZYDIS_MNEMONIC_XRESLDTRK, TSX},
        {ZYDIS_MNEMONIC_XSAVEC, XSTATE},
        {ZYDIS_MNEMONIC_XSAVEC64, XSTATE},
        {ZYDIS_MNEMONIC_XSAVEOPT, XSTATE},
        {ZYDIS_MNEMONIC_XSAVEOPT64, XSTATE},
        {ZYDIS_MNEMONIC_XSAVES, SYSTEM},
        {ZYDIS_MNEMONIC_XSAVES64, SYSTEM},
        {ZYDIS_MNEMONIC_XRSTORS, SYSTEM},
        {ZYDIS_MNEMONIC_XRSTORS64, SYSTEM},
        {ZYDIS_MNEMONIC_XSETBV, SYSTEM},
        {ZYDIS_MNEMONIC_RDPKRU, KEYS},
        {ZYDIS_MNEMONIC_WRPKRU, KEYS},
        {ZYDIS_MNEMONIC_ENQCMD, "talks to devices"},
        {ZYDIS_MNEMONIC_ENQCMDS, "talks to devices"},
        {ZYDIS_MNEMONIC_HRESET, SYSTEM},
        {ZYDIS_MNEMONIC_LLWPCB, SYSTEM},
        {ZYDIS_MNEMONIC_SLWPCB, SYSTEM},
        {ZYDIS_MNEMONIC_LWPINS, SYSTEM},
        {ZYDIS_MNEMONIC_LWPVAL, SYSTEM},
        {ZYDIS_MNEMONIC_XSTORE, RANDOM},
};

static const char *
excluded_category(const struct fz_insn *i)
{
	switch (i->in.meta.category) {
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
		return "port input and output";
	case ZYDIS_CATEGORY_SYSTEM:
		return i->in.mnemonic == ZYDIS_MNEMONIC_HLT ? NULL : SYSTEM;
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_SGX:
	case ZYDIS_CATEGORY_PCONFIG:
	case ZYDIS_CATEGORY_SMAP:
	case ZYDIS_CATEGORY_PADLOCK:
		return SYSTEM;
	case ZYDIS_CATEGORY_AMX_TILE:
		return "needs a permission request, and state the comparison leaves out";
	case ZYDIS_CATEGORY_KEYLOCKER:
	case ZYDIS_CATEGORY_KEYLOCKER_WIDE:
	case ZYDIS_CATEGORY_UINTR:
		return SYSTEM;
	case ZYDIS_CATEGORY_CET:
		return i->in.mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
		                       i->in.mnemonic == ZYDIS_MNEMONIC_ENDBR32
		               ? NULL
		               : "shadow stack";
	default:
		return NULL;
	}
}

static const char *
excluded_operand(const struct fz_insn *i)
{
	for (unsigned k = 0; k < i->in.operand_count; k++) {
		const ZydisDecodedOperand *o = &i->ops[k];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.segment == ZYDIS_REGISTER_GS &&
		    o->mem.type != ZYDIS_MEMOP_TYPE_AGEN)
			return "GS base is reserved for the engine";
		if (o->type == ZYDIS_OPERAND_TYPE_POINTER)
			return FAR;
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->reg.value == ZYDIS_REGISTER_GS)
			return "GS base is reserved for the engine";
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		ZydisRegisterClass cls = ZydisRegisterGetClass(o->reg.value);

		if (cls == ZYDIS_REGCLASS_SEGMENT)
			return SEGMENT;
		if (cls == ZYDIS_REGCLASS_CONTROL || cls == ZYDIS_REGCLASS_DEBUG ||
		    cls == ZYDIS_REGCLASS_TEST)
			return SYSTEM;
	}
	return NULL;
}

/* Of memory that the decoder does not tell as an operand nobody can choose the address. */
static bool
hides_segment(const struct fz_insn *i)
{
	bool has = false;

	for (unsigned k = 0; k < i->in.raw.prefix_count; k++)
		has |= i->in.raw.prefixes[k].value == 0x64 || i->in.raw.prefixes[k].value == 0x65;
	return has && i->in.mnemonic == ZYDIS_MNEMONIC_CLZERO;
}

static bool
beyond_avx2(const struct fz_insn *i)
{
	switch (i->in.meta.isa_ext) {
	case ZYDIS_ISA_EXT_AVX512EVEX:
	case ZYDIS_ISA_EXT_AVX512VEX:
	case ZYDIS_ISA_EXT_AVX_VNNI:
	case ZYDIS_ISA_EXT_GFNI:
	case ZYDIS_ISA_EXT_SHA:
	case ZYDIS_ISA_EXT_VAES:
	case ZYDIS_ISA_EXT_VPCLMULQDQ:
	case ZYDIS_ISA_EXT_RDWRFSGS:
	case ZYDIS_ISA_EXT_MOVDIR:
	case ZYDIS_ISA_EXT_SERIALIZE:
	case ZYDIS_ISA_EXT_CLWB:
	case ZYDIS_ISA_EXT_CLDEMOTE:
	case ZYDIS_ISA_EXT_RTM:
	case ZYDIS_ISA_EXT_MPX:
	case ZYDIS_ISA_EXT_XOP:
	case ZYDIS_ISA_EXT_FMA4:
	case ZYDIS_ISA_EXT_TBM:
	case ZYDIS_ISA_EXT_AMD3DNOW:
	case ZYDIS_ISA_EXT_SSE4A:
		return true;
	default:
		return i->in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
		       i->in.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
	}
}

const char *
fz_excluded(const struct fz_insn *i, enum fz_isa isa)
{
	for (size_t k = 0; k < sizeof excluded / sizeof *excluded; k++)
		if (excluded[k].mnemonic == i->in.mnemonic)
			return excluded[k].why;
	if (isa == FZ_ISA_AVX2 && beyond_avx2(i))
		return "left out by --isa avx2";
	if (i->in.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return FAR;
	if (hides_segment(i))
		return "its address depends on where the libraries are";
	const char *why = excluded_category(i);

	return why ? why : excluded_operand(i);
}

bool
fz_is_flow(const struct fz_insn *i)
{
	switch (i->in.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return true;
	default:
		return i->in.mnemonic == ZYDIS_MNEMONIC_HLT;
	}
}

bool
fz_decode(struct fz_insn *i, const uint8_t *p, size_t n)
{
	static ZydisDecoder decoder;
	static bool ready;

	if (!ready) {
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		ready = true;
	}
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, p, n, &i->in, i->ops)))
		return false;
	memcpy(i->bytes, p, i->in.length);
	return true;
}

int
fz_gpr_of(ZydisRegister r)
{
	ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (full < ZYDIS_REGISTER_RAX || full > ZYDIS_REGISTER_R15)
		return -1;
	return (int)(full - ZYDIS_REGISTER_RAX);
}

uint16_t
fz_gpr_written(const struct fz_insn *i)
{
	unsigned set = 0;

	for (unsigned k = 0; k < i->in.operand_count; k++) {
		const ZydisDecodedOperand *o = &i->ops[k];

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		int r = fz_gpr_of(o->reg.value);

		if (r >= 0)
			set |= 1u << r;
	}
	return (uint16_t)set;
}
