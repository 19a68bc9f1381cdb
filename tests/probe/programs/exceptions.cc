// SPDX-License-Identifier: GPL-3.0-or-later
// Exceptions through three functions whose calls are compared, to a catcher whose calls are not.
#include <cstdio>
#include <stdexcept>

#define TRACED extern "C" __attribute__((noinline, noipa))

struct Undo {
	long &count;
	~Undo() { count++; }
};

TRACED long
t_third(long n)
{
	if (n % 3 == 0)
		throw std::runtime_error("a third");
	return n;
}

TRACED long
t_second(long n, long &undone)
{
	Undo undo{undone};
	return t_third(n) + 1;
}

TRACED long
t_first(long n, long &undone)
{
	return t_second(n, undone) + 1;
}

extern "C" __attribute__((no_instrument_function)) void
run_exceptions(void)
{
	long sum = 0, undone = 0;
	for (long i = 0; i < 300; i++) {
		try {
			sum += t_first(i, undone);
		} catch (std::exception &) {
			sum += 7;
		}
	}
	printf("%ld %ld\n", sum, undone);
}
