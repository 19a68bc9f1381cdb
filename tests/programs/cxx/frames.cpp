// SPDX-License-Identifier: GPL-3.0-or-later
// C++ exceptions: through hundreds of frames with destructors, function pointers, virtual calls and
// std::function; rethrown, nested, filtered by type, thrown while others are in flight, carried
// between threads.
/* strobe-test: */
#include "check.h"
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{
thread_local int alive;

struct guard {
	guard()
	{
		alive++;
	}
	~guard()
	{
		alive--;
	}
};

struct base_error {
	virtual ~base_error() = default;
	virtual int code() const
	{
		return 1;
	}
};
struct derived_error : base_error {
	int value;
	explicit derived_error(int v) : value(v)
	{
	}
	int code() const override
	{
		return value;
	}
};

using step = int (*)(int);
int descend_a(int n);
int descend_b(int n);
step volatile steps[2] = {descend_a, descend_b};

__attribute__((noinline)) int
descend_a(int n)
{
	guard g;
	if (n == 0)
		throw derived_error(42);
	return steps[n & 1](n - 1) + 1;
}

__attribute__((noinline)) int
descend_b(int n)
{
	guard g;
	if (n == 0)
		throw derived_error(42);
	std::string text(static_cast<std::size_t>(n % 50 + 1), 'x');
	return steps[n & 1](n - 1) + static_cast<int>(text.size());
}

void
through_frames(int depth)
{
	try {
		descend_a(depth);
		CHECK(false, "no exception");
	} catch (const std::exception &) {
		CHECK(false, "wrong type");
	} catch (const base_error &e) {
		CHECK_EQ(e.code(), 42);
	}
	CHECK_EQ(alive, 0);
}

int
rethrower(int n)
{
	try {
		guard g;
		if (n == 0)
			throw std::runtime_error("bottom");
		return rethrower(n - 1);
	} catch (const std::runtime_error &e) {
		if (n % 3 == 0)
			throw;
		throw std::runtime_error(std::string(e.what()) + ".");
	}
}

void
rethrown()
{
	try {
		rethrower(30);
		CHECK(false, "no exception");
	} catch (const std::exception &e) {
		CHECK(std::string(e.what()) == "bottom" + std::string(20, '.'), "what() is %s",
		      e.what());
	}
	CHECK_EQ(alive, 0);
}

struct throws_inside {
	bool *done;
	~throws_inside()
	{
		try {
			throw 7;
		} catch (int v) {
			*done = v == 7 && std::uncaught_exceptions() == 1;
		}
	}
};

void
in_flight()
{
	bool done = false;
	try {
		throws_inside t{&done};
		throw 'c';
	} catch (char c) {
		CHECK(c == 'c' && done, "exception within a destructor");
	}
	std::function<void(int)> f = [&f](int n) {
		guard g;
		if (!n)
			throw std::out_of_range("end");
		f(n - 1);
	};
	try {
		f(100);
	} catch (std::logic_error &e) {
		CHECK(std::string(e.what()) == "end", "what() is %s", e.what());
	}
	CHECK_EQ(alive, 0);
}

void
between_threads()
{
	std::exception_ptr carried;
	std::thread t([&] {
		try {
			descend_a(50);
		} catch (...) {
			carried = std::current_exception();
		}
	});
	t.join();
	try {
		std::rethrow_exception(carried);
	} catch (const derived_error &e) {
		CHECK_EQ(e.value, 42);
	}
}

void
nested_exceptions()
{
	try {
		try {
			throw std::runtime_error("inner");
		} catch (...) {
			std::throw_with_nested(std::logic_error("outer"));
		}
	} catch (const std::logic_error &e) {
		try {
			std::rethrow_if_nested(e);
			CHECK(false, "nothing nested");
		} catch (const std::runtime_error &i) {
			CHECK(std::string(i.what()) == "inner", "nested is %s", i.what());
		}
	}
}
} // namespace

int
main()
{
	for (int round = 0; round < 4; round++) {
		for (int depth : {1, 10, 100, 500})
			through_frames(depth);
		rethrown();
		in_flight();
		nested_exceptions();
	}
	between_threads();
	puts("exceptions arrive where they are caught");
	return 0;
}
