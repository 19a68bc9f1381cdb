/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the parameters of a function from DWARF. */
#include <dwarf.h>

#include "symbol/scopes.h"
#include "symbol/typeread.h"

/* ---- locations from the debug information ---- */

static bool
argument_register(unsigned dwarf, uint8_t *number)
{
	static const int8_t numbers[] = {[5] = 1, [4] = 2, [1] = 3, [2] = 4, [8] = 5, [9] = 6};
	if (dwarf >= 17 && dwarf < 17 + ST_PLACE_VECTORS) {
		*number = (uint8_t)(ST_PLACE_GENERAL + dwarf - 17);
		return true;
	}
	if (dwarf >= sizeof numbers || !numbers[dwarf])
		return false;
	*number = (uint8_t)(numbers[dwarf] - 1);
	return true;
}

/*
 * Reads the location that a list gives for the first instruction. Without a list there is one
 * expression for the whole function, which is wrong at its entry unless it is a location on the
 * caller's stack.
 */
static bool
listed_place(Dwarf_Die *die, uint64_t entry, struct st_place *place)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *expression, *again;
	size_t n, n_again;
	uint8_t number;
	if (!dwarf_attr(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, entry, &expression, &n, 1) != 1 || n != 1)
		return false;
	const unsigned atom = expression[0].atom;
	if (dwarf_getlocation(&attribute, &again, &n_again) == 0)
		return false; /* no list */
	const unsigned dwarf = atom == DW_OP_regx ? (unsigned)expression[0].number
	                       : atom >= DW_OP_reg0 && atom <= DW_OP_reg31 ? atom - DW_OP_reg0
	                                                                   : 64;
	if (!argument_register(dwarf, &number))
		return false;
	*place = (struct st_place){.kind = ST_PLACE_REGISTERS, .n = 1, .registers = {number}};
	return true;
}

/* A copy that the compiler made for some callers may not take the arguments that the source
 * declares. */
static bool
is_changed_copy(struct st_image *image, uint64_t entry)
{
	static const char *const marks[] = {".isra.", ".constprop.", ".part.", ".cold"};
	const struct st_function *f = st_image_function(image, entry);
	for (size_t i = 0; f && i < sizeof marks / sizeof *marks; i++)
		if (strstr(f->raw_name, marks[i]))
			return true;
	return false;
}

/* ---- reading ---- */

static st_status
read_parameters(struct st_image *image, Dwarf_Die *function, struct st_signature *s)
{
	Dwarf_Die die;
	if (dwarf_child(function, &die) != 0)
		return ST_OK;
	do {
		if (dwarf_tag(&die) == DW_TAG_unspecified_parameters)
			s->is_variadic = true;
		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		struct st_parameter *p = ST_PUSH(&s->parameters);
		if (!p)
			return ST_FAILED;
		Dwarf_Attribute attribute;
		if (dwarf_attr_integrate(&die, DW_AT_name, &attribute))
			p->name = dwarf_formstring(&attribute);
		p->is_artificial = sym_die_flag(&die, DW_AT_artificial);
		p->type = sym_type_of(image, &die, &p->type_name);
	} while (dwarf_siblingof(&die, &die) == 0);
	return ST_OK;
}

/* The ABI locates the arguments; those of a changed copy are located by location lists only. */
static void
place_parameters(struct st_image *image, Dwarf_Die *function, uint64_t entry,
                 struct st_signature *s, bool rust)
{
	Dwarf_Die die;
	const char *name;
	const bool changed = is_changed_copy(image, entry);
	size_t i = 0;
	sym_place_arguments(image, s->parameters.v, s->parameters.n,
	                    sym_type_of(image, function, &name), rust);
	if (dwarf_child(function, &die) != 0)
		return;
	do {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter || i == s->parameters.n)
			continue;
		struct st_place listed, *place = &s->parameters.v[i++].place;
		const bool is_listed = listed_place(&die, entry, &listed);
		if (changed)
			*place = is_listed ? listed
			                   : (struct st_place){
			                             .why = "the compiler has changed what this "
			                                    "copy of the function takes"};
		else if (is_listed && place->kind == ST_PLACE_REGISTERS && place->n == 1)
			place->registers[0] = listed.registers[0];
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* ---- by address ---- */

struct search {
	struct st_image *image;
	uint64_t entry;
	struct st_signature *out;
	bool found, no_memory;
};

static bool
read_in_unit(struct sym_unit *unit, void *context)
{
	struct search *search = context;
	struct sym_scopes *s = sym_scopes(search->image, unit);
	uint32_t scope = s ? sym_scope_at(s, search->entry) : SYM_NO_SCOPE;
	uint64_t entry;
	while (scope != SYM_NO_SCOPE && s->v[scope].parent != SYM_NO_SCOPE)
		scope = s->v[scope].parent;
	if (scope == SYM_NO_SCOPE || s->v[scope].inlined ||
	    !sym_entry_of(&s->v[scope].die, &entry) || entry != search->entry)
		return false;
	Dwarf_Die *die = &s->v[scope].die;
	search->found = true;
	search->no_memory = read_parameters(search->image, die, search->out) ||
	                    sym_take_globals(search->image, &s->root, search->out);
	if (!search->no_memory)
		place_parameters(search->image, die, entry, search->out, sym_is_rust(&s->root));
	return true;
}

const struct st_signature *
st_image_signature(struct st_image *image, uint64_t entry)
{
	struct sym_types *all = sym_types_of(image);
	struct sym_units *units = sym_units(image);
	if (!all || !units)
		return NULL;
	const uint32_t hash = st_hash_number(entry);
	const uint32_t known =
	        ST_HASHMAP_FIND(&all->by_entry, hash, at, all->signatures.v[at]->entry == entry);
	if (known != ST_HASHMAP_NONE)
		return &all->signatures.v[known]->signature;
	struct sym_signature *new = calloc(1, sizeof *new), **slot = NULL;
	if (!new)
		return NULL;
	new->entry = entry;
	struct search search = {.image = image, .entry = entry, .out = &new->signature};
	sym_units_at(units, entry, read_in_unit, &search);
	if (search.found && !search.no_memory)
		slot = ST_PUSH(&all->signatures);
	if (!slot || st_hashmap_add(&all->by_entry, hash, (uint32_t)all->signatures.n - 1)) {
		all->signatures.n -= slot != NULL;
		free(new->signature.parameters.v);
		free(new);
		return NULL;
	}
	*slot = new;
	return &new->signature;
}
