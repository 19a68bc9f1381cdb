/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/growth.h"

static const struct {
	const char *name, *formula;
	size_t parameters;
} kinds[] = {
#define K(id, name, parameters, formula) {name, formula, parameters},
        ST_GROWTHS(K)
#undef K
};

const char *
st_growth_name(enum st_growth kind)
{
	return kinds[kind].name;
}

const char *
st_growth_formula(enum st_growth kind)
{
	return kinds[kind].formula;
}

size_t
st_growth_parameters(enum st_growth kind)
{
	return kinds[kind].parameters;
}

bool
st_growth_needs_positive(enum st_growth kind)
{
	return kind == ST_GROWTH_LOGARITHMIC || kind == ST_GROWTH_NLOGN || kind == ST_GROWTH_POWER;
}

bool
st_growth_contains(enum st_growth kind, enum st_growth other)
{
	switch (other) {
	case ST_GROWTH_CONSTANT:
		return kind != ST_GROWTH_CONSTANT;
	case ST_GROWTH_LINEAR:
		return kind == ST_GROWTH_QUADRATIC || kind == ST_GROWTH_CUBIC;
	case ST_GROWTH_QUADRATIC:
		return kind == ST_GROWTH_CUBIC;
	default:
		return false;
	}
}
