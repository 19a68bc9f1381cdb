// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of C++ whose parameters are objects. Each writes its arguments, as in shapes.c.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <string>
#include <vector>

#define TARGET __attribute__((noinline, noclone))

struct Base {
	int weight = 5;
	virtual long work(long n) = 0;
	virtual ~Base() = default;
};
struct Linear : Base {
	long work(long n) override
	{
		return n;
	}
};
struct Square : Base {
	int extra = 9;
	long work(long n) override
	{
		return n * n;
	}
};
struct Common {
	long shared = 0;
};
struct Left : virtual Common {
	int left = 1;
};
struct Counter : Base, Left {
	int count;
	unsigned flag : 1;
	static int instances;
	explicit Counter(int n) : count(n), flag(n % 2 != 0)
	{
		shared = n * 11;
	}
	TARGET long work(long n) override
	{
		printf("Counter::work %d %u %ld %ld %d\n", count, flag, n, shared, left);
		return n;
	}
};
int Counter::instances = 3;
struct Handle { // passed by its address
	int id;
	explicit Handle(int n) : id(n)
	{
	}
	Handle(const Handle &h) : id(h.id)
	{
	}
	~Handle()
	{
	}
};
namespace space
{
struct small {
	short a;
};
} // namespace space

TARGET long
dynamic(Base &b, long n)
{
	printf("dynamic %d %ld\n", b.weight, n);
	return b.work(n);
}

TARGET size_t
containers(const std::vector<int> &v, const std::list<long> &l, const std::string &s,
           const std::map<int, int> &m)
{
	printf("containers %zu %zu %zu %zu\n", v.size(), l.size(), s.size(), m.size());
	return v.size();
}

TARGET int
handles(Handle h, space::small s)
{
	printf("handles %d %d\n", h.id, s.a);
	return h.id;
}

TARGET std::string
overloaded(int n)
{
	printf("overloaded(int) %d\n", n);
	return std::string((size_t)n, 'x');
}

TARGET std::string
overloaded(double n)
{
	printf("overloaded(double) %.17g\n", n);
	return std::string();
}

__attribute__((always_inline)) static inline int
vanishes(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += printf("%s", i % 5 ? "" : "");
	return sum;
}

TARGET void
throws(int n)
{
	printf("throws %d\n", n);
	if (n % 2)
		throw n;
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 8;
	size_t sum = 0;
	for (int i = 0; i < rounds; i++) {
		Linear linear;
		Square square;
		Counter counter(i);
		linear.weight = i;
		sum += (size_t)dynamic(i % 2 ? (Base &)linear : (Base &)square, i);
		sum += (size_t)counter.work(i * 2);
		std::vector<int> v((size_t)i, 7);
		v.reserve((size_t)i * 2 + 1);
		std::map<int, int> m;
		for (int j = 0; j < i * 3; j++)
			m[j] = j;
		sum += containers(v, std::list<long>((size_t)i + 3, 1),
		                  std::string((size_t)i * 5, 'c'), m);
		sum += (size_t)handles(Handle(i), {(short)-i});
		sum += overloaded(i).size() + overloaded(i * 0.5).size() + (size_t)vanishes(i);
		try {
			throws(i);
		} catch (int n) {
			sum += (size_t)n;
		}
	}
	printf("sum %zu\n", sum);
	return 0;
}
