/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

char folder[] = "/tmp/strobe-qos-XXXXXX";

const char *
path_of(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

void *
open_source(const struct st_qos_kind *kind, const char *format, ...)
{
	char text[400];
	struct st_error e;
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	void *source = kind->open(text, &e);
	if (!source)
		fail_msg("%s", e.text);
	return source;
}
