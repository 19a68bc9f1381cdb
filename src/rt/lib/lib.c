/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few library functions that a freestanding compiler expects, and memory for the runtime. */
#include <linux/mman.h>
#include <asm/unistd.h>

#include "rt/lib/sys.h"

void *
memcpy(void *restrict to, const void *restrict from, size_t n)
{
	void *d = to;
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(n) : : "memory");
	return to;
}

void *
memset(void *to, int c, size_t n)
{
	void *d = to;
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
	return to;
}

int
memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;
	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}

size_t
strlen(const char *s)
{
	size_t n = 0;
	while (s[n])
		n++;
	return n;
}

void *
rt_map_memory(size_t bytes)
{
	long p = SYS(__NR_mmap, 0, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(p))
		return NULL;
	rt_memory_reserved += bytes;
	return (void *)p;
}

void
rt_complain(const char *text, uint64_t number)
{
	char line[160] = "strobe: ";
	size_t at = 8;
	for (size_t i = 0; text[i] && at < 120; i++)
		line[at++] = text[i];
	line[at++] = ' ';
	for (int shift = 60; shift >= 0; shift -= 4)
		line[at++] = "0123456789abcdef"[(number >> shift) & 15];
	line[at++] = '\n';
	SYS(__NR_write, 2, line, at);
}
