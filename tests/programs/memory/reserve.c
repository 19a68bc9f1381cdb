/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Address space as big runtimes take it: the 16 TiB shadow of the address sanitizer, Go's arenas,
 * the heap of a JVM, the first two gigabytes by MAP_32BIT, a large reservation that shrinks, all at
 * their fixed addresses.
 */
/* strobe-test: stress=none */
#include "check.h"
#include <errno.h>
#include <sys/mman.h>

#define GIB (1ull << 30)

static void
at(const char *what, uint64_t address, uint64_t size)
{
	char *p = mmap((void *)address, size, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	CHECK(p == (char *)address, "%s: mapping %#lx at %#lx: %s", what, size, address,
	      strerror(errno));
	p[0] = 1, p[size / 2] = 2, p[size - 1] = 3;
	CHECK(p[0] + p[size / 2] + p[size - 1] == 6, "%s: memory", what);
	CHECK(!munmap(p, size), "%s: munmap", what);
}

static void
low(void)
{
	void *pages[64];

	for (int i = 0; i < 64; i++) {
		pages[i] = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC,
		                MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
		CHECK(pages[i] != MAP_FAILED && (uintptr_t)pages[i] < 2 * GIB, "MAP_32BIT %d", i);
		memcpy(pages[i], "\xb8\x01\0\0\0\xc3", 6);
		CHECK_EQ(((int (*)(void))(uintptr_t)pages[i])(), 1);
	}
	for (int i = 0; i < 64; i++)
		munmap(pages[i], 1 << 20);
}

static void
shrinking(void)
{
	char *p =
	        mmap(NULL, 64 * GIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED, "64 GiB: %s", strerror(errno));
	CHECK(!mprotect(p + 32 * GIB, 1 << 20, PROT_READ | PROT_WRITE), "commit");
	memset(p + 32 * GIB, 5, 1 << 20);
	CHECK(!munmap(p, 32 * GIB), "first half");
	CHECK(!munmap(p + 32 * GIB + (1 << 20), 32 * GIB - (1 << 20)), "rest");
	CHECK_EQ(p[32 * GIB + 4096], 5);
	CHECK(!munmap(p + 32 * GIB, 1 << 20), "last");
}

int
main(void)
{
	at("address sanitizer", 0x7fff8000, 0x10007fff8000 - 0x7fff8000);
	at("Go", 0xc000000000, 64 * GIB);
	at("JVM", 0x700000000, 4 * GIB);
	at("JVM classes", 0x800000000, GIB);
	at("V8 cage", 0x300000000000, 8 * GIB);
	low();
	shrinking();
	puts("address space is free where it is natively");
	return 0;
}
