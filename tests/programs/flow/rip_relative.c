/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operands relative to the instruction pointer in every shape: with immediates of each size behind
 * the displacement, read, written, both; with each of the registers in use; as SSE, AVX and locked
 * operands; lea of code and data; and the same through the 32-bit address size.
 */
/* strobe-test: */
#include "check.h"

uint64_t data[8] __attribute__((aligned(64)));
uint64_t r0, r1, r2;
static const uint64_t base = 0x1122334455667788;

static void
immediates(void)
{
	data[0] = base;
	__asm__ volatile("movb $0x11, data(%%rip)\nmovw $0x2222, data+2(%%rip)\nmovl $0x33333333, "
	                 "data+4(%%rip)" ::
	                         : "memory");
	CHECK_EQ(data[0], 0x3333333322227711);
	__asm__ volatile(
	        "movq $-2, data(%%rip)\naddq $0x10, data(%%rip)\nsubl $0x1000, data(%%rip)" ::
	                : "memory", "cc");
	CHECK_EQ(data[0], 0xfffff00e);
	__asm__ volatile("shlq $4, data(%%rip)\nrolw $8, data(%%rip)\nxorb $0xff, data+1(%%rip)" ::
	                         : "memory", "cc");
	CHECK_EQ(data[0], 0xfffff1f00);
}

static void
reads_and_writes(void)
{
	unsigned char equal, carry;

	data[1] = base;
	__asm__ volatile("cmpl $0x55667788, data+8(%%rip)\nsete %0" : "=q"(equal)::"cc");
	CHECK_EQ(equal, 1);
	__asm__ volatile("btl $3, data+8(%%rip)\nsetc %0" : "=q"(carry)::"cc");
	CHECK_EQ(carry, 1);
	__asm__ volatile("lock addq $1, data+8(%%rip)\nlock xaddq %0, data+8(%%rip)"
	                 : "=r"(r0)
	                 : "0"(7ul)
	                 : "memory", "cc");
	CHECK(r0 == base + 1 && data[1] == base + 8, "xadd");
	__asm__ volatile("xchgq %0, data+8(%%rip)" : "=r"(r0) : "0"(5ul) : "memory");
	CHECK(r0 == base + 8 && data[1] == 5, "xchg");
	__asm__ volatile("lock cmpxchgq %2, data+8(%%rip)\nsete %0"
	                 : "=q"(equal), "=a"(r1)
	                 : "r"(9ul), "1"(5ul)
	                 : "memory", "cc");
	CHECK(equal && data[1] == 9, "cmpxchg");
	__asm__ volatile("mov $3, %%eax\nmov $0, %%edx\nmulq data+8(%%rip)\nmov %%rax, %0"
	                 : "=r"(r0)::"rax", "rdx", "cc");
	CHECK_EQ(r0, 27);
	__asm__ volatile("mov $30, %%eax\nmov $0, %%edx\ndivl data+8(%%rip)\nmov %%rdx, %0"
	                 : "=r"(r0)::"rax", "rdx", "cc");
	CHECK_EQ(r0, 3);
	__asm__ volatile("imulq $100, data+8(%%rip), %0" : "=r"(r0)::"cc");
	CHECK_EQ(r0, 900);
	__asm__ volatile("movzbl data+8(%%rip), %k0\nmovslq data+8(%%rip), %1\nsetne "
	                 "data+16(%%rip)\nnegb data+8(%%rip)\n"
	                 "movsbq data+8(%%rip), %2"
	                 : "=&r"(r0), "=&r"(r1), "=r"(r2)::"memory", "cc");
	CHECK(r0 == 9 && r1 == 9 && r2 == (uint64_t)-9, "extensions");
	__asm__ volatile("push %%rax\npushq data+8(%%rip)\npopq data+24(%%rip)\npop %%rax" ::
	                         : "memory");
	CHECK_EQ(data[3], data[1]);
	__asm__ volatile("cmp %0, %0\ncmoveq data+24(%%rip), %0" : "=r"(r0) : "0"(1ul) : "cc");
	CHECK_EQ(r0, data[3]);
}

/* Each register as the other operand, the others known and kept. */
/* clang-format off */
#define ONE(reg)                                                                                   \
	do {                                                                                       \
		r0 = 0;                                                                            \
		data[4] = 0x4444;                                                                  \
		__asm__ volatile("mov $0x1111, %%" #reg "\nadd %%" #reg ", data+32(%%rip)\n"       \
		                 "mov data+32(%%rip), %%" #reg "\nmov %%" #reg ", r0(%%rip)\n"     \
		                 "lea data+32(%%rip), %%" #reg "\nmov %%" #reg ", r1(%%rip)"       \
		                 ::: #reg, "memory", "cc");                                        \
		CHECK_EQ(r0, 0x5555);                                                              \
		CHECK_EQ(r1, (uintptr_t)&data[4]);                                                 \
	} while (0)
/* clang-format on */

static void
each_register(void)
{
	ONE(rax);
	ONE(rbx);
	ONE(rcx);
	ONE(rdx);
	ONE(rsi);
	ONE(rdi);
	ONE(r8);
	ONE(r9);
	ONE(r10);
	ONE(r11);
	ONE(r12);
	ONE(r13);
	ONE(r14);
	ONE(r15);
	__asm__ volatile("mov %%rsp, %%r12\nmov %%r12, data(%%rip)\nmov "
	                 "data(%%rip), %%rsp\nmov %%rsp, data+8(%%rip)" ::
	                         : "r12", "memory");
	CHECK_EQ(data[0], data[1]);
}

static void
vectors(void)
{
	for (int i = 0; i < 8; i++)
		data[i] = (uint64_t)i + 1;
	__asm__ volatile(
	        "movdqa data(%%rip), %%xmm1\npaddq data+16(%%rip), %%xmm1\nmovdqu %%xmm1, "
	        "data+32(%%rip)\n"
	        "pshufd $0x4e, data(%%rip), %%xmm2\nmovq %%xmm2, r0(%%rip)\n"
	        "cvtsi2sdq data(%%rip), %%xmm3\ncvttsd2si %%xmm3, %%rax\nmov %%rax, r1(%%rip)" ::
	                : "xmm1", "xmm2", "xmm3", "rax", "memory");
	CHECK(data[4] == 4 && data[5] == 6 && r0 == 2 && r1 == 1, "SSE operands");
	if (__builtin_cpu_supports("avx2")) {
		__asm__ volatile(
		        "vmovdqu data(%%rip), %%ymm1\nvpaddq data+32(%%rip), %%ymm1, %%ymm1\n"
		        "vpermq $0x1b, %%ymm1, %%ymm1\nvmovdqa %%ymm1, data(%%rip)\nvpermq $0, "
		        "data(%%rip), %%ymm2\n"
		        "vmovq %%xmm2, r0(%%rip)\nvzeroupper" ::
		                : "xmm1", "xmm2", "memory");
		CHECK(data[3] == 1 + 4 && data[2] == 2 + 6 && data[0] == 4 + 8 && r0 == 12,
		      "AVX operands");
	}
	if (__builtin_cpu_supports("avx512f")) {
		data[0] = 5;
		__asm__ volatile(
		        "vmovdqa64 data(%%rip), %%zmm1\nvpaddq data(%%rip)%{1to8%}, %%zmm1, "
		        "%%zmm1\n"
		        "vpternlogq $0x55, data(%%rip), %%zmm1, %%zmm2\nvmovq %%xmm2, r1(%%rip)\n"
		        "vmovdqa64 %%zmm1, data(%%rip)\nvzeroupper" ::
		                : "xmm1", "xmm2", "memory");
		CHECK(data[0] == 10 && data[3] == 10 && r1 == ~5ull, "AVX-512 operands");
	}
}

static void
addresses(void)
{
	uint64_t a, b, c;

	__asm__ volatile("lea 1f(%%rip), %0\n1: lea (%%rip), %1\n2: lea 2b(%%rip), %2"
	                 : "=r"(a), "=r"(b), "=r"(c));
	CHECK(b == c && b - a == 7, "lea of code: %#lx %#lx %#lx", a, b, c);
	__asm__ volatile("leal 1f(%%rip), %k0\n1:" : "=r"(b));
	__asm__ volatile("addr32 lea 0x100(%%eip), %0\n1: lea 1b(%%rip), %1" : "=r"(a), "=r"(c));
	CHECK_EQ(a, (uint32_t)(c + 0x100));
	__asm__ volatile("movq %%fs:0, %0" : "=r"(a));
	CHECK_EQ(a, (uintptr_t)__builtin_thread_pointer());
}

int
main(void)
{
	for (int i = 0; i < 20; i++) {
		immediates();
		reads_and_writes();
		each_register();
		vectors();
		addresses();
	}
	puts("operands relative to the PC are right");
	return 0;
}
