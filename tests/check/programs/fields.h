/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of the library fields. */
#ifndef FIELDS_H
#define FIELDS_H

struct field {
	char code; /* 0: the end of the table */
	long size;
};

const struct field *get_fielddesc(char code);
long call_proc(long value);
long convert_param(long value);
long build_result(long value);
long set_field(long value, const struct field *f);
long get_field(long value, const struct field *f);
long keep_reference(long value);
long drop_reference(long value);

#endif
