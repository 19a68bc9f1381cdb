/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of regressions: how y may follow from x. */
#ifndef STROBE_MODEL_GROWTH_H
#define STROBE_MODEL_GROWTH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * K(identifier, "name", parameters, "formula"): the order in which ties are decided, and
 * in which kinds are printed. ln is the natural logarithm.
 */
#define ST_GROWTHS(K)                                                                              \
	K(CONSTANT, "constant", 1, "b0")                                                           \
	K(LOGARITHMIC, "logarithmic", 2, "b0 + b1 ln x")                                           \
	K(LINEAR, "linear", 2, "b0 + b1 x")                                                        \
	K(NLOGN, "nlogn", 2, "b0 + b1 x ln x")                                                     \
	K(QUADRATIC, "quadratic", 3, "b0 + b1 x + b2 x^2")                                         \
	K(CUBIC, "cubic", 4, "b0 + b1 x + b2 x^2 + b3 x^3")                                        \
	K(POWER, "power", 2, "b0 x^b1")                                                            \
	K(EXPONENTIAL, "exponential", 2, "b0 b1^x")

enum st_growth {
#define K(id, name, parameters, formula) ST_GROWTH_##id,
	ST_GROWTHS(K)
#undef K
	        ST_GROWTH_COUNT
};

enum { ST_GROWTH_PARAMETERS = 4 }; /* at most */

const char *st_growth_name(enum st_growth kind);
const char *st_growth_formula(enum st_growth kind);
size_t st_growth_parameters(enum st_growth kind);
/* Whether it has x > 0 only. */
bool st_growth_needs_positive(enum st_growth kind);
/* Whether the parameters can be chosen so that the kind is the other one. */
bool st_growth_contains(enum st_growth kind, enum st_growth other);
/* A set of kinds has a bit for each. */
enum { ST_GROWTHS_ALL = (1 << ST_GROWTH_COUNT) - 1 };

#endif
