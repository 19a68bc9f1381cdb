/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Indirect control flow as programs have it: an interpreter with a big switch, one with computed
 * goto, call tables with 1 to 1,000 targets, sorting with callbacks, recursion through pointers,
 * tail calls in a ring.
 */
/* strobe-test: */
#include "check.h"

typedef uint64_t operation(uint64_t);

/* clang-format off */
/* A thousand functions with different constants. */
#define F(n) static uint64_t f##n(uint64_t x) { return (x ^ (n * 2654435761u)) * 3 + n; }
#define TEN(M, n) \
	M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7) M(n##8) M(n##9)
#define HUNDRED(M, n) \
	TEN(M, n##0) TEN(M, n##1) TEN(M, n##2) TEN(M, n##3) TEN(M, n##4) \
	TEN(M, n##5) TEN(M, n##6) TEN(M, n##7) TEN(M, n##8) TEN(M, n##9)
#define THOUSAND(M) \
	HUNDRED(M, 1) HUNDRED(M, 2) HUNDRED(M, 3) HUNDRED(M, 4) HUNDRED(M, 5) \
	HUNDRED(M, 6) HUNDRED(M, 7) HUNDRED(M, 8) HUNDRED(M, 9) HUNDRED(M, 10)
THOUSAND(F)
#define NAME(n) f##n,
static operation *const volatile table[1000] = {THOUSAND(NAME)};
/* clang-format on */

static uint64_t
plain(uint64_t x, unsigned i)
{
	unsigned n = 100 + i;

	return (x ^ (n * 2654435761u)) * 3 + n;
}

static void
call_tables(void)
{
	static const unsigned sizes[] = {1, 2, 3, 10, 64, 100, 500, 1000};

	for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
		uint64_t x = 1, y = 1;
		unsigned random = 5;
		for (unsigned i = 0; i < 20000; i++) {
			random = random * 1103515245 + 12345;
			unsigned k = (random >> 12) % sizes[s];
			x = table[k](x);
			y = plain(y, k);
		}
		CHECK_EQ(x, y);
	}
}

enum { PUSH, ADD, MUL, DUP, SWAP, DEC, JNZ, XOR, SHR, NOP1, NOP2, NOP3, HALT };

/* Counts down from 5,000, stirring a value on the way. */
static const int program[] = {PUSH, 5000, PUSH, 1, /* counter value */
                              PUSH, 31,   MUL,  PUSH, 17,   ADD, DUP, PUSH, 7,   SHR,
                              XOR,  NOP1, NOP2, NOP3, SWAP, DEC, DUP, JNZ,  -19, HALT};

static uint64_t
expected(void)
{
	uint64_t v = 1;

	for (int i = 0; i < 5000; i++) {
		v = v * 31 + 17;
		v ^= v >> 7;
		v += 6;
	}
	return v;
}

static uint64_t
by_switch(void)
{
	uint64_t stack[16], *s = stack, t;

	for (const int *p = program;;) {
		switch (*p++) {
		case PUSH:
			*s++ = (uint64_t)*p++;
			break;
		case ADD:
			s--, s[-1] += s[0];
			break;
		case MUL:
			s--, s[-1] *= s[0];
			break;
		case DUP:
			s[0] = s[-1], s++;
			break;
		case SWAP:
			t = s[-1], s[-1] = s[-2], s[-2] = t;
			break;
		case DEC:
			s[-1]--;
			break;
		case JNZ:
			if (*--s)
				t = s[-1], s[-1] = s[-2], s[-2] = t, p += *p + 1;
			else
				p++;
			break;
		case XOR:
			s--, s[-1] ^= s[0];
			break;
		case SHR:
			s--, s[-1] >>= s[0];
			break;
		case NOP1:
			s[-1] += 1;
			break;
		case NOP2:
			s[-1] += 2;
			break;
		case NOP3:
			s[-1] += 3;
			break;
		case HALT:
			return stack[0];
		}
	}
}

static uint64_t
by_goto(void)
{
	static const void *const labels[] = {&&push, &&add, &&mul,  &&dup,  &&swap, &&dec, &&jnz,
	                                     &&xor,  &&shr, &&nop1, &&nop2, &&nop3, &&halt};
	uint64_t stack[16], *s = stack, t;
	const int *p = program;

#define NEXT goto *labels[*p++]
	NEXT;
push:
	*s++ = (uint64_t)*p++;
	NEXT;
add:
	s--, s[-1] += s[0];
	NEXT;
mul:
	s--, s[-1] *= s[0];
	NEXT;
dup:
	s[0] = s[-1], s++;
	NEXT;
swap:
	t = s[-1], s[-1] = s[-2], s[-2] = t;
	NEXT;
dec:
	s[-1]--;
	NEXT;
jnz:
	if (*--s)
		t = s[-1], s[-1] = s[-2], s[-2] = t, p += *p + 1;
	else
		p++;
	NEXT;
	xor : s--, s[-1] ^= s[0];
	NEXT;
shr:
	s--, s[-1] >>= s[0];
	NEXT;
nop1:
	s[-1] += 1;
	NEXT;
nop2:
	s[-1] += 2;
	NEXT;
nop3:
	s[-1] += 3;
	NEXT;
halt:
	return stack[0];
}

static long comparisons;

static int
compare(const void *a, const void *b)
{
	comparisons++;
	return *(const uint32_t *)a < *(const uint32_t *)b
	               ? -1
	               : *(const uint32_t *)a > *(const uint32_t *)b;
}

static void
sorting(void)
{
	static uint32_t v[20000];
	uint32_t random = 1;

	for (unsigned i = 0; i < 20000; i++)
		v[i] = random = random * 1664525 + 1013904223;
	qsort(v, 20000, sizeof v[0], compare);
	for (unsigned i = 1; i < 20000; i++)
		CHECK(v[i - 1] <= v[i], "not sorted at %u", i);
	CHECK(bsearch(&v[777], v, 20000, sizeof v[0], compare) != NULL, "bsearch");
}

static uint64_t ring(uint64_t n, uint64_t v);
static uint64_t ring_odd(uint64_t n, uint64_t v);
static uint64_t (*volatile const members[2])(uint64_t, uint64_t) = {ring, ring_odd};

__attribute__((optimize("optimize-sibling-calls"))) static uint64_t
ring(uint64_t n, uint64_t v)
{
	if (!n)
		return v;
	return members[n & 1](n - 1, v + n);
}

__attribute__((optimize("optimize-sibling-calls"))) static uint64_t
ring_odd(uint64_t n, uint64_t v)
{
	if (!n)
		return v;
	return members[n & 1](n - 1, v ^ n);
}

int
main(void)
{
	uint64_t want = 0, n = 100000;

	call_tables();
	CHECK_EQ(by_switch(), expected());
	CHECK_EQ(by_goto(), expected());
	sorting();
	/* The member that runs with n was chosen by the parity of n + 1. */
	for (uint64_t i = n, odd = 0; i; odd = i & 1, i--)
		want = odd ? want ^ i : want + i;
	CHECK_EQ(members[0](n, 0), want);
	printf("indirect flow arrives, %ld comparisons\n", comparisons);
	return 0;
}
