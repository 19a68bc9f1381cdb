/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions --progress auto takes as progress points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "blow/corpus.h"
#include "blow/infer.h"
#include "session/region.h"

#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"

static struct st_blow_function *
add_function(struct st_blow *b, const char *name, const char *image, uint64_t calls, uint64_t ns)
{
	struct st_blow_function *f = ST_PUSH(&b->functions);
	assert_non_null(f);
	*f = (struct st_blow_function){
	        .name = name, .raw_name = name, .image = image, .calls = calls, .ns = ns};
	return f;
}

/* A selection of one second. */
static struct st_blow
service(void)
{
	struct st_blow b = {0};
	add_function(&b, "main_loop", "/bin/s", 5, 1000000000);
	add_function(&b, "serve", "/bin/s", 3000, 900000000);
	add_function(&b, "count", "/bin/s", 3000, 3000000);
	add_function(&b, "parse", "/bin/s", 6000, 8000000);
	add_function(&b, "hash", "/bin/s", 1000000, 10000000);
	add_function(&b, "rare", "/bin/s", 99, 1000);
	add_function(&b, "refused", "/bin/s", 10000, 1000)->why = "it is too short";
	add_function(&b, "__libc_recvfrom", LIBC, 3000, 1000);
	add_function(&b, "write", LIBC, 3001, 1000);
	add_function(&b, "read", "/bin/s", 9000, 1000);
	return b;
}

static const char *
inferred(const struct st_blow *b, size_t nth)
{
	for (size_t i = 0; i < b->functions.n; i++)
		if (b->functions.v[i].traits & ST_BLOW_IS_INFERRED && !nth--)
			return b->functions.v[i].name;
	return "none";
}

/* The function that is called most of those whose probe costs little and that are short, and the
 * transfer that completes most often. */
static void
test_choice(void **state)
{
	struct st_blow b = service();
	(void)state;
	b.functions.v[9].calls = 50; /* not of the C library, and too rare */
	assert_int_equal(st_blow_infer(&b, NULL, 1, false), 2);
	assert_string_equal(inferred(&b, 0), "parse");
	assert_string_equal(inferred(&b, 1), "write");
	assert_string_equal(inferred(&b, 2), "none");
	/* They are points, and so they are not tried. */
	const struct st_blow_criteria criteria = {.which = 1 << ST_BLOW_BY_CRITERION_CALLS,
	                                          .calls = 2};
	st_blow_choose(&b, &criteria);
	for (size_t i = 0; i < b.functions.n; i++) {
		const struct st_blow_function *f = &b.functions.v[i];
		const bool is_point = f->traits & ST_BLOW_IS_INFERRED;
		assert_int_equal(f->progress, is_point ? ST_BLOW_CALLS : ST_BLOW_NO_POINT);
		assert_int_equal(f->chosen, !is_point && !f->why);
	}
	st_blow_free(&b);
}

/* A long function is a point if no short one is, and in a longer selection the limit is higher. */
static void
test_rates(void **state)
{
	struct st_blow b = service(), longer = service();
	(void)state;
	for (size_t i = 2; i < 4; i++)
		b.functions.v[i].calls = 7;
	b.functions.v[9].calls = 7;
	assert_int_equal(st_blow_infer(&b, NULL, 1, false), 2);
	assert_string_equal(inferred(&b, 0), "serve");
	assert_int_equal(st_blow_infer(&longer, NULL, 50, false), 2);
	assert_string_equal(inferred(&longer, 0), "hash");
	st_blow_free(&b);
	st_blow_free(&longer);
}

/* What the user has named is left alone: as points, and as functions to be tried. */
static void
test_named(void **state)
{
	struct st_blow b = service(), tried = service();
	struct st_blow_points p = {0};
	struct st_error e;
	(void)state;
	assert_int_equal(st_blow_points_add(&p, "parse", &e), 0);
	assert_int_equal(st_blow_points_add(&p, "auto", &e), 0);
	assert_true(p.automatic && p.calls.n == 1);
	b.functions.v[9].calls = 7;
	assert_int_equal(st_blow_infer(&b, &p, 1, false), 2);
	assert_string_equal(inferred(&b, 0), "count");
	tried.functions.v[1].traits = ST_BLOW_IS_CALLER;
	assert_int_equal(st_blow_infer(&tried, NULL, 1, true), 2);
	assert_string_equal(inferred(&tried, 0), "serve");
	st_blow_points_free(&p);
	st_blow_free(&b);
	st_blow_free(&tried);
}

static void
test_nothing(void **state)
{
	struct st_blow b = {0};
	struct st_blow_points p = {.automatic = true};
	(void)state;
	add_function(&b, "main", "/bin/s", 1, 1000);
	add_function(&b, "read", LIBC, 19, 1000);
	assert_int_equal(st_blow_infer(&b, NULL, 1, false), 0);
	assert_false(st_blow_points_empty(&p));
	st_blow_free(&b);
}

static void
test_transfers(void **state)
{
	static const char *const are[] = {"read", "__read", "__libc_write", "sendmsg", "accept4"},
	                         *const not [] = {"epoll_wait", "poll",  "fread",
	                                          "readdir",    "close", ""};
	(void)state;
	for (size_t i = 0; i < sizeof are / sizeof *are; i++)
		assert_true(st_blow_is_transfer(LIBC, are[i]));
	for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
		assert_false(st_blow_is_transfer(LIBC, not [i]));
	assert_true(st_blow_is_transfer("/lib/libpthread.so.0", "recv"));
	assert_false(st_blow_is_transfer("/lib/libssl.so.3", "read"));
	assert_false(st_blow_is_transfer("", "read"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_choice),    cmocka_unit_test(test_rates),
	        cmocka_unit_test(test_named),     cmocka_unit_test(test_nothing),
	        cmocka_unit_test(test_transfers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
