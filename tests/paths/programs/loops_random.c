/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loops of random length, nested, left and entered anew in all ways, in functions that call
 * themselves and one another from within them. It writes down what it does: for each entry of a
 * loop its function, a number, and how many iterations it had. Arguments: seed, and how often.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define HIDDEN __attribute__((noinline, noclone))
enum { MOST = 1 << 20, DEEPEST = 4 };

struct entry {
	const char *function;
	int loop;
	volatile unsigned iterations;
};
static struct entry entries[MOST];
static unsigned n_entries;
static unsigned long state;
static jmp_buf *caught[DEEPEST + 1]; /* who is under way and can be jumped to */
static unsigned n_caught;

HIDDEN unsigned
random_below(unsigned n)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(state >> 33) % n;
}

HIDDEN struct entry *
enter(const char *function, int loop)
{
	struct entry *e = &entries[n_entries < MOST - 1 ? n_entries++ : n_entries];
	*e = (struct entry){function, loop, 0};
	return e;
}
#define ENTER(loop) enter(__func__, loop)
#define AGAIN(n) (random_below(n) != 0)

HIDDEN void f_nested(unsigned depth);
HIDDEN void f_leaves(unsigned depth);
HIDDEN void f_catches(unsigned depth);

HIDDEN void
call_something(unsigned depth)
{
	if (depth == 0)
		return;
	switch (random_below(9)) {
	case 0:
		f_nested(depth - 1);
		break;
	case 1:
		f_leaves(depth - 1);
		break;
	case 2:
		f_catches(depth - 1);
		break;
	default:
		break;
	}
}

HIDDEN void
f_nested(unsigned depth)
{
	struct entry *outer = ENTER(1);
	do {
		outer->iterations++;
		call_something(depth);
		struct entry *inner = ENTER(2);
		do {
			inner->iterations++;
			if (random_below(6) == 0)
				call_something(depth);
		} while (AGAIN(4));
		if (random_below(3) == 0) {
			struct entry *second = ENTER(3);
			do {
				second->iterations++;
				call_something(depth);
			} while (AGAIN(3));
		}
	} while (AGAIN(3));
}

HIDDEN void
f_leaves(unsigned depth)
{
	unsigned left = 1 + random_below(2);
	struct entry *again = ENTER(3);
	do {
		again->iterations++;
		struct entry *outer = ENTER(1);
		for (;;) {
			outer->iterations++;
			struct entry *inner = ENTER(2);
			for (;;) {
				inner->iterations++;
				call_something(depth);
				if (random_below(5) == 0)
					goto out;
				if (random_below(4) == 0)
					break;
			}
			if (random_below(4) == 0)
				break;
			if (n_caught && random_below(8) == 0)
				longjmp(*caught[random_below(n_caught)], 1);
		}
	out:;
	} while (--left);
}

HIDDEN void
f_catches(unsigned depth)
{
	struct entry *volatile e = ENTER(1);
	volatile unsigned left = 1 + random_below(5), mine = n_caught;
	jmp_buf back;
	do {
		e->iterations++;
		caught[mine] = &back;
		if (!setjmp(back)) {
			n_caught = mine + 1;
			call_something(depth);
		}
		n_caught = mine;
	} while (--left);
}

int
main(int argc, char **argv)
{
	state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 30;
	for (unsigned i = 0; i < n; i++) {
		f_nested(DEEPEST);
		f_leaves(DEEPEST);
	}
	for (unsigned i = 0; i < n_entries; i++)
		printf("%s %d %u\n", entries[i].function, entries[i].loop, entries[i].iterations);
	return 0;
}
