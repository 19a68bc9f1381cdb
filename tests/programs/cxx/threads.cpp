// SPDX-License-Identifier: GPL-3.0-or-later
// Eight threads throw and catch at once, through function pointers and frames with destructors.
/* strobe-test: */
#include "check.h"
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{
enum { ROUNDS = 40 }; /* each depth once */

thread_local long destroyed;

struct counted {
	~counted()
	{
		destroyed++;
	}
};

typedef long (*function)(int, int);
long level(int n, int id);
function volatile indirect = level;

__attribute__((noinline)) long
level(int n, int id)
{
	counted c;
	if (n == 0)
		throw id;
	return indirect(n - 1, id) + 1;
}

void
run(int id, long *caught)
{
	for (int i = 0; i < ROUNDS; i++) {
		try {
			indirect(i % 40, id);
		} catch (int who) {
			CHECK_EQ(who, id);
			++*caught;
		}
	}
	long expected = 0;
	for (int i = 0; i < ROUNDS; i++)
		expected += i % 40 + 1;
	CHECK_EQ(destroyed, expected);
}
} // namespace

int
main()
{
	std::vector<std::thread> threads;
	long caught[8] = {};

	for (int i = 0; i < 8; i++)
		threads.emplace_back(run, i, &caught[i]);
	for (std::thread &t : threads)
		t.join();
	for (long c : caught)
		CHECK_EQ(c, ROUNDS);
	puts("320 exceptions caught in 8 threads");
	return 0;
}
