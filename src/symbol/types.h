/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The data of a function from debug information: its parameters, with their types and their
 * locations before its first instruction, and the globals of its compilation unit.
 *
 * Everything returned lives as long as the image.
 */
#ifndef STROBE_SYMBOL_TYPES_H
#define STROBE_SYMBOL_TYPES_H

#include "symbol/symbol.h"

enum st_type_kind {
	ST_TYPE_UNKNOWN, /* void, a function, a member pointer, or a type without a definition */
	ST_TYPE_SIGNED,
	ST_TYPE_UNSIGNED,
	ST_TYPE_CHAR, /* plain char, the element of strings */
	ST_TYPE_BOOL,
	ST_TYPE_FLOAT,
	ST_TYPE_COMPLEX,
	ST_TYPE_ENUM,
	ST_TYPE_POINTER,
	ST_TYPE_REFERENCE,
	ST_TYPE_STRUCT, /* or a class */
	ST_TYPE_UNION,
	ST_TYPE_ARRAY,
	ST_TYPE_VECTOR, /* of a vector register */
};

struct st_type;

struct st_member {
	const char *name; /* NULL: it has none */
	struct st_type *type;
	const char *type_name;
	uint64_t offset;             /* bytes */
	uint32_t bits, bit_offset;   /* of a bit-field, from `offset` on; bits 0: it is none */
	bool is_base, is_artificial; /* a base class; made by the compiler */
	/* A virtual base: its offset is read from the object's virtual table, virtual_at bytes
	 * before the address to which the object points. */
	bool is_virtual;
	uint64_t virtual_at;
};

struct st_enumerator {
	const char *name;
	int64_t value;
};

struct st_type {
	enum st_type_kind kind;
	const char *name;       /* without typedefs; NULL: it has none */
	uint64_t size;          /* bytes; 0: not known */
	struct st_type *target; /* of a pointer, a reference; the element of an array */
	const char *target_name;
	uint64_t count;      /* elements of an array, of all its dimensions; 0: not known */
	bool is_declaration; /* its members are not known here */
	/* After st_type_open. */
	ST_VEC(struct st_member) members;
	ST_VEC(struct st_enumerator) enumerators;
	const char *unread; /* a part that is not among the members; NULL: all were read */
};

/* Fills in members and enumerators. */
void st_type_open(struct st_image *image, struct st_type *type);
/* The offset of the pointer to the virtual table in an object; -1: it has none, or a virtual base
 * has it. */
int64_t st_type_vptr(struct st_image *image, struct st_type *type);

/* The first type among the arguments of a template; NULL: there is none. */
struct st_type *st_type_argument(struct st_image *image, struct st_type *type);

/* The location of an argument before the function's first instruction. */
enum st_place_kind {
	ST_PLACE_UNKNOWN,
	ST_PLACE_NOWHERE, /* it has no bytes */
	ST_PLACE_REGISTERS,
	ST_PLACE_STACK,
};
/* Registers: the general ones of arguments, rdi, rsi, rdx, rcx, r8, r9; then xmm0 to xmm7. */
enum { ST_PLACE_GENERAL = 6, ST_PLACE_VECTORS = 8 };

struct st_place {
	enum st_place_kind kind;
	uint8_t n; /* registers, each with eight bytes of the argument */
	uint8_t registers[2];
	int32_t stack;   /* bytes after the return address */
	bool is_address; /* the location has the address of the argument */
	const char *why; /* ST_PLACE_UNKNOWN: the reason, for a message */
};

struct st_parameter {
	const char *name; /* NULL: it has none */
	struct st_type *type;
	const char *type_name;
	bool is_artificial; /* made by the compiler: `this` */
	struct st_place place;
};

struct st_global {
	const char *name; /* with its namespaces and classes */
	struct st_type *type;
	const char *type_name;
	uint64_t address; /* link-time */
};

struct st_signature {
	ST_VEC(struct st_parameter) parameters;
	const struct st_global *globals; /* of the compilation unit */
	size_t n_globals;
	bool is_variadic;
};

/* The signature of the function that begins at the link-time address. NULL: the debug information
 * does not describe it, or there is none. */
const struct st_signature *st_image_signature(struct st_image *image, uint64_t entry);
/* Has the image, or its debug file, debug information? */
bool st_image_has_debug_information(struct st_image *image);
/* The name of the class whose virtual table contains the link-time address; NULL: none. */
const char *st_image_class_at(struct st_image *image, uint64_t address);

/* A place where the compiler has inlined a function. */
struct st_inlined_at {
	const char *name; /* demangled */
	const char *into; /* the function around it */
	uint64_t address; /* link-time address of its code there */
};
/* Calls use for each place where a function whose name matches the shell pattern is inlined, until
 * use returns false. */
void st_image_inlined_places(struct st_image *image, const char *pattern,
                             bool (*use)(void *arg, const struct st_inlined_at *place), void *arg);

#endif
