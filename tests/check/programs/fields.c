/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A library that looks up descriptions of fields by their codes, in three versions. It has the
 * fault of CPython's ctypes in 3.11.0a7 (python/cpython issue 92356): a table that is built at the
 * first lookup is built at each one, because the flag that marks it as done is lost.
 * VERSION 1: the table is filled when the library is loaded. 2: it is built when it is needed, and
 * the flag is lost. 3: version 2 with the flag.
 */
#include "fields.h"

#define ALONE __attribute__((noinline))

static const char codes[] = "sbBcdCEFgfhHiIlLqQPzuUZXvO";
enum { FIELDS = sizeof codes - 1 };

static struct field table[FIELDS + 1];

ALONE static long
size_of_code(char code)
{
	return 1L << (code & 3);
}

#if VERSION == 1
__attribute__((constructor)) static void
load_table(void)
{
	for (int i = 0; i < FIELDS; i++)
		table[i] = (struct field){codes[i], size_of_code(codes[i])};
}
#else
static int done;

ALONE static void
init_fielddesc(void)
{
	for (int i = 0; i < FIELDS; i++)
		table[i] = (struct field){codes[i], 1L << (codes[i] & 3)};
#if VERSION == 3
	done = 1;
#endif
}
#endif

ALONE const struct field *
get_fielddesc(char code)
{
#if VERSION != 1
	if (!done) {
		for (struct field *f = table; f < table + FIELDS; f++)
			f->code = 0;
		init_fielddesc();
	}
#endif
	for (const struct field *f = table; f->code; f++)
		if (f->code == code)
			return f;
	return 0;
}

ALONE long
call_proc(long value)
{
	for (int i = 0; i < 1200; i++)
		value = value * 3 + i;
	return value;
}

ALONE long
convert_param(long value)
{
	return value & 0xffff;
}

ALONE long
build_result(long value)
{
	return value ^ 0x5555;
}

ALONE long
set_field(long value, const struct field *f)
{
	return value % (f->size * 7 + 1);
}

ALONE long
get_field(long value, const struct field *f)
{
	return value + f->size;
}

ALONE long
keep_reference(long value)
{
	return value + 1;
}

ALONE long
drop_reference(long value)
{
	return value - 1;
}
