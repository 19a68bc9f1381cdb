/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repeated measurements: series of values, each of one metric at one location of a program.
 *
 * A series is known by its key: where (image, file, module, class, function, line, and the stack of
 * calls that led there) and what (kind, metric, unit, labels). Its values are in the order in which
 * they were measured. Each value may have features: named numbers such as the size of the input,
 * the repetition, or the address of an allocation. All is kept in columns, so that a million values
 * are a few arrays.
 */
#ifndef STROBE_PROFILE_MEASUREMENTS_H
#define STROBE_PROFILE_MEASUREMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashmap.h"
#include "base/status.h"
#include "base/vec.h"

struct st_profile;

/* More kinds of features than this in one profile are no features but data in the wrong place. */
enum { ST_MOST_FEATURES = 256 };

/* Features that several readers know: F(identifier, "name", independent). The first one of a series
 * that can be independent is the independent variable where the user names none. */
#define ST_FEATURES(F)                                                                             \
	F(SIZE, "size", true)                                                                      \
	F(SNAPSHOT, "snapshot", true)                                                              \
	F(ORDER, "order", true)                                                                    \
	F(CALL_ORDER, "call-order", true)                                                          \
	F(ADDRESS, "address", true)                                                                \
	F(TIME, "time", true)                                                                      \
	F(EXCLUSIVE, "exclusive", true)                                                            \
	F(THREAD, "thread", false)                                                                 \
	F(REPETITION, "repetition", false)                                                         \
	F(EXIT, "exit", false)

#define ST_FEATURE(id, name, independent)                                                          \
	static const char ST_FEATURE_##id[] __attribute__((unused)) = name;
ST_FEATURES(ST_FEATURE)
#undef ST_FEATURE

/* Kinds of metrics that several readers know; a file may have others. */
#define ST_KIND_TIME "time"
#define ST_KIND_MEMORY "memory"
#define ST_KIND_COUNT "count"

/* A call on the stack that led to a measurement. */
struct st_series_frame {
	const char *function, *file; /* "", NULL: unknown */
	uint32_t line;               /* 0: unknown */
};

/* A text that all values of a series have, such as workload: large.txt. */
struct st_series_label {
	const char *name, *value;
};

/* The key of a series. Texts that are NULL are unknown, or do not apply. */
struct st_series_key {
	const char *kind, *metric, *unit; /* never NULL: "time", "wall", "ns" */
	const char *image, *file, *module, *class, *function;
	uint32_t line;                        /* 0: unknown */
	const struct st_series_frame *frames; /* the innermost call first */
	size_t n_frames;
	const struct st_series_label *labels;
	size_t n_labels;
};

struct st_series_feature {
	const char *name; /* texts of equal names are the same pointer within a profile */
	double *v;        /* one for each value; NAN: this value has none */
};

struct st_series {
	struct st_series_key key;
	size_t n, capacity;
	double *values; /* NAN: missing */
	ST_VEC(struct st_series_feature) features;
};

struct st_measurements {
	ST_VEC(struct st_series) series;
	ST_VEC(const char *) names; /* of the features of all series */
	struct st_hashmap by_key;
};

/* The series of this key, which is added, with copies of its texts, if there is none. It stays
 * where it is until the next one is added. NULL: memory is exhausted. */
struct st_series *st_series_of(struct st_profile *p, const struct st_series_key *key);
/* Adds a value without features: its index, SIZE_MAX when memory is exhausted. */
size_t st_series_add(struct st_series *s, double value);
/* Makes room for `n` values in all. */
st_status st_series_reserve(struct st_series *s, size_t n);
/* Sets a feature of a value that was added. Fails when memory is exhausted, or when the profile has
 * ST_MOST_FEATURES of other names. */
st_status st_series_set(struct st_profile *p, struct st_series *s, const char *feature, size_t at,
                        double value);
/* The values of a feature, one for each value of the series; NULL: no value has this feature. */
const double *st_series_feature(const struct st_series *s, const char *feature);
/* The feature that is the independent variable where the user names none: the first of ST_FEATURES
 * that can be, else the first that is not in that list, else the repetition; NULL: there is none.
 */
const char *st_series_default_feature(const struct st_series *s);
/* A label's value; NULL: the series has none of this name. */
const char *st_series_label(const struct st_series *s, const char *name);
/* The parts of the location that are known, joined by colons:
 * image:file:module:class:function:line; the metric if none is. malloc'ed; NULL: memory is
 * exhausted. */
char *st_series_uid(const struct st_series *s);

void st_measurements_free(struct st_measurements *m);

#endif
