/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declarations that explore.c, derive.c, containers.c and names.c share. */
#ifndef STROBE_FEATURES_INTERNAL_H
#define STROBE_FEATURES_INTERNAL_H

#include "features/find.h"

enum { ST_NO_OP = UINT16_MAX, ST_FEATURE_CHAIN = ST_FEATURE_DEEPEST + 2 };

/* The location of data: in memory, `offset` bytes after the address that is the value of `base`; or
 * in registers, whose values are those of `base` and the operation after it. */
struct st_feature_where {
	uint16_t base;
	bool in_registers;
	int64_t offset;
};

/* Data of the program that the search has reached. */
struct st_feature_item {
	char *path;
	/* The path is that of a pointer, and the item is the data to which it points. */
	bool behind;
	struct st_type *type;
	const char *type_name;
	struct st_feature_where where;
	enum st_feature_origin origin;
	bool is_base;   /* a base class of the object of that path */
	unsigned depth; /* pointers that were followed */
	const struct st_type *around[ST_FEATURE_CHAIN]; /* classes that lead here */
	unsigned n_around;
};

struct st_feature_search {
	struct st_feature_table *table;
	struct st_feature_limits limits;
	ST_VEC(struct st_feature_item) queue; /* data to which pointers lead */
};

/* names.c. Texts are malloc'ed; NULL: memory is exhausted. */
char *st_feature_path_of_member(const struct st_feature_item *item, const char *member);
/* The path as the value of an expression: *p for the data to which p points. */
char *st_feature_path_of_value(const struct st_feature_item *item);
/* A unique name for a path; suffix: the derivation, such as "length", or NULL. */
char *st_feature_name_of(const struct st_feature_table *t, const char *path, const char *suffix);

/* explore.c. The number of the new operation; ST_NO_OP: there is no space left. */
uint16_t st_feature_emit(struct st_feature_search *s, struct st_record_op op);
/* Emits the operations that read a number of the type; bits 0: the whole number, else a bit-field
 * of that width at bit_offset. */
uint16_t st_feature_read(struct st_feature_search *s, const struct st_feature_where *where,
                         const struct st_type *type, uint32_t bits, uint32_t bit_offset);
/* Adds a feature whose value is that of f.op. Takes over the path. */
void st_feature_add(struct st_feature_search *s, const struct st_feature_item *item, char *path,
                    const char *suffix, struct st_feature f);
void st_feature_skip(struct st_feature_search *s, const struct st_feature_item *item,
                     const char *member, const char *why);
bool st_feature_is_full(const struct st_feature_search *s);

/* derive.c: finds members, or parameters, that delimit a range, adds their differences, and sets
 * is_pair of those that are pointers of such a pair. */
struct st_feature_end {
	const char *name;
	struct st_type *type;
	struct st_feature_where where;
	bool is_pair;
};
/* containers.c: the same for a container whose iterators delimit its elements. */
void st_feature_container(struct st_feature_search *s, const struct st_feature_item *data,
                          struct st_feature_end *v, size_t n);
void st_feature_pairs(struct st_feature_search *s, const struct st_feature_item *object,
                      struct st_feature_end *v, size_t n);

#endif
