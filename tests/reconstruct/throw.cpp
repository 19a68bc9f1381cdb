/* SPDX-License-Identifier: GPL-3.0-or-later */
/* throw TURNS: exceptions through frames that have something to clean up, caught in callers far and
 * near; signals whose handlers come back. */
#include <csignal>
#include <cstdio>
#include <cstdlib>

#define APART __attribute__((noinline))

static volatile unsigned sum;

struct Guard {
	unsigned what;
	APART ~Guard()
	{
		sum = sum + what;
	}
};

static void
on_signal(int)
{
	sum = sum + 1;
}

APART static unsigned
fall(unsigned depth, unsigned turn)
{
	Guard guard{depth};
	if (depth == 0) {
		if (turn % 3 == 0)
			throw turn;
		if (turn % 7 == 0)
			throw "far";
		return turn;
	}
	unsigned x = fall(depth - 1, turn);
	if (turn % 5 == 0)
		x += fall(depth / 2, turn + 1);
	return x + 1;
}

APART static unsigned
near(unsigned turn)
{
	try {
		return fall(turn % 6, turn);
	} catch (unsigned x) {
		if (x % 2)
			return x;
		return fall(2, 1) + 1;
	}
}

APART static unsigned
far(unsigned turn)
{
	unsigned x = 0;
	for (unsigned i = 0; i < 3; i++) {
		try {
			x += near(turn + i);
		} catch (const char *) {
			x += 2;
		}
	}
	return x;
}

int
main(int argc, char **argv)
{
	unsigned turns = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1, x = 0;
	std::signal(SIGUSR1, on_signal);
	for (unsigned i = 0; i < turns; i++) {
		x += far(i);
		if (i % 4 == 0)
			std::raise(SIGUSR1);
	}
	std::printf("%u\n", x + sum);
	return 0;
}
