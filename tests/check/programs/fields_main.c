/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls foreign functions as a program with bindings does: each call converts three fields. */
#include <stdio.h>

#include "fields.h"

int
main(void)
{
	long value = 1;
	for (int i = 0; i < 500; i++) {
		value = keep_reference(value);
		for (const char *code = "ilO"; *code; code++) {
			const struct field *f = get_fielddesc(*code);
			if (!f)
				return 1;
			value = get_field(set_field(convert_param(value), f), f);
		}
		value = build_result(call_proc(value));
		value = drop_reference(value);
	}
	printf("%ld\n", value);
	return 0;
}
