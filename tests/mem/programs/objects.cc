// SPDX-License-Identifier: GPL-3.0-or-later
// Allocations of C++: operator new in its forms, a container, exceptions that are thrown meanwhile.
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <vector>

struct alignas(64) Wide {
	char bytes[128];
};

static void *volatile sink;

__attribute__((noinline, noipa)) static void
objects()
{
	int *one = new int(1);
	char *many = new char[1000];
	Wide *wide = new Wide;
	long *none = new (std::nothrow) long(2);
	sink = one;
	sink = many;
	sink = wide;
	sink = none;
	delete one;
	delete[] many;
	delete wide;
	delete none;
}

__attribute__((noinline, noipa)) static void
grow()
{
	std::vector<int> v;
	v.reserve(100);
	for (int i = 0; i < 100; i++)
		v.push_back(i);
	sink = v.data();
}

// bad_alloc comes from where malloc fails.
__attribute__((noinline, noipa)) static int
fails()
{
	try {
		volatile std::size_t much = static_cast<std::size_t>(1) << 62;
		sink = ::operator new(much);
	} catch (const std::bad_alloc &) {
		return 0;
	}
	return 1;
}

__attribute__((noinline, noipa)) static int
throws(int n)
{
	void *p = std::malloc(50);
	sink = p;
	try {
		if (n)
			return throws(n - 1);
		throw std::runtime_error("x");
	} catch (const std::runtime_error &) {
		std::free(p);
		if (n)
			return 1;
		throw;
	}
}

int
main()
{
	objects();
	grow();
	int bad = fails();
	for (int i = 0; i < 10; i++)
		bad |= !throws(3);
	return bad;
}
