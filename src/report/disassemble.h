/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machine code as text. */
#ifndef STROBE_REPORT_DISASSEMBLE_H
#define STROBE_REPORT_DISASSEMBLE_H

#include <Zydis/Zydis.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/symbol.h"

enum { ST_INSTRUCTION_TEXT = 512 };

struct st_disassembler {
	struct st_image *image;
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	ZydisFormatterFunc print_address; /* Zydis' own */
};

/* Of an image's code; addresses are followed by the names of its functions. */
void st_disassembler_init(struct st_disassembler *d, struct st_image *image);
/* The first instruction of n bytes (at least 1), which are at that offset, as text of at most
 * ST_INSTRUCTION_TEXT bytes. Returns its length; 1 where there is none. */
size_t st_disassemble(struct st_disassembler *d, const unsigned char *bytes, size_t n,
                      uint64_t offset, char *text);

#endif
