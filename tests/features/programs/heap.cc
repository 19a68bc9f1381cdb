/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions whose net and peak use of the heap are known. */
#include <csetjmp>
#include <cstdlib>
#include <new>
#include <thread>

#define TARGET extern "C" __attribute__((noinline, noclone))
/* The compiler may not leave out an allocation whose block escapes. */
#define ESCAPES(p) __asm__ volatile("" : "+r"(p) : : "memory")

static void *blocks[1000];
static std::jmp_buf back;

static void *
block(std::size_t n)
{
	void *p = std::malloc(n);
	ESCAPES(p);
	return p;
}

/* net and peak: 24 n */
TARGET void
keeps(int n)
{
	for (int i = 0; i < n; i++)
		blocks[i] = block(24);
}

/* net: -24 n, peak: 0 */
TARGET void
releases(int n)
{
	for (int i = 0; i < n; i++)
		std::free(blocks[i]);
}

/* net: 0, peak: 100 if n is not 0 */
TARGET void
passes(int n)
{
	for (int i = 0; i < n; i++)
		std::free(block(100));
}

/* net: 0, peak: 1000, and 100 if n is not 0 */
TARGET void
around(int n)
{
	void *p = block(1000);
	passes(n);
	std::free(p);
	passes(n);
	std::free(block(50));
}

/* The callee's peak is lower than that of the call before it. net: 0, peak: 3000 */
TARGET void
before(int n)
{
	std::free(block(3000));
	passes(n);
}

/* net: 0, peak: 16 n */
TARGET void
regrows(int n)
{
	void *p = block(16);
	for (int i = 2; i <= n; i++) {
		p = std::realloc(p, 16 * i);
		ESCAPES(p);
	}
	std::free(p);
}

/* net: -16 n, peak: 0: the block of the caller becomes smaller, and is then freed. */
TARGET void
shrinks(int n)
{
	blocks[0] = std::realloc(blocks[0], 8 * n);
	ESCAPES(blocks[0]);
	std::free(blocks[0]);
}

TARGET void
jumps(int n)
{
	blocks[0] = block(500);
	if (n)
		std::longjmp(back, 1);
}

/* The call that it makes is left. net: 0, peak: 700 */
TARGET void
catches(int n)
{
	std::free(block(700));
	if (!setjmp(back))
		jumps(n);
	std::free(blocks[0]);
}

/* Each level has 10 bytes while it calls the next one. net: 0, peak: 10 (n + 1) */
TARGET void
descends(int n)
{
	void *p = block(10);
	if (n)
		descends(n - 1);
	std::free(p);
}

/* net: 64 + 200 + 100 + n + 128, peak: 33 more */
TARGET void
family(int n)
{
	void *p[6] = {};
	p[0] = std::aligned_alloc(64, 64);
	if (posix_memalign(&p[1], 32, 200))
		std::abort();
	p[2] = std::calloc(10, 10);
	p[3] = new char[(std::size_t)n];
	p[4] = ::operator new (128, std::align_val_t(64));
	p[5] = ::operator new (33);
	for (int i = 0; i < 6; i++)
		ESCAPES(p[i]);
	::operator delete (p[5]);
	for (int i = 0; i < 5; i++)
		blocks[i] = p[i];
}

/* net and peak: n */
TARGET void
makes(int n)
{
	blocks[0] = block((std::size_t)n);
}

/* Another thread has allocated the block. net: -n, peak: 0 */
TARGET void
takes(int n)
{
	(void)n;
	std::free(blocks[0]);
}

int
main()
{
	for (int i = 0; i < 6; i++) {
		keeps(i * 10);
		releases(i * 10);
		around(i);
		before(i);
		regrows(i + 1);
		blocks[0] = block(16 * (std::size_t)(i + 1));
		shrinks(i + 1);
		catches(i + 1);
		descends(i);
		family(i + 1);
		std::thread(makes, i).join();
		takes(i);
	}
}
