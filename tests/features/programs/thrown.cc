// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that are left by exceptions, and functions that handle these.
#include <cstdlib>

#define TARGET __attribute__((noinline, noclone))
#define HIDE __asm__ volatile("" : : : "memory")

TARGET int
throws_odd(int n)
{
	HIDE;
	if (n & 1)
		throw n;
	return n;
}

// The compiler may know that this does not return: the handler then follows the call.
TARGET void
throws_all(int n)
{
	HIDE;
	throw n;
}

TARGET int
handles(int n)
{
	int sum = 0;
	try {
		sum = throws_odd(n);
	} catch (int) {
		for (int i = 0; i < n; i++) {
			HIDE;
			sum++;
		}
	}
	return sum;
}

TARGET int
handles_all(int n)
{
	try {
		throws_all(n);
	} catch (int) {
		return 1;
	}
	return 0;
}

struct Cleans {
	~Cleans()
	{
		HIDE;
	}
};

// Its landing pad resumes the unwinding.
TARGET int
passes(int n)
{
	Cleans cleans;
	const int result = throws_odd(n);
	HIDE;
	return result + 1;
}

TARGET int
handles_passed(int n)
{
	try {
		return passes(n);
	} catch (int) {
		return -1;
	}
}

int
main()
{
	for (volatile int i = 0; i < 10; i++) {
		handles(i);
		handles_all(i);
		handles_passed(i);
	}
	return 0;
}
