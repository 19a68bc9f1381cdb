/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raw system calls of the runtime itself. They return the kernel's answer: -errno on failure. */
#ifndef STROBE_RT_LIB_SYS_H
#define STROBE_RT_LIB_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline long
sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
	                 : "=a"(ret)
	                 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return ret;
}
#define SYS_PICK(_1, _2, _3, _4, _5, _6, _7, NAME, ...) NAME
#define SYS_1(n) sys6(n, 0, 0, 0, 0, 0, 0)
#define SYS_2(n, a) sys6(n, (long)(a), 0, 0, 0, 0, 0)
#define SYS_3(n, a, b) sys6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYS_4(n, a, b, c) sys6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYS_5(n, a, b, c, d) sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYS_6(n, a, b, c, d, e) sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SYS_7(n, a, b, c, d, e, f)                                                                 \
	sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* SYS(number, arguments...): casts every argument to long. */
#define SYS(...) SYS_PICK(__VA_ARGS__, SYS_7, SYS_6, SYS_5, SYS_4, SYS_3, SYS_2, SYS_1)(__VA_ARGS__)

static inline int
sys_failed(long ret)
{
	return ret < 0 && ret > -4096;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);

/* Anonymous private memory, zeroed, reserved but not committed. Returns NULL on failure. */
void *rt_map_memory(size_t bytes);
/* Zeroes whole pages of it, and gives them back to the kernel if that can be. */
void rt_clear_memory(void *p, size_t bytes);
/* Gives it back. */
void rt_unmap_memory(void *p, size_t bytes);
/* The runtime has mapped these bytes elsewhere: they are given back with the others. */
void rt_note_memory(uint64_t at, uint64_t bytes);
/* The first piece of it that touches [start, end). */
bool rt_first_memory(uint64_t start, uint64_t end, uint64_t *from, uint64_t *to);
/* Gives all of it back, except what is kept: that many bytes of what was mapped at p. */
void rt_unmap_all(void);
void rt_keep_memory(const void *p, uint64_t bytes);
/* The mapping at p stays for ever. */
void rt_forget_memory(const void *p);
struct st_memory_list *rt_memory_list(void);
/* The same for what a fork's child that goes on natively does without. */
void *rt_map_table(size_t bytes);
/* The engine's memory as the kernel counts it. */
extern struct rt_memory {
	uint64_t space; /* bytes of address space */
	uint64_t data;  /* of it private and writable, what RLIMIT_DATA is about */
	uint64_t space_not_forked, data_not_forked; /* what a fork's child does not have */
	uint64_t used;                              /* bytes of ST_TABLES_LATER */
} rt_memory;
static inline void
rt_count_memory(int64_t space, int64_t data)
{
	__atomic_fetch_add(&rt_memory.space, (uint64_t)space, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rt_memory.data, (uint64_t)data, __ATOMIC_RELAXED);
}

/* Writes the number in decimal, NUL-terminated. */
void rt_decimal(char *out, uint32_t number);

/* Writes "strobe: " text and a number in hex to descriptor 2: for conditions that must not happen.
 */
void rt_complain(const char *text, uint64_t number);

/* The program has made rdtsc fault (PR_SET_TSC): there is no clock then. */
extern bool rt_tsc_forbidden;

static inline uint64_t
rt_tsc(void)
{
	uint32_t lo, hi;
	if (rt_tsc_forbidden)
		return 0;
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return ((uint64_t)hi << 32) | lo;
}

/* ns of CPU time that this thread has used. */
uint64_t cpu_time(void);

/* os/limits.c: the engine's memory has grown, or is about to grow by up to `spare` bytes. */
void limits_adjust(uint64_t spare);

#endif
