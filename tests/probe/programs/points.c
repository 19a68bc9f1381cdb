/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways through functions, and states at the begins of their blocks: of test_pointcounts.py. It
 * prints what comes out, the same with probes and without. */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CALLED __attribute__((noinline, noipa))

struct state {
	uint64_t r[16], flags, vectors[16][2], red[16];
};
void p_state(struct state *s);
int p_catch(int n);

static uint64_t
next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 11 ^ *seed << 40;
}

/* The first instruction adds 1 to rdi, without a carry 2 more; without an overflow 2 less. */
static uint64_t
expected_rdi(const struct state *s)
{
	const uint64_t carry = s->flags & 1, overflow = s->flags >> 11 & 1;
	return s->r[7] + 1 + (carry ? 0 : 2) - (overflow ? 0 : 2);
}

static unsigned
try_states(unsigned n)
{
	static struct state s[2];
	uint64_t seed = 42;
	unsigned wrong = 0;
	for (unsigned i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof s[0] / 8; k++)
			((uint64_t *)&s[0])[k] = next_random(&seed);
		s[0].flags = 0x202 | (s[0].flags & 0x8d5);
		memset(&s[1], 0, sizeof s[1]);
		p_state(s);
		s[0].r[7] = expected_rdi(s);
		s[0].r[4] = s[1].r[4];
		wrong += memcmp(&s[0], &s[1], sizeof s[0]) != 0;
	}
	return wrong;
}

CALLED static uint64_t
p_switch(unsigned n)
{
	switch (n % 9) {
	case 0:
		return n * 3;
	case 1:
		return n ^ 5;
	case 2:
		return n + 77;
	case 3:
		return n << 3;
	case 4:
		return n / 3;
	case 5:
		return n % 13;
	case 6:
		return ~n;
	default:
		return 1;
	}
}

CALLED static uint64_t
p_loop(unsigned n)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i; k; k >>= 1)
			sum += p_switch(i + k) & k;
	return sum;
}

CALLED static unsigned
p_recursive(unsigned n)
{
	return n < 2 ? n : p_recursive(n - 1) + p_recursive(n - 2);
}

CALLED static unsigned
p_tail(unsigned n)
{
	return n > 10 ? p_recursive(7) : p_recursive(n);
}

/* Computed jumps by a table of addresses. */
CALLED static unsigned
p_threaded(const char *code)
{
	static const void *const table[] = {&&add, &&twice, &&minus, &&end};
	unsigned value = 1;
	goto *table[*code++ - 'a'];
add:
	value += 3;
	goto *table[*code++ - 'a'];
twice:
	value *= 2;
	goto *table[*code++ - 'a'];
minus:
	value -= 1;
	goto *table[*code++ - 'a'];
end:
	return value;
}

static jmp_buf back;

CALLED static void
p_jumps(int n)
{
	if (n == 0)
		longjmp(back, 1);
	if (n > 0)
		p_jumps(n - 1);
}

CALLED static unsigned
p_lands(void)
{
	static volatile unsigned times;
	for (times = 0; times < 20;) {
		if (setjmp(back))
			times = times + 1;
		else
			p_jumps(5);
	}
	return times;
}

static void *
p_thread(void *arg)
{
	*(uint64_t *)arg = p_loop(300) + p_recursive(12);
	return NULL;
}

int
main(void)
{
	pthread_t threads[4];
	uint64_t results[4];
	printf("wrong states: %u\n", try_states(2000));
	printf("%llu %u %u\n", (unsigned long long)p_loop(1000), p_recursive(15),
	       p_tail(9) + p_tail(99));
	printf("%u %u %d\n", p_threaded("aabcabbacd"), p_lands(), p_catch(50));
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, p_thread, &results[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		printf("%llu\n", (unsigned long long)results[i]);
	}
	return 0;
}
