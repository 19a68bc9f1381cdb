/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/disassemble.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Text behind what has been printed. */
static ZyanStatus
disassemble_append(ZydisFormatterBuffer *buffer, const char *text)
{
	ZyanString *string;
	ZyanStringView view;
	ZyanStatus status = ZydisFormatterBufferGetString(buffer, &string);
	if (ZYAN_SUCCESS(status))
		status = ZyanStringViewInsideBuffer(&view, text);
	return ZYAN_SUCCESS(status) ? ZyanStringAppend(string, &view) : status;
}

/* An address as Zydis prints it, then the function it lies in. */
static ZyanStatus
print_symbol(const ZydisFormatter *formatter, ZydisFormatterBuffer *buffer,
             ZydisFormatterContext *context)
{
	const struct st_disassembler *d = context->user_data;
	ZyanU64 address;
	char text[ST_ADDRESS_TEXT];
	bool known = ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(context->instruction, context->operand,
	                                                   context->runtime_address, &address));
	if (known && d->name && d->name(d, address, text))
		return disassemble_append(buffer, text);
	ZyanStatus status = d->print_address(formatter, buffer, context);
	const struct st_function *f =
	        known && !d->name ? st_image_function(d->image, address) : NULL;
	if (ZYAN_FAILED(status) || !f)
		return status;
	if (address == f->offset)
		snprintf(text, sizeof text, " <%.120s>", f->name);
	else
		snprintf(text, sizeof text, " <%.120s+0x%" PRIx64 ">", f->name,
		         address - f->offset);
	return disassemble_append(buffer, text);
}

void
st_disassembler_init(struct st_disassembler *d, struct st_image *image)
{
	static const ZydisFormatterProperty unpadded[] = {
	        ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
	        ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_FORMATTER_PROP_DISP_PADDING,
	        ZYDIS_FORMATTER_PROP_IMM_PADDING};
	d->image = image;
	d->name = NULL;
	d->context = NULL;
	ZydisDecoderInit(&d->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&d->formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	for (size_t i = 0; i < sizeof unpadded / sizeof *unpadded; i++)
		ZydisFormatterSetProperty(&d->formatter, unpadded[i], ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&d->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	d->print_address = (ZydisFormatterFunc)&print_symbol;
	ZydisFormatterSetHook(&d->formatter, ZYDIS_FORMATTER_FUNC_PRINT_ADDRESS_ABS,
	                      (const void **)&d->print_address);
}

void
st_disassembler_name(struct st_disassembler *d, st_address_name *name, const void *context)
{
	d->name = name;
	d->context = context;
}

size_t
st_disassemble(struct st_disassembler *d, const unsigned char *bytes, size_t n, uint64_t offset,
               char *text)
{
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	strcpy(text, "(bad)");
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&d->decoder, bytes, n, &insn, operands)))
		return 1;
	ZydisFormatterFormatInstruction(&d->formatter, &insn, operands, insn.operand_count_visible,
	                                text, ST_INSTRUCTION_TEXT, offset, d);
	return insn.length;
}
