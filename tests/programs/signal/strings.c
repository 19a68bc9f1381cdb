/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * String instructions that fault in their middle: rcx, rsi and rdi must be exact at the fault, and
 * after the handler has opened the page the instruction must go on from there. What garbage
 * collectors and debuggers of memory rely on.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <sys/mman.h>

#define PAGE 4096
#define OFFSET 100 /* bytes before the closed page */

static char *area; /* open page, closed page, open page */
static volatile int faults;
static uint64_t want_rcx, want_rsi, want_rdi;
extern char movs_at[], stos_at[], lods_at[], cmps_at[], scas_at[];
static char *want_rip;

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	CHECK(info->si_addr == area + PAGE, "si_addr %p, should be %p", info->si_addr, area + PAGE);
	CHECK_EQ(get_reg(context, REG_RIP), (uintptr_t)want_rip);
	CHECK_EQ(get_reg(context, REG_RCX), want_rcx);
	CHECK_EQ(get_reg(context, REG_RSI), want_rsi);
	CHECK_EQ(get_reg(context, REG_RDI), want_rdi);
	faults++;
	CHECK(!mprotect(area + PAGE, PAGE, PROT_READ | PROT_WRITE), "mprotect failed");
}

static void
arm(char *rip, uint64_t rcx, const void *rsi, const void *rdi)
{
	faults = 0;
	want_rip = rip;
	want_rcx = rcx;
	want_rsi = (uintptr_t)rsi;
	want_rdi = (uintptr_t)rdi;
	CHECK(!mprotect(area + PAGE, PAGE, PROT_NONE), "mprotect failed");
}

static void
move_and_store(char *near, char *target)
{
	uint64_t n = 2 * OFFSET;
	const void *from = near;
	void *to = target;

	arm(movs_at, OFFSET, area + PAGE, target + OFFSET);
	__asm__ volatile("movs_at: rep movsb" : "+c"(n), "+S"(from), "+D"(to)::"memory");
	CHECK(faults == 1 && n == 0 && from == near + 2 * OFFSET, "rep movsb did not finish");
	CHECK(!memcmp(near, target, 2 * OFFSET), "rep movsb copied wrongly");

	n = OFFSET / 4;
	to = near;
	from = (void *)0x123456;
	arm(stos_at, 0, from, area + PAGE);
	/* Ends right before the closed page, then once more into it. */
	__asm__ volatile("rep stosl" : "+c"(n), "+D"(to) : "a"(7), "S"(from) : "memory");
	CHECK_EQ(faults, 0);
	n = 3;
	want_rcx = 3;
	__asm__ volatile("stos_at: rep stosl" : "+c"(n), "+D"(to) : "a"(7), "S"(from) : "memory");
	CHECK(faults == 1 && n == 0 && to == area + PAGE + 12, "rep stosl did not finish");
}

static void
compare_and_scan(char *near, char *target)
{
	uint64_t n = OFFSET;
	const void *a = near, *b = target;
	unsigned char equal, found;

	memset(near, 0, 2 * OFFSET);
	memset(target, 0, 2 * OFFSET);
	near[OFFSET + 10] = 1;
	arm(cmps_at, 50, area + PAGE, target + OFFSET);
	n = 150;
	__asm__ volatile("cmps_at: repe cmpsb\nsete %3"
	                 : "+c"(n), "+S"(a), "+D"(b), "=r"(equal)::"memory", "cc");
	CHECK(faults == 1 && n == 39 && !equal, "repe cmpsb stopped with rcx %lu", n);

	b = near;
	n = 1000;
	arm(scas_at, 900, a, area + PAGE);
	__asm__ volatile("scas_at: repne scasb\nsete %2"
	                 : "+c"(n), "+D"(b), "=r"(found)
	                 : "a"(1), "S"(a)
	                 : "memory", "cc");
	CHECK(faults == 1 && n == 889 && found, "repne scasb stopped with rcx %lu", n);

	uint64_t value = 0;
	a = area + PAGE;
	arm(lods_at, 77, a, b);
	__asm__ volatile("lods_at: lodsq" : "+S"(a), "+a"(value) : "c"(77), "D"(b) : "memory");
	CHECK(faults == 1 && a == area + PAGE + 8, "lodsq did not advance");
}

int
main(void)
{
	static char target[4 * OFFSET];

	area = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(area != MAP_FAILED, "mmap failed");
	for (int i = 0; i < 3 * PAGE; i++)
		area[i] = (char)(i * 7);
	handle(SIGSEGV, on_fault, 0);
	for (int round = 0; round < 100; round++) {
		move_and_store(area + PAGE - OFFSET, target);
		compare_and_scan(area + PAGE - OFFSET, target);
	}
	puts("string instructions fault and resume exactly");
	return 0;
}
