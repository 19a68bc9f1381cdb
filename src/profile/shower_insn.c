/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the code of an instruction says: mnemonic, category, registers. */
#include <Zydis/Zydis.h>

#include "profile/shower.h"

struct insn {
	ZydisDecodedInstruction head;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static int
digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* From hexadecimal digits. What is not there is zero: the displacement and the immediate operand.
 */
static bool
decode(const char *text, struct insn *insn)
{
	unsigned char code[ZYDIS_MAX_INSTRUCTION_LENGTH] = {0};
	ZydisDecoder decoder;
	for (size_t i = 0; text[0]; text += 2, i++) {
		int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
		if (low < 0 || i == sizeof code)
			return false;
		code[i] = (unsigned char)(high << 4 | low);
	}
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(
	        ZydisDecoderDecodeFull(&decoder, code, sizeof code, &insn->head, insn->operands));
}

/* The whole register that one is a part of: rax for al, xmm0 for ymm0. NULL: the instruction
 * pointer, and segments that are always 0. */
static const char *
whole(ZydisRegister r)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(r);
	if (class == ZYDIS_REGCLASS_IP || r == ZYDIS_REGISTER_CS || r == ZYDIS_REGISTER_DS ||
	    r == ZYDIS_REGISTER_ES || r == ZYDIS_REGISTER_SS)
		return NULL;
	if (class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM)
		r = ZydisRegisterEncode(ZYDIS_REGCLASS_XMM, (ZyanU8)ZydisRegisterGetId(r));
	else if (class == ZYDIS_REGCLASS_FLAGS)
		r = ZYDIS_REGISTER_RFLAGS;
	else if (class >= ZYDIS_REGCLASS_GPR8 && class <= ZYDIS_REGCLASS_GPR32)
		r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	return ZydisRegisterGetString(r);
}

struct set {
	const char **names;
	size_t n;
};

static void
add(struct set *set, ZydisRegister r)
{
	const char *name = r == ZYDIS_REGISTER_NONE ? NULL : whole(r);
	for (size_t i = 0; name && i < set->n; i++)
		if (!strcmp(set->names[i], name))
			return;
	if (name && set->n < ST_MOST_REGISTERS)
		set->names[set->n++] = name;
}

static size_t
registers(const struct insn *insn, bool written, const char **names)
{
	struct set set = {.names = names};
	ZydisOperandActions mask =
	        written ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ;
	for (int i = 0; i < insn->head.operand_count; i++) {
		const ZydisDecodedOperand *o = &insn->operands[i];
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->actions & mask) {
			add(&set, o->reg.value);
		} else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && !written) {
			add(&set, o->mem.base);
			add(&set, o->mem.index);
			add(&set, o->mem.segment);
		}
	}
	return set.n;
}

size_t
st_shower_registers(struct st_shower *s, enum strobe_type type, uint64_t raw,
                    const char *names[ST_MOST_REGISTERS])
{
	struct insn insn;
	size_t n = 1;
	bool known = raw <= UINT32_MAX && decode(st_view_string(s->v, (uint32_t)raw), &insn);
	if (!known)
		names[0] = "(unknown)";
	else if (type == STROBE_MNEMONIC)
		names[0] = ZydisMnemonicGetString(insn.head.mnemonic);
	else if (type == STROBE_CATEGORY)
		names[0] = ZydisCategoryGetString(insn.head.meta.category);
	else
		n = registers(&insn, type == STROBE_REGISTERS_WRITTEN, names);
	for (size_t i = 0; i < n; i++)
		names[i] = st_collect_intern(s->c, names[i]);
	return n;
}
