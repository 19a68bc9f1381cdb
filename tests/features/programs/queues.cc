// SPDX-License-Identifier: GPL-3.0-or-later
// Containers whose size is in their iterators, of n elements after others were removed.
#include <cstdio>
#include <cstring>
#include <deque>
#include <queue>
#include <stack>
#include <vector>

#define TARGET __attribute__((noinline, noclone))

struct Odd {
	char bytes[24];
};
struct Large {
	char bytes[600];
};

// The size of a list is in the bytes of its first node, as in libstdc++ of gcc 5 to 8.
template <class T> struct __aligned_membuf {
	unsigned char _M_storage[sizeof(T)];
};
struct OldList {
	struct {
		struct {
			void *_M_next;
			__aligned_membuf<size_t> _M_storage;
		} _M_node;
	} _M_impl;
};

TARGET void
old_list(const OldList &l)
{
	size_t n;
	memcpy(&n, &l._M_impl._M_node._M_storage, sizeof n);
	printf("old_list %zu\n", n);
}

TARGET void
sizes(const std::deque<int> &i, const std::deque<Odd> &o, std::deque<Large> *l, std::queue<char> &q,
      std::stack<long> &s, const std::vector<bool> &b)
{
	printf("sizes %zu %zu %zu %zu %zu %zu\n", i.size(), o.size(), l->size(), q.size(), s.size(),
	       b.size());
}

template <class C>
static C
filled(int n, int removed)
{
	C c;
	for (int i = 0; i < n + removed; i++)
		c.push_back({});
	for (int i = 0; i < removed; i++)
		c.pop_front();
	return c;
}

int
main()
{
	for (int n = 0; n < 700; n += 23) {
		OldList old = {};
		const size_t size = (size_t)n * 1000;
		memcpy(&old._M_impl._M_node._M_storage, &size, sizeof size);
		old_list(old);
		auto l = filled<std::deque<Large>>(n / 10, n % 3);
		std::queue<char> q(filled<std::deque<char>>(2 * n, n % 7));
		std::stack<long> s(filled<std::deque<long>>(n + 1, 100));
		sizes(filled<std::deque<int>>(n, n % 130), filled<std::deque<Odd>>(n, 30), &l, q, s,
		      std::vector<bool>((size_t)n * 3));
	}
	return 0;
}
