/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calls in the code of functions of this program itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/symbol.h"

#define CALLED __attribute__((noinline, noipa, used))

static volatile long kept;

CALLED static void
callee(void)
{
	kept++;
}

CALLED static void
calls_twice(void)
{
	callee();
	kept++;
	callee();
	kept++;
}

CALLED static void
calls_imported(void)
{
	kept += getppid();
	kept++;
}

CALLED static void
calls_pointer(void (*volatile *to)(void))
{
	(*to)();
	kept++;
}

/* Numbers that are constants; one that is overwritten; one that a jump separates from the call. */
CALLED static void
calls_kernel(void)
{
	__asm__ volatile("mov $39, %%eax\n\tsyscall\n\t"
	                 "mov $24, %%eax\n\tmov %%r8d, %%eax\n\tsyscall\n\t"
	                 "xor %%eax, %%eax\n\tinc %%rdx\n\tsyscall\n\t"
	                 "mov $39, %%eax\n\tjmp 1f\n\tsyscall\n1:"
	                 :
	                 : "D"(-1L), "S"(0L), "d"(-1L), "r"(0L)
	                 : "rax", "rcx", "r8", "r11", "memory");
}

struct told {
	size_t callee, getppid, others, n_numbers;
	uint32_t numbers[4];
};

static void
tell(void *arg, const struct st_call *call)
{
	struct told *t = arg;
	if (call->number != ST_CALL_NONE) {
		assert_true(t->n_numbers < 4);
		t->numbers[t->n_numbers++] = call->number;
	} else if (call->target && !strcmp(call->target->name, "callee")) {
		t->callee++;
	} else if (call->symbol && call->length == strlen("getppid") &&
	           !strncmp(call->symbol, "getppid", call->length)) {
		t->getppid++;
	} else {
		t->others++;
	}
}

static struct told
calls_of(struct st_image *image, const char *name)
{
	struct told t = {0};
	size_t n;
	const struct st_function *v = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name)) {
			assert_true(st_image_calls(image, &v[i], tell, &t));
			return t;
		}
	fail_msg("no function %s", name);
	return t;
}

static void
calls_of_every_kind(void **state)
{
	struct st_error e;
	struct st_image *image = st_image_open("/proc/self/exe", &e);
	(void)state;
	assert_non_null(image);
	assert_int_equal(calls_of(image, "calls_twice").callee, 2);
	assert_int_equal(calls_of(image, "calls_imported").getppid, 1);
	assert_int_equal(calls_of(image, "calls_imported").callee, 0);
	assert_int_equal(calls_of(image, "calls_pointer").callee, 0);
	const struct told kernel = calls_of(image, "calls_kernel");
	assert_int_equal(kernel.n_numbers, 2);
	assert_int_equal(kernel.numbers[0], 39);
	assert_int_equal(kernel.numbers[1], 0);
	st_image_close(image);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(calls_of_every_kind)};
	/* Nothing calls these, and they must not be left out. */
	if (kept) {
		void (*volatile to)(void) = calls_twice;
		calls_pointer(&to);
		calls_imported();
		calls_kernel();
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
