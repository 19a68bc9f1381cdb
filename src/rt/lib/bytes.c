/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few library functions that a freestanding compiler expects. */
#include "rt/lib/sys.h"

/* Compilers call these of themselves, in loaded tools too. */
#define EXPORTED __attribute__((visibility("default"), used))

EXPORTED void *
memcpy(void *restrict to, const void *restrict from, size_t n)
{
	uint8_t *d = to;
	const uint8_t *s = from;
	if (n >= 512) {
		__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
		return to;
	}
	for (; n >= 8; n -= 8, d += 8, s += 8)
		__builtin_memcpy(d, s, 8);
	for (; n; n--)
		*d++ = *s++;
	return to;
}

EXPORTED void *
memset(void *to, int c, size_t n)
{
	void *d = to;
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
	return to;
}

EXPORTED int
memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;
	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}

EXPORTED size_t
strlen(const char *s)
{
	size_t n = 0;
	while (s[n])
		n++;
	return n;
}
