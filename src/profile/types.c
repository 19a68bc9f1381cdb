/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The types and roles of columns. */
#include "profile/profile.h"

static const struct {
	const char *name;
	enum st_shape_of_value shape;
} types[] = {
        [STROBE_NUMBER] = {"number", ST_VALUE_NUMBER},
        [STROBE_SIGNED] = {"signed", ST_VALUE_NUMBER},
        [STROBE_HEX] = {"hex", ST_VALUE_NUMBER},
        [STROBE_TICKS] = {"ns", ST_VALUE_NUMBER},
        [STROBE_TEXT] = {"text", ST_VALUE_TEXT},
        [STROBE_THREAD] = {"thread", ST_VALUE_NUMBER},
        [STROBE_ADDRESS] = {"address", ST_VALUE_PLACE},
        [STROBE_FUNCTION] = {"function", ST_VALUE_PLACE},
        [STROBE_LINE] = {"line", ST_VALUE_LINE},
        [STROBE_MNEMONIC] = {"mnemonic", ST_VALUE_TEXT},
        [STROBE_CATEGORY] = {"category", ST_VALUE_TEXT},
        [STROBE_REGISTERS_READ] = {"register_read", ST_VALUE_TEXT},
        [STROBE_REGISTERS_WRITTEN] = {"register_written", ST_VALUE_TEXT},
        [STROBE_SYSCALL] = {"syscall", ST_VALUE_TEXT},
        [STROBE_CALLER_LINE] = {"caller_line", ST_VALUE_LINE},
};

static const char *const roles[] = {[STROBE_IS_KEY] = "key",
                                    [STROBE_IS_SUM] = "sum",
                                    [STROBE_IS_MAX] = "max",
                                    [STROBE_IS_MIN] = "min"};

enum { N_TYPES = sizeof types / sizeof *types, N_ROLES = sizeof roles / sizeof *roles };

enum st_shape_of_value
st_profile_shape(enum strobe_type type)
{
	return types[type].shape;
}

const char *
st_profile_type_name(enum strobe_type type)
{
	return types[type].name;
}

const char *
st_profile_role_name(enum strobe_role role)
{
	return roles[role];
}

int
st_profile_type_named(const char *name)
{
	for (int i = 0; i < N_TYPES; i++)
		if (!strcmp(types[i].name, name))
			return i;
	return -1;
}

int
st_profile_role_named(const char *name)
{
	for (int i = 0; i < N_ROLES; i++)
		if (!strcmp(roles[i], name))
			return i;
	return -1;
}

size_t
st_profile_rows(const struct st_profile_table *t)
{
	return t->n_columns ? t->values.n / t->n_columns : 0;
}
