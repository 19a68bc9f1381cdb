/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions out of DWARF, for files that kept their debug information but lost symbols. */
#include <dwarf.h>

#include "symbol/units.h"

/* Deeper nesting than any program has; the limit is for damaged files. */
enum { DEEPEST = 64 };

struct walk {
	struct st_image *image;
	struct sym_candidates *list;
	char scope[1024]; /* "outer::inner::" of the namespaces and classes around */
	size_t scope_length;
	Dwarf_Off seen; /* behind the entry visited last */
};

/* A function that no other unit can call has no mangled name: the scopes around it make its name
 * unique. */
static const char *
function_name(struct walk *walk, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (name && *name)
		return name;
	name = dwarf_diename(die);
	if (!name || !*name || !walk->scope_length)
		return name && *name ? name : NULL;
	return sym_string_print(walk->image, "%.*s%s", (int)walk->scope_length, walk->scope, name);
}

/* A function in several pieces has its entry in one of them; the others are what the compiler took
 * for cold. */
static void
dwarffunctions_add_function(struct walk *walk, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	uint64_t entry;
	Dwarf_Attribute attribute;
	bool external = false;
	const char *name = NULL;

	if (!sym_entry_of(die, &entry))
		return;
	if (dwarf_attr_integrate(die, DW_AT_external, &attribute))
		dwarf_formflag(&attribute, &external);
	for (ptrdiff_t next = 0; (next = dwarf_ranges(die, next, &base, &start, &end)) > 0;) {
		if (start >= end || !sym_ranges_find(&walk->image->code, start))
			continue;
		if (!name && !(name = function_name(walk, die)))
			return;
		struct sym_candidate c = {
		        .start = start,
		        .size = end - start,
		        .name = name,
		        .source = ST_SYM_DWARF,
		        .rank = external ? SYM_GLOBAL : SYM_LOCAL,
		};
		if (start != entry) {
			c.whole = entry;
			c.name = sym_string_print(walk->image, "%s.cold", name);
		}
		ST_IGNORE(sym_candidates_add(walk->list, &c));
	}
}

static bool
may_hold_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static bool
is_scope(int tag)
{
	return may_hold_functions(tag) && tag != DW_TAG_subprogram && tag != DW_TAG_lexical_block;
}

/* Adds the name of a namespace or class to the scope; returns the length to go back to. */
static size_t
dwarffunctions_enter(struct walk *walk, Dwarf_Die *die, int tag)
{
	size_t before = walk->scope_length, room = sizeof walk->scope - before;
	const char *name = dwarf_diename(die);
	if (!is_scope(tag))
		return before;
	if (!name)
		name = tag == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
	int n = snprintf(walk->scope + before, room, "%s::", name);
	if (n > 0 && (size_t)n < room)
		walk->scope_length += (size_t)n;
	return before;
}

/*
 * Goes through the entries in the order in which they stand. Damaged references to siblings could
 * lead back and make the way exponentially long, so what has been seen ends it.
 */
static void
walk_children(struct walk *walk, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die, next;
	if (depth > DEEPEST || dwarf_child(parent, &die) != 0)
		return;
	for (;; die = next) {
		int tag = dwarf_tag(&die);
		if (dwarf_dieoffset(&die) < walk->seen)
			return;
		walk->seen = dwarf_dieoffset(&die) + 1;
		if (tag == DW_TAG_subprogram)
			dwarffunctions_add_function(walk, &die);
		if (may_hold_functions(tag)) {
			size_t before = dwarffunctions_enter(walk, &die, tag);
			walk_children(walk, &die, depth + 1);
			walk->scope_length = before;
		}
		if (dwarf_siblingof(&die, &next) != 0)
			return;
	}
}

static bool
read_unit(struct sym_unit *unit, void *context)
{
	struct walk *walk = context;
	Dwarf_Die split = {0};
	Dwarf_Die *die = &unit->die;

	if (!unit->functions_read) {
		unit->functions_read = true;
		/* With -gsplit-dwarf the functions are in a .dwo file. */
		if (dwarf_cu_info(die->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
		    split.cu)
			die = &split;
		walk->seen = 0;
		walk_children(walk, die, 0);
	}
	return false;
}

void
sym_read_dwarf_functions(struct st_image *image, const struct sym_ranges *wanted,
                         struct sym_candidates *list)
{
	struct walk walk = {.image = image, .list = list};
	struct sym_units *units = sym_units(image);
	if (!units)
		return;
	for (size_t i = 0; !wanted && i < units->n; i++)
		read_unit(&units->v[i], &walk);
	for (size_t i = 0; wanted && i < wanted->n; i++)
		sym_units_at(units, wanted->v[i].start, read_unit, &walk);
}
