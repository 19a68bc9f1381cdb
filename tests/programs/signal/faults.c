/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Faults of many kinds: the handler must see the exact signal, code, address and PC, and the
 * registers as the faulting instruction left them; it then continues behind the instruction by
 * editing the PC.
 */
/* strobe-test: */
#include "signal/ucontext.h"
#include <sys/mman.h>

#define BAD 0x10000500ull

struct fault {
	const char *name;
	void (*run)(void);
	char *at, *after; /* the faulting instruction and where the handler continues */
	int sig, code;
	uint64_t address;
};

/* Each: name, code before, the instruction, signal, si_code, si_addr ("PC": the PC at the fault).
 */
#define FAULTS(F)                                                                                  \
	F(load, "mov $0x10000500, %eax", "mov 8(%rax), %rcx", SIGSEGV, SEGV_MAPERR, BAD + 8)       \
	F(store, "mov $0x10000500, %eax", "mov %ecx, 4(%rax)", SIGSEGV, SEGV_MAPERR, BAD + 4)      \
	F(indexed, "mov $0x10000500, %eax; mov $3, %ecx", "movb $1, 1(%rax,%rcx,8)", SIGSEGV,      \
	  SEGV_MAPERR, BAD + 25)                                                                   \
	F(modify, "mov $0x10000500, %eax", "addl $1, (%rax)", SIGSEGV, SEGV_MAPERR, BAD)           \
	F(locked, "mov $0x10000500, %eax", "lock incl (%rax)", SIGSEGV, SEGV_MAPERR, BAD)          \
	F(noncanonical, "mov $0x8000, %eax; shl $48, %rax", "mov (%rax), %ecx", SIGSEGV,           \
	  SI_KERNEL, 0)                                                                            \
	F(sse, "mov $0x10000500, %eax", "movaps (%rax), %xmm1", SIGSEGV, SEGV_MAPERR, BAD)         \
	F(misaligned, "lea buffer+1(%rip), %rax", "movaps (%rax), %xmm1", SIGSEGV, SI_KERNEL, 0)   \
	F(read_only, "", "movl $1, constant(%rip)", SIGSEGV, SEGV_ACCERR, (uintptr_t)constant)     \
	F(write_code, "", "movl $1, run_load(%rip)", SIGSEGV, SEGV_ACCERR, (uintptr_t)run_load)    \
	F(rip_relative, "", "incl constant+4(%rip)", SIGSEGV, SEGV_ACCERR,                         \
	  (uintptr_t)constant + 4)                                                                 \
	F(push, "mov %rsp, %rbx; mov $0x10000508, %esp", "push %rax", SIGSEGV, SEGV_MAPERR, BAD)   \
	F(pop, "mov %rsp, %rbx; mov $0x10000500, %esp", "pop %rax", SIGSEGV, SEGV_MAPERR, BAD)     \
	F(call_push, "mov %rsp, %rbx; mov $0x10000508, %esp", "call run_load", SIGSEGV,            \
	  SEGV_MAPERR, BAD)                                                                        \
	F(call_register_push, "mov %rsp, %rbx; mov $0x10000508, %esp; lea run_load(%rip), %rax",   \
	  "call *%rax", SIGSEGV, SEGV_MAPERR, BAD)                                                 \
	F(return_pop, "mov %rsp, %rbx; mov $0x10000500, %esp", "ret", SIGSEGV, SEGV_MAPERR, BAD)   \
	F(jump_load, "mov $0x10000500, %eax", "jmp *(%rax)", SIGSEGV, SEGV_MAPERR, BAD)            \
	F(call_load, "mov $0x10000500, %eax", "call *16(%rax)", SIGSEGV, SEGV_MAPERR, BAD + 16)    \
	F(push_load, "mov $0x10000500, %eax", "push (%rax)", SIGSEGV, SEGV_MAPERR, BAD)            \
	F(divide, "xor %edx, %edx; mov $7, %eax; xor %ecx, %ecx", "div %ecx", SIGFPE, FPE_INTDIV,  \
	  (uintptr_t)at_divide)                                                                    \
	F(overflow, "mov $1, %edx; mov $7, %eax; mov $1, %ecx", "idiv %ecx", SIGFPE, FPE_INTDIV,   \
	  (uintptr_t)at_overflow)                                                                  \
	F(undefined, "", "ud2", SIGILL, ILL_ILLOPN, (uintptr_t)at_undefined)                       \
	F(undefined_1, "", ".byte 0x0f, 0xb9, 0xc0", SIGILL, ILL_ILLOPN,                           \
	  (uintptr_t)at_undefined_1)                                                               \
	F(invalid_in_64, "", ".byte 0x06", SIGILL, ILL_ILLOPN, (uintptr_t)at_invalid_in_64)        \
	F(privileged, "", "hlt", SIGSEGV, SI_KERNEL, 0)                                            \
	F(port, "", "in $0x80, %al", SIGSEGV, SI_KERNEL, 0)                                        \
	F(interrupt_flag, "", "cli", SIGSEGV, SI_KERNEL, 0)                                        \
	F(segment, "mov $0x1238, %eax", "mov %eax, %es", SIGSEGV, SI_KERNEL, 0)

#define DECLARE(name, ...)                                                                         \
	void run_##name(void);                                                                     \
	extern char at_##name[], after_##name[];
FAULTS(DECLARE)

extern char constant[], buffer[];
__asm__(".section .rodata\n.globl constant\nconstant: .quad 1, 2\n"
        ".bss\n.balign 16\n.globl buffer\nbuffer: .skip 64\n.text\n");

/* rbx, r12 to r15 and the flags are at known values at the instruction; after it rsp comes back
 * from saved_sp. */
uint64_t saved_sp;
#define DEFINE(name, before, instruction, ...)                                                     \
	__asm__(".text\n.globl run_" #name ", at_" #name ", after_" #name "\n"                     \
	        "run_" #name                                                                       \
	        ":\n push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"           \
	        "mov %rsp, saved_sp(%rip)\n" before "\n"                                           \
	        "mov $0x1212, %r12d; mov $0x1313, %r13d; mov $0x1414, %r14d; mov $0x1515, %r15d\n" \
	        "lea -1(%r12), %rbp\n"                                                             \
	        "at_" #name ": " instruction "\n"                                                  \
	        "ud2\n"                                                                            \
	        "after_" #name ": mov saved_sp(%rip), %rsp\n"                                      \
	        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n");
FAULTS(DEFINE)

static const struct fault *current;
static volatile int taken;
static char stack[65536] __attribute__((aligned(16)));

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	const struct fault *f = current;

	CHECK(!taken++, "%s: faulted twice, now at %#lx", f->name, get_reg(context, REG_RIP));
	CHECK(sig == f->sig && info->si_signo == sig, "%s: signal %d", f->name, sig);
	CHECK(get_reg(context, REG_RIP) == (uintptr_t)f->at, "%s: PC is %#lx, should be %#lx",
	      f->name, get_reg(context, REG_RIP), (uintptr_t)f->at);
	CHECK(info->si_code == f->code, "%s: si_code %d, should be %d", f->name, info->si_code,
	      f->code);
	CHECK((uintptr_t)info->si_addr == f->address, "%s: si_addr %p, should be %#lx", f->name,
	      info->si_addr, f->address);
	CHECK(get_reg(context, REG_R12) == 0x1212 && get_reg(context, REG_R13) == 0x1313 &&
	              get_reg(context, REG_R14) == 0x1414 && get_reg(context, REG_R15) == 0x1515 &&
	              get_reg(context, REG_RBP) == 0x1211,
	      "%s: registers differ", f->name);
	set_reg(context, REG_RIP, (uintptr_t)f->after);
}

int
main(void)
{
#define ENTRY(name, before, instruction, sig, code, address)                                       \
	{#name, run_##name, at_##name, after_##name, sig, code, address},
	const struct fault faults[] = {FAULTS(ENTRY)};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};

	CHECK(!sigaltstack(&alternate, NULL), "sigaltstack failed");
	handle(SIGSEGV, on_fault, SA_ONSTACK);
	handle(SIGFPE, on_fault, SA_ONSTACK);
	handle(SIGILL, on_fault, SA_ONSTACK);
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < sizeof faults / sizeof faults[0]; i++) {
			current = &faults[i];
			taken = 0;
			faults[i].run();
			CHECK(taken == 1, "%s did not fault", faults[i].name);
		}
	}
	printf("%zu kinds of fault are reported exactly\n", sizeof faults / sizeof faults[0]);
	return 0;
}
