// SPDX-License-Identifier: GPL-3.0-or-later
// Memory asked for in every way, by two threads one after the other, freed in part. Says what each
// of the functions that ask has been given, and holds: "site NAME COUNT BYTES LIVE PEAK".
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct alignas(64) wide {
	char bytes[128];
};

namespace
{

// Before anything is counted: no function below asks for more.
struct book {
	const char *name;
	unsigned long count, bytes, live, peak;
} books[16];
void *volatile kept[64];
volatile size_t nothing = 0;

book &
book_of(const char *name)
{
	book *b = books;
	while (b->name && b->name != name)
		b++;
	b->name = name;
	return *b;
}

void *
note(const char *name, void *given, size_t size)
{
	book &b = book_of(name);
	b.count++;
	b.bytes += size;
	b.live += size;
	b.peak = std::max(b.peak, b.live);
	return given;
}

void
gone(const char *name, size_t size)
{
	book_of(name).live -= size;
}

} // namespace

// Each calls once, and does something after it: the place in it is known.
#define SITE(name, parameters, call, size)                                                         \
	extern "C" __attribute__((noinline)) void *name parameters                                 \
	{                                                                                          \
		return note(#name, call, size);                                                    \
	}
SITE(site_malloc, (size_t n), malloc(n), n)
SITE(site_calloc, (size_t n, size_t each), calloc(n, each), n *each)
SITE(site_new_realloc, (size_t n), realloc(nullptr, n), n)
SITE(site_realloc, (void *p, size_t n), realloc(p, n), n)
SITE(site_reallocarray, (void *p, size_t n, size_t each), reallocarray(p, n, each), n *each)
SITE(site_aligned, (size_t align, size_t n), aligned_alloc(align, n), n)
SITE(site_memalign, (size_t align, size_t n), memalign(align, n), n)
SITE(site_operator_new, (), new wide, sizeof(wide))
SITE(site_new_array, (size_t n), new int[n], n * sizeof(int))

extern "C" __attribute__((noinline)) void *
site_posix_memalign(size_t align, size_t n)
{
	void *p = kept[0]; // stays, if it fails
	return posix_memalign(&p, align, n) ? nullptr : note("site_posix_memalign", p, n);
}

static void
work(int n)
{
	int k = n * 32;
	for (int i = 1; i < 9; i++) {
		kept[k++] = site_malloc(static_cast<size_t>(i * 10));
		free(site_calloc(static_cast<size_t>(i), 7));
		gone("site_calloc", static_cast<size_t>(i * 7));
	}
	kept[k] = site_new_realloc(50);
	kept[k] = site_realloc(kept[k], 5000);
	gone("site_new_realloc", 50);
	kept[k] = site_reallocarray(kept[k], 30, 7);
	gone("site_realloc", 5000);
	k++;
	free(nullptr);
	kept[k++] = site_aligned(64, 640);
	kept[k++] = site_memalign(32, 33);
	kept[k++] = site_posix_memalign(128, 300);
	site_posix_memalign(3, 50); // no alignment
	kept[k++] = site_operator_new();
	delete static_cast<wide *>(site_operator_new());
	gone("site_operator_new", sizeof(wide));
	kept[k++] = site_new_array(10);
	delete[] new std::string[3];
	std::vector<std::string> texts;
	for (int i = 0; i < 100; i++)
		texts.push_back(std::string(static_cast<size_t>(i), 'x'));
	// More than was live before, and gone again: the most that there ever was.
	free(site_malloc(200000));
	gone("site_malloc", 200000);
	// Given back by realloc, and its place not taken again.
	void *last = site_malloc(70000);
	gone("site_malloc", 70000);
	free(realloc(last, nothing));
}

int
main()
{
	work(0);
	std::thread(work, 1).join();
	for (const book *b = books; b->name; b++)
		printf("site %s %lu %lu %lu %lu\n", b->name, b->count, b->bytes, b->live, b->peak);
	return 0;
}
