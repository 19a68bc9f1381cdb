/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions with parameters of all kinds. Each writes a line with its name and its arguments, with
 * which the records of its calls are compared. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TARGET __attribute__((noinline, noclone))

enum order { ascending, descending = 7, other = -3 };
struct pair {
	int32_t a;
	float b;
};
struct wide {
	long a, b, c;
};
struct mixed {
	double x;
	int y;
};
struct bits {
	unsigned low : 3;
	int middle : 9;
	unsigned high : 20;
	unsigned long far : 40;
};
struct node {
	int value;
	struct node *next;
	const char *name;
};
struct range {
	int *begin, *end;
	struct {
		short anonymous;
	};
	union {
		int whole;
		short part;
	};
};
int global_count = 70;
static unsigned table[2][10];

TARGET void
integers(signed char a, unsigned short b, int c, unsigned long d, bool e, long f, short g,
         unsigned long h)
{
	printf("integers %d %u %d %lu %d %ld %d %lu\n", a, b, c, d, e, f, g, h);
}

TARGET void
floats(double a, int b, float c, double d)
{
	printf("floats %.17g %d %.9g %.17g\n", a, b, (double)c, d);
}

TARGET void
structures(struct pair p, struct wide w, struct mixed m)
{
	printf("structures %d %.9g %ld %ld %ld %.17g %d\n", p.a, (double)p.b, w.a, w.b, w.c, m.x,
	       m.y);
}

TARGET struct wide
hidden_result(int a, long b)
{
	printf("hidden_result %d %ld\n", a, b);
	return (struct wide){a, b, a + b};
}

TARGET void
categories(enum order o, const enum order *p)
{
	printf("categories %d %d\n", o, *p);
}

TARGET void
fields(const struct bits *b)
{
	printf("fields %u %d %u %lu\n", b->low, b->middle, b->high, (unsigned long)b->far);
}

TARGET void
follow(const struct node *n)
{
	printf("follow %d %s\n", n ? n->value : -1, n && n->name ? n->name : "-");
}

TARGET void
texts(const char *s, size_t n)
{
	printf("texts %zu %zu\n", strlen(s), n);
}

TARGET void
ranges(const struct range *r, const unsigned (*t)[2][10])
{
	unsigned sum = 0;
	for (int i = 0; i < 20; i++)
		sum += (*t)[i / 10][i % 10];
	printf("ranges %td %d %d %u\n", r->end - r->begin, r->anonymous, r->whole, sum);
}

/* Changes the data of its argument after it was recorded. */
TARGET void
changes(int *p, int n)
{
	printf("changes %d %d\n", *p, n);
	*p = -1;
}

TARGET void
wild(const int *p)
{
	printf("wild\n");
	(void)p;
}

TARGET int
recursive(int depth)
{
	printf("recursive %d\n", depth);
	const int below = depth ? recursive(depth - 1) : 0;
	__asm__ volatile("" : : : "memory");
	return below + depth;
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 8;
	int numbers[64] = {0};
	char text[200];
	/* The page after this one is not mapped. */
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	memset(page + 4000, 'x', 96);
	for (int i = 0; i < 20; i++)
		table[i / 10][i % 10] = 1987;
	for (int i = 0; i < rounds; i++) {
		struct node last = {i + 100, NULL, NULL}, first = {i, &last, i % 2 ? text : NULL};
		const struct bits b = {(unsigned)i % 8, -i, (unsigned)i * 1000u,
		                       0x9876543210ul + (unsigned)i};
		struct range r = {numbers, numbers + i, {(short)-i}, {i * 3}};
		const enum order o = i % 3 == 0   ? ascending
		                     : i % 3 == 1 ? descending
		                                  : other,
		                 p = (enum order)(i + 40);
		memset(text, 'a', sizeof text);
		text[i] = '\0';
		integers((signed char)-i, (unsigned short)(65535 - i), -i * 1000,
		         ~0ul - (unsigned)i, i % 2, -5000000000l * i, (short)-i,
		         1ul << 63 | (unsigned)i);
		floats(i * 0.25, i, (float)i / 3, -1e300 / (i + 1));
		structures((struct pair){-i, (float)i / 8}, (struct wide){i, -i, 1l << 40},
		           (struct mixed){i / 7.0, i * 5});
		hidden_result(i, -i);
		categories(o, &p);
		fields(&b);
		follow(i == 3 ? NULL : &first);
		texts(text, (size_t)i << 32);
		r.begin = numbers;
		ranges(&r, &table);
		numbers[i] = i * i;
		changes(&numbers[i], i);
		wild(i == 0   ? NULL
		     : i == 1 ? (const int *)0x10
		     : i == 2 ? (const int *)(page + 4094)
		     : i == 3 ? (const int *)(page + 4092)
		              : (const int *)0xdead000000000000);
		global_count += i;
	}
	recursive(rounds);
	return 0;
}
