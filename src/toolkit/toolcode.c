/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tool's instructions: vector and floating-point registers hold the program's values while it
 * runs, and system calls are for the runtime to do. The compiler keeps to that; assembly in the
 * tool might not.
 */
#include <Zydis/Zydis.h>

#include "toolkit/compile.h"

static const char *
forbidden(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands)
{
	if (in->mnemonic == ZYDIS_MNEMONIC_SYSCALL || in->mnemonic == ZYDIS_MNEMONIC_SYSENTER ||
	    in->mnemonic == ZYDIS_MNEMONIC_INT)
		return "does a system call of its own";
	for (unsigned i = 0; i < in->operand_count; i++) {
		if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		switch (ZydisRegisterGetClass(operands[i].reg.value)) {
		case ZYDIS_REGCLASS_X87:
		case ZYDIS_REGCLASS_MMX:
		case ZYDIS_REGCLASS_XMM:
		case ZYDIS_REGCLASS_YMM:
		case ZYDIS_REGCLASS_ZMM:
		case ZYDIS_REGCLASS_MASK:
		case ZYDIS_REGCLASS_TMM:
			return "uses floating-point or vector registers";
		default:
			break;
		}
	}
	return NULL;
}

static st_status
toolcode_check(const struct st_tool_file *f, uint64_t start, uint64_t end, struct st_error *e)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	size_t size;
	const unsigned char *memory = st_tool_file_memory(f, &size);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint64_t at = start; at < end;) {
		if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, memory + at, end - at, &in,
		                                       operands))) {
			at++;
			continue;
		}
		const char *why = forbidden(&in, operands);
		uint64_t delta = 0;
		const char *function = st_tool_file_function(f, at, &delta);
		if (why)
			return st_fail(e, ST_EXIT_USAGE,
			               "the tool %s %s, in %s+0x%llx; a tool must not",
			               st_tool_file_path(f), why, function ? function : "its code",
			               (unsigned long long)(function ? delta : at));
		at += in.length;
	}
	return 0;
}

st_status
st_tool_check_code(const struct st_tool_file *f, struct st_error *e)
{
	const struct st_tool_part *parts;
	size_t n = st_tool_file_parts(f, &parts);
	for (size_t i = 0; i < n; i++)
		if (parts[i].executed && toolcode_check(f, parts[i].start, parts[i].end, e))
			return -1;
	return 0;
}
