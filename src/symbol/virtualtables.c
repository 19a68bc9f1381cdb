/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the class of a virtual table, and the places where functions are inlined. */
#include <fnmatch.h>

#include "symbol/scopes.h"
#include "symbol/types.h"

/* The demangled name without "vtable for "; NULL: the symbol is not that of a virtual table. */
static const char *
class_of_symbol(struct st_image *image, const char *raw)
{
	static const char prefix[] = "vtable for ";
	char *name = !strncmp(raw, "_ZTV", 4) ? st_demangle(raw) : NULL;
	const char *kept = NULL;
	if (name && !strncmp(name, prefix, sizeof prefix - 1))
		kept = sym_string_keep(image, name + sizeof prefix - 1,
		                       strlen(name) - (sizeof prefix - 1));
	free(name);
	return kept;
}

static const char *
class_in_table(struct st_image *image, Elf *elf, uint32_t type, uint64_t address)
{
	GElf_Shdr header;
	Elf_Scn *section = elf ? sym_elf_section_of_type(elf, type, &header) : NULL;
	Elf_Data *data = section ? sym_elf_content(section) : NULL;
	const size_t n = data ? data->d_size / sizeof(Elf64_Sym) : 0;
	for (size_t i = 1; i < n; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol.st_info) != STT_OBJECT ||
		    address - symbol.st_value >= symbol.st_size)
			continue;
		const char *raw = elf_strptr(elf, header.sh_link, symbol.st_name);
		const char *name = raw ? class_of_symbol(image, raw) : NULL;
		if (name)
			return name;
	}
	return NULL;
}

const char *
st_image_class_at(struct st_image *image, uint64_t address)
{
	Elf *const elves[] = {image->main.elf, sym_debug_file(image)->elf};
	const char *name = NULL;
	for (size_t i = 0; !name && i < sizeof elves / sizeof *elves; i++) {
		name = class_in_table(image, elves[i], SHT_SYMTAB, address);
		if (!name)
			name = class_in_table(image, elves[i], SHT_DYNSYM, address);
	}
	return name;
}

/* ---- inlined functions ---- */

static bool
inlined_name_fits(const char *pattern, const char *name)
{
	char plain[1024];
	const char *end = strchr(name, '(');
	if (!fnmatch(pattern, name, 0))
		return true;
	if (!end || (size_t)(end - name) >= sizeof plain)
		return false;
	memcpy(plain, name, (size_t)(end - name));
	plain[end - name] = '\0';
	return !fnmatch(pattern, plain, 0);
}

struct inlined_search {
	struct st_image *image;
	const char *pattern;
	bool (*use)(void *arg, const struct st_inlined_at *place);
	void *arg;
};

static bool
look_in_unit(struct inlined_search *search, struct sym_unit *unit)
{
	struct sym_scopes *s = sym_scopes(search->image, unit);
	for (size_t i = 0; s && i < s->segments_n; i++) {
		const uint64_t at = s->segments[i].start;
		struct st_inlined inlined[16];
		if (s->segments[i].scope == SYM_NO_SCOPE || !s->v[s->segments[i].scope].inlined)
			continue;
		const size_t n = st_image_inlined(search->image, at, inlined, 16);
		for (size_t j = 0; j < n && j < 16; j++) {
			if (!inlined_name_fits(search->pattern, inlined[j].name))
				continue;
			const struct st_function *f = st_image_function(search->image, at);
			const struct st_inlined_at place = {inlined[j].name, f ? f->name : "?", at};
			if (!search->use(search->arg, &place))
				return false;
		}
	}
	return true;
}

void
st_image_inlined_places(struct st_image *image, const char *pattern,
                        bool (*use)(void *arg, const struct st_inlined_at *place), void *arg)
{
	struct inlined_search search = {image, pattern, use, arg};
	struct sym_units *units = sym_units(image);
	for (size_t i = 0; units && i < units->n; i++)
		if (!look_in_unit(&search, &units->v[i]))
			return;
}
