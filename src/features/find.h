/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The features of a function are the values on which its cost may depend: numbers, categories,
 * lengths and differences. They are found in debug information, from the types of the parameters
 * and of the globals of the same compilation unit, through pointers up to a depth. Each feature has
 * the operations (wire/record.h) that read it when the function is entered.
 */
#ifndef STROBE_FEATURES_FIND_H
#define STROBE_FEATURES_FIND_H

#include "base/error.h"
#include "base/vec.h"
#include "symbol/types.h"
#include "wire/record.h"

/* K(identifier, name in files), of docs/annotations-records.md. */
#define ST_FEATURE_KINDS(K) K(NUMBER, "number") K(CATEGORY, "category") K(FLAG, "flag")
#define ST_FEATURE_ORIGINS(K)                                                                      \
	K(PARAMETER, "parameter") K(MEMBER, "member") K(GLOBAL, "global") K(SYSTEM, "system")
#define ST_FEATURE_HOWS(K)                                                                         \
	K(VALUE, "value")                                                                          \
	K(NULL, "null")                                                                            \
	K(LENGTH, "length")                                                                        \
	K(COUNT, "count")                                                                          \
	K(SUM, "sum")                                                                              \
	K(DIFFERENCE, "difference")                                                                \
	K(CLASS, "class")

#define K(id, name) ST_FEATURE_##id,
enum st_feature_kind { ST_FEATURE_KINDS(K) };
#undef K
#define K(id, name) ST_FROM_##id,
enum st_feature_origin { ST_FEATURE_ORIGINS(K) };
#undef K
#define K(id, name) ST_BY_##id,
enum st_feature_how { ST_FEATURE_HOWS(K) };
#undef K

/* The interpretation of the eight bytes of a value. */
enum st_feature_form { ST_FORM_SIGNED, ST_FORM_UNSIGNED, ST_FORM_FLOAT, ST_FORM_DOUBLE };

struct st_feature {
	char *name; /* an identifier, unique in its function */
	char *path; /* an expression of the source language */
	const char *type_name;
	enum st_feature_kind kind;
	enum st_feature_origin origin;
	enum st_feature_how how;
	enum st_feature_form form;
	struct st_type *type; /* of an enumeration, for the names of its values */
	uint16_t op;          /* the operation that yields the value */
};

/* Data that is not a feature, with the reason. */
struct st_feature_skipped {
	char *path;
	const char *why;
};

struct st_feature_table {
	struct st_image *image;
	uint64_t entry;
	const char *name; /* of the function: the image's */
	const struct st_signature *signature;
	ST_VEC(struct st_feature) features; /* nearest first: fewest pointers followed */
	ST_VEC(struct st_record_op) ops;
	ST_VEC(struct st_feature_skipped) skipped;
	size_t left_out; /* features beyond the limits */
	bool no_memory;
};

struct st_feature_limits {
	unsigned depth; /* pointers that are followed in succession, at most */
	unsigned most;  /* features of a function, at most */
	bool machine;   /* the state of the machine is among the features, beyond `most` */
};
#define ST_FEATURE_LIMITS ((struct st_feature_limits){.depth = 3, .most = 64})
enum { ST_FEATURE_DEEPEST = 8, ST_FEATURE_MOST = 128 };

const char *st_feature_kind_name(enum st_feature_kind kind);
const char *st_feature_origin_name(enum st_feature_origin origin);
const char *st_feature_how_name(enum st_feature_how how);

/* Finds the features of the function that begins at the link-time address. -1 with *e: the function
 * has no debug information, or memory is exhausted. The caller frees *t in any case. */
st_status st_features_find(struct st_feature_table *t, struct st_image *image, uint64_t entry,
                           const struct st_feature_limits *limits, struct st_error *e);
/* Adds the state of the machine to a table. -1: memory is exhausted. */
st_status st_features_add_machine(struct st_feature_table *t);
void st_features_free(struct st_feature_table *t);

#endif
