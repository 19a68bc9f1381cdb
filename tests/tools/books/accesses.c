/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses to memory of every kind, which the program writes down before it makes them: kind, place
 * in the arena, bytes, value. It knows the values from a copy of the arena, with which it checks
 * what the instructions give. Three threads, and handlers of a timer's signal with an arena of
 * their own, so that in each arena the order is known. Prints `arena
 * NUMBER ADDRESS BYTES`, and writes its books to a file. Usage: accesses FILE
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 3, ARENA = 1 << 13, MARGIN = 512, MOST = 1 << 16, TURNS = 50 };

enum kind { READ, WRITE, CHANGE };
struct access {
	uint32_t kind, number, offset, bytes; /* number: of the arena */
	uint64_t value;
};
struct book {
	uint8_t *arena;
	uint8_t copy[ARENA];
	uint64_t random;
	uint32_t n;
	struct access access[MOST];
};
static _Alignas(4096) uint8_t arenas[2 * THREADS][ARENA];
static struct book books[2 * THREADS]; /* of the threads, of their handlers */
static __thread struct book *of_handler;

static void
expect(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: another value than expected\n", what);
	_exit(1);
}
#define EXPECT(x) expect(x, __func__)

static uint64_t
draw(struct book *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	return b->random ^= b->random << 17;
}

/* An offset with room on both sides. */
static uint32_t
any(struct book *b)
{
	return MARGIN + (uint32_t)(draw(b) % (ARENA - 2 * MARGIN));
}

static uint64_t
copied(const struct book *b, uint32_t o, uint32_t bytes)
{
	uint64_t v = 0;
	memcpy(&v, b->copy + o, bytes < 8 ? bytes : 8);
	return v;
}

static void
note(struct book *b, enum kind kind, uint32_t o, uint32_t bytes, uint64_t value)
{
	if (b->n < MOST)
		b->access[b->n++] = (struct access){kind, (uint32_t)(b - books), o, bytes, value};
}

static uint64_t
reads(struct book *b, uint32_t o, uint32_t bytes)
{
	uint64_t v = copied(b, o, bytes);
	note(b, READ, o, bytes, v);
	return v;
}

static void
writes(struct book *b, uint32_t o, uint32_t bytes, const void *from)
{
	memcpy(b->copy + o, from, bytes);
	note(b, WRITE, o, bytes, copied(b, o, bytes));
}

/* The value is the one read. */
static uint64_t
changes(struct book *b, uint32_t o, uint32_t bytes, const void *to)
{
	uint64_t v = copied(b, o, bytes);
	note(b, CHANGE, o, bytes, v);
	memcpy(b->copy + o, to, bytes);
	return v;
}

/* ---- plain moves, of every size, and instructions that read and write ---- */

#define SIZE(bits, suffix)                                                                         \
	static void move##bits(struct book *b)                                                     \
	{                                                                                          \
		uint32_t o = any(b), p = any(b);                                                   \
		uint##bits##_t v = (uint##bits##_t)draw(b), got;                                   \
		writes(b, o, sizeof v, &v);                                                        \
		__asm__ volatile("mov" suffix " %0, -16(%1,%2,8)"                                  \
		                 :                                                                 \
		                 : "r"(v), "r"(b->arena + o - 64), "r"(10l));                      \
		uint##bits##_t want = (uint##bits##_t)reads(b, p, sizeof v);                       \
		__asm__ volatile("mov" suffix " (%1), %0" : "=r"(got) : "r"(b->arena + p));        \
		EXPECT(got == want);                                                               \
	}                                                                                          \
	static void change##bits(struct book *b)                                                   \
	{                                                                                          \
		uint32_t o = any(b);                                                               \
		uint##bits##_t v = (uint##bits##_t)draw(b),                                        \
		               old = (uint##bits##_t)copied(b, o, sizeof v);                       \
		uint##bits##_t sum = (uint##bits##_t)(old + v), got = v,                           \
		               other = (uint##bits##_t) ~sum;                                      \
		changes(b, o, sizeof v, &sum);                                                     \
		__asm__ volatile("add" suffix " %0, (%1)" : : "r"(v), "r"(b->arena + o));          \
		changes(b, o, sizeof v, &v);                                                       \
		__asm__ volatile("xchg" suffix " %0, (%1)" : "+r"(got) : "r"(b->arena + o));       \
		EXPECT(got == sum);                                                                \
		changes(b, o, sizeof v, &other);                                                   \
		__asm__ volatile("lock cmpxchg" suffix " %1, (%2)"                                 \
		                 :                                                                 \
		                 : "a"(v), "r"(other), "r"(b->arena + o));                         \
		changes(b, o, sizeof v, &other);                                                   \
		__asm__ volatile("lock cmpxchg" suffix " %1, (%2)"                                 \
		                 : "=a"(got)                                                       \
		                 : "r"(v), "r"(b->arena + o), "a"((uint##bits##_t)(other + 1)));   \
		EXPECT(got == other);                                                              \
	}
SIZE(8, "b")
SIZE(16, "w")
SIZE(32, "l")
SIZE(64, "q")

/* The address is in the register that is changed. */
static void
over_address(struct book *b)
{
	uint32_t o = any(b);
	uint64_t v = (uint64_t)(uintptr_t)(b->arena + o), got = v;
	uint64_t old = changes(b, o, 8, &v);
	__asm__ volatile("xchg %0, (%0)" : "+r"(got));
	EXPECT(got == old);
	got = v;
	reads(b, o, 8);
	__asm__ volatile("mov (%0), %0" : "+r"(got));
	EXPECT(got == v);
}

static void
bits(struct book *b)
{
	uint32_t o = any(b);
	int32_t bit = (int32_t)(draw(b) % 1024) - 512;
	uint32_t at = (uint32_t)((int32_t)o + (bit >> 5) * 4), word = (uint32_t)copied(b, at, 4);
	uint32_t set = word | 1u << (bit & 31);
	uint8_t was;
	changes(b, at, 4, &set);
	__asm__ volatile("btsl %1, (%2); setc %0" : "=r"(was) : "r"(bit), "r"(b->arena + o));
	EXPECT(was == (word >> (bit & 31) & 1));
}

/* ---- vectors ---- */

/* Operands 0, 1, 2. What is called in between may use vectors, too. */
#define VECTORS(a, b, c) : : "r"(a), "r"(b), "r"(c) : "xmm1", "xmm2", "xmm3", "memory"

static void
vectors(struct book *b)
{
	uint32_t o = any(b), p = any(b), q = any(b) & ~15u;
	uint64_t v[4] = {draw(b), draw(b), draw(b), draw(b)};
	double one = 1;
	writes(b, o, 32, v);
	__asm__ volatile("vmovdqu (%0), %%ymm1; vmovdqu %%ymm1, (%1)" VECTORS(v, b->arena + o, 0l));
	writes(b, p, 4, v);
	__asm__ volatile("vmovss (%0), %%xmm1; vmovss %%xmm1, (%1)" VECTORS(v, b->arena + p, 0l));
	writes(b, q, 16, v);
	__asm__ volatile("movdqa (%0), %%xmm1; movntdq %%xmm1, (%1)" VECTORS(v, b->arena + q, 0l));
	uint64_t low = reads(b, o, 16);
	__asm__ volatile("movdqu (%1), %%xmm2; movq %%xmm2, (%0)" VECTORS(v, b->arena + o, 0l));
	EXPECT(v[0] == low);
	reads(b, p, 10);
	__asm__ volatile("fldt (%1); fstp %%st" VECTORS(v, b->arena + p, 0l));
	writes(b, p, 8, &one);
	__asm__ volatile("fld1; fstpl (%1)" VECTORS(v, b->arena + p, 0l));
}

/* Each run of elements that a mask does not leave out is an access. No value is told. */
static void
note_masked(struct book *b, enum kind kind, uint32_t o, uint64_t mask, uint32_t size)
{
	for (uint32_t i = 0, first; i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		for (first = i; i < 63 && mask >> (i + 1) & 1;)
			i++;
		note(b, kind, o + size * first, size * (i + 1 - first), 0);
	}
}

/* What a mask leaves out is not read: there may be nothing. */
static void
masks(struct book *b)
{
	uint32_t o = any(b), got[8];
	uint32_t mask[8] = {0, ~0u, 0, ~0u, ~0u, 0, 0, ~0u}, none[8] = {0};
	note_masked(b, READ, o, 0x9a, 4);
	__asm__ volatile("vmovdqu (%0), %%ymm3; vpmaskmovd (%1), %%ymm3, %%ymm2"
	                 "; vmovdqu %%ymm2, (%2)" VECTORS(mask, b->arena + o, got));
	for (uint32_t i = 0; i < 8; i++)
		EXPECT(got[i] == (mask[i] ? copied(b, o + 4 * i, 4) : 0));
	note_masked(b, WRITE, o, 0x9a, 4);
	for (uint32_t i = 0; i < 8; i++)
		if (mask[i])
			memcpy(b->copy + o + 4 * i, &mask[i], 4);
	__asm__ volatile("vmovdqu (%0), %%ymm3; vpmaskmovd %%ymm3, %%ymm3, (%1)" VECTORS(
	        mask, b->arena + o, 0l));
	__asm__ volatile("vmovdqu (%0), %%ymm3; vpmaskmovd (%1), %%ymm3, %%ymm2"
	                 "; vpmaskmovd %%ymm2, %%ymm3, (%1)" VECTORS(none, 8l, 0l));
}

/* Each element of a gather is an access, without a value. */
static void
gathers(struct book *b)
{
	uint32_t o = any(b), index[8], got[8];
	uint64_t where[4], wide[4];
	for (uint32_t i = 0; i < 8; i++)
		index[i] = (uint32_t)draw(b) % 64;
	for (uint32_t i = 0; i < 4; i++)
		where[i] = (uint64_t)(uintptr_t)(b->copy + o + i);
	for (uint32_t i = 0; i < 8; i++)
		note(b, READ, o + 4 * index[i], 4, 0);
	__asm__ volatile("vpcmpeqd %%ymm3, %%ymm3, %%ymm3; vmovdqu (%0), %%ymm1; vpgatherdd "
	                 "%%ymm3, (%1,%%ymm1,4), %%ymm2"
	                 "; vmovdqu %%ymm2, (%2)" VECTORS(index, b->arena + o, got));
	for (uint32_t i = 0; i < 8; i++)
		EXPECT(got[i] == copied(b, o + 4 * index[i], 4));
	__asm__ volatile("vpcmpeqd %%ymm3, %%ymm3, %%ymm3; vmovdqu (%0), %%ymm1; vpgatherqq "
	                 "%%ymm3, (,%%ymm1,1), %%ymm2"
	                 "; vmovdqu %%ymm2, (%1)" VECTORS(where, wide, 0l));
	for (uint32_t i = 0; i < 4; i++)
		EXPECT(wide[i] == copied(b, o + i, 8));
}

/* ---- masks of AVX-512 ---- */

/* Operand 3 becomes k1. */
#define MASKED(k, a, b, c)                                                                         \
	: : "r"(a), "r"(b), "r"(c), "r"(k) : "xmm1", "xmm2", "xmm3", "memory"

static void
long_masks(struct book *b)
{
	uint32_t o = any(b), p = any(b), q = any(b), data[16], index[16], got[16], n = 0;
	uint64_t bytes = draw(b) & draw(b), k = draw(b) & 0xffff;
	if (!__builtin_cpu_supports("avx512bw"))
		return;
	for (uint32_t i = 0; i < 16; i++) {
		data[i] = (uint32_t)draw(b);
		index[i] = 5 * i;
	}
	note_masked(b, WRITE, o, bytes, 1);
	for (uint32_t i = 0; i < 64; i++)
		if (bytes >> i & 1)
			b->copy[o + i] = ((uint8_t *)data)[i];
	__asm__ volatile(
	        "kmovq %3, %%k1; vmovdqu64 (%0), %%zmm1; vmovdqu8 %%zmm1, (%1)%{%%k1%}" MASKED(
	                bytes, data, b->arena + o, 0l));
	note_masked(b, READ, o, k, 4);
	__asm__ volatile("kmovq %3, %%k1; vmovdqu32 (%1), %%zmm1%{%%k1%}%{z%}"
	                 "; vmovdqu64 %%zmm1, (%0)" MASKED(k, got, b->arena + o, 0l));
	for (uint32_t i = 0; i < 16; i++)
		EXPECT(got[i] == (k >> i & 1 ? copied(b, o + 4 * i, 4) : 0));
	for (uint32_t i = 0; i < 16; i++)
		if (k >> i & 1)
			memcpy(b->copy + p + 4 * n++, &data[i], 4);
	if (n)
		note(b, WRITE, p, 4 * n, 0);
	__asm__ volatile(
	        "kmovq %3, %%k1; vmovdqu64 (%0), %%zmm1; vpcompressd %%zmm1, (%1)%{%%k1%}" MASKED(
	                k, data, b->arena + p, 0l));
	if (n)
		note(b, READ, p, 4 * n, 0);
	__asm__ volatile("kmovq %3, %%k1; vpexpandd (%1), %%zmm1%{%%k1%}%{z%}"
	                 "; vmovdqu64 %%zmm1, (%0)" MASKED(k, got, b->arena + p, 0l));
	for (uint32_t i = 0; i < 16; i++)
		EXPECT(got[i] == (k >> i & 1 ? data[i] : 0));
	for (uint32_t i = 0; i < 16; i++)
		if (k >> i & 1) {
			memcpy(b->copy + q + 4 * index[i], &data[i], 4);
			note(b, WRITE, q + 4 * index[i], 4, 0);
		}
	__asm__ volatile(
	        "kmovq %3, %%k1; vmovdqu64 (%0), %%zmm1; vmovdqu64 (%2), %%zmm2"
	        "; vpscatterdd %%zmm1, (%1,%%zmm2,4)%{%%k1%}" MASKED(k, data, b->arena + q, index));
}

/* ---- strings: with a rep prefix one access of all bytes, whose value is the element that it
 * begins with ---- */

/* None at all when there are none. */
static void
note_string(struct book *b, enum kind kind, uint32_t o, uint32_t bytes, uint64_t value)
{
	if (bytes)
		note(b, kind, o, bytes, value);
}

/* Elements that are compared, up to two that differ. */
static uint32_t
compared(const struct book *b, uint32_t o, uint32_t p, uint32_t size, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (memcmp(b->copy + o + i * size, b->copy + p + i * size, size))
			return i + 1;
	return n;
}

#define STRINGS(bits, suffix)                                                                      \
	static void strings##bits(struct book *b)                                                  \
	{                                                                                          \
		uint32_t o = any(b), p = any(b), size = bits / 8, n = (uint32_t)draw(b) % 9;       \
		uint64_t v = draw(b), first = n ? copied(b, o, size) : 0, got;                     \
		uint8_t *from = b->arena + o, *to = b->arena + p, *end;                            \
		uint64_t count = n;                                                                \
		if (n * size + o > p && n * size + p > o)                                          \
			return;                                                                    \
		note_string(b, READ, o, n *size, first);                                           \
		memcpy(b->copy + p, b->copy + o, n * size);                                        \
		note_string(b, WRITE, p, n *size, first);                                          \
		__asm__ volatile("rep movs" suffix : "+S"(from), "+D"(to), "+c"(count));           \
		to = b->arena + p, count = n;                                                      \
		for (uint32_t i = 0; i < n; i++)                                                   \
			memcpy(b->copy + p + i * size, &v, size);                                  \
		note_string(b, WRITE, p, n *size, n ? copied(b, p, size) : 0);                     \
		__asm__ volatile("rep stos" suffix : "+D"(to), "+c"(count) : "a"(v));              \
		/* Downwards, from the last one on. */                                             \
		to = b->arena + p + (n ? n - 1 : 0) * size, count = n, v = draw(b);                \
		for (uint32_t i = 0; i < n; i++)                                                   \
			memcpy(b->copy + p + i * size, &v, size);                                  \
		note_string(b, WRITE, p, n *size, n ? copied(b, p, size) : 0);                     \
		__asm__ volatile("std; rep stos" suffix "; cld" : "+D"(to), "+c"(count) : "a"(v)); \
		/* The first one is what is looked for. */                                         \
		to = b->arena + p, count = n, n = n < 1 ? n : 1;                                   \
		note_string(b, READ, p, n *size, n ? copied(b, p, size) : 0);                      \
		__asm__ volatile("repne scas" suffix : "+D"(to), "+c"(count) : "a"(v) : "cc");     \
		EXPECT(to == b->arena + p + n * size);                                             \
		/* Downwards, one. */                                                              \
		to = end = b->arena + o, v = draw(b);                                              \
		writes(b, o, size, &v);                                                            \
		__asm__ volatile("std; stos" suffix "; cld" : "+D"(to) : "a"(v));                  \
		EXPECT(to == end - size);                                                          \
		from = b->arena + o, got = 0;                                                      \
		uint64_t want = reads(b, o, size);                                                 \
		__asm__ volatile("lods" suffix : "+S"(from), "+a"(got));                           \
		EXPECT(got == want);                                                               \
		from = b->arena + o, to = b->arena + p, n = (uint32_t)draw(b) % 9, count = n;      \
		n = compared(b, o, p, size, n);                                                    \
		note_string(b, READ, o, n *size, n ? copied(b, o, size) : 0);                      \
		note_string(b, READ, p, n *size, n ? copied(b, p, size) : 0);                      \
		__asm__ volatile("repe cmps" suffix : "+S"(from), "+D"(to), "+c"(count) : : "cc"); \
		/* None: the address is never used. */                                             \
		to = (uint8_t *)8, from = (uint8_t *)16, count = 0;                                \
		__asm__ volatile("rep movs" suffix : "+S"(from), "+D"(to), "+c"(count));           \
		__asm__ volatile("rep stos" suffix : "+D"(to), "+c"(count) : "a"(v));              \
	}
STRINGS(8, "b")
STRINGS(16, "w")
STRINGS(32, "l")
STRINGS(64, "q")

static void
masked_string(struct book *b)
{
	uint32_t o = any(b);
	uint64_t all[2] = {~0ull, ~0ull}, v[2] = {draw(b), draw(b)};
	memcpy(b->copy + o, v, 16);
	note(b, WRITE, o, 16, 0);
	__asm__ volatile("movdqu (%0), %%xmm1; movdqu (%2), %%xmm2; maskmovdqu %%xmm2, %%xmm1"
	                 :
	                 : "r"(v), "D"(b->arena + o), "r"(all)
	                 : "xmm1", "xmm2", "memory");
}

/* ---- the stack in the arena; handlers have another ---- */

/* on_stack(stack, from, value) */
extern const char stack_back[];
uint64_t on_stack(uint8_t *sp, const uint8_t *from, uint64_t v);
__asm__(".text\n"
        "on_stack: push %rbp; mov %rsp, %rax; mov %rdi, %rsp\n"
        "push %rdx; push (%rsi); pop 32(%rsp); pushq $-7; pop %rcx\n"
        "call stack_leaf\n"
        "stack_back: mov %rdi, %rbp; enter $16, $0; leave; enter $8, $2; leave; pop %rcx\n"
        "mov %rax, %rsp; pop %rbp; mov %rcx, %rax; ret\n"
        "stack_leaf: ret\n");

static void
stack(struct book *b)
{
	uint32_t o = any(b) & ~15u, p = any(b);
	uint64_t v = draw(b), minus = (uint64_t)-7, back = (uint64_t)(uintptr_t)stack_back;
	uint64_t bp = (uint64_t)(uintptr_t)(b->arena + o), frame[3] = {bp - 16, v, bp};
	writes(b, o - 8, 8, &v);
	uint64_t moved = reads(b, p, 8);
	writes(b, o - 16, 8, &moved);
	reads(b, o - 16, 8);
	writes(b, o + 24, 8, &moved); /* pop computes the address with the new rsp */
	writes(b, o - 16, 8, &minus);
	reads(b, o - 16, 8);
	writes(b, o - 16, 8, &back);
	reads(b, o - 16, 8);
	writes(b, o - 16, 8, &bp);
	reads(b, o - 16, 8);
	reads(b, o - 8, 8);
	writes(b, o - 32, 24, frame);
	reads(b, o - 16, 8);
	reads(b, o - 8, 8);
	EXPECT(on_stack(b->arena + o, b->arena + p, v) == v);
}

/* ---- threads, handlers ---- */

static void (*const all[])(struct book *) = {
        move8,     change8,      move16,    change16,      move32, change32,  move64,
        change64,  over_address, bits,      vectors,       masks,  gathers,   strings8,
        strings16, strings32,    strings64, masked_string, stack,  long_masks};
enum { ALL = sizeof all / sizeof *all };

static void
on_alarm(int sig)
{
	(void)sig;
	for (int i = 0; of_handler && i < 3; i++)
		all[draw(of_handler) % ALL](of_handler);
}

static struct book *
begin(int i)
{
	struct book *b = &books[i];
	b->arena = arenas[i];
	b->random = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
	return b;
}

static void *
thread(void *arg)
{
	int i = (int)(intptr_t)arg;
	struct book *b = begin(i);
	static uint8_t stacks[THREADS][1 << 16];
	stack_t away = {.ss_sp = stacks[i], .ss_size = sizeof stacks[i]};
	sigset_t set;
	sigaltstack(&away, NULL);
	of_handler = begin(THREADS + i);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (int turn = 0; turn < TURNS; turn++)
		for (int k = 0; k < ALL; k++)
			all[k](b);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return NULL;
}

/* The books go into a file as they are: to print them would be many more accesses. */
static void
keep(int i, FILE *file)
{
	printf("arena %d %llu %d\n", i, (unsigned long long)(uintptr_t)arenas[i], ARENA);
	if (fwrite(books[i].access, sizeof books[i].access[0], books[i].n, file) != books[i].n)
		_exit(1);
}

int
main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	sigset_t set;
	struct itimerval every = {{0, 1000}, {0, 1000}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART};
	FILE *file = argc == 2 ? fopen(argv[1], "w") : NULL;
	if (!file)
		return 1;
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(intptr_t)i);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2 * THREADS; i++)
		keep(i, file);
	return fclose(file) ? 1 : 0;
}
