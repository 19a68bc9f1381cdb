/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sets of registers, from Zydis's operands and what is known to be missing or wrong there. */
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "insn/internal.h"

static_assert((int)ZYDIS_REGISTER_MAX_VALUE < ST_REGISTERS, "registers have become more");

struct sets {
	bool read[ST_REGISTERS], written[ST_REGISTERS];
};

static ZydisRegister
widen(ZydisRegister r)
{
	ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (full != ZYDIS_REGISTER_NONE)
		return full;
	if (r == ZYDIS_REGISTER_FLAGS || r == ZYDIS_REGISTER_EFLAGS)
		return ZYDIS_REGISTER_RFLAGS;
	if (r == ZYDIS_REGISTER_IP || r == ZYDIS_REGISTER_EIP)
		return ZYDIS_REGISTER_RIP;
	return r;
}

static void
add_memory(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct sets *s)
{
	bool string = in->meta.category == ZYDIS_CATEGORY_STRINGOP ||
	              in->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;

	if (string) /* it moves on: Zydis forgets that for cmps, scas, ins and outs */
		s->written[widen(op->mem.base)] = true;
	s->read[widen(op->mem.base)] = true;
	s->read[widen(op->mem.index)] = true;
	if (op->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
	    (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS))
		s->read[op->mem.segment] = true;
}

static void
add_register(const ZydisDecodedOperand *op, struct sets *s)
{
	unsigned r = widen(op->reg.value);

	/* k0 in the place of a mask means that there is none */
	if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK && r == ZYDIS_REGISTER_K0)
		return;
	if (op->attributes & ZYDIS_OATTRIB_IS_MULTISOURCE4) {
		unsigned first = r - (r - ZYDIS_REGISTER_ZMM0) % 4;

		for (unsigned i = 0; i < 4; i++)
			s->read[first + i] = true;
	}
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		s->read[r] = true;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		s->written[r] = true;
}

/* Zydis's operands lack the flags that these write: adcx, adox, cmc. */
static void
add_flags(const ZydisDecodedInstruction *in, struct sets *s)
{
	if (!in->cpu_flags)
		return;
	if (in->cpu_flags->tested)
		s->read[ZYDIS_REGISTER_RFLAGS] = true;
	if (in->cpu_flags->modified | in->cpu_flags->set_0 | in->cpu_flags->set_1 |
	    in->cpu_flags->undefined)
		s->written[ZYDIS_REGISTER_RFLAGS] = true;
}

/* Zydis has all x87 instructions write the status word, and knows of no use of the control word. */
static void
correct_x87(const ZydisDecodedInstruction *in, struct sets *s)
{
	bool *status_read = &s->read[ZYDIS_REGISTER_X87STATUS];
	bool *status_written = &s->written[ZYDIS_REGISTER_X87STATUS];
	bool *control_read = &s->read[ZYDIS_REGISTER_X87CONTROL];
	bool *control_written = &s->written[ZYDIS_REGISTER_X87CONTROL];

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_FNSTSW:
		*status_read = true;
		*status_written = false;
		break;
	case ZYDIS_MNEMONIC_FNSTCW:
		*control_read = true;
		*status_written = false;
		break;
	case ZYDIS_MNEMONIC_FLDCW:
		*control_written = true;
		*status_written = false;
		break;
	case ZYDIS_MNEMONIC_FNSTENV: /* and masks all exceptions */
		*status_read = *control_read = *control_written = true;
		*status_written = false;
		break;
	case ZYDIS_MNEMONIC_FLDENV:
	case ZYDIS_MNEMONIC_FNINIT:
		*control_written = true;
		break;
	default:
		break;
	}
}

/* Facts of the manual that Zydis lacks. */
static void
correct(const ZydisDecodedInstruction *in, struct sets *s)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_LEAVE: /* rsp comes from rbp */
		s->read[ZYDIS_REGISTER_RSP] = false;
		break;
	case ZYDIS_MNEMONIC_XLAT: /* the index */
		s->read[ZYDIS_REGISTER_RAX] = true;
		break;
	case ZYDIS_MNEMONIC_SYSCALL: /* r11 and rcx come from them */
		s->read[ZYDIS_REGISTER_RFLAGS] = s->read[ZYDIS_REGISTER_RIP] = true;
		break;
	case ZYDIS_MNEMONIC_VZEROUPPER:
	case ZYDIS_MNEMONIC_VZEROALL:
		for (unsigned i = 0; i < 16; i++)
			s->written[ZYDIS_REGISTER_ZMM0 + i] = true;
		break;
	case ZYDIS_MNEMONIC_VP2INTERSECTD: /* a pair of masks */
	case ZYDIS_MNEMONIC_VP2INTERSECTQ:
		for (unsigned i = 0; i < 8; i += 2) {
			bool *pair = &s->written[ZYDIS_REGISTER_K0 + i];

			pair[0] = pair[1] = pair[0] || pair[1];
		}
		break;
	default:
		correct_x87(in, s);
	}
}

static uint8_t
list(const bool set[ST_REGISTERS], uint16_t out[ST_SHAPE_REGISTERS])
{
	unsigned n = 0;

	for (unsigned r = ZYDIS_REGISTER_NONE + 1; r < ST_REGISTERS; r++) {
		if (!set[r])
			continue;
		assert(n < ST_SHAPE_REGISTERS);
		out[n++] = (uint16_t)r;
	}
	return (uint8_t)n;
}

void
insn_describe(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
              struct st_shape *shape)
{
	struct sets s = {0};
	/* hints name registers that they do not use */
	bool nop = in->meta.category == ZYDIS_CATEGORY_NOP ||
	           in->meta.category == ZYDIS_CATEGORY_WIDENOP;

	for (unsigned i = 0; i < in->operand_count && !nop; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_memory(in, &operands[i], &s);
		else if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			add_register(&operands[i], &s);
	}
	add_flags(in, &s);
	correct(in, &s);
	memset(shape, 0, sizeof *shape);
	shape->mnemonic = ZydisMnemonicGetString(in->mnemonic);
	shape->category = ZydisCategoryGetString(in->meta.category);
	shape->n_read = list(s.read, shape->read);
	shape->n_written = list(s.written, shape->written);
}

const char *
st_register_name(unsigned number)
{
	return ZydisRegisterGetString((ZydisRegister)number);
}
