/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of a tool's functions, for messages about places in it. A file without them is no worse a
 * tool. */
#include <stdlib.h>
#include <string.h>

#include "toolkit/toolelf.h"

bool
st_tool_section(const struct st_tool_bytes *b, const Elf64_Ehdr *h, uint64_t index, Elf64_Shdr *s)
{
	if (index >= h->e_shnum || h->e_shentsize != sizeof *s || h->e_shoff > b->n ||
	    index >= (b->n - h->e_shoff) / sizeof *s)
		return false;
	memcpy(s, b->at + h->e_shoff + index * sizeof *s, sizeof *s);
	return s->sh_type == SHT_NOBITS ||
	       (s->sh_offset <= b->n && s->sh_size <= b->n - s->sh_offset);
}

static void
toolsymbols_take(struct st_tool_file *f, const struct st_tool_bytes *b, const Elf64_Shdr *table,
                 const Elf64_Shdr *names)
{
	size_t n = table->sh_size / sizeof(Elf64_Sym);
	f->symbols = calloc(n + 1, sizeof *f->symbols);
	f->symbol_names = calloc(1, names->sh_size + 1);
	if (!f->symbols || !f->symbol_names)
		return;
	memcpy(f->symbol_names, b->at + names->sh_offset, names->sh_size);
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym s;
		memcpy(&s, b->at + table->sh_offset + i * sizeof s, sizeof s);
		if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF ||
		    s.st_name >= names->sh_size)
			continue;
		f->symbols[f->n_symbols++] =
		        (struct st_tool_symbol){s.st_value, s.st_size, f->symbol_names + s.st_name};
	}
}

void
st_tool_symbols(struct st_tool_file *f, const struct st_tool_bytes *b)
{
	Elf64_Ehdr h;
	Elf64_Shdr table, names;
	memcpy(&h, b->at, sizeof h);
	for (uint64_t i = 0; i < h.e_shnum; i++)
		if (st_tool_section(b, &h, i, &table) && table.sh_type == SHT_SYMTAB &&
		    st_tool_section(b, &h, table.sh_link, &names) && names.sh_type == SHT_STRTAB) {
			toolsymbols_take(f, b, &table, &names);
			return;
		}
}

const char *
st_tool_file_function(const struct st_tool_file *f, uint64_t offset, uint64_t *delta)
{
	for (size_t i = 0; i < f->n_symbols; i++) {
		*delta = offset - f->symbols[i].start;
		if (*delta < f->symbols[i].bytes)
			return f->symbols[i].name;
	}
	return NULL;
}
