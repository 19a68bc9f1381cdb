/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the members, base classes and enumerators of types. */
#include <dwarf.h>

#include "symbol/typeread.h"

/* The offset of a member; it may be an expression that adds a constant. */
static bool
constant_offset(Dwarf_Die *die, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;
	Dwarf_Op *expression;
	size_t n;
	*offset = 0;
	if (!dwarf_attr_integrate(die, DW_AT_data_member_location, &attribute))
		return true; /* a member of a union */
	if (dwarf_formudata(&attribute, &word) == 0) {
		*offset = word;
		return true;
	}
	if (dwarf_getlocation(&attribute, &expression, &n) == 0 && n == 1 &&
	    expression[0].atom == DW_OP_plus_uconst) {
		*offset = expression[0].number;
		return true;
	}
	return false;
}

/* The Itanium ABI expresses the offset of a virtual base as: dup, deref, constant, minus, deref,
 * plus. */
static bool
virtual_offset(Dwarf_Die *die, uint64_t *at)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *e;
	size_t n;
	if (!dwarf_attr_integrate(die, DW_AT_data_member_location, &attribute) ||
	    dwarf_getlocation(&attribute, &e, &n) != 0 || n != 6 || e[0].atom != DW_OP_dup ||
	    e[1].atom != DW_OP_deref || e[3].atom != DW_OP_minus || e[4].atom != DW_OP_deref ||
	    e[5].atom != DW_OP_plus)
		return false;
	if (e[2].atom >= DW_OP_lit0 && e[2].atom <= DW_OP_lit31)
		*at = e[2].atom - DW_OP_lit0;
	else
		*at = e[2].number;
	return true;
}

/* DWARF 2 and 3 count the bits of a field from the other end of the storage unit. */
static void
read_bit_field(Dwarf_Die *die, struct st_member *m)
{
	int64_t bits, at;
	if (!sym_die_number(die, DW_AT_bit_size, &bits) || bits <= 0 || bits > 64)
		return;
	m->bits = (uint32_t)bits;
	if (sym_die_number(die, DW_AT_data_bit_offset, &at) && at >= 0) {
		m->offset += (uint64_t)at / 8;
		m->bit_offset = (uint32_t)(at % 8);
	} else if (sym_die_number(die, DW_AT_bit_offset, &at)) {
		int64_t size = m->type ? (int64_t)m->type->size : 0;
		sym_die_number(die, DW_AT_byte_size, &size);
		const int64_t low = size * 8 - at - bits;
		m->offset += (uint64_t)(low > 0 ? low / 8 : 0);
		m->bit_offset = (uint32_t)(low > 0 ? low % 8 : 0);
	}
}

static void
add_member(struct st_image *image, struct sym_type *t, Dwarf_Die *die, bool is_base)
{
	struct st_member m = {.name = dwarf_diename(die), .is_base = is_base};
	int64_t virtuality = 0;
	if (sym_die_flag(die, DW_AT_external) || sym_die_flag(die, DW_AT_declaration))
		return; /* a static member */
	m.type = sym_type_of(image, die, &m.type_name);
	m.is_artificial = sym_die_flag(die, DW_AT_artificial);
	m.is_virtual = is_base && sym_die_number(die, DW_AT_virtuality, &virtuality) && virtuality;
	if (m.is_virtual ? !virtual_offset(die, &m.virtual_at) : !constant_offset(die, &m.offset)) {
		t->type.unread = "a member whose place is computed";
		return;
	}
	read_bit_field(die, &m);
	struct st_member *slot = ST_PUSH(&t->type.members);
	if (slot)
		*slot = m;
	else
		t->type.unread = "a member for which no memory was left";
}

static void
add_enumerator(struct sym_type *t, Dwarf_Die *die)
{
	struct st_enumerator e = {.name = dwarf_diename(die)};
	if (!e.name || !sym_die_number(die, DW_AT_const_value, &e.value))
		return;
	struct st_enumerator *slot = ST_PUSH(&t->type.enumerators);
	if (slot)
		*slot = e;
}

void
st_type_open(struct st_image *image, struct st_type *type)
{
	struct sym_type *t = (struct sym_type *)type;
	Dwarf_Die die;
	if (t->is_opened)
		return;
	t->is_opened = true;
	if ((type->kind != ST_TYPE_STRUCT && type->kind != ST_TYPE_UNION &&
	     type->kind != ST_TYPE_ENUM) ||
	    dwarf_child(&t->die, &die) != 0)
		return;
	Dwarf_Off seen = 0;
	do {
		if (dwarf_dieoffset(&die) < seen)
			return; /* a damaged file */
		seen = dwarf_dieoffset(&die) + 1;
		switch (dwarf_tag(&die)) {
		case DW_TAG_member:
			add_member(image, t, &die, false);
			break;
		case DW_TAG_inheritance:
			add_member(image, t, &die, true);
			break;
		case DW_TAG_enumerator:
			add_enumerator(t, &die);
			break;
		case DW_TAG_variant_part:
			type->unread = "a variant";
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int64_t
vptr_within(struct st_image *image, struct st_type *type, int depth)
{
	enum { DEEPEST_BASE = 32 };
	if (depth > DEEPEST_BASE || type->kind != ST_TYPE_STRUCT)
		return -1;
	st_type_open(image, type);
	for (size_t i = 0; i < type->members.n; i++)
		if (type->members.v[i].name && !strncmp(type->members.v[i].name, "_vptr", 5))
			return (int64_t)type->members.v[i].offset;
	for (size_t i = 0; i < type->members.n; i++) {
		const struct st_member *m = &type->members.v[i];
		if (!m->is_base || m->is_virtual || !m->type)
			continue;
		const int64_t at = vptr_within(image, m->type, depth + 1);
		if (at >= 0)
			return at + (int64_t)m->offset;
	}
	return -1;
}

int64_t
st_type_vptr(struct st_image *image, struct st_type *type)
{
	return vptr_within(image, type, 0);
}

struct st_type *
st_type_argument(struct st_image *image, struct st_type *type)
{
	struct sym_type *t = (struct sym_type *)type;
	Dwarf_Die die;
	const char *name;
	if (dwarf_child(&t->die, &die) != 0)
		return NULL;
	do
		if (dwarf_tag(&die) == DW_TAG_template_type_parameter)
			return sym_type_of(image, &die, &name);
	while (dwarf_siblingof(&die, &die) == 0);
	return NULL;
}
