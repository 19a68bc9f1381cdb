/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a .debug_line section, version 5: headers and programs. Caller-owned structures, no
 * allocation. */
#ifndef STROBE_SYMBOL_LINEPROGRAM_H
#define STROBE_SYMBOL_LINEPROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are read one after the other; what lies behind the end is zero and sets `bad`. */
struct sym_bytes {
	const uint8_t *at, *end;
	bool bad;
};

/* Sections that hold strings, each ending in NUL or cut there by the reader. */
struct sym_line_strings {
	const char *line_str, *str;
	size_t line_str_size, str_size;
};

struct sym_line_header {
	bool wide; /* 64-bit DWARF */
	uint8_t instruction_length, line_range, opcode_base;
	int8_t line_base;
	uint8_t operands[256];               /* of standard opcodes */
	struct sym_bytes directories, files; /* the tables, at their format descriptions */
	struct sym_bytes program;
};

struct sym_line_state {
	uint64_t address;
	uint32_t file, line, column;
};

/* Takes the next unit from the section. False at its end, or with section->bad when it is damaged
 * or of another version. */
bool sym_line_unit(struct sym_bytes *section, struct sym_line_header *h);

/* Name number `wanted` of a table of the header, and the directory it names; NULL: there is none.
 */
const char *sym_line_name(const struct sym_line_header *h, struct sym_bytes table, uint64_t wanted,
                          const struct sym_line_strings *strings, uint64_t *directory);

enum sym_line_event { SYM_LINE_ROW, SYM_LINE_END_SEQUENCE, SYM_LINE_END };
/* Runs the program to its next row, or to the end of a sequence (with the address behind it), after
 * which the state is as at the start. */
enum sym_line_event sym_line_next(const struct sym_line_header *h, struct sym_bytes *program,
                                  struct sym_line_state *state);
void sym_line_start(struct sym_line_state *state);

#endif
