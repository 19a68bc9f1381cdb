/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal, for the readers of records: lines of fields. */
#ifndef STROBE_ANNOTATE_RECORDS_FIELDS_H
#define STROBE_ANNOTATE_RECORDS_FIELDS_H

#include "annotate/records.h"

/* The text is modified: fields are taken out of their quotation marks and end with a NUL. */
struct st_ann_lines {
	const char *name; /* of the file */
	char *at, *end;
	char separator;
	unsigned line; /* of the fields */
	struct st_ann_field {
		char *text;
		unsigned column;
		bool quoted;
	} * v;
	size_t n, cap;
	bool cut; /* the line is the last one, and no line feed ends it */
	struct st_error *e;
};

/* Reads the next line that is not empty. Returns false if there is none, or with *failed. */
bool st_ann_next_line(struct st_ann_lines *l, st_status *failed);
/* Sets the message "FILE:LINE:COLUMN: CAUSE" for a field and returns ST_FAILED. */
__attribute__((format(printf, 3, 4))) st_status
st_ann_wrong_field(const struct st_ann_lines *l, size_t field, const char *format, ...);
/* Returns the end of the message that a line has too few fields: whether the file is truncated. */
const char *st_ann_why_short(const struct st_ann_lines *l);
st_status st_ann_field_number(const struct st_ann_lines *l, size_t field, double *value);
/* Takes the value of a metric. Fails also if its square would overflow or underflow. */
st_status st_ann_field_metric(const struct st_ann_lines *l, size_t field, double *value);
/* Returns whether the text has only letters, digits and _, and no digit first. */
bool st_ann_is_identifier(const char *text);

/* Read a file of Strobe's format, and one of columns. */
st_status st_ann_records_take(struct st_ann_data *d, struct st_ann_lines *l);
st_status st_ann_columns_take(struct st_ann_data *d, struct st_ann_lines *l,
                              const struct st_ann_columns *c);

#endif
