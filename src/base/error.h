/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors as values that carry their cause. Hosted code only. */
#ifndef STROBE_BASE_ERROR_H
#define STROBE_BASE_ERROR_H

#include <stdarg.h>
#include <stdio.h>

#include "base/status.h"

/* One sentence that names the cause and, where there is one, the way out. code is the exit code
 * `strobe` should end with. */
struct st_error {
	int code;
	char text[1024];
};

/* The documented exit codes of strobe itself; otherwise it exits as the program did. */
enum {
	ST_EXIT_OK = 0,
	ST_EXIT_USAGE = 2,            /* bad option or argument */
	ST_EXIT_FAILED = 125,         /* strobe itself failed: output, injection, internal */
	ST_EXIT_NOT_EXECUTABLE = 126, /* the program was found but cannot be run */
	ST_EXIT_NOT_FOUND = 127,      /* no such program */
};

/* Says why something failed. e may be NULL. */
__attribute__((format(printf, 3, 4))) static inline void
st_cause(struct st_error *e, int code, const char *format, ...)
{
	va_list ap;
	if (!e)
		return;
	va_start(ap, format);
	e->code = code;
	vsnprintf(e->text, sizeof e->text, format, ap);
	va_end(ap);
}

/* The same, so that `return st_fail(e, ...)` reads well. */
#define st_fail(...) (st_cause(__VA_ARGS__), ST_FAILED)

#endif
