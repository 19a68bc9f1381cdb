// SPDX-License-Identifier: GPL-3.0-or-later
// Exceptions through functions that are traced, a backtrace, and threads that end by pthread_exit.
#include <cstdio>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>

#define CALLED __attribute__((noinline, noipa))

struct Guard {
	int value;
	explicit Guard(int n) : value(n) {}
	~Guard() { if (value < 0) puts("unexpected"); }
};

CALLED static int
third(int n)
{
	Guard guard(n);
	if (n % 3 == 0)
		throw std::runtime_error("a third");
	return n;
}

CALLED static int
second(int n)
{
	Guard guard(n + 1);
	return third(n) + 1;
}

CALLED static int
first(int n)
{
	Guard guard(n + 2);
	return second(n) + 1;
}

CALLED static int
backtrace_of(int n)
{
	void *frames[64];
	int depth = n ? backtrace_of(n - 1) : backtrace(frames, 64);
	return depth;
}

CALLED static int
rethrows(int n)
{
	try {
		return first(n);
	} catch (std::exception &) {
		throw;
	}
}

CALLED static void *
thread(void *result)
{
	for (int i = 0; i < 1000; i++)
		try {
			rethrows(i);
		} catch (...) {
		}
	pthread_exit(result);
}

int
main()
{
	long caught = 0, sum = 0;
	for (int i = 0; i < 60000; i++)
		try {
			sum += first(i);
		} catch (std::exception &) {
			caught++;
		}
	printf("%ld %ld\n", caught, sum);
	printf("%d\n", backtrace_of(5) - backtrace_of(0));
	pthread_t threads[4];
	for (auto &t : threads)
		pthread_create(&t, nullptr, thread, reinterpret_cast<void *>(7));
	for (auto &t : threads) {
		void *result;
		pthread_join(t, &result);
		printf("%p\n", result);
	}
}
