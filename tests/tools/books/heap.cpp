// SPDX-License-Identifier: GPL-3.0-or-later
// Memory asked for in every way, by two threads one after the other, freed in part.
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct alignas(64) wide {
	char bytes[128];
};

static void *volatile kept[64];

static void
work(int n)
{
	int k = n * 32;
	for (int i = 1; i < 9; i++) {
		kept[k++] = malloc(static_cast<size_t>(i * 10));
		free(calloc(static_cast<size_t>(i), 7));
	}
	kept[k] = realloc(nullptr, 50);
	kept[k] = realloc(kept[k], 5000);
	kept[k] = reallocarray(kept[k], 30, 7);
	k++;
	free(realloc(malloc(3), 0));
	free(nullptr);
	kept[k++] = aligned_alloc(64, 640);
	kept[k++] = memalign(32, 33);
	void *aligned = nullptr;
	if (!posix_memalign(&aligned, 128, 300))
		kept[k++] = aligned;
	kept[k++] = new wide;
	delete new wide;
	kept[k++] = new int[10];
	delete[] new std::string[3];
	std::vector<std::string> texts;
	for (int i = 0; i < 100; i++)
		texts.push_back(std::string(static_cast<size_t>(i), 'x'));
}

int
main()
{
	work(0);
	std::thread(work, 1).join();
	return 0;
}
