/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An exception through frames with destructors, caught, thrown again and caught further out. Who
 * has the destructor's object calls it.
 */
#include "hazard.h"

NOIPA void
f_destroyed()
{
	DONE;
}

NOIPA void
f_cleaned()
{
	DONE;
}

NOIPA void
f_caught()
{
	DONE;
}

struct guard {
	__attribute__((noinline)) ~guard();
};

guard::~guard()
{
	f_destroyed();
	DONE;
}

NOIPA void
f_throws(int n)
{
	throw n;
}

NOIPA void
f_low(int n)
{
	f_throws(n);
	DONE;
}

NOIPA void
f_guarded(int n)
{
	guard one;
	f_low(n);
	DONE;
}

NOIPA void
f_middle(int n)
{
	try {
		f_guarded(n);
	} catch (int) {
		f_cleaned();
		throw;
	}
	DONE;
}

NOIPA void
f_top(int n)
{
	try {
		f_middle(n);
	} catch (int) {
		f_caught();
	}
	DONE;
}

int
main()
{
	for (int i = 0; i < 3; i++)
		f_top(i);
	return 0;
}
