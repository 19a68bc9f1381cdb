/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Generated code that faults, as JITs make it: an implicit null check whose handler continues
 * elsewhere, a patch point whose handler rewrites the instruction that trapped and lets it run
 * again, a handler that rewrites the code it returns into.
 */
/* strobe-test: */
#include "code/emit.h"
#include "signal/ucontext.h"

static unsigned char *page;
static uint64_t expected;
static volatile int traps;

static void
on_null(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	CHECK_EQ(get_reg(context, REG_RIP), expected);
	CHECK_EQ((uintptr_t)info->si_addr, 8);
	traps++;
	set_reg(context, REG_RIP, (uintptr_t)page + 32);
}

static void
on_patch(int sig, siginfo_t *info, void *context)
{
	uint64_t rip = get_reg(context, REG_RIP);

	(void)sig, (void)info;
	CHECK_EQ(rip, expected);
	traps++;
	memcpy((void *)rip, "\xb8\x37\x13\x00\x00", 5); /* mov $0x1337, %eax over ud2 */
	((unsigned char *)rip)[7] =
	        (unsigned char)(traps & 0x7f); /* and the immediate of the next one */
}

static void
null_checks(void)
{
	/* mov 8(%rdi), %eax; ret   and at 32: mov $-1, %eax; ret */
	memcpy(page, "\x8b\x47\x08\xc3", 4);
	emit_return(page + 32, -1);
	expected = (uintptr_t)page;
	int object[4] = {1, 2, 3, 4};
	int (*f)(int *) = (int (*)(int *))(uintptr_t)page;
	for (int i = 0; i < 500; i++) {
		CHECK_EQ(f(object), 3);
		CHECK_EQ((uint32_t)f(NULL), (uint32_t)-1);
	}
	CHECK_EQ(traps, 500);
}

static void
patch_points(void)
{
	traps = 0;
	expected = (uintptr_t)page + 64;
	for (int i = 0; i < 200; i++) {
		/* ud2 and three int3; add $imm8, %eax; ret */
		memcpy(page + 64, "\x0f\x0b\xcc\xcc\xcc\x83\xc0\x01\xc3", 9);
		int first = call(page + 64), second = call(page + 64);
		CHECK_EQ(first, second);
		CHECK_EQ(traps, i + 1);
		CHECK_EQ(first, 0x1337 + ((i + 1) & 0x7f));
	}
}

int
main(void)
{
	page = map_code(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	handle(SIGSEGV, on_null, 0);
	null_checks();
	handle(SIGILL, on_patch, 0);
	patch_points();
	puts("generated code faults and is patched");
	return 0;
}
