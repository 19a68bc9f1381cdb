/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors as values that carry their cause. Hosted code only. */
#ifndef STROBE_BASE_ERROR_H
#define STROBE_BASE_ERROR_H

#include <stdarg.h>
#include <stdio.h>

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

/* Fills *e and returns -1, so that `return st_fail(e, ...)` reads well. e may be NULL. */
__attribute__((format(printf, 3, 4))) static inline int
st_fail(struct st_error *e, int code, const char *format, ...)
{
	if (e) {
		va_list ap;
		va_start(ap, format);
		e->code = code;
		vsnprintf(e->text, sizeof e->text, format, ap);
		va_end(ap);
	}
	return -1;
}

#endif
