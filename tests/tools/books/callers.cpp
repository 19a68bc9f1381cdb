// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of every kind that C++ has: virtual, of templates and lambdas, constructors before main,
// from the library, left by exceptions, in threads. Usage: callers-cpp FILE, for the books of
// callbook.h
#include "callbook.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace
{

unsigned long sink;

class shape
{
      public:
	explicit shape(unsigned long size) : size_(size)
	{
	}
	virtual ~shape()
	{
		sink ^= size_;
	}
	virtual unsigned long area() const = 0;

      protected:
	unsigned long size_;
};

class square : public shape
{
      public:
	using shape::shape;
	unsigned long area() const override
	{
		return size_ * size_;
	}
};

class grown : public square
{
      public:
	explicit grown(unsigned long size) : square(size + 1), inner_(size)
	{
	}
	unsigned long area() const override
	{
		return square::area() + inner_.area();
	}

      private:
	square inner_;
};

grown before_main(4);

template <typename T>
T
power(T base, unsigned n)
{
	return n ? base * power<T>(base, n - 1) : T(1);
}

struct guard {
	~guard()
	{
		sink += 3;
	}
};

unsigned long
fall(unsigned depth)
{
	guard g;
	if (!depth) {
		book_thrown();
		throw depth;
	}
	return fall(depth - 1) + 1;
}

unsigned long
attempt(unsigned depth)
{
	try {
		return fall(depth);
	} catch (unsigned) {
		book_caught();
		return power<unsigned long>(2, depth);
	}
}

// The same functions as `work` calls, from another one, more often than rows of calls find room at
// once.
void
measure(const shape &one, const shape &other)
{
	for (int i = 0; i < 5000; i++)
		sink += (i % 3 ? one : other).area();
}

bool
backwards(unsigned long a, unsigned long b)
{
	return b < a;
}

void
work(unsigned seed)
{
	std::vector<std::unique_ptr<shape>> shapes;
	for (unsigned long i = 0; i < 4; i++)
		if ((i + seed) % 2)
			shapes.push_back(std::make_unique<square>(i));
		else
			shapes.push_back(std::make_unique<grown>(i));
	std::vector<unsigned long> areas;
	for (const auto &s : shapes)
		areas.push_back(s->area() + static_cast<unsigned long>(power<double>(1.5, seed)));
	if (seed == 2)
		measure(*shapes[0], *shapes[1]);
	std::sort(areas.begin(), areas.end(), backwards);
	std::function<unsigned long(unsigned long)> twice = [seed](unsigned long x) {
		return 2 * x + seed;
	};
	for (unsigned long a : areas)
		sink += twice(a) + attempt(static_cast<unsigned>(a % 5));
}

} // namespace

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	book_file(argv[1]);
	std::thread threads[2] = {std::thread(work, 1), std::thread(work, 2)};
	work(0);
	for (auto &t : threads)
		t.join();
	sink += before_main.area();
	return 0;
}
