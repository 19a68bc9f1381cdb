/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jumps into the middle of instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/arch/x86_64/apart.h"

/* je 1f; lock; 1: cmpxchg %rbx, (%rcx) */
static const uint8_t over_prefix[] = {0x74, 0x01, 0xf0, 0x48, 0x0f, 0xb1, 0x19};
/* 1: nop; xor %eax, %eax; je 1b */
static const uint8_t loop[] = {0x90, 0x31, 0xc0, 0x74, 0xfb};

static void
jump_over_a_prefix(void **state)
{
	(void)state;
	assert_false(st_jumps_apart(over_prefix, 2, 1));
	assert_true(st_jumps_apart(over_prefix, 2, 0));
	assert_true(st_jumps_apart(over_prefix, 2, 5)); /* behind cmpxchg */
}

static void
jump_back(void **state)
{
	(void)state;
	assert_true(st_jumps_apart(loop + 3, 2, -5));
	assert_true(st_jumps_apart(loop + 3, 2, -4));
	assert_false(st_jumps_apart(loop + 3, 2, -3)); /* into xor */
	assert_false(st_jumps_apart(loop + 3, 2, -1)); /* into itself */
	assert_true(st_jumps_apart(loop + 3, 2, -2));  /* to itself */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(jump_over_a_prefix),
	        cmocka_unit_test(jump_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
