/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions out of symbol tables: .symtab of the file or of its debug file, .dynsym,
 * mini-debuginfo. */
#include <string.h>

#include "symbol/internal.h"

struct table {
	Elf_Data *symbols;
	const char *names;
	size_t names_size; /* up to and with the last NUL */
	size_t n;
};

/* A string table that does not end in NUL is cut to where its last name ends. */
static bool
open_table(Elf *elf, uint32_t type, struct table *table)
{
	GElf_Shdr header;
	Elf_Scn *section = sym_elf_section_of_type(elf, type, &header);
	Elf_Scn *strings = section ? elf_getscn(elf, header.sh_link) : NULL;
	table->symbols = section ? sym_elf_content(section) : NULL;
	Elf_Data *names = strings ? sym_elf_content(strings) : NULL;
	if (!table->symbols || !names || names->d_type != ELF_T_BYTE)
		return false;
	const char *last = memrchr(names->d_buf, '\0', names->d_size);
	table->names = names->d_buf;
	table->names_size = last ? (size_t)(last - table->names) + 1 : 0;
	table->n = table->symbols->d_size / sizeof(Elf64_Sym);
	return table->symbols->d_type == ELF_T_SYM;
}

static bool
is_marker(const char *name)
{
	return name[0] == '$' || !strncmp(name, ".L", 2) || !strncmp(name, "__start_", 8) ||
	       !strncmp(name, "__stop_", 7);
}

/* Whether it may name code, by its type. */
static bool
may_be_code(const Elf64_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* Whether the symbol names code, and how it ranks among others at its address. */
static bool
rank_symbol(const Elf64_Sym *symbol, const char *name, struct sym_candidate *c)
{
	int type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
	bool function = type == STT_FUNC || type == STT_GNU_IFUNC;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
	    symbol->st_shndx == SHN_COMMON || !*name)
		return false;
	if (!may_be_code(symbol) || (!function && is_marker(name)))
		return false;
	c->untyped = !function;
	if (binding == STB_LOCAL)
		c->rank = SYM_LOCAL;
	else
		c->rank = !function ? SYM_LABEL : binding == STB_WEAK ? SYM_WEAK : SYM_GLOBAL;
	return true;
}

static bool
symbols_read_table(const struct st_image *image, Elf *elf, uint32_t type,
                   enum st_symbol_source source, struct sym_sources *sources)
{
	struct table table;
	uint32_t file = 0;

	if (!elf || !open_table(elf, type, &table))
		return false;
	const Elf64_Sym *symbols = table.symbols->d_buf;
	for (size_t i = 1; i < table.n; i++) {
		const Elf64_Sym *symbol = &symbols[i];
		if (symbol->st_name >= table.names_size)
			continue;
		if (GELF_ST_TYPE(symbol->st_info) == STT_FILE)
			file = table.names[symbol->st_name] ? (uint32_t)i : 0;
		struct sym_candidate c = {
		        .start = symbol->st_value,
		        .size = symbol->st_size,
		        .name = table.names + symbol->st_name,
		        .source = source,
		        .ifunc = GELF_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC,
		};
		if (!rank_symbol(symbol, c.name, &c) || !sym_ranges_find(&image->code, c.start))
			continue;
		if (c.rank == SYM_LOCAL)
			c.file = file;
		bool label = c.rank == SYM_LOCAL && GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE;
		if (sym_candidates_add(label ? &sources->labels : &sources->symbols, &c) != 0)
			break;
	}
	return true;
}

static bool
symbols_has_table(Elf *elf)
{
	struct table table;
	return elf && open_table(elf, SHT_SYMTAB, &table);
}

bool
sym_has_symtab(struct st_image *image)
{
	return symbols_has_table(image->main.elf) ||
	       symbols_has_table(sym_debug_file(image)->elf) ||
	       symbols_has_table(sym_mini_file(image)->elf);
}

/* A sum over where what a table exports is and how long, in any order, data left out: of a
 * library's data that a program has a copy of the tables differ. 0: no table. */
static uint64_t
sum_of_exported(Elf *elf, uint32_t type)
{
	struct table table;
	uint64_t sum = 0;
	if (!open_table(elf, type, &table))
		return 0;
	const Elf64_Sym *symbols = table.symbols->d_buf;
	for (size_t i = 1; i < table.n; i++) {
		const Elf64_Sym *s = &symbols[i];
		if (GELF_ST_BIND(s->st_info) == STB_LOCAL || s->st_shndx == SHN_UNDEF ||
		    !may_be_code(s))
			continue;
		uint64_t h = (s->st_value ^ s->st_size << 40) * 0x9e3779b97f4a7c15u;
		sum += (h ^ h >> 32) * 0xff51afd7ed558ccdu + 1;
	}
	return sum;
}

/*
 * Whether .dynsym has nothing that .symtab has not: programs that export all they have, for
 * plugins, have it twice, which is a hundred thousand symbols in large ones. With versions the
 * names differ.
 */
static bool
is_repeated(Elf *elf)
{
	GElf_Shdr header;
	uint64_t sum = sum_of_exported(elf, SHT_DYNSYM);
	return !sum || (!sym_elf_section_of_type(elf, SHT_GNU_verdef, &header) &&
	                sum == sum_of_exported(elf, SHT_SYMTAB));
}

static void
read_symbols(struct st_image *image, struct sym_sources *sources)
{
	Elf *own = image->main.elf;
	sources->has_symtab = symbols_read_table(image, own, SHT_SYMTAB, ST_SYM_SYMTAB, sources) ||
	                      symbols_read_table(image, sym_debug_file(image)->elf, SHT_SYMTAB,
	                                         ST_SYM_SYMTAB, sources) ||
	                      symbols_read_table(image, sym_mini_file(image)->elf, SHT_SYMTAB,
	                                         ST_SYM_MINIDEBUG, sources);
	if (!is_repeated(own))
		symbols_read_table(image, own, SHT_DYNSYM, ST_SYM_DYNSYM, sources);
}

const struct sym_sources *
sym_symbols(struct st_image *image)
{
	if (!image->sources.read)
		read_symbols(image, &image->sources);
	image->sources.read = true;
	return &image->sources;
}

void
sym_symbols_free(struct st_image *image)
{
	sym_candidates_free(&image->sources.symbols);
	sym_candidates_free(&image->sources.labels);
}
