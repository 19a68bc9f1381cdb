/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Putting many probes at once, of which some cannot be put; and which instructions cost much. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ebpf/attach.h"

enum { MOST = 3000, ENOTSUPP_OF_KERNEL = 524 };

/* A kernel that refuses some places, and fails after so many attempts. */
struct kernel {
	bool is_bad[MOST], is_put[MOST];
	int refused[MOST]; /* by what errno; 0: not refused */
	size_t attempts, fails_after;
	int fails_with;
};

static int
put(void *arg, size_t first, size_t n)
{
	struct kernel *k = arg;
	if (k->fails_with && k->attempts++ >= k->fails_after)
		return k->fails_with;
	for (size_t i = first; i < first + n; i++)
		if (k->is_bad[i])
			return ENOTSUPP_OF_KERNEL;
	for (size_t i = first; i < first + n; i++) {
		assert_false(k->is_put[i]);
		k->is_put[i] = true;
	}
	return 0;
}

static void
refuse_place(void *arg, size_t at, int error)
{
	struct kernel *k = arg;
	assert_int_equal(k->refused[at], 0);
	k->refused[at] = error;
}

static void
expect_all_but_bad(struct kernel *k, size_t n)
{
	const struct st_ebpf_attempt attempt = {put, refuse_place, k};
	assert_int_equal(st_ebpf_put_all(&attempt, n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(k->is_put[i], !k->is_bad[i]);
		assert_int_equal(k->refused[i], k->is_bad[i] ? ENOTSUPP_OF_KERNEL : 0);
	}
	for (size_t i = n; i < MOST; i++)
		assert_false(k->is_put[i]);
}

static void
test_one_bad(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 9; n++)
		for (size_t bad = 0; bad < n; bad++) {
			struct kernel k = {0};
			k.is_bad[bad] = true;
			expect_all_but_bad(&k, n);
		}
}

static void
test_some_bad(void **state)
{
	(void)state;
	struct kernel none = {0},
	              few = {.is_bad = {[0] = true, [1] = true, [1700] = true, [2999] = true}},
	              all = {0};
	memset(all.is_bad, true, sizeof all.is_bad);
	expect_all_but_bad(&none, 0);
	expect_all_but_bad(&none, MOST);
	expect_all_but_bad(&few, MOST);
	expect_all_but_bad(&all, MOST);
}

/* What would fail for each probe is no reason to try them one by one. */
static void
test_general_failure(void **state)
{
	(void)state;
	static const int errors[] = {EPERM, ENOMEM, EMFILE, ESRCH};
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		struct kernel k = {.is_bad[5] = true, .fails_after = 3, .fails_with = errors[i]};
		const struct st_ebpf_attempt attempt = {put, refuse_place, &k};
		assert_int_equal(st_ebpf_put_all(&attempt, MOST), errors[i]);
		assert_int_equal(k.attempts, 4);
		for (size_t p = 0; p < MOST; p++)
			assert_int_equal(k.refused[p], 0);
	}
}

static void
test_first_instructions(void **state)
{
	(void)state;
	static const struct {
		uint8_t code[8];
		bool is_stepped, is_refused;
	} cases[] = {{{0x55, 0x48, 0x89, 0xe5}, false, false},            /* push %rbp */
	             {{0x41, 0x57, 0x41, 0x56}, false, false},            /* push %r15 */
	             {{0x0f, 0x1f, 0x44, 0x00, 0x00}, false, false},      /* nop */
	             {{0x66, 0x90}, false, false},                        /* nop */
	             {{0xe9, 0, 0, 0, 0}, false, false},                  /* jmp */
	             {{0x0f, 0x84, 0, 0, 0, 0}, false, false},            /* je */
	             {{0xf3, 0x0f, 0x1e, 0xfa}, true, false},             /* endbr64 */
	             {{0x48, 0x83, 0xec, 0x08}, true, false},             /* sub $8,%rsp */
	             {{0x41, 0x8b, 0x00}, true, false},                   /* mov (%r8),%eax */
	             {{0x0f, 0xb6, 0x07}, true, false},                   /* movzbl (%rdi),%eax */
	             {{0xc3}, true, false},                               /* ret */
	             {{0xf0, 0xff, 0x0f}, true, true},                    /* lock decl (%rdi) */
	             {{0x66, 0xf0, 0xff, 0x0f}, true, true},              /* the same of 16 bits */
	             {{0xc5, 0xf9, 0x6e, 0xc6}, true, true},              /* vmovd %esi,%xmm0 */
	             {{0x62, 0xf2, 0x7d, 0x28, 0x7a, 0xc6}, true, true}}; /* vpbroadcastb */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(st_ebpf_is_stepped(cases[i].code, sizeof cases[i].code),
		                 cases[i].is_stepped);
		assert_int_equal(st_ebpf_is_refused(cases[i].code, sizeof cases[i].code),
		                 cases[i].is_refused);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_one_bad), cmocka_unit_test(test_some_bad),
	        cmocka_unit_test(test_general_failure), cmocka_unit_test(test_first_instructions)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
