/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declarations for the files of this folder. Other folders include symbol.h only. */
#ifndef STROBE_SYMBOL_INTERNAL_H
#define STROBE_SYMBOL_INTERNAL_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>

#include "base/status.h"
#include "symbol/symbol.h"

/* [start, end) of link-time addresses. */
struct sym_range {
	uint64_t start;
	uint64_t end;
};

/* Ranges ordered by start. */
struct sym_ranges {
	struct sym_range *v;
	size_t n;
	size_t room;
};

/* Something that may become a function: a symbol, a PLT stub, a DWARF subprogram, an FDE. */
struct sym_candidate {
	uint64_t start;
	uint64_t size; /* 0: unknown */
	const char *name;
	enum st_symbol_source source;
	uint8_t rank; /* enum sym_rank: the lower the better */
	bool untyped;
	bool ifunc;
	uint32_t file; /* of a local symbol: number of the source file that it came from; 0: unknown
	                */
	uint64_t whole; /* entry of the function that this is a part of; 0: none is known */
};

enum sym_rank {
	SYM_GLOBAL,
	SYM_WEAK,
	SYM_LOCAL,
	SYM_LABEL, /* a global symbol without a type, in code */
};

struct sym_candidates {
	struct sym_candidate *v;
	size_t n;
	size_t room;
};

/* Functions and labels from symbol tables. */
struct sym_sources {
	struct sym_candidates symbols; /* functions and global labels in code */
	struct sym_candidates labels;  /* local labels in code: for what nothing else covers */
	bool has_symtab;               /* there is a full table, or mini-debuginfo */
	bool read;
};

/* A further name of the function that begins at start. */
struct sym_alias {
	uint64_t start;
	const char *raw_name, *name; /* name: demangled, when it has been asked for */
};

struct sym_aliases {
	struct sym_alias *v; /* ordered by start, then by raw_name */
	size_t n;
	size_t room;
};

/* The functions, ordered, without overlaps. names are filled when first asked for. */
struct sym_functions {
	struct st_function *v;
	size_t n;
	struct sym_aliases aliases; /* of the symbols that did not give a function its name */
	bool built;
	bool named;
};

/* All names, ordered. */
struct sym_names {
	struct st_symbol *v;
	size_t n;
	size_t room;
	bool built;
};

/* One ELF file under our eyes: the image itself, its separate debug file, its mini-debuginfo. */
struct sym_elf {
	Elf *elf;     /* NULL: there is none */
	void *memory; /* the content when it does not come from a file; ours to free */
	char *path;
};

struct sym_string_chunk;
struct sym_units;
struct sym_unwind;
struct sym_linetable;
struct sym_parts;
struct sym_types;

struct st_image {
	char *path;
	char *build_id;
	bool copied; /* its files are read into memory, not mapped */
	struct sym_elf main;
	struct sym_elf debug;
	struct sym_elf mini;
	bool debug_sought;
	bool mini_sought;
	/* Executable sections; without section headers, executable segments. */
	struct sym_ranges code;
	struct sym_sources sources;
	struct sym_functions functions; /* of the symbols and the PLT */
	struct sym_functions complete;  /* made when an address is in none of those */
	struct sym_names names;
	struct sym_parts *parts;
	struct st_slot *slots;
	size_t n_slots;
	bool slots_read;
	Dwarf *dwarf;
	Dwarf *alternate; /* the file that dwz moved common parts to */
	int alternate_fd;
	bool dwarf_sought;
	struct sym_units *units;
	struct sym_unwind *unwind;
	struct sym_types *types;
	struct sym_linetable *lines;
	bool lines_sought;
	struct sym_string_chunk *strings;
};

/* image.c: where n bytes of code lie in memory, without a copy; NULL: not all in one segment. */
const uint8_t *sym_image_code(const struct st_image *image, uint64_t offset, uint64_t n);

/* elf.c: opening files and memory as ELF, sections by name and type. */
st_status sym_elf_open(struct sym_elf *file, const char *path, struct st_error *e);
/* The same of what the file is now, whatever becomes of it; not of files of more than 256 MB. */
st_status sym_elf_copy(struct sym_elf *file, const char *path, struct st_error *e);
st_status sym_elf_from_memory(struct sym_elf *file, void *memory, size_t size);
void sym_elf_close(struct sym_elf *file);
Elf_Scn *sym_elf_section(Elf *elf, const char *name, GElf_Shdr *header);
Elf_Scn *sym_elf_section_of_type(Elf *elf, uint32_t type, GElf_Shdr *header);
bool sym_elf_has_section(const struct sym_elf *file, const char *name);
/* The content of a section as it stands in the file, decompressed when it is compressed; NULL when
 * damaged. */
Elf_Data *sym_elf_content(Elf_Scn *section);

/* ranges.c: sorted ranges and code in them. */
st_status sym_ranges_add(struct sym_ranges *ranges, uint64_t start, uint64_t end);
/* Orders ranges and cuts each where the next one starts, so that they do not overlap. */
void sym_ranges_settle(struct sym_ranges *ranges);
const struct sym_range *sym_ranges_find(const struct sym_ranges *ranges, uint64_t address);
/* The first range that starts behind address, or NULL. */
const struct sym_range *sym_ranges_after(const struct sym_ranges *ranges, uint64_t address);
void sym_ranges_free(struct sym_ranges *ranges);

/* Room for one more element in a vector; NULL when memory is out. */
void *sym_grow(void *v, size_t n, size_t *room, size_t element);
st_status sym_candidates_add(struct sym_candidates *list, const struct sym_candidate *candidate);
void sym_candidates_free(struct sym_candidates *list);

/* strings.c: strings that live as long as the image; NULL when memory is out. */
const char *sym_string_keep(struct st_image *image, const char *text, size_t length);
__attribute__((format(printf, 2, 3))) const char *sym_string_print(struct st_image *image,
                                                                   const char *format, ...);
void sym_strings_free(struct st_image *image);

/* held.c: whether a file is held under the path; *fd: opened again, -1: it cannot be opened. */
bool sym_held_open(const char *path, int *fd);

/* buildid.c */
char *sym_build_id(Elf *elf); /* hex; NULL when there is none */
st_status sym_file_crc(const char *path, uint32_t *crc);

/* debugfile.c, minidebug.c: find on first use, remember what was found. file->elf is NULL when
 * there is none. */
const struct sym_elf *sym_debug_file(struct st_image *image);
const struct sym_elf *sym_mini_file(struct st_image *image);
/* Tells a Dwarf where its dwz companion is. */
void sym_set_alternate(struct st_image *image, Dwarf *dwarf, const char *path);

/* debuginfod.c: a debug file from a server, its path malloc'ed; false: none, or not asked for. */
bool sym_debuginfod_find(const char *build_id, char **path);

/* symbols.c: what the symbol tables of an image say, read once. */
const struct sym_sources *sym_symbols(struct st_image *image);
bool sym_has_symtab(struct st_image *image);
void sym_symbols_free(struct st_image *image);

/* entrystate.c: whether the CIE is for the returns of signals; whether the code of an FDE of it,
 * whose instructions are given, begins in the middle of a function's frame. */
bool sym_is_signal_frame(const Dwarf_CIE *cie);
bool sym_begins_inside(const Dwarf_CIE *cie, const uint8_t *from, const uint8_t *end);

/* ehframe.c, plt.c, dwarffunctions.c: candidates ordered by start. inner (may be NULL) receives the
 * frames that begin in the middle of a function's, signals (may be NULL) those of signals' returns.
 */
void sym_read_ehframe(struct st_image *image, struct sym_ranges *frames, struct sym_ranges *inner,
                      struct sym_ranges *signals);
/* Calls use for each frame that has an exception table, with where its code begins, and the table's
 * address. False: some of them cannot be found. */
bool sym_exception_tables(struct st_image *image,
                          void (*use)(void *context, uint64_t start, uint64_t table),
                          void *context);
void sym_read_plt(struct st_image *image, struct sym_candidates *stubs);
/* Subprograms of the units that hold an address in wanted, or of all units when wanted is NULL. */
void sym_read_dwarf_functions(struct st_image *image, const struct sym_ranges *wanted,
                              struct sym_candidates *list);

/* table.c: making a table without overlaps out of candidates. */
void sym_table_choose(struct sym_functions *table, const struct sym_candidates *list);
void sym_table_settle(struct sym_functions *table, const struct sym_ranges *frames,
                      const struct sym_ranges *code);
void sym_table_fill(struct sym_functions *table, const struct sym_candidates *list,
                    const struct sym_ranges *frames, const struct sym_ranges *code);
struct st_function *sym_table_find(const struct sym_functions *table, uint64_t address);
void sym_table_free(struct sym_functions *table);

/* functions.c: the whole table, without demangled names. */
const struct sym_functions *sym_all_functions(struct st_image *image);

/* parts.c: the entry of the function that f is, or is a part of; what names say of parts. */
uint64_t sym_whole(struct st_image *image, const struct st_function *f);
bool sym_is_cold(const char *name);
void sym_parts_free(struct sym_parts *parts);

/* jumps.c: finds the function of each range out of .eh_frame that is only a part of one, by who
 * jumps there and where it jumps. */
void sym_join_parts(struct st_image *image, struct sym_functions *table,
                    const struct sym_ranges *inner);

/* dwarf.c: the debug information, of the file itself or of its separate debug file; NULL when there
 * is none. */
bool sym_has_dwarf(const struct sym_elf *file);
Dwarf *sym_dwarf(struct st_image *image);
void sym_dwarf_close(struct st_image *image);

/* unwind.c */
void sym_unwind_free(struct st_image *image);

#endif
