/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check/finding.h"

static const struct {
	const char *name;
	int direction;
} findings[] = {
#define F(id, name, direction) {name, direction},
        ST_FINDINGS(F)
#undef F
};

const char *
st_finding_name(enum st_finding_kind kind)
{
	return findings[kind].name;
}

int
st_finding_direction(enum st_finding_kind kind)
{
	return findings[kind].direction;
}

enum st_finding_kind
st_finding_mirror(enum st_finding_kind kind)
{
	return st_finding_direction(kind) ? (enum st_finding_kind)(ST_FINDING_COUNT - 1 - (int)kind)
	                                  : kind;
}

bool
st_finding_is_alarm(enum st_finding_kind kind)
{
	return st_finding_direction(kind) > 0 && kind != ST_FINDING_MAYBE_DEGRADATION;
}
