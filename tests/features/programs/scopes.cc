/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data in namespaces, classes and containers. With SHOWN, a list of SHOW(path), the function prints
 * the values of these paths: the test compiles this file with the paths of the features. */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <vector>

/* A path through a null pointer has no value. */
#define SHOW(path)                                                                                                                                           \
	if (sigsetjmp(before, 1))                                                                                                                            \
		printf("nan ");                                                                                                                              \
	else                                                                                                                                                 \
		printf("%.17g ", (double)(path));
#define SUM(path) SHOW(sum_of(path))
#define COMPILE(path) (void)sizeof(path);
#ifndef SHOWN
#define SHOWN
#endif

static sigjmp_buf before;

static void
go_back(int)
{
	siglongjmp(before, 1);
}

template <class T, size_t n> static double
sum_of(const T (&v)[n])
{
	double sum = 0;
	for (const T &x : v)
		sum += (double)x;
	return sum;
}

int count = 1;
static const int constants[3] = {1, 2, 3};
namespace outer
{
int count = 2;
static int hidden = 3;
struct Class {
	static int count;
	static double ratio;
};
int Class::count = 4;
double Class::ratio = 0.25;
namespace inner
{
int count = 5;
}
inline namespace version
{
unsigned char byte = 6;
}
template <class T> struct Of {
	static T value;
};
template <class T> T Of<T>::value = 7;
template struct Of<int>;
std::string text = "text";
} // namespace outer
namespace
{
int unnamed = 8;
}

enum Order { UP, DOWN };
struct Base {
	virtual ~Base() = default;
	int weight = 3;
};
struct Derived : Base {
	long more = 5;
};
struct Item {
	const char *name;
	Item *next;
	Order order;
	unsigned low : 3, high : 5;
	union {
		int whole;
		float part;
	};
	int squares[4];
	int **twice;

	int work(int n, const std::vector<int> &v, std::string s, std::list<int> &l, std::map<int, int> *m, std::deque<int> &d, std::vector<bool> &bits,
	         std::unordered_map<int, int> &table, Base *base);
};

__attribute__((noinline)) int
Item::work(int n, const std::vector<int> &v, std::string s, std::list<int> &l, std::map<int, int> *m, std::deque<int> &d, std::vector<bool> &bits,
           std::unordered_map<int, int> &table, Base *base)
{
	SHOWN
	printf("\n");
	return n + (int)(v.size() + s.size() + l.size() + m->size() + d.size() + bits.size() + table.size()) + base->weight + constants[n % 3] +
	       ::count++ + outer::count++ + outer::hidden++ + outer::Class::count++ + outer::inner::count++ + outer::byte++ + outer::Of<int>::value++ +
	       (int)outer::text.size() + unnamed++ + (int)(outer::Class::ratio += 0.25);
}

int
main()
{
	signal(SIGSEGV, go_back);
	int seven = 7, *pointer = &seven, sum = 0;
	for (int i = 0; i < 6; i++) {
		Item next = {"next", nullptr, UP, 1, 2, {3}, {4, 5, 6, 7}, nullptr};
		Item item = {"item", i % 2 ? &next : nullptr, i % 2 ? UP : DOWN, (unsigned)i % 8, 17, {i}, {i, i, i, i}, &pointer};
		std::map<int, int> m;
		std::unordered_map<int, int> table;
		for (int j = 0; j < i * 3 + 3; j++)
			table[j] = m[j / 2] = j;
		std::list<int> l(i);
		std::deque<int> d(i * 200);
		std::vector<bool> bits(i * 77);
		Base base;
		Derived derived;
		sum += item.work(i, std::vector<int>(i * 11), std::string(i * 5, 'x'), l, &m, d, bits, table, i % 2 ? &derived : &base);
		outer::text += "more";
	}
	return sum == 0;
}
