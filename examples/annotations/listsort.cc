// SPDX-License-Identifier: GPL-3.0-or-later
// Sorts lists of random numbers, each in a process of its own, so that no list finds the heap as another one has left it.
// usage: listsort SIZE...
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>

// std::list<int>::sort is emitted as a function, with the name by which Strobe finds it.
template class std::list<int>;

static void
sort_numbers(long size)
{
	uint64_t state = static_cast<uint64_t>(size);
	std::list<int> numbers;
	for (long i = 0; i < size; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		numbers.push_back(static_cast<int>(state >> 33));
	}
	numbers.sort();
	_exit(0); // not through the destructor, which would read the whole list again
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int status;
		const pid_t child = fork();
		if (child == 0)
			sort_numbers(atol(argv[i]));
		if (child < 0 || waitpid(child, &status, 0) < 0 || status) {
			fprintf(stderr, "listsort: the list of %s numbers was not sorted\n", argv[i]);
			return 1;
		}
	}
	return 0;
}
