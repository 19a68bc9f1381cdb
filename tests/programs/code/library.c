/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The small library that code/dlopen.c loads in two versions with different content at, usually,
 * the same address. */
int library_value(int x);
int library_state(void);
typedef int library_callback(int);
int library_call(library_callback *f, int x);

#ifndef VALUE
#define VALUE 1
#endif

static int state;
static _Thread_local int own = VALUE;

int
library_value(int x)
{
	state++;
	own++;
	return x * VALUE + own - VALUE;
}

int
library_state(void)
{
	return state;
}

int
library_call(library_callback *f, int x)
{
	return f(x + VALUE) + VALUE;
}

__attribute__((constructor)) static void
start(void)
{
	state = 100 * VALUE;
}
