/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every program here uses to check itself: a failed check says what was expected and ends the
 * process with code 1, from any thread and from signal handlers too.
 */
#ifndef STROBE_TESTS_CHECK_H
#define STROBE_TESTS_CHECK_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK_SKIPPED 77 /* the exit code that the runner counts as skipped */

__attribute__((format(printf, 3, 4), noreturn)) static inline void
check_failed(const char *file, int line, const char *format, ...)
{
	char text[512];
	va_list args;
	int n = snprintf(text, sizeof text, "%s:%d: ", file, line);

	va_start(args, format);
	n += vsnprintf(text + n, sizeof text - (size_t)n - 1, format, args);
	va_end(args);
	if ((size_t)n > sizeof text - 2)
		n = (int)sizeof text - 2;
	text[n] = '\n';
	if (write(2, text, (size_t)n + 1) < 0)
		_exit(2);
	_exit(1);
}

static inline void
check_equal(const char *file, int line, const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		check_failed(file, line, "%s is %#llx, should be %#llx", what,
		             (unsigned long long)got, (unsigned long long)want);
}

#define CHECK(condition, ...)                                                                      \
	do {                                                                                       \
		if (!(condition))                                                                  \
			check_failed(__FILE__, __LINE__, __VA_ARGS__);                             \
	} while (0)
#define CHECK_EQ(got, want) check_equal(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(want))

#endif
