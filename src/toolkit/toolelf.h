/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ELF part of reading a tool: its memory, and what in it depends on where it lies. */
#ifndef STROBE_TOOLKIT_TOOLELF_H
#define STROBE_TOOLKIT_TOOLELF_H

#include <elf.h>

#include "base/status.h"
#include "toolkit/toolfile.h"

struct st_tool_bytes {
	unsigned char *at;
	size_t n;
};

/* Eight bytes of the tool that hold an address: of the tool's own, or of the runtime's. */
struct st_tool_fix {
	uint64_t at, value;     /* value: relative to the tool, or to the runtime */
	const char *of_runtime; /* the runtime's symbol, or NULL */
};

struct st_tool_symbol {
	uint64_t start, bytes;
	const char *name;
};

struct st_tool_file {
	char *path;
	unsigned char *memory; /* as if it lay at 0: its own addresses are offsets in it */
	size_t size;           /* of it, in whole pages */
	struct st_tool_part parts[ST_TOOL_PARTS];
	size_t n_parts;
	struct st_tool_fix *fixes;
	size_t n_fixes;
	uint64_t entry;
	struct st_tool_symbol *symbols; /* functions, for naming addresses */
	char *symbol_names;
	size_t n_symbols;
	strobe_tool about;
	struct st_tool_result *results;
	strobe_column (*columns)[STROBE_MOST_COLUMNS]; /* theirs */
	size_t n_results;
};

/* Fills memory, parts, fixes and entry. 0, or -1 with *e. */
st_status st_tool_elf(struct st_tool_file *f, const struct st_tool_bytes *bytes,
                      struct st_error *e);

/* toolkit/toolresults.c: fills results, as far as the file lists any. 0, or -1 with *e. */
st_status st_tool_results(struct st_tool_file *f, const struct st_tool_bytes *bytes,
                          struct st_error *e);

/* Replaces a string's place in the tool's memory by where it is here; "" for none. False: it is no
 * string. */
bool st_tool_string(const struct st_tool_file *f, const char **s);

/* A section's header; false when it, or what it says, is not within the file. */
bool st_tool_section(const struct st_tool_bytes *b, const Elf64_Ehdr *h, uint64_t index,
                     Elf64_Shdr *s);

/* toolkit/toolsymbols.c: fills symbols, as far as the file has any. */
void st_tool_symbols(struct st_tool_file *f, const struct st_tool_bytes *bytes);

/* Says that the file is damaged, and how. Returns -1. */
st_status st_tool_damaged(const struct st_tool_file *f, const char *how, struct st_error *e);

#endif
