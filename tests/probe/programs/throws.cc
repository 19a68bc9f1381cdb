// SPDX-License-Identifier: GPL-3.0-or-later
// Exceptions for points.c: landing pads are the begins of blocks that nothing jumps to.

struct counter {
	explicit counter(int *to) : at(to) {}
	__attribute__((noinline)) ~counter() { ++*at; }
	int *at;
};

extern "C" __attribute__((noinline)) int
p_throw(int n, int *ended)
{
	const counter first(ended);
	if (n % 3 == 0)
		throw n;
	const counter second(ended);
	if (n % 3 == 1)
		throw 1.5;
	return n;
}

extern "C" __attribute__((noinline)) int
p_catch(int n)
{
	int sum = 0, ended = 0;
	for (int i = 0; i < n; i++) {
		try {
			sum += p_throw(i, &ended);
		} catch (int value) {
			sum -= value;
		} catch (...) {
			sum += 1000;
		}
	}
	return sum * 1000 + ended;
}
