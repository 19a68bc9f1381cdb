/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads types from DWARF, each when it is first needed. */
#include "symbol/types.h"

#include <dwarf.h>

#include "symbol/typeread.h"

enum { MOST_QUALIFIERS = 64 };

struct sym_types *
sym_types_of(struct st_image *image)
{
	if (!image->types)
		image->types = calloc(1, sizeof *image->types);
	return image->types;
}

void
sym_types_free(struct sym_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->types.n; i++) {
		free(types->types.v[i]->type.members.v);
		free(types->types.v[i]->type.enumerators.v);
		free(types->types.v[i]);
	}
	for (size_t i = 0; i < types->signatures.n; i++) {
		free(types->signatures.v[i]->signature.parameters.v);
		free(types->signatures.v[i]);
	}
	for (size_t i = 0; i < types->globals.n; i++) {
		free(types->globals.v[i]->list.v);
		free(types->globals.v[i]);
	}
	free(types->types.v);
	free(types->signatures.v);
	free(types->globals.v);
	st_hashmap_free(&types->by_die);
	st_hashmap_free(&types->by_entry);
	st_hashmap_free(&types->by_unit);
	free(types);
}

bool
sym_die_number(Dwarf_Die *die, unsigned attribute, int64_t *value)
{
	Dwarf_Attribute found;
	Dwarf_Sword number;
	Dwarf_Word word;
	if (!dwarf_attr_integrate(die, attribute, &found))
		return false;
	/* Only these two forms have a sign. */
	if (dwarf_whatform(&found) == DW_FORM_sdata ||
	    dwarf_whatform(&found) == DW_FORM_implicit_const) {
		if (dwarf_formsdata(&found, &number) != 0)
			return false;
		*value = number;
		return true;
	}
	if (dwarf_formudata(&found, &word) != 0)
		return false;
	*value = (int64_t)word;
	return true;
}

bool
sym_is_rust(Dwarf_Die *unit)
{
	int64_t language = 0;
	return sym_die_number(unit, DW_AT_language, &language) && language == DW_LANG_Rust;
}

bool
sym_die_flag(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	bool value = false;
	return dwarf_attr_integrate(die, attribute, &found) &&
	       dwarf_formflag(&found, &value) == 0 && value;
}

/* ---- names ---- */

static bool
type_entry_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;
	if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
	    !dwarf_formref_die(&attribute, type))
		return false;
	/* It is only declared here, and described in a unit for this type (-fdebug-types-section).
	 */
	if (dwarf_attr(type, DW_AT_signature, &attribute) && dwarf_formref_die(&attribute, &unit))
		*type = unit;
	return true;
}

static const char *
suffix_of(int tag)
{
	return tag == DW_TAG_pointer_type ? " *" : tag == DW_TAG_reference_type ? " &" : " &&";
}

/* The name of the type of an entry. */
static const char *
name_of_type(struct st_image *image, Dwarf_Die *die, int depth)
{
	enum { DEEPEST_NAME = 16 };
	Dwarf_Die type;
	if (!type_entry_of(die, &type))
		return "void";
	const char *name = dwarf_diename(&type), *inner;
	if (name || depth > DEEPEST_NAME)
		return name ? name : "...";
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		inner = name_of_type(image, &type, depth + 1);
		name = sym_string_print(image, "%s%s", inner, suffix_of(dwarf_tag(&type)));
		break;
	case DW_TAG_const_type:
		inner = name_of_type(image, &type, depth + 1);
		name = sym_string_print(image, "const %s", inner);
		break;
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		return name_of_type(image, &type, depth + 1);
	case DW_TAG_array_type:
		inner = name_of_type(image, &type, depth + 1);
		name = sym_string_print(image, "%s[]", inner);
		break;
	case DW_TAG_subroutine_type:
		return "function";
	default:
		return "(unnamed)";
	}
	return name ? name : "...";
}

/* ---- kinds of types ---- */

/* Skips typedefs and qualifiers. False: the type is void, or has too many of them. */
static bool
peel(Dwarf_Die *type)
{
	for (int i = 0; i < MOST_QUALIFIERS; i++)
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!type_entry_of(type, type))
				return false;
			break;
		default:
			return true;
		}
	return false;
}

static enum st_type_kind
kind_of_base(Dwarf_Die *die, const char *name)
{
	int64_t encoding = 0;
	sym_die_number(die, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_signed:
		return ST_TYPE_SIGNED;
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
		return ST_TYPE_UNSIGNED;
	case DW_ATE_signed_char:
		return name && !strcmp(name, "char") ? ST_TYPE_CHAR : ST_TYPE_SIGNED;
	case DW_ATE_unsigned_char:
		return name && !strcmp(name, "char") ? ST_TYPE_CHAR : ST_TYPE_UNSIGNED;
	case DW_ATE_boolean:
		return ST_TYPE_BOOL;
	case DW_ATE_float:
		return ST_TYPE_FLOAT;
	case DW_ATE_complex_float:
		return ST_TYPE_COMPLEX;
	default:
		return ST_TYPE_UNKNOWN;
	}
}

static enum st_type_kind
kind_of_type(Dwarf_Die *die, const char *name)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		return kind_of_base(die, name);
	case DW_TAG_enumeration_type:
		return ST_TYPE_ENUM;
	case DW_TAG_pointer_type:
		return ST_TYPE_POINTER;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return ST_TYPE_REFERENCE;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return ST_TYPE_STRUCT;
	case DW_TAG_union_type:
		return ST_TYPE_UNION;
	case DW_TAG_array_type:
		return sym_die_flag(die, DW_AT_GNU_vector) ? ST_TYPE_VECTOR : ST_TYPE_ARRAY;
	default:
		return ST_TYPE_UNKNOWN;
	}
}

/* The number of elements in all dimensions; 0: a dimension has no constant bound. */
static uint64_t
count_elements(Dwarf_Die *array)
{
	Dwarf_Die die;
	uint64_t count = 1;
	if (dwarf_child(array, &die) != 0)
		return 0;
	do {
		int64_t n, bound;
		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		if (!sym_die_number(&die, DW_AT_count, &n)) {
			if (!sym_die_number(&die, DW_AT_upper_bound, &bound))
				return 0;
			n = bound + 1;
		}
		if (n <= 0 || __builtin_mul_overflow(count, (uint64_t)n, &count))
			return 0;
	} while (dwarf_siblingof(&die, &die) == 0);
	return count;
}

static void
describe_type(struct st_image *image, struct sym_type *t)
{
	int64_t size;
	t->type.name = dwarf_diename(&t->die);
	t->type.kind = kind_of_type(&t->die, t->type.name);
	/* Not of the declaration that its description may complete (DW_AT_specification). */
	t->type.is_declaration = dwarf_hasattr(&t->die, DW_AT_declaration);
	if (sym_die_number(&t->die, DW_AT_byte_size, &size) && size > 0)
		t->type.size = (uint64_t)size;
	switch (t->type.kind) {
	case ST_TYPE_POINTER:
	case ST_TYPE_REFERENCE:
		t->type.size = 8;
		t->type.target = sym_type_of(image, &t->die, &t->type.target_name);
		break;
	case ST_TYPE_ARRAY:
	case ST_TYPE_VECTOR:
		t->type.target = sym_type_of(image, &t->die, &t->type.target_name);
		t->type.count = count_elements(&t->die);
		if (t->type.target && !t->type.size &&
		    __builtin_mul_overflow(t->type.count, t->type.target->size, &t->type.size))
			t->type.size = 0;
		break;
	default:
		break;
	}
}

struct st_type *
sym_type_of(struct st_image *image, Dwarf_Die *die, const char **name)
{
	struct sym_types *all = sym_types_of(image);
	Dwarf_Die type;
	*name = name_of_type(image, die, 0);
	if (!all || !type_entry_of(die, &type) || !peel(&type))
		return NULL;
	const uint32_t hash = st_hash_number((uintptr_t)type.addr);
	const uint32_t found =
	        ST_HASHMAP_FIND(&all->by_die, hash, at, all->types.v[at]->die.addr == type.addr);
	if (found != ST_HASHMAP_NONE)
		return &all->types.v[found]->type;
	struct sym_type *new = calloc(1, sizeof *new), **slot = new ? ST_PUSH(&all->types) : NULL;
	if (!slot || st_hashmap_add(&all->by_die, hash, (uint32_t)all->types.n - 1)) {
		all->types.n -= slot != NULL;
		free(new);
		return NULL;
	}
	*slot = new;
	new->die = type;
	/* A type that leads back to itself finds itself in the map. */
	describe_type(image, new);
	return &new->type;
}

bool
st_image_has_debug_information(struct st_image *image)
{
	return sym_dwarf(image) != NULL;
}
