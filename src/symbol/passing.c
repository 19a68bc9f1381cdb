/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which classes are passed by the address of a copy. The C++ ABI (Itanium, section 3.1.2.3) does so
 * with classes that are not trivial for the purposes of calls: a copy or move constructor or the
 * destructor is not trivial, or all copy and move constructors are deleted. clang says it in DWARF
 * 5 (DW_AT_calling_convention); otherwise it follows from the declarations. Functions that the
 * compiler declares implicitly have no entry, or an artificial one: they are trivial if those of
 * all members and base classes are.
 */
#include <dwarf.h>
#include <string.h>

#include "symbol/typeread.h"

enum { PASSING_DEEPEST = 32, PASSING_MOST_TYPES = 4096 };

/* The copy and move constructors and the destructor that the source of a class declares. */
struct declared {
	unsigned constructors, deleted;
	bool is_written; /* one has a body in the source, or is virtual */
};

/* "list" of "list<int>". */
static bool
passing_is_name_of_class(const char *name, const struct st_type *class)
{
	const size_t n = class->name ? strcspn(class->name, "<") : 0;
	return n && !strncmp(class->name, name, n) && !name[n];
}

/* Is the only parameter of a constructor a reference to its own class? */
static bool
passing_copies(struct st_image *image, Dwarf_Die *function, const struct st_type *class)
{
	Dwarf_Die die;
	unsigned parameters = 0;
	bool is_own = false;
	if (dwarf_child(function, &die) != 0)
		return false;
	do {
		const char *name;
		if (dwarf_tag(&die) != DW_TAG_formal_parameter ||
		    sym_die_flag(&die, DW_AT_artificial))
			continue;
		const struct st_type *type = sym_type_of(image, &die, &name);
		const struct st_type *to =
		        type && type->kind == ST_TYPE_REFERENCE ? type->target : NULL;
		is_own = to && (to == class ||
		                (to->name && class->name && !strcmp(to->name, class->name)));
		parameters++;
	} while (dwarf_siblingof(&die, &die) == 0);
	return parameters == 1 && is_own;
}

/* Is the function more than the members' functions of this kind, one after the other? `= default`
 * outside the class counts as written (DWARF 5, table 5.15). */
static bool
passing_is_written(Dwarf_Die *function)
{
	enum { DEFAULTED_IN_CLASS = 1 };
	int64_t defaulted = 0, virtuality = 0;
	if (sym_die_number(function, DW_AT_virtuality, &virtuality) && virtuality)
		return true;
	return !sym_die_flag(function, DW_AT_deleted) &&
	       !(sym_die_number(function, DW_AT_defaulted, &defaulted) &&
	         defaulted == DEFAULTED_IN_CLASS);
}

static struct declared
passing_find_declared(struct st_image *image, struct sym_type *t)
{
	struct declared d = {0};
	Dwarf_Die die;
	if (dwarf_child(&t->die, &die) != 0)
		return d;
	do {
		const char *name;
		if (dwarf_tag(&die) != DW_TAG_subprogram || !(name = dwarf_diename(&die)) ||
		    sym_die_flag(&die, DW_AT_artificial))
			continue;
		const bool ends = *name == '~', copies = !ends &&
		                                         passing_is_name_of_class(name, &t->type) &&
		                                         passing_copies(image, &die, &t->type);
		d.constructors += copies;
		d.deleted += copies && sym_die_flag(&die, DW_AT_deleted);
		d.is_written |= (ends || copies) && passing_is_written(&die);
	} while (dwarf_siblingof(&die, &die) == 0);
	return d;
}

static enum sym_passing passing_of(struct st_image *image, struct st_type *type, int depth,
                                   int *budget);

static enum sym_passing
passing_of_members(struct st_image *image, struct st_type *type, int depth, int *budget)
{
	enum sym_passing all = SYM_BY_VALUE;
	st_type_open(image, type);
	for (size_t i = 0; i < type->members.n && all != SYM_BY_ADDRESS; i++) {
		const struct st_member *m = &type->members.v[i];
		const bool is_table = m->name && !strncmp(m->name, "_vptr", 5);
		const enum sym_passing one = m->is_virtual || is_table ? SYM_BY_ADDRESS
		                             : m->type ? passing_of(image, m->type, depth, budget)
		                                       : SYM_BY_VALUE;
		all = one == SYM_BY_VALUE ? all : one;
	}
	return all;
}

static enum sym_passing
passing_find(struct st_image *image, struct st_type *type, int depth, int *budget)
{
	struct sym_type *t = (struct sym_type *)type;
	int64_t convention;
	if (sym_die_number(&t->die, DW_AT_calling_convention, &convention))
		return convention == DW_CC_pass_by_reference ? SYM_BY_ADDRESS : SYM_BY_VALUE;
	if (type->is_declaration)
		return SYM_PASSING_UNKNOWN;
	const struct declared d = passing_find_declared(image, t);
	if (d.is_written || (d.constructors && d.constructors == d.deleted))
		return SYM_BY_ADDRESS;
	return passing_of_members(image, type, depth + 1, budget);
}

/* budget: a damaged file can describe a type without end. */
static enum sym_passing
passing_of(struct st_image *image, struct st_type *type, int depth, int *budget)
{
	while (type && type->kind == ST_TYPE_ARRAY)
		type = --*budget < 0 ? NULL : type->target;
	if (!type || (type->kind != ST_TYPE_STRUCT && type->kind != ST_TYPE_UNION))
		return SYM_BY_VALUE;
	struct sym_type *t = (struct sym_type *)type;
	if (t->passing == SYM_PASSING_NOT_READ) {
		if (depth > PASSING_DEEPEST || --*budget < 0)
			return SYM_PASSING_UNKNOWN;
		t->passing = passing_find(image, type, depth, budget);
	}
	return t->passing;
}

enum sym_passing
sym_passing_of(struct st_image *image, struct st_type *type)
{
	int budget = PASSING_MOST_TYPES;
	return passing_of(image, type, 0, &budget);
}
