/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The syscall instruction: six arguments arrive, rcx holds the next address and r11 the flags
 * afterwards, all other registers, the flags and the red zone stay, also when the call fails or
 * does not exist.
 */
/* strobe-test: */
#include "check.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Registers in the order rax rcx rdx rbx rbp rsi rdi r8..r15, flags, three words of red zone. */
struct state {
	uint64_t r[15], flags, zone[3];
};

uint64_t raw_call(struct state *before, struct state *after);
extern char raw_call_next[];

__asm__(".text\n"
        ".globl raw_call, raw_call_next\n"
        "raw_call:\n"
        "	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "	sub $200, %rsp\n"
        "	mov %rsi, 160(%rsp)\n"
        "	mov %rdi, %rax\n"
        "	pushq 120(%rax); popfq\n"
        "	mov 128(%rax), %rbx; mov %rbx, -8(%rsp)\n"
        "	mov 136(%rax), %rbx; mov %rbx, -64(%rsp)\n"
        "	mov 144(%rax), %rbx; mov %rbx, -128(%rsp)\n"
        "	mov 8(%rax), %rcx; mov 16(%rax), %rdx; mov 24(%rax), %rbx; mov 32(%rax), %rbp\n"
        "	mov 40(%rax), %rsi; mov 48(%rax), %rdi; mov 56(%rax), %r8; mov 64(%rax), %r9\n"
        "	mov 72(%rax), %r10; mov 80(%rax), %r11; mov 88(%rax), %r12; mov 96(%rax), %r13\n"
        "	mov 104(%rax), %r14; mov 112(%rax), %r15; mov 0(%rax), %rax\n"
        "	syscall\n"
        "raw_call_next:\n"
        "	mov %rbx, 8(%rsp)\n"
        "	mov 160(%rsp), %rbx\n"
        "	mov %rax, 0(%rbx); mov %rcx, 8(%rbx); mov %rdx, 16(%rbx); mov %rbp, 32(%rbx)\n"
        "	mov %rsi, 40(%rbx); mov %rdi, 48(%rbx); mov %r8, 56(%rbx); mov %r9, 64(%rbx)\n"
        "	mov %r10, 72(%rbx); mov %r11, 80(%rbx); mov %r12, 88(%rbx); mov %r13, 96(%rbx)\n"
        "	mov %r14, 104(%rbx); mov %r15, 112(%rbx)\n"
        "	mov 8(%rsp), %rcx; mov %rcx, 24(%rbx)\n"
        "	mov -8(%rsp), %rcx; mov %rcx, 128(%rbx)\n"
        "	mov -64(%rsp), %rcx; mov %rcx, 136(%rbx)\n"
        "	mov -128(%rsp), %rcx; mov %rcx, 144(%rbx)\n"
        "	lea -256(%rsp), %rsp; pushfq; popq 120(%rbx); lea 256(%rsp), %rsp\n"
        "	add $200, %rsp\n"
        "	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
        "	ret\n");

static long
checked_call(long number, const uint64_t args[6], uint64_t flags)
{
	static const unsigned slot[6] = {6, 5, 2, 9, 7, 8}; /* rdi rsi rdx r10 r8 r9 */
	struct state before, after;

	for (unsigned i = 0; i < 15; i++)
		before.r[i] = 0x1111111111111111ull * (i + 1);
	for (unsigned i = 0; i < 6; i++)
		before.r[slot[i]] = args[i];
	before.r[0] = (uint64_t)number;
	before.flags = flags;
	for (unsigned i = 0; i < 3; i++)
		before.zone[i] = 0xfeed0000 + i;
	raw_call(&before, &after);
	for (unsigned i = 1; i < 15; i++) {
		uint64_t expected = before.r[i];
		if (i == 1)
			expected = (uintptr_t)raw_call_next;
		if (i == 10)
			expected = flags;
		CHECK(after.r[i] == expected, "call %ld: register %u is %#lx, should be %#lx",
		      number, i, after.r[i], expected);
	}
	CHECK((after.flags & 0xcd5) == (flags & 0xcd5), "call %ld: flags %#lx, should be %#lx",
	      number, after.flags, flags);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(after.zone[i], before.zone[i]);
	return (long)after.r[0];
}

/* A call with six arguments: a private file mapping at a wanted address from an offset. */
static void
six_arguments(uint64_t flags)
{
	int fd = memfd_create("six", 0);
	void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t args[6] = {(uintptr_t)hole, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 4096};

	CHECK(fd >= 0 && pwrite(fd, "there", 5, 4096) == 5, "cannot write a memfd");
	CHECK_EQ(checked_call(SYS_mmap, args, flags), (uintptr_t)hole);
	CHECK(!memcmp(hole, "there", 5), "mapping shows other bytes");
	args[1] = 0;
	CHECK_EQ(checked_call(SYS_mmap, args, flags), -EINVAL);
	munmap(hole, 4096);
	close(fd);
}

int
main(void)
{
	static const uint64_t nothing[6] = {1, 2, 3, 4, 5, 6};
	static const uint64_t all_flags[] = {0x202, 0x203, 0x206, 0x212,
	                                     0x242, 0x282, 0xa02, 0xad7};

	for (unsigned i = 0; i < sizeof all_flags / sizeof all_flags[0]; i++) {
		CHECK_EQ(checked_call(SYS_getpid, nothing, all_flags[i]), getpid());
		CHECK_EQ(checked_call(SYS_getppid, nothing, all_flags[i]), getppid());
		CHECK_EQ(checked_call(100000, nothing, all_flags[i]), -ENOSYS);
		CHECK_EQ(checked_call(-1, nothing, all_flags[i]), -ENOSYS);
		CHECK_EQ(checked_call(SYS_close, (uint64_t[6]){9999}, all_flags[i]), -EBADF);
		six_arguments(all_flags[i]);
	}
	puts("system calls change rax, rcx and r11 only");
	return 0;
}
