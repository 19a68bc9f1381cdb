/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the global variables of a compilation unit from DWARF. */
#include <dwarf.h>
#include <string.h>

#include "symbol/scopes.h"
#include "symbol/typeread.h"

/* A variable that a namespace declares, and that is defined outside of it. */
struct declared {
	const void *die;
	const char *scope;
};

struct reading {
	struct st_image *image;
	struct sym_globals *to;
	ST_VEC(struct declared) declared;
	bool is_rust;
};

static bool
global_address(Dwarf_Die *die, uint64_t *address)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *expression;
	size_t n;
	if (!dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &expression, &n) != 0 || n != 1)
		return false;
	if (expression[0].atom == DW_OP_addr) {
		*address = expression[0].number;
		return true;
	}
	if (expression[0].atom == DW_OP_addrx || expression[0].atom == DW_OP_GNU_addr_index) {
		Dwarf_Attribute result;
		return dwarf_getlocation_attr(&attribute, expression, &result) == 0 &&
		       dwarf_formaddr(&result, address) == 0;
	}
	return false;
}

/* Never changes while the program runs: its value explains nothing. A pointer may lead to data that
 * does. */
static bool
is_constant_global(const struct st_image *image, const struct st_global *g)
{
	size_t n;
	bool is_fixed = false;
	if (!g->type || g->type->kind == ST_TYPE_POINTER || g->type->kind == ST_TYPE_REFERENCE ||
	    !image->main.elf || elf_getphdrnum(image->main.elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(image->main.elf, (int)i, &segment) ||
		    g->address - segment.p_vaddr >= segment.p_memsz)
			continue;
		is_fixed |= segment.p_type == PT_GNU_RELRO ||
		            (segment.p_type == PT_LOAD && !(segment.p_flags & PF_W));
	}
	return is_fixed;
}

/* ---- names ---- */

static void
remove_all(char *text, const char *from, const char *to)
{
	char *begin = text;
	while ((begin = strstr(begin, from))) {
		const char *end = strstr(begin, to);
		if (!end)
			return;
		end += strlen(to);
		memmove(begin, end, strlen(end) + 1);
	}
}

/* The demangled name, as the source would write it. NULL: there is none. */
static const char *
global_linkage_name(struct reading *r, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	if (r->is_rust || (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
	                   !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute)))
		return NULL;
	const char *raw = dwarf_formstring(&attribute), *name = NULL;
	char *text = raw ? st_demangle(raw) : NULL;
	if (!text)
		return NULL;
	remove_all(text, "(anonymous namespace)::", "::");
	remove_all(text, "[abi:", "]");
	if (!strpbrk(text, "(){} "))
		name = sym_string_keep(r->image, text, strlen(text));
	free(text);
	return name;
}

/* The scope in which the variable was declared. */
static const char *
declared_scope(const struct reading *r, Dwarf_Die *die, const char *scope)
{
	Dwarf_Attribute attribute;
	Dwarf_Die declared;
	if (!dwarf_attr(die, DW_AT_specification, &attribute) ||
	    !dwarf_formref_die(&attribute, &declared))
		return scope;
	for (size_t i = 0; i < r->declared.n; i++)
		if (r->declared.v[i].die == declared.addr)
			return r->declared.v[i].scope;
	return scope;
}

static const char *
global_name(struct reading *r, Dwarf_Die *die, const char *scope)
{
	Dwarf_Attribute attribute;
	const char *name = global_linkage_name(r, die);
	if (name)
		return name;
	name = dwarf_attr_integrate(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute)
	                                                         : NULL;
	scope = declared_scope(r, die, scope);
	return name && *scope ? sym_string_print(r->image, "%s%s", scope, name) : name;
}

/* The names of a namespace begin with its own, if it has one; those of a crate of Rust begin with
 * the word that its code has for itself. */
static const char *
scope_of_namespace(const struct reading *r, Dwarf_Die *die, const char *scope)
{
	const char *name = dwarf_diename(die);
	if (!name || !*name)
		return scope;
	if (r->is_rust && !*scope)
		name = "crate";
	return sym_string_print(r->image, "%s%s::", scope, name);
}

/* ---- units ---- */

static st_status
add_global(struct reading *r, Dwarf_Die *die, const char *scope)
{
	struct st_global g = {0};
	if (!global_address(die, &g.address)) {
		struct declared *slot = *scope ? ST_PUSH(&r->declared) : NULL;
		if (slot)
			*slot = (struct declared){die->addr, scope};
		return !*scope || slot ? ST_OK : ST_FAILED;
	}
	g.type = sym_type_of(r->image, die, &g.type_name);
	if (is_constant_global(r->image, &g) || !(g.name = global_name(r, die, scope)))
		return ST_OK;
	struct st_global *slot = ST_PUSH(&r->to->list);
	if (slot)
		*slot = g;
	return slot ? ST_OK : ST_FAILED;
}

static st_status
read_globals(struct reading *r, Dwarf_Die *around, const char *scope, int depth)
{
	enum { DEEPEST_NAMESPACE = 16, MOST_GLOBALS = 4096 };
	Dwarf_Die die;
	if (depth > DEEPEST_NAMESPACE || dwarf_child(around, &die) != 0)
		return ST_OK;
	do {
		const int tag = dwarf_tag(&die);
		if (tag == DW_TAG_namespace) {
			const char *inner = scope_of_namespace(r, &die, scope);
			if (!inner || read_globals(r, &die, inner, depth + 1))
				return ST_FAILED;
		}
		if (tag == DW_TAG_variable && r->to->list.n < MOST_GLOBALS &&
		    add_global(r, &die, scope))
			return ST_FAILED;
	} while (dwarf_siblingof(&die, &die) == 0);
	return ST_OK;
}

static st_status
read_globals_of_unit(struct st_image *image, Dwarf_Die *root, struct sym_globals *to)
{
	struct reading r = {.image = image, .to = to, .is_rust = sym_is_rust(root)};
	const st_status status = read_globals(&r, root, "", 0);
	free(r.declared.v);
	return status;
}

st_status
sym_take_globals(struct st_image *image, Dwarf_Die *root, struct st_signature *s)
{
	struct sym_types *all = sym_types_of(image);
	const uint32_t hash = st_hash_number((uintptr_t)root->addr),
	               known = ST_HASHMAP_FIND(&all->by_unit, hash, at,
	                                       all->globals.v[at]->unit == root->addr);
	struct sym_globals *g = known != ST_HASHMAP_NONE ? all->globals.v[known] : NULL;
	if (!g) {
		struct sym_globals **slot = ST_PUSH(&all->globals);
		g = slot ? calloc(1, sizeof *g) : NULL;
		all->globals.n -= slot && !g;
		if (!g)
			return ST_FAILED;
		*slot = g;
		g->unit = root->addr;
		if (st_hashmap_add(&all->by_unit, hash, (uint32_t)all->globals.n - 1) ||
		    read_globals_of_unit(image, root, g))
			return ST_FAILED;
	}
	s->globals = g->list.v;
	s->n_globals = g->list.n;
	return ST_OK;
}
