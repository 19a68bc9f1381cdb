/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/kinds.h"

static const struct {
	const char *name, *formula;
	size_t parameters;
} kinds[] = {
#define K(id, name, parameters, formula) {name, formula, parameters},
        ST_KINDS(K)
#undef K
};

const char *
st_kind_name(enum st_kind kind)
{
	return kinds[kind].name;
}

const char *
st_kind_formula(enum st_kind kind)
{
	return kinds[kind].formula;
}

size_t
st_kind_parameters(enum st_kind kind)
{
	return kinds[kind].parameters;
}

bool
st_kind_needs_positive(enum st_kind kind)
{
	return kind == ST_KIND_LOGARITHMIC || kind == ST_KIND_NLOGN || kind == ST_KIND_POWER;
}

bool
st_kind_contains(enum st_kind kind, enum st_kind other)
{
	switch (other) {
	case ST_KIND_CONSTANT:
		return kind != ST_KIND_CONSTANT;
	case ST_KIND_LINEAR:
		return kind == ST_KIND_QUADRATIC || kind == ST_KIND_CUBIC;
	case ST_KIND_QUADRATIC:
		return kind == ST_KIND_CUBIC;
	default:
		return false;
	}
}
