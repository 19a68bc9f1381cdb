/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frame a handler starts with: arguments in registers, 16-byte alignment, below the red zone of
 * the interrupted code, on the interrupted stack, return address in the program's own restorer; the
 * direction flag clear, the rest of the flags and registers back afterwards; handlers with frames
 * of megabytes; one without SA_SIGINFO.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <sys/mman.h>
#include <sys/syscall.h>

uint64_t entry[8]; /* rdi rsi rdx rsp flags return-address rax */
void bare_handler(void), own_restorer(void);
extern char after_restorer[];
__asm__(".text\n"
        "bare_handler:\n"
        "mov %rdi, entry(%rip); mov %rsi, entry+8(%rip); mov %rdx, entry+16(%rip); mov %rsp, "
        "entry+24(%rip)\n"
        "pushfq; popq entry+32(%rip)\n"
        "mov (%rsp), %rcx; mov %rcx, entry+40(%rip); mov %rax, entry+48(%rip)\n"
        "ret\n"
        ".globl after_restorer\n"
        "own_restorer: mov $15, %eax\nsyscall\nafter_restorer: ud2\n");

struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static void
install(int sig, void *entry_point, unsigned long flags)
{
	struct kernel_action action = {entry_point, flags | 0x04000000,
	                               (void *)(uintptr_t)own_restorer, 0};

	CHECK(!syscall(SYS_rt_sigaction, sig, &action, NULL, 8), "rt_sigaction");
}

uint64_t fault_rsp, back_flags;
extern char fault_here[];
void fault_with_direction(void);
/* Sets the direction flag, faults by a load from (rax) = 8 that the kernel cannot repair; the
 * handler skips it. */
__asm__(".text\n.globl fault_here\n"
        "fault_with_direction:\n"
        "mov %rsp, fault_rsp(%rip); mov $8, %eax; std; stc\n"
        "movq $0x77, -128(%rsp)\n"
        "fault_here: movzwl (%rax), %eax\n"
        "pushfq; popq back_flags(%rip); cld\n"
        "ret\n");

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	uint64_t flags = __builtin_ia32_readeflags_u64();

	(void)sig, (void)info;
	CHECK(!(flags & 0x400), "the direction flag is set in a handler");
	CHECK(get_reg(context, REG_EFL) & 0x400, "the frame has lost the direction flag");
	CHECK_EQ(get_reg(context, REG_RSP), fault_rsp);
	CHECK((uintptr_t)context < fault_rsp - 128, "the frame lies in the red zone");
	CHECK(fault_rsp - (uintptr_t)context < 16384, "the frame is far away");
	CHECK_EQ(((uint64_t *)fault_rsp)[-16], 0x77);
	set_reg(context, REG_RIP, (uintptr_t)fault_here + 3);
}

static void
entries(void)
{
	for (int with_info = 0; with_info < 2; with_info++) {
		install(SIGUSR1, (void *)(uintptr_t)bare_handler, with_info ? SA_SIGINFO : 0);
		memset(entry, 0, sizeof entry);
		raise_here(SIGUSR1);
		CHECK_EQ(entry[0], SIGUSR1);
		CHECK_EQ(entry[3] % 16, 8);
		CHECK_EQ(entry[5], (uintptr_t)own_restorer);
		CHECK(!(entry[4] & 0x400), "direction flag");
		CHECK_EQ(entry[6], 0);
		CHECK(entry[1] > entry[3] && entry[2] == entry[3] + 8,
		      "siginfo at %#lx, ucontext at %#lx, rsp %#lx", entry[1], entry[2], entry[3]);
	}
}

static void
on_huge(int sig, siginfo_t *info, void *context)
{
	volatile char room[4 << 20];

	(void)sig, (void)info, (void)context;
	for (unsigned i = 0; i < sizeof room; i += 4096)
		room[i] = (char)i;
	CHECK_EQ(room[8192], 0);
}

static void
magic(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	uint32_t *words = (uint32_t *)((char *)uc->uc_mcontext.fpregs + 464);

	(void)info;
	CHECK_EQ(sig, SIGUSR2);
	CHECK_EQ(uc->uc_link, 0);
	CHECK_EQ((uintptr_t)uc->uc_mcontext.fpregs % 64, 0);
	if (__builtin_cpu_supports("avx")) { /* the extended state is announced and closed by its
		                                two magic numbers */
		CHECK_EQ(words[0], 0x46505853);
		CHECK(words[4] <= words[1], "xstate size");
		CHECK_EQ(*(uint32_t *)((char *)uc->uc_mcontext.fpregs + words[4]), 0x46505845);
		CHECK(uc->uc_flags & 1, "UC_FP_XSTATE");
	}
	CHECK_EQ((uint16_t)get_reg(context, REG_CSGSFS), 0x33);
}

int
main(void)
{
	handle(SIGSEGV, on_fault, 0);
	for (int i = 0; i < 100; i++) {
		fault_with_direction();
		CHECK((back_flags & 0x401) == 0x401, "flags came back as %#lx", back_flags);
	}
	entries();
	handle(SIGUSR1, on_huge, 0);
	raise_here(SIGUSR1);
	handle(SIGUSR2, magic, 0);
	raise_here(SIGUSR2);
	puts("handlers start on proper frames");
	return 0;
}
