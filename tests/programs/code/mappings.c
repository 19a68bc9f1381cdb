/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that changes by way of its mapping: a second, writable mapping of a memfd; mprotect between
 * writable and executable; munmap and mmap of other code at the same address; mremap; MAP_FIXED
 * over live code; pages dropped by madvise.
 */
/* strobe-test: */
#include "code/emit.h"

static void
double_mapped(void)
{
	int fd = memfd_create("code", 0);

	CHECK(fd >= 0 && !ftruncate(fd, 4096), "memfd");
	void *w = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *x = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	CHECK(w != MAP_FAILED && x != MAP_FAILED, "mmap");
	for (int i = 0; i < 300; i++) {
		emit_return((char *)w + i % 50 * 16, i);
		CHECK_EQ(call((char *)x + i % 50 * 16), i);
	}
	munmap(w, 4096);
	munmap(x, 4096);
	close(fd);
}

static void
toggled(void)
{
	void *p = map_code(4096, PROT_READ | PROT_WRITE);

	for (int i = 0; i < 150; i++) {
		CHECK(!mprotect(p, 4096, PROT_READ | PROT_WRITE), "mprotect");
		emit_return(p, i);
		CHECK(!mprotect(p, 4096, PROT_READ | PROT_EXEC), "mprotect");
		CHECK_EQ(call(p), i);
		CHECK_EQ(call(p), i);
	}
	munmap(p, 4096);
}

static void
replaced(void)
{
	void *address = map_code(4096, PROT_READ);

	for (int i = 0; i < 150; i++) {
		munmap(address, 4096);
		void *p = mmap(address, 4096, PROT_READ | PROT_WRITE,
		               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		CHECK(p == address, "mmap at the same address");
		emit_return(p, i);
		mprotect(p, 4096, PROT_READ | PROT_EXEC);
		CHECK_EQ(call(p), i);
	}
	/* Without munmap: files mapped over live code. */
	int fd = memfd_create("code", 0);
	unsigned char code[2][4096];
	emit_return(code[0], 1000), emit_return(code[1], 2000);
	CHECK(write(fd, code, sizeof code) == sizeof code, "write");
	for (int i = 0; i < 60; i++) {
		void *p = mmap(address, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
		               i % 2 * 4096);
		CHECK(p == address, "mmap over live code");
		CHECK_EQ(call(p), 1000 * (i % 2 + 1));
	}
	munmap(address, 4096);
	close(fd);
}

static void
moved(void)
{
	char *here = map_code(8192, PROT_READ | PROT_WRITE), *there = map_code(8192, PROT_NONE);

	emit_return(here, 11);
	mprotect(here, 4096, PROT_READ | PROT_EXEC);
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(call(here), 11);
		CHECK(mremap(here, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, there) == there,
		      "mremap");
		CHECK_EQ(call(there), 11);
		void *other = mmap(here, 4096, PROT_READ | PROT_WRITE,
		                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		emit_return(other, i);
		mprotect(other, 4096, PROT_READ | PROT_EXEC);
		CHECK_EQ(call(here), i);
		CHECK(mremap(there, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, here) == here,
		      "mremap");
	}
	munmap(here, 8192);
	munmap(there, 8192);
}

/* Pages dropped and written anew while executable and writable. */
static void
dropped(void)
{
	char *p = map_code(4096, PROT_READ | PROT_WRITE | PROT_EXEC);

	for (int i = 0; i < 100; i++) {
		emit_return(p, i);
		CHECK_EQ(call(p), i);
		CHECK(!madvise(p, 4096, MADV_DONTNEED), "madvise");
		CHECK_EQ(p[0], 0);
		emit_return(p, -i);
		CHECK_EQ((uint32_t)call(p), (uint32_t)-i);
	}
	munmap(p, 4096);
}

/* Many small regions that come and go, as a JIT's arenas do. */
static void
churned(void)
{
	void *live[64] = {NULL};
	unsigned random = 1;

	for (int i = 0; i < 1000; i++) {
		random = random * 1103515245 + 12345;
		unsigned k = random >> 16 & 63;
		if (live[k]) {
			CHECK_EQ(call(live[k]), k * 100);
			munmap(live[k], 4096);
			live[k] = NULL;
		} else {
			live[k] = map_code(4096, PROT_READ | PROT_WRITE);
			emit_return(live[k], (int)k * 100);
			mprotect(live[k], 4096, PROT_READ | PROT_EXEC);
			CHECK_EQ(call(live[k]), k * 100);
		}
	}
}

int
main(void)
{
	double_mapped();
	toggled();
	replaced();
	moved();
	dropped();
	churned();
	puts("remapped code runs as mapped");
	return 0;
}
