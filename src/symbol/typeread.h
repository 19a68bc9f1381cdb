/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types from DWARF: declarations that types.c, typemembers.c, passing.c, places.c,
 * signature.c and globals.c share. */
#ifndef STROBE_SYMBOL_TYPEREAD_H
#define STROBE_SYMBOL_TYPEREAD_H

#include "base/hashmap.h"
#include "symbol/internal.h"
#include "symbol/types.h"

/* How an argument of a type, or a result, is passed if its size does not decide it. */
enum sym_passing {
	SYM_PASSING_NOT_READ,
	SYM_PASSING_UNKNOWN, /* the type, or that of a member, is only declared */
	SYM_BY_VALUE,
	SYM_BY_ADDRESS, /* of a copy that the caller has made */
};

/* A type and the entry that describes it. */
struct sym_type {
	struct st_type type; /* the first field */
	Dwarf_Die die;
	bool is_opened;
	enum sym_passing passing;
};

struct sym_signature {
	uint64_t entry;
	struct st_signature signature;
};

struct sym_globals {
	const void *unit; /* its root entry in the debug information */
	ST_VEC(struct st_global) list;
};

struct sym_types {
	ST_VEC(struct sym_type *) types;
	struct st_hashmap by_die;
	ST_VEC(struct sym_signature *) signatures;
	struct st_hashmap by_entry;
	ST_VEC(struct sym_globals *) globals;
	struct st_hashmap by_unit;
};

struct sym_types *sym_types_of(struct st_image *image);
void sym_types_free(struct sym_types *types);

/* The type of an entry (DW_AT_type); *name receives its name as the source would write it. NULL:
 * void, or memory is exhausted. */
struct st_type *sym_type_of(struct st_image *image, Dwarf_Die *die, const char **name);
/* Reads an attribute that is a number. False: there is no such attribute, or it is no number. */
bool sym_die_number(Dwarf_Die *die, unsigned attribute, int64_t *value);
bool sym_die_flag(Dwarf_Die *die, unsigned attribute);
/* Whether a compilation unit is in Rust. */
bool sym_is_rust(Dwarf_Die *unit);
/* globals.c: the globals of a compilation unit, which are read once for all its functions. */
st_status sym_take_globals(struct st_image *image, Dwarf_Die *root, struct st_signature *s);

/* passing.c: never SYM_PASSING_NOT_READ. */
enum sym_passing sym_passing_of(struct st_image *image, struct st_type *type);

/* places.c: locates the parameters by the rules of the System V ABI. result: the type that the
 * function returns, or NULL. */
void sym_place_arguments(struct st_image *image, struct st_parameter *v, size_t n,
                         struct st_type *result, bool is_rust);

#endif
