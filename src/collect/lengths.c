/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/lengths.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>

#include "symbol/symbol.h"

struct st_lengths {
	ZydisDecoder decoder;
	uint8_t code[ST_LENGTHS_MOST], lengths[ST_LENGTHS_MOST];
};

struct st_lengths *
st_lengths_new(void)
{
	struct st_lengths *l = malloc(sizeof *l);
	if (l)
		ZydisDecoderInit(&l->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return l;
}

void
st_lengths_free(struct st_lengths *l)
{
	free(l);
}

const uint8_t *
st_lengths_of(struct st_lengths *l, struct st_image *image, uint64_t offset, uint32_t bytes,
              uint32_t insns, uint32_t *sum)
{
	size_t n = st_image_bytes(image, offset, l->code, bytes);
	ZydisDecodedInstruction insn;
	*sum = 0;
	for (uint32_t i = 0; i < insns; i++) {
		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&l->decoder, NULL, l->code + *sum,
		                                              n - *sum, &insn)))
			return NULL;
		l->lengths[i] = insn.length;
		*sum += insn.length;
	}
	return insns ? l->lengths : NULL;
}

const uint8_t *
st_lengths_in(struct st_lengths *l, struct st_image *image, uint64_t offset, uint32_t bytes,
              uint32_t *insns)
{
	uint32_t at = 0;
	ZydisDecodedInstruction insn;
	*insns = 0;
	if (st_image_bytes(image, offset, l->code, bytes) < bytes)
		return NULL;
	for (; at < bytes; at += insn.length) {
		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&l->decoder, NULL, l->code + at,
		                                              bytes - at, &insn)))
			return NULL;
		l->lengths[(*insns)++] = insn.length;
	}
	return bytes ? l->lengths : NULL;
}
