/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of tables and rows, as people and as other programs read them. */
#ifndef STROBE_REPORT_FIELDS_H
#define STROBE_REPORT_FIELDS_H

#include "profile/profile.h"

/* A value for another program, under its name: a number, a text, or nothing. */
enum st_field_kind { ST_FIELD_NULL, ST_FIELD_NUMBER, ST_FIELD_SIGNED, ST_FIELD_TEXT };
struct st_field {
	char name[80];
	enum st_field_kind kind;
	uint64_t number;
	const char *text;
	char room[24]; /* for texts that are made */
};
enum { ST_COLUMN_FIELDS = 6 };

/* The fields of a column's value; value NULL: their names, all without a value. first: it is the
 * first column of addresses, whose image goes by the name `image` as well. Returns how many. */
size_t st_fields(const struct st_profile *p, const struct st_profile_column *column, bool first,
                 const struct st_profile_value *value, struct st_field fields[ST_COLUMN_FIELDS]);
/* Index of the first column of addresses; SIZE_MAX: there is none. */
size_t st_first_address(const struct st_profile_column *columns, size_t n);

/* The value for people, malloc'ed. NULL: no memory. */
char *st_value_text(const struct st_profile *p, const struct st_profile_column *column,
                    const struct st_profile_value *value);

/* A field as CSV has it. */
void st_field_csv(FILE *out, const struct st_field *field);
void st_csv_text(FILE *out, const char *text);

#endif
