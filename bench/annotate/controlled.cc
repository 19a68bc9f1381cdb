// SPDX-License-Identifier: GPL-3.0-or-later
// Functions whose times follow known laws of their data, after section 5 of the paper: a step of a
// law is a loop of known length. usage: controlled ROUNDS SEED
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define TARGET __attribute__((noinline, noclone))

static uint64_t state;

static unsigned
below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return static_cast<unsigned>((state >> 33) % n);
}

static void
spin(double steps)
{
	long i = static_cast<long>(40 * steps);
	do // also once for no step, so that the number of instructions is linear from 0 on
		__asm__ volatile("" : : "r"(i));
	while (--i >= 0);
}

enum kind { FIXED, LINEAR, QUADRATIC };
struct record {
	int other, a;
};
struct pair {
	int a, b;
};
struct base {
	int a;
};
struct derived : base {
	int more;
};
struct shape {
	int v;
	explicit shape(int value) : v(value)
	{
	}
	virtual ~shape() = default;
	virtual int cost() const = 0;
};
struct rising final : shape {
	using shape::shape;
	int cost() const override
	{
		return v;
	}
};
struct falling final : shape {
	using shape::shape;
	int cost() const override
	{
		return 400 - v;
	}
};
struct object {
	int a;
	TARGET void method()
	{
		spin(a);
	}
};
namespace space
{
TARGET void
inner(int t)
{
	spin(t);
}
} // namespace space

TARGET void
by_value(int t)
{
	spin(t);
}
TARGET void
by_pointer(const int *t)
{
	spin(*t);
}
TARGET void
by_float(float t)
{
	spin(t);
}
TARGET void
by_size(const std::vector<int> &v)
{
	spin(v.size());
}
TARGET void
by_length(const char *s)
{
	spin(__builtin_strlen(s));
}
TARGET void
by_square(int t)
{
	spin(t * t / 100.0);
}
TARGET void
by_logarithm(int t)
{
	spin(t ? t * std::log2(t) : 0);
}
TARGET void
by_noisy_square(int t)
{
	spin(t * t / 100.0 * (0.98 + 0.0004 * below(100)));
}
TARGET void
by_member(const record *r)
{
	spin(r->a);
}
TARGET void
by_pair(pair p)
{
	spin(p.a);
}
TARGET void
by_base(const base &b)
{
	spin(b.a);
}
TARGET void
by_class(const shape *s)
{
	spin(s->cost());
}
TARGET void
by_condition(int a, int b, int c)
{
	spin(a > 10 ? b * b / 100.0 : c);
}
TARGET void
by_valley(int a)
{
	spin(a < 150 ? (150 - a) * 4 : 100 + (a - 150) * 4);
}
TARGET void
by_kind(kind k, int a)
{
	spin(k == FIXED ? 200 : k == LINEAR ? a : a * a / 100.0);
}
TARGET void
by_product(int a, int b)
{
	spin(a * b / 100.0);
}
TARGET void
by_sum(const unsigned (*t)[2][10])
{
	unsigned sum = 0;
	for (int i = 0; i < 20; i++)
		sum += (*t)[i / 10][i % 10];
	spin(sum);
}

static void
call_each(int t)
{
	const int other = static_cast<int>(below(301)), third = static_cast<int>(below(301));
	const std::vector<int> numbers(static_cast<size_t>(t));
	const std::string text(static_cast<size_t>(t), 'x');
	const record r = {other, t};
	derived d;
	d.a = t;
	d.more = other;
	object o = {t};
	const rising up(t);
	const falling down(t);
	unsigned table[2][10] = {};
	for (int i = 0; i < t; i++)
		table[i % 2][i % 10]++;
	by_value(t);
	by_pointer(&t);
	by_float(static_cast<float>(t) + 0.25f);
	by_size(numbers);
	by_length(text.c_str());
	by_square(t);
	by_logarithm(t);
	by_noisy_square(t);
	by_member(&r);
	by_pair({t, other});
	by_base(d);
	by_class(below(2) ? static_cast<const shape *>(&up) : &down);
	by_condition(static_cast<int>(below(21)), t, other);
	by_valley(t);
	by_kind(static_cast<kind>(below(3)), t);
	by_product(t, third);
	by_sum(&table);
	o.method();
	space::inner(t);
}

int
main(int argc, char **argv)
{
	state = argc > 2 ? static_cast<uint64_t>(std::atol(argv[2])) : 1;
	for (int i = 0; i < (argc > 1 ? std::atoi(argv[1]) : 1) * 151; i++)
		call_each(static_cast<int>(below(151)) * 2);
	std::puts("done");
	return 0;
}
