/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PLT stubs. Linkers lay them out in many ways (lazy or not, with endbr64, .plt.sec, .plt.got,
 * IFUNC stubs of static programs), but each jumps through a slot that a relocation fills, so the
 * jump names the symbol.
 */
#include <stdlib.h>
#include <string.h>

#include "symbol/internal.h"

struct slots {
	struct st_slot *v;
	size_t n;
	size_t room;
	const char **lazy; /* symbol by index in .rela.plt: what a lazy stub pushes */
	size_t lazy_n;
};

static const char *
symbol_name(Elf *elf, uint32_t symbols, uint64_t index)
{
	GElf_Shdr header;
	GElf_Sym symbol;
	Elf_Scn *section = elf_getscn(elf, symbols);
	Elf_Data *data =
	        section && gelf_getshdr(section, &header) &&
	                        (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB)
	                ? sym_elf_content(section)
	                : NULL;
	if (!data || index > INT32_MAX || !gelf_getsym(data, (int)index, &symbol))
		return NULL;
	const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
	return name && *name ? name : NULL;
}

static const char *
resolver_name(struct st_image *image, uint64_t resolver)
{
	const struct st_function *f = sym_table_find(&image->functions, resolver);
	if (!f || f->offset != resolver)
		return sym_string_print(image, "*ABS*+%#llx", (unsigned long long)resolver);
	return sym_string_keep(image, f->raw_name, strcspn(f->raw_name, "@"));
}

static st_status
add_slot_plt(struct st_image *image, struct slots *slots, uint32_t symbols, const GElf_Rela *rela)
{
	struct st_slot slot = {.address = rela->r_offset};
	uint64_t type = GELF_R_TYPE(rela->r_info);

	if (type == R_X86_64_IRELATIVE) {
		slot.resolver = (uint64_t)rela->r_addend;
		slot.symbol = resolver_name(image, slot.resolver);
	} else if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) {
		slot.symbol = symbol_name(image->main.elf, symbols, GELF_R_SYM(rela->r_info));
	}
	if (!slot.symbol)
		return 0;
	struct st_slot *v = sym_grow(slots->v, slots->n, &slots->room, sizeof *v);
	if (!v)
		return -1;
	slots->v = v;
	v[slots->n++] = slot;
	return 0;
}

static int
by_address(const void *a, const void *b)
{
	const struct st_slot *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static const char *
slot_symbol(const struct slots *slots, uint64_t address)
{
	const struct st_slot key = {.address = address};
	const struct st_slot *found =
	        slots->n ? bsearch(&key, slots->v, slots->n, sizeof key, by_address) : NULL;
	return found ? found->symbol : NULL;
}

/* lazy[i] is the slot of relocation i of .rela.plt; filled once the slots are in order. */
static void
read_lazy(struct st_image *image, struct slots *slots)
{
	GElf_Shdr header;
	GElf_Rela rela;
	Elf_Scn *section = sym_elf_section(image->main.elf, ".rela.plt", &header);
	Elf_Data *data = section ? sym_elf_content(section) : NULL;
	size_t n = data ? data->d_size / sizeof(Elf64_Rela) : 0;

	slots->lazy = n ? calloc(n, sizeof *slots->lazy) : NULL;
	for (size_t i = 0; slots->lazy && i < n; i++, slots->lazy_n++)
		if (gelf_getrela(data, (int)i, &rela))
			slots->lazy[i] = slot_symbol(slots, rela.r_offset);
}

static void
read_slots(struct st_image *image, struct slots *slots)
{
	GElf_Shdr header;
	GElf_Rela rela;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(image->main.elf, s));) {
		if (!gelf_getshdr(s, &header) || header.sh_type != SHT_RELA ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		Elf_Data *data = sym_elf_content(s);
		size_t n = data ? data->d_size / sizeof(Elf64_Rela) : 0;
		for (size_t i = 0; i < n; i++)
			if (gelf_getrela(data, (int)i, &rela) &&
			    add_slot_plt(image, slots, header.sh_link, &rela) != 0)
				return;
	}
	if (slots->n)
		qsort(slots->v, slots->n, sizeof *slots->v, by_address);
	read_lazy(image, slots);
}

static bool
starts(const uint8_t **code, const uint8_t *end, const char *bytes, size_t n)
{
	if ((size_t)(end - *code) < n || memcmp(*code, bytes, n) != 0)
		return false;
	*code += n;
	return true;
}

static int32_t
plt_number_at(const uint8_t *code)
{
	int32_t number;
	memcpy(&number, code, sizeof number);
	return number;
}

/*
 * The symbol of the stub at code, or NULL: [endbr64] [mov $index, %r11d] [bnd] jmp *slot(%rip), or,
 * with .plt.sec, the lazy half of a stub: endbr64; push $index.
 */
static const char *
stub_symbol(const struct slots *slots, const uint8_t *code, const uint8_t *end, uint64_t address)
{
	const uint8_t *start = code;
	bool endbr = starts(&code, end, "\xf3\x0f\x1e\xfa", 4);

	if (endbr && end - code >= 5 && code[0] == 0x68) {
		uint32_t index = (uint32_t)plt_number_at(code + 1);
		return index < slots->lazy_n ? slots->lazy[index] : NULL;
	}
	if (end - code >= 6 && starts(&code, end, "\x41\xbb", 2))
		code += 4;
	starts(&code, end, "\xf2", 1);
	if (end - code < 6 || code[0] != 0xff || code[1] != 0x25)
		return NULL;
	uint64_t after = address + (uint64_t)(code + 6 - start);
	return slot_symbol(slots, after + (uint64_t)(int64_t)plt_number_at(code + 2));
}

static void
add_stub(struct st_image *image, struct sym_candidates *stubs, uint64_t start, const char *symbol)
{
	struct sym_candidate c = {.start = start, .source = ST_SYM_PLT, .rank = SYM_LOCAL};
	c.name = sym_string_print(image, "%s@plt", symbol);
	ST_IGNORE(sym_candidates_add(stubs, &c));
}

/* Stubs stand at multiples of 8. What stands before the first one is the way into the dynamic
 * linker that lazy ones take. */
static void
read_section(struct st_image *image, const struct slots *slots, Elf_Scn *section,
             struct sym_candidates *stubs)
{
	GElf_Shdr header;
	Elf_Data *data = sym_elf_content(section);
	size_t before = stubs->n;

	if (!data || !gelf_getshdr(section, &header))
		return;
	const uint8_t *code = data->d_buf, *end = code + data->d_size;
	for (size_t at = 0; at + 8 <= data->d_size; at += 8) {
		const char *symbol = stub_symbol(slots, code + at, end, header.sh_addr + at);
		if (symbol && stubs->n == before && at > 0)
			add_stub(image, stubs, header.sh_addr, "PLT0");
		if (symbol)
			add_stub(image, stubs, header.sh_addr + at, symbol);
	}
	/* Each is as long as the way to the next one. */
	for (size_t i = before; i < stubs->n; i++) {
		uint64_t next =
		        i + 1 < stubs->n ? stubs->v[i + 1].start : header.sh_addr + data->d_size;
		stubs->v[i].size = next - stubs->v[i].start;
	}
}

static bool
holds_stubs(const char *name)
{
	return name &&
	       (!strcmp(name, ".iplt") || !strcmp(name, ".plt") || !strncmp(name, ".plt.", 5));
}

void
sym_read_plt(struct st_image *image, struct sym_candidates *stubs)
{
	struct slots slots = {0};
	GElf_Shdr header;
	size_t names;
	Elf *elf = image->main.elf;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	read_slots(image, &slots);
	for (Elf_Scn *s = NULL; slots.n && (s = elf_nextscn(elf, s));)
		if (gelf_getshdr(s, &header) && (header.sh_flags & SHF_EXECINSTR) &&
		    holds_stubs(elf_strptr(elf, names, header.sh_name)))
			read_section(image, &slots, s, stubs);
	free(slots.v);
	free(slots.lazy);
}

const struct st_slot *
st_image_slots(struct st_image *image, size_t *n)
{
	if (!image->slots_read) {
		struct slots slots = {0};
		/* Resolvers have their names from the functions. */
		sym_all_functions(image);
		read_slots(image, &slots);
		free(slots.lazy);
		image->slots = slots.v;
		image->n_slots = slots.n;
		image->slots_read = true;
	}
	*n = image->n_slots;
	return image->slots;
}
