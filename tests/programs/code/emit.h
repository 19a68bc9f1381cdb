/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiny code generator of the tests that write code: functions that return a constant, and mappings
 * to put them in. */
#ifndef STROBE_TESTS_CODE_EMIT_H
#define STROBE_TESTS_CODE_EMIT_H

#include "check.h"
#include <sys/mman.h>

typedef int function(void);

#define RETURN_LENGTH 6

/* mov $value, %eax; ret */
static inline void
emit_return(void *at, int value)
{
	unsigned char *p = at;

	p[0] = 0xb8;
	memcpy(p + 1, &value, 4);
	p[5] = 0xc3;
	__asm__ volatile("" ::: "memory");
}

static inline int
call(const void *at)
{
	return ((function *)(uintptr_t)at)();
}

static inline void *
map_code(size_t size, int protection)
{
	void *p = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED, "mmap failed");
	return p;
}

#endif
