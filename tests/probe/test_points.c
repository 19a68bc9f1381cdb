/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which points a function has, which of them take a probe, and the code that does it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/points.h"
#include "probe/stub.h"

static struct st_image *image;
static struct st_probe_planner *planner;

static int
set_up(void **state)
{
	struct st_error e;
	(void)state;
	image = st_image_open("/proc/self/exe", &e);
	planner = image ? st_probe_planner_new(image) : NULL;
	return planner ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	st_probe_planner_free(planner);
	st_image_close(image);
	return 0;
}

static uint64_t
address_of(const char *name)
{
	size_t n;
	const struct st_symbol *v = st_image_symbols(image, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].raw_name, name))
			return v[i].start;
	fail_msg("there is no %s", name);
	return 0;
}

static const struct st_function *
function_named(const char *name)
{
	const struct st_function *f = st_image_function(image, address_of(name));
	assert_non_null(f);
	return f;
}

static size_t
points_at(const char *name, uint64_t at, struct st_probe_point *out, size_t room)
{
	struct st_probe_point_list points = {0};
	size_t n = 0;
	assert_int_equal(st_probe_list_points(planner, function_named(name), &points),
	                 ST_REFUSAL_NONE);
	for (size_t i = 0; i < points.list.n; i++)
		if (points.list.v[i].at == at && n < room)
			out[n++] = points.list.v[i];
	free(points.list.v);
	return n;
}

static struct st_probe_site
judged(const char *function, uint64_t at)
{
	struct st_probe_site site;
	st_probe_judge_point(planner, function_named(function), at, &site);
	return site;
}

static void
kinds(void **state)
{
	struct st_probe_point p[4];
	const uint64_t begin = address_of("i_plain"), call = begin + 4, after = begin + 9;
	(void)state;
	assert_int_equal(points_at("i_plain", begin, p, 4), 1);
	assert_int_equal(p[0].kind, ST_POINT_BLOCK);
	assert_int_equal(points_at("i_plain", call, p, 4), 1);
	assert_int_equal(p[0].kind, ST_POINT_BEFORE);
	assert_int_equal(p[0].call, call);
	assert_int_equal(p[0].target, address_of("i_callee"));
	assert_int_equal(points_at("i_plain", after, p, 4), 1);
	assert_int_equal(p[0].kind, ST_POINT_AFTER);
	assert_int_equal(p[0].call, call);
	/* Behind the branch: 2 bytes of test, 2 of je. */
	assert_int_equal(points_at("i_plain", after + 4, p, 4), 1);
	assert_int_equal(p[0].kind, ST_POINT_BLOCK);
	/* The indirect call, and what follows it. */
	assert_int_equal(points_at("i_plain", after + 9, p, 4), 1);
	assert_int_equal(p[0].kind, ST_POINT_BEFORE);
	assert_int_equal(p[0].target, 0);
	assert_int_equal(points_at("i_plain", after + 11, p, 4), 1);
	assert_int_equal(p[0].kind, ST_POINT_AFTER);
	/* Where the branch leads. */
	assert_int_equal(points_at("i_plain", after + 15, p, 4), 1);
	assert_int_equal(p[0].kind, ST_POINT_BLOCK);
	/* An instruction in the middle of a block is no point. */
	assert_int_equal(points_at("i_plain", after + 2, p, 4), 0);
}

static void
refused(void **state)
{
	(void)state;
	assert_int_equal(judged("i_direction", address_of("i_direction")).refusal,
	                 ST_REFUSAL_DIRECTION);
	assert_int_equal(judged("i_computed", address_of("i_computed")).refusal, ST_REFUSAL_JUMPS);
	assert_int_equal(judged("i_data", address_of("i_data")).refusal, ST_REFUSAL_DATA);
	assert_int_equal(judged("i_callee", address_of("i_callee") + 1).refusal, ST_REFUSAL_MIDDLE);
	assert_int_equal(judged("i_callee", address_of("i_callee") + 4096).refusal,
	                 ST_REFUSAL_MIDDLE);
	assert_int_equal(judged("i_narrow", address_of("i_narrow") + 4).refusal,
	                 ST_REFUSAL_ENTERED);
}

/* The same bytes are not given to two probes. */
static void
claimed(void **state)
{
	const uint64_t begin = address_of("i_plain");
	struct st_probe_site site = judged("i_plain", begin + 4);
	(void)state;
	assert_int_equal(site.refusal, ST_REFUSAL_NONE);
	assert_int_equal(site.displaced, 5);
	assert_int_equal(judged("i_plain", begin + 4).refusal, ST_REFUSAL_CLAIMED);
	/* The entry has four bytes that are free: a short jump to an island. */
	site = judged("i_plain", begin);
	assert_int_equal(site.refusal, ST_REFUSAL_NONE);
	assert_int_equal(site.way, ST_PROBE_ISLAND);
	/* Behind the call, the jump takes the branch along, and the block behind it. */
	site = judged("i_plain", begin + 9);
	assert_int_equal(site.refusal, ST_REFUSAL_NONE);
	assert_int_equal(site.displaced, 9);
	assert_int_equal(judged("i_plain", begin + 13).refusal, ST_REFUSAL_CLAIMED);
}

/* A table leads into the function: its entries begin blocks. */
static void
table(void **state)
{
	struct st_probe_point p[2];
	const uint64_t begin = address_of("i_table"), first = begin + 16;
	(void)state;
	assert_int_equal(points_at("i_table", first, p, 2), 1);
	assert_int_equal(p[0].kind, ST_POINT_BLOCK);
	assert_int_equal(points_at("i_table", first + 6, p, 2), 1);
	assert_int_equal(judged("i_table", first).refusal, ST_REFUSAL_NONE);
}

/* The branch of a loop that is moved comes to the probe again. */
static void
loop(void **state)
{
	const uint64_t block = address_of("i_loop") + 6;
	const struct st_probe_site site = judged("i_loop", block);
	const struct st_probe_where where = {
	        .stub = block + 0x1000, .slot = block + 0x800, .index = 3};
	struct st_probe_stub stub;
	int32_t distance;
	(void)state;
	assert_int_equal(site.refusal, ST_REFUSAL_NONE);
	assert_int_equal(st_probe_stub(&site, &where, &stub), ST_OK);
	/* lea -128(%rsp), %rsp; push $3; call *slot; lea 136(%rsp), %rsp; dec %ecx; jnz */
	assert_memory_equal(stub.bytes, "\x48\x8d\x64\x24\x80\x68\x03\x00\x00\x00\xff\x15", 12);
	assert_memory_equal(stub.bytes + 16, "\x48\x8d\xa4\x24\x88\x00\x00\x00\xff\xc9\x0f\x85",
	                    12);
	memcpy(&distance, stub.bytes + 28, sizeof distance);
	assert_int_equal(where.stub + 32 + (uint64_t)(int64_t)distance, block);
	assert_int_equal(stub.insns, site.insns);
	assert_int_equal(stub.map[0].to, 24);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(kinds), cmocka_unit_test(refused), cmocka_unit_test(claimed),
	        cmocka_unit_test(table), cmocka_unit_test(loop),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
