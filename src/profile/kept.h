/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Models of measurements that a profile keeps, as rows of three tables: answers (which kinds of
 * growth the points of one subject allow), the models of an answer, and the coefficients of a
 * model. docs/profile.md explains the columns. Here they are numbers and names alone; check/kept.h
 * makes models of them.
 */
#ifndef STROBE_PROFILE_KEPT_H
#define STROBE_PROFILE_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"

struct st_profile;

/* The columns of each table: KEY is a text that every row has, TEXT may be NULL, WHOLE is an
 * integer, REAL may be NAN, which is NULL in the file. */
#define ST_KEPT_ANSWER(KEY, TEXT, WHOLE, REAL)                                                     \
	KEY(uid)                                                                                   \
	KEY(metric)                                                                                \
	KEY(unit)                                                                                  \
	KEY(x)                                                                                     \
	KEY(source)                                                                                \
	KEY(method)                                                                                \
	TEXT(kinds)                                                                                \
	TEXT(noise)                                                                                \
	WHOLE(parts)                                                                               \
	WHOLE(seed)                                                                                \
	REAL(level)                                                                                \
	WHOLE(segment)                                                                             \
	WHOLE(segments)                                                                            \
	WHOLE(time_ns)                                                                             \
	WHOLE(points_hash)                                                                         \
	WHOLE(rows_left_out)                                                                       \
	WHOLE(points_compared)                                                                     \
	TEXT(plausible)                                                                            \
	TEXT(best)                                                                                 \
	WHOLE(told)                                                                                \
	WHOLE(proportional)                                                                        \
	REAL(growth)                                                                               \
	REAL(growth_low)                                                                           \
	REAL(growth_high)                                                                          \
	REAL(exponent)                                                                             \
	REAL(exponent_low)                                                                         \
	REAL(exponent_high)                                                                        \
	REAL(exponent_offset)

/* answer: the number of its row, from 1. */
#define ST_KEPT_MODEL(KEY, TEXT, WHOLE, REAL)                                                      \
	WHOLE(answer)                                                                              \
	KEY(kind)                                                                                  \
	WHOLE(points)                                                                              \
	WHOLE(left_out)                                                                            \
	REAL(x_start)                                                                              \
	REAL(x_end)                                                                                \
	REAL(r_square)                                                                             \
	REAL(r_squared)                                                                            \
	REAL(r_squared_cv)                                                                         \
	REAL(aicc)                                                                                 \
	REAL(weight)                                                                               \
	REAL(own_aicc)                                                                             \
	REAL(bic)                                                                                  \
	REAL(residual_sd)                                                                          \
	REAL(sse)                                                                                  \
	REAL(tss)                                                                                  \
	REAL(squares)                                                                              \
	REAL(scatter_level)                                                                        \
	REAL(curve0)                                                                               \
	REAL(curve1)                                                                               \
	REAL(centre)                                                                               \
	REAL(log0)                                                                                 \
	REAL(log1)                                                                                 \
	REAL(log_r_square)                                                                         \
	WHOLE(log_points)

/* model: the number of its row, from 1. */
#define ST_KEPT_COEFFICIENT(KEY, TEXT, WHOLE, REAL)                                                \
	WHOLE(model)                                                                               \
	KEY(name)                                                                                  \
	REAL(value)                                                                                \
	REAL(error)                                                                                \
	REAL(low)                                                                                  \
	REAL(high)                                                                                 \
	REAL(p)                                                                                    \
	REAL(inverse0)                                                                             \
	REAL(inverse1)                                                                             \
	REAL(inverse2)                                                                             \
	REAL(inverse3)

#define ST_KEPT_TEXT_MEMBER(name) const char *name;
#define ST_KEPT_WHOLE_MEMBER(name) int64_t name;
#define ST_KEPT_REAL_MEMBER(name) double name;
#define ST_KEPT_MEMBERS(table)                                                                     \
	table(ST_KEPT_TEXT_MEMBER, ST_KEPT_TEXT_MEMBER, ST_KEPT_WHOLE_MEMBER, ST_KEPT_REAL_MEMBER)

/* The source of models that were read from a file of Perun, which does not choose between them. */
#define ST_KEPT_PERUN "Perun"

struct st_kept_answer {
	ST_KEPT_MEMBERS(ST_KEPT_ANSWER)
};

struct st_kept_model {
	ST_KEPT_MEMBERS(ST_KEPT_MODEL)
};

struct st_kept_coefficient {
	ST_KEPT_MEMBERS(ST_KEPT_COEFFICIENT)
};

struct st_kept {
	ST_VEC(struct st_kept_answer) answers;
	ST_VEC(struct st_kept_model) models;
	ST_VEC(struct st_kept_coefficient) coefficients;
};

/* Rows that are added have the profile's own texts. ST_FAILED: memory is exhausted. */
st_status st_kept_put_answer(struct st_profile *p, const struct st_kept_answer *a);
st_status st_kept_put_model(struct st_profile *p, const struct st_kept_model *m);
st_status st_kept_put_coefficient(struct st_profile *p, const struct st_kept_coefficient *c);

/* The models of an answer, and the coefficients of a model: by index, `begin` up to `end`. They
 * stand in the order of what they belong to. */
struct st_kept_range {
	size_t begin, end;
};
struct st_kept_range st_kept_models_of(const struct st_kept *k, size_t answer);
struct st_kept_range st_kept_coefficients_of(const struct st_kept *k, size_t model);

/* Removes the answers of which `gone` is true, with their models; the others are numbered again.
 * ST_FAILED: memory is exhausted, and nothing has changed. */
st_status st_kept_remove(struct st_kept *k, const bool *gone);

void st_kept_free(struct st_kept *k);

#endif
