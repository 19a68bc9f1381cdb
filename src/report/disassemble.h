/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machine code as text. */
#ifndef STROBE_REPORT_DISASSEMBLE_H
#define STROBE_REPORT_DISASSEMBLE_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/symbol.h"

enum { ST_INSTRUCTION_TEXT = 512 };

struct st_disassembler;
/* Writes a text of at most ST_ADDRESS_TEXT bytes that replaces an address; false: the address
 * itself is printed. */
enum { ST_ADDRESS_TEXT = 256 };
typedef bool st_address_name(const struct st_disassembler *d, uint64_t address, char *text);

struct st_disassembler {
	struct st_image *image;
	st_address_name *name; /* NULL: addresses, with the names of functions behind them */
	const void *context;   /* for name */
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	ZydisFormatterFunc print_address; /* Zydis' own */
};

/* Of an image's code; addresses are followed by the names of its functions. */
void st_disassembler_init(struct st_disassembler *d, struct st_image *image);
/* From now on names stand in the place of addresses. */
void st_disassembler_name(struct st_disassembler *d, st_address_name *name, const void *context);
/* The first instruction of n bytes (at least 1), which are at that offset, as text of at most
 * ST_INSTRUCTION_TEXT bytes. Returns its length; 1 where there is none. */
size_t st_disassemble(struct st_disassembler *d, const unsigned char *bytes, size_t n,
                      uint64_t offset, char *text);

#endif
