/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where functions are declared. The line of a function's first instruction is often that of a
 * function of a header that was inlined at its beginning.
 *
 * Only functions that stand in a unit or a namespace are found, which are all but nested ones:
 * methods and copies of them stand there, too, and refer to their declarations. To visit the types
 * and the insides of functions would take far longer.
 */
#include "symbol/declarations.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/linetable.h"

enum {
	DEEPEST = 64,           /* namespaces; the limit is for damaged files */
	MOST_UNPACKED = 4 << 20 /* bytes of .debug_info; unpacking all takes some 20 ms then */
};

struct reading {
	struct sym_declarations *d;
	Dwarf_Off seen; /* behind the entry visited last */
	bool failed;
};

static bool
declarations_add(struct reading *r, Dwarf_Die *die)
{
	struct sym_declarations *d = r->d;
	uint64_t entry;
	if ((!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges)) ||
	    !sym_entry_of(die, &entry))
		return true;
	struct sym_declaration *v = sym_grow(d->v, d->n, &d->room, sizeof *v);
	if (!v)
		return false;
	d->v = v;
	v[d->n++] = (struct sym_declaration){entry, *die};
	return true;
}

static void
declarations_read(struct reading *r, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die, next;
	if (depth > DEEPEST || dwarf_child(parent, &die) != 0)
		return;
	for (; !r->failed; die = next) {
		const int tag = dwarf_tag(&die);
		if (dwarf_dieoffset(&die) < r->seen)
			return;
		r->seen = dwarf_dieoffset(&die) + 1;
		if (tag == DW_TAG_subprogram)
			r->failed |= !declarations_add(r, &die);
		else if (tag == DW_TAG_namespace || tag == DW_TAG_module)
			declarations_read(r, &die, depth + 1);
		if (dwarf_siblingof(&die, &next) != 0)
			return;
	}
}

static int
declarations_order(const void *a, const void *b)
{
	const struct sym_declaration *x = a, *y = b;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

static const struct sym_declarations *
declarations_of(struct sym_unit *unit)
{
	Dwarf_Die split = {0};
	if (unit->declarations)
		return unit->declarations;
	unit->declarations = calloc(1, sizeof *unit->declarations);
	if (!unit->declarations)
		return NULL;
	/* With -gsplit-dwarf the functions are in a .dwo file. */
	const bool is_split =
	        dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
	        split.cu;
	struct reading r = {.d = unit->declarations};
	declarations_read(&r, is_split ? &split : &unit->die, 0);
	if (r.d->n)
		qsort(r.d->v, r.d->n, sizeof *r.d->v, declarations_order);
	return r.d;
}

void
sym_declarations_free(struct sym_declarations *d)
{
	if (d)
		free(d->v);
	free(d);
}

/* Reads a number that the entry has, or the entry that it completes or is a copy of. *cu becomes
 * the entry of the unit where it stands. */
static bool
declarations_number(Dwarf_Die *die, unsigned name, uint32_t *number, Dwarf_Die *cu)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	*number = 0;
	if (!dwarf_attr_integrate(die, name, &attribute) ||
	    dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX ||
	    !dwarf_cu_die(attribute.cu, cu, NULL, NULL, NULL, NULL, NULL, NULL))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* The path of a file, by its number in the unit of `cu`. NULL: there is none. */
static const char *
declarations_path(struct st_image *image, struct sym_unit *unit, uint64_t entry, Dwarf_Die *cu,
                  uint32_t file)
{
	struct sym_linetable *table = sym_linetable(image);
	Dwarf_Files *files;
	size_t n;
	if (table && cu->addr == unit->die.addr)
		return sym_linetable_file(image, table, entry, file);
	if (dwarf_getsrcfiles(cu, &files, &n) != 0 || file >= n)
		return NULL;
	const char *path = dwarf_filesrc(files, file, NULL, NULL);
	return path && strcmp(path, "???") != 0 ? sym_absolute_path(image, unit, path) : NULL;
}

struct question {
	struct st_image *image;
	uint64_t entry;
	struct st_line *answer;
};

static bool
declarations_answer(struct sym_unit *unit, void *context)
{
	struct question *q = context;
	const struct sym_declarations *d = declarations_of(unit);
	const struct sym_declaration wanted = {.entry = q->entry};
	struct sym_declaration *found =
	        d && d->n ? bsearch(&wanted, d->v, d->n, sizeof *d->v, declarations_order) : NULL;
	Dwarf_Die cu;
	if (!found)
		return false;
	uint32_t line, column, file; /* since DWARF 5, 0 is a file */
	declarations_number(&found->die, DW_AT_decl_column, &column, &cu);
	if (!declarations_number(&found->die, DW_AT_decl_line, &line, &cu) || !line ||
	    !declarations_number(&found->die, DW_AT_decl_file, &file, &cu))
		return false;
	const char *path = declarations_path(q->image, unit, q->entry, &cu, file);
	if (!path)
		return false;
	*q->answer = (struct st_line){.file = path, .line = line, .column = column};
	return true;
}

/* Much compressed debug information, such as that of a distribution's library, takes longer to
 * unpack than many programs run. */
static bool
declarations_too_long(struct st_image *image)
{
	const struct sym_elf *file =
	        sym_has_dwarf(&image->main) ? &image->main : sym_debug_file(image);
	GElf_Shdr header;
	GElf_Chdr compressed;
	Elf_Scn *section = file->elf ? sym_elf_section(file->elf, ".debug_info", &header) : NULL;
	return !section ||
	       ((header.sh_flags & SHF_COMPRESSED) &&
	        (!gelf_getchdr(section, &compressed) || compressed.ch_size > MOST_UNPACKED));
}

st_status
st_image_function_line(struct st_image *image, uint64_t entry, struct st_line *line)
{
	struct sym_units *units = declarations_too_long(image) ? NULL : sym_units(image);
	struct question q = {.image = image, .entry = entry, .answer = line};
	if (units && sym_units_at(units, entry, declarations_answer, &q))
		return ST_OK;
	return st_image_line(image, entry, line);
}
