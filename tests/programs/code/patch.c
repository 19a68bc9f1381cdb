/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Self-modifying code in a writable and executable page: another function's immediate, the next
 * instruction of the same block, the block's own beginning in a loop, a jump's distance, an
 * instruction replaced by a longer one.
 */
/* strobe-test: */
#include "code/emit.h"

static unsigned char *page;

static void
other_function(void)
{
	for (int i = 0; i < 600; i++) {
		emit_return(page, i * 3);
		CHECK_EQ(call(page), i * 3);
	}
	for (int i = 0; i < 600; i++) { /* only one byte of a block that stays otherwise */
		page[1] = (unsigned char)i;
		CHECK_EQ(call(page) & 0xff, i & 0xff);
	}
}

/* movl $value, next+1(%rip); mov $0, %eax; ret: the store changes the instruction that follows it
 * in the block. */
static void
next_instruction(void)
{
	static const unsigned char code[] = {0xc7, 0x05, 1,    0, 0, 0, 0, 0,
	                                     0,    0,    0xb8, 0, 0, 0, 0, 0xc3};
	unsigned char *at = page + 256;

	memcpy(at, code, sizeof code);
	for (int i = 0; i < 400; i++) {
		int value = i * 77;
		memcpy(at + 6, &value, 4);
		CHECK_EQ(call(at), value);
	}
	/* Now unchanged from outside: edi gives the value. mov %edi, next+1(%rip); mov $0, %eax;
	 * ret */
	static const unsigned char register_code[] = {0x89, 0x3d, 1, 0, 0, 0,
	                                              0xb8, 0,    0, 0, 0, 0xc3};
	memcpy(at, register_code, sizeof register_code);
	for (int i = 0; i < 400; i++)
		CHECK_EQ(((int (*)(int))(uintptr_t)at)(i + 5), i + 5);
}

/*
 * A loop that increments its own immediate:
 *	xor %eax, %eax; mov $1000, %ecx
 * 1:	add $imm32, %eax (05 imm32); incl 1b+1(%rip); dec %ecx; jnz 1b; ret
 */
static void
own_loop(void)
{
	static const unsigned char code[] = {
	        0x31, 0xc0, 0xb9, 0xe8, 0x03, 0,    0,    0x05, 0,    0,    0,    0,
	        0xff, 0x05, 0xf6, 0xff, 0xff, 0xff, 0xff, 0xc9, 0x75, 0xf1, 0xc3,
	};
	unsigned char *at = page + 512;

	memcpy(at, code, sizeof code);
	CHECK_EQ(call(at), 1000 * 999 / 2);
	CHECK_EQ(call(at), 1000 * 999 / 2 + 1000 * 1000);
}

/* A jump over n nops into a slide of `inc %eax`: its 8-bit distance is patched. */
static void
jump_distance(void)
{
	unsigned char *at = page + 1024;

	at[0] = 0x31, at[1] = 0xc0; /* xor %eax, %eax */
	at[2] = 0xeb;
	for (int i = 0; i < 100; i++)
		at[4 + 2 * i] = 0xff, at[5 + 2 * i] = 0xc0;
	at[204] = 0xc3;
	for (int i = 0; i < 60; i++) {
		at[3] = (unsigned char)(2 * i);
		CHECK_EQ(call(at), 100 - i);
	}
	for (int i = 0; i < 50; i++) { /* return early, then late again */
		at[3] = 0;
		unsigned char old = at[4 + 2 * i];
		at[4 + 2 * i] = 0xc3;
		CHECK_EQ(call(at), i);
		at[4 + 2 * i] = old;
		CHECK_EQ(call(at), 100);
	}
}

/* Code over a page border, each side patched. */
static void
page_border(void)
{
	unsigned char *at = page + 4096 - 3;

	for (int i = 0; i < 200; i++) {
		emit_return(at, i << 16 | (i & 0xff));
		CHECK_EQ(call(at), i << 16 | (i & 0xff));
		at[1] ^= 0x55;
		CHECK_EQ(call(at), (i << 16 | (i & 0xff)) ^ 0x55);
		at[4] ^= 0x11;
		CHECK_EQ(call(at), (i << 16 | (i & 0xff)) ^ 0x55 ^ 0x11000000);
	}
}

/* Caller and callee in the page, both linked, the callee's body moves. */
static void
moved_callee(void)
{
	unsigned char *caller = page + 4096 + 512;

	caller[0] = 0xe8; /* call rel32; inc %eax; ret */
	caller[5] = 0xff, caller[6] = 0xc0, caller[7] = 0xc3;
	for (int i = 0; i < 500; i++) {
		unsigned char *callee = page + 4096 + 1024 + 16 * (i % 100);
		int distance = (int)(callee - (caller + 5));
		emit_return(callee, i);
		memcpy(caller + 1, &distance, 4);
		CHECK_EQ(call(caller), i + 1);
	}
}

int
main(void)
{
	page = map_code(8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	other_function();
	next_instruction();
	own_loop();
	jump_distance();
	page_border();
	moved_callee();
	puts("patched code runs as patched");
	return 0;
}
