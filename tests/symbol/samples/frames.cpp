/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cold parts that begin in the middle of a frame: jumped back from, ending in no return, entered by
 * exceptions; and one that begins before there is a frame. */
#include <cstdio>
#include <stdexcept>
#include <string>

#define APART __attribute__((noinline))

__attribute__((cold, noinline)) void
seldom(int x)
{
	std::printf("%d\n", x);
}

__attribute__((cold, noinline, noreturn)) void
never(int x)
{
	throw std::runtime_error(std::to_string(x));
}

APART int
early(int x)
{
	if (x > 1000)
		throw std::runtime_error("much");
	return x + 1;
}

APART int
returning(int x)
{
	std::string s((std::size_t)x, 'a');
	int n = early(x);
	if (__builtin_expect(n > 30, 0)) {
		seldom(n);
		seldom(x);
		n += early(n);
	}
	return n + (int)s.size();
}

APART int
ending(int x)
{
	volatile int a[9];
	for (int i = 0; i < 9; i++)
		a[i] = early(i * x);
	if (__builtin_expect(a[x & 7] > 900, 0)) {
		seldom(a[1]);
		never(a[2]);
	}
	return a[3];
}

APART int
catching(int x)
{
	std::string s((std::size_t)x, 'b');
	try {
		return early(x) + (int)s.size();
	} catch (std::exception &e) {
		std::puts(e.what());
		return 3;
	}
}

int
main(int argc, char **)
{
	return returning(argc) + ending(argc) + catching(argc) == 7;
}
