/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of straight code, from an image's bytes. */
#include <Zydis/Zydis.h>

#include "reconstruct/code.h"

enum { MOST = 1 << 16 }; /* bytes of a piece; far beyond what compilers write */

static bool
is_relative_to_rip(const ZydisDecodedInstruction *in)
{
	return in->attributes & ZYDIS_ATTRIB_HAS_MODRM && in->raw.modrm.mod == 0 &&
	       in->raw.modrm.rm == 5;
}

static enum st_piece_end
end_of_jump(const ZydisDecodedInstruction *in, bool direct)
{
	if (direct)
		return ST_PIECE_JUMP;
	if (in->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return ST_PIECE_UNKNOWN;
	return is_relative_to_rip(in) ? ST_PIECE_SLOT_JUMP : ST_PIECE_INDIRECT_JUMP;
}

/* The way an instruction ends a piece; ST_PIECE_FALLS: it does not. */
static enum st_piece_end
piece_end_of(const ZydisDecodedInstruction *in, bool direct)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return ST_PIECE_CONDITIONAL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return end_of_jump(in, direct);
	case ZYDIS_CATEGORY_CALL:
		return direct ? ST_PIECE_CALL : ST_PIECE_INDIRECT_CALL;
	case ZYDIS_CATEGORY_RET:
		return in->mnemonic == ZYDIS_MNEMONIC_RET ? ST_PIECE_RETURN : ST_PIECE_UNKNOWN;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return ST_PIECE_SYSCALL;
	default:
		break;
	}
	bool stops = in->mnemonic == ZYDIS_MNEMONIC_UD0 || in->mnemonic == ZYDIS_MNEMONIC_UD1 ||
	             in->mnemonic == ZYDIS_MNEMONIC_UD2 || in->mnemonic == ZYDIS_MNEMONIC_HLT;
	return stops ? ST_PIECE_STOP : ST_PIECE_FALLS;
}

static uint64_t
target_of(const ZydisDecodedInstruction *in, uint64_t behind, enum st_piece_end how)
{
	if (in->raw.imm[0].is_relative)
		return behind + (uint64_t)in->raw.imm[0].value.s;
	if (how == ST_PIECE_INDIRECT_CALL && is_relative_to_rip(in))
		return behind + (uint64_t)in->raw.disp.value;
	return 0;
}

struct st_piece
st_piece_read(struct st_image *image, uint64_t start, st_lengths_of_insns *lengths)
{
	struct st_piece p = {start, start, start, 0, ST_PIECE_FALLS};
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (p.how == ST_PIECE_FALLS && p.end - start < MOST) {
		size_t n = st_image_bytes(image, p.end, code, sizeof code);
		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, code, n, &in))) {
			p.how = ST_PIECE_UNKNOWN;
			return p;
		}
		p.last = p.end;
		p.end += in.length;
		p.how = piece_end_of(&in, in.raw.imm[0].is_relative);
		p.target = target_of(&in, p.end, p.how);
		uint8_t *length = lengths ? ST_PUSH(lengths) : NULL;
		if (length)
			*length = in.length;
	}
	return p;
}

bool
st_piece_calls(enum st_piece_end how)
{
	return how == ST_PIECE_CALL || how == ST_PIECE_INDIRECT_CALL || how == ST_PIECE_SYSCALL;
}
