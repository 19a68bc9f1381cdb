/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts in a profile's file: what is saved is what is loaded, damaged ones are refused, and
 * those of files written before version 4 can be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/varint.h"
#include "fake.h"
#include "profile/profile.h"

static char path[64];

static int
make_place(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "/tmp/strobe-contexts-%d.db", (int)getpid());
	return 0;
}

static int
remove_place(void **state)
{
	(void)state;
	return unlink(path);
}

/* A profile with the fixture's contexts: seven, of five labels. */
static struct st_profile *
collect(void)
{
	static char *const command[] = {"fixture", NULL};
	struct fake *f = fixture_results();
	fixture_contexts(f);
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_run run = {.processes = &process, .n_processes = 1, .tsc_hz = 1e9};
	struct st_profile_origin o = {.tool = "contexts:mode=inter,k=inf", .argv = command};
	struct st_profile *p = st_profile_collect(&run, &o, NULL);
	assert_non_null(p);
	assert_true(p->contexts.n == 7 && p->threads.n > 1);
	fake_free(f);
	return p;
}

static void
add(struct st_profile *p, struct st_profile_context context)
{
	struct st_profile_context *c = ST_PUSH(&p->contexts);
	assert_non_null(c);
	*c = context;
}

static void
assert_same(const struct st_profile *p, const struct st_profile *q)
{
	assert_int_equal(p->contexts.n, q->contexts.n);
	for (size_t i = 0; i < p->contexts.n; i++)
		assert_memory_equal(&p->contexts.v[i], &q->contexts.v[i], sizeof *p->contexts.v);
}

static void
assert_comes_back(const struct st_profile *p)
{
	struct st_error e = {0};
	assert_int_equal(st_profile_save(p, path, &e), 0);
	struct st_profile *q = st_profile_load(path, &e);
	if (!q)
		fail_msg("%s", e.text);
	assert_same(p, q);
	st_profile_free(q);
}

static void
extremes_come_back(void **state)
{
	struct st_profile *p = collect();
	(void)state;
	uint32_t label = (uint32_t)p->labels.n - 1;
	add(p, (struct st_profile_context){1, UINT32_MAX, label, 9, UINT64_MAX, 0, 0});
	add(p, (struct st_profile_context){1, 7, 0, 8, 0, UINT64_MAX, UINT64_MAX});
	add(p, (struct st_profile_context){1, 8, 0, 0, 1ul << 63, 1, 0});
	assert_comes_back(p);
	st_profile_free(p);
}

/* More than a row has; only one of the rows has costs. */
static void
many_come_back(void **state)
{
	struct st_profile *p = collect();
	(void)state;
	uint64_t x = 1;
	for (uint32_t i = 7; i < 70000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		uint32_t parent = (uint32_t)(x >> 33) % i;
		uint64_t cost = i / 10000 == 3 ? x >> 40 : 0;
		add(p, (struct st_profile_context){p->contexts.v[parent].thread, parent,
		                                   (uint32_t)(x >> 20) % (uint32_t)p->labels.n,
		                                   i % 3 ? UINT32_MAX : (uint32_t)(x >> 10) % 70000,
		                                   x >> x % 64, cost, cost});
	}
	assert_comes_back(p);
	st_profile_free(p);
}

static void
alter(const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	char *why = NULL;
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
	sqlite3_close(db);
}

static void
damage_is_refused(void **state)
{
	(void)state;
	static const char *const damages[] = {
	        "UPDATE contexts SET first = 2",
	        "UPDATE contexts SET n = 6",
	        "UPDATE contexts SET n = 8",
	        "UPDATE contexts SET n = -1",
	        "UPDATE contexts SET n = 1 << 40",
	        "UPDATE contexts SET costs = 1",
	        "UPDATE contexts SET numbers = x''",
	        "UPDATE contexts SET n = 1, numbers = x'0001010080'",   /* a count without an end */
	        "UPDATE contexts SET n = 1, numbers = x'0101010001'",   /* a parent before the first
	                                                                 */
	        "UPDATE contexts SET n = 1, numbers = x'0000010001'",   /* no thread */
	        "UPDATE contexts SET n = 1, numbers = x'0063010001'",   /* one that is not there */
	        "UPDATE contexts SET n = 1, numbers = x'0001000001'",   /* no label */
	        "UPDATE contexts SET n = 1, numbers = x'0001630001'",   /* one that is not there */
	        "UPDATE contexts SET n = 1, numbers = x'0001010201'",   /* a link in front of all */
	        "UPDATE contexts SET n = 1, numbers = x'0001010301'",   /* and one behind them */
	        "UPDATE contexts SET n = 1, numbers = x'000101000101'", /* something left */
	        "UPDATE contexts SET n = 1, numbers = x'00010100ffffffffffffffffffff01'",
	        "INSERT INTO contexts VALUES(99, 1, 0, x'0001010001')",
	        "DELETE FROM label WHERE id = 1",
	        "DROP TABLE contexts",
	};
	struct st_profile *p = collect();
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct st_error e = {0};
		assert_int_equal(st_profile_save(p, path, NULL), 0);
		alter(damages[i]);
		if (st_profile_load(path, &e))
			fail_msg("%s: is loaded", damages[i]);
		assert_non_null(strstr(e.text, "is damaged"));
	}
	/* What is as short, but right. */
	assert_int_equal(st_profile_save(p, path, NULL), 0);
	alter("UPDATE contexts SET n = 1, numbers = x'0001010101'");
	struct st_profile *q = st_profile_load(path, NULL);
	assert_non_null(q);
	assert_int_equal(q->contexts.n, 1);
	assert_int_equal(q->contexts.v[0].link, 0);
	assert_int_equal(q->contexts.v[0].count, 1);
	st_profile_free(q);
	st_profile_free(p);
}

static void
append(sqlite3_str *s, const char *before, uint32_t index)
{
	if (index == UINT32_MAX)
		sqlite3_str_appendf(s, "%sNULL", before);
	else
		sqlite3_str_appendf(s, "%s%u", before, index + 1);
}

/* They had a row for each context. */
static void
older_files_are_read(void **state)
{
	struct st_profile *p = collect();
	(void)state;
	p->contexts.v[2].link = 3;
	p->contexts.v[2].self_ns = 12;
	sqlite3_str *s = sqlite3_str_new(NULL);
	sqlite3_str_appendall(
	        s, "DROP TABLE contexts; CREATE TABLE context(id INTEGER PRIMARY KEY, thread,"
	           " parent, label, link, count, self_ns, instructions);");
	for (size_t i = 0; i < p->contexts.n; i++) {
		const struct st_profile_context *c = &p->contexts.v[i];
		append(s, "INSERT INTO context VALUES(", (uint32_t)i);
		append(s, ",", c->thread);
		append(s, ",", c->parent);
		append(s, ",", c->label);
		append(s, ",", c->link);
		sqlite3_str_appendf(s, ",%llu,%llu,%llu);", c->count, c->self_ns, c->instructions);
	}
	sqlite3_str_appendall(s, "PRAGMA user_version = 3;");
	char *sql = sqlite3_str_finish(s);
	assert_int_equal(st_profile_save(p, path, NULL), 0);
	alter(sql);
	struct st_profile *q = st_profile_load(path, NULL);
	assert_non_null(q);
	assert_same(p, q);
	sqlite3_free(sql);
	st_profile_free(q);
	st_profile_free(p);
}

static void
numbers_are_as_long_as_they_may(void **state)
{
	unsigned char bytes[ST_VARINT_MOST];
	(void)state;
	for (unsigned bits = 1; bits <= 64; bits++) {
		uint64_t most = UINT64_MAX >> (64 - bits), n = 0;
		unsigned char *end = st_varint_put(bytes, most);
		const unsigned char *at = bytes;
		assert_int_equal(end - bytes, (bits + 6) / 7);
		assert_true(st_varint_take(&at, end, bits, &n) && n == most && at == end);
		at = bytes;
		assert_false(st_varint_take(&at, end - 1, 64, &n));
		at = bytes;
		assert_true(bits == 1 || !st_varint_take(&at, end, bits - 1, &n));
	}
	for (int64_t i = -3; i < 4; i++)
		assert_int_equal(st_unzigzag(st_zigzag(i)), i);
	assert_int_equal(st_unzigzag(st_zigzag(INT64_MIN)), INT64_MIN);
	assert_int_equal(st_zigzag(-1), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(extremes_come_back, make_place, remove_place),
	        cmocka_unit_test_setup_teardown(many_come_back, make_place, remove_place),
	        cmocka_unit_test_setup_teardown(damage_is_refused, make_place, remove_place),
	        cmocka_unit_test_setup_teardown(older_files_are_read, make_place, remove_place),
	        cmocka_unit_test(numbers_are_as_long_as_they_may),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
