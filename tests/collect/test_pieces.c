/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Basic blocks that overlap, cut where others begin: in the profile, in its file, in its contexts.
 */
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

#include "contexts/contexts.h"
#include "fake.h"
#include "profile/profile.h"

enum { MADE = 0x100 }; /* generated code begins so far behind 0x7e0000000000 */

static struct st_profile *
collect(void)
{
	static char *const command[] = {"fixture", NULL};
	struct fake *f = fixture_results();
	fixture_contexts(f);
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_run run = {.processes = &process, .n_processes = 1, .tsc_hz = 1e9};
	static const char *const tools[] = {"contexts"};
	static const struct st_profile_option options[] = {{0, "mode", "inter"}, {0, "k", "2"}};
	struct st_profile_origin o = {.tool = "contexts:mode=inter,k=2",
	                              .argv = command,
	                              .tools = tools,
	                              .n_tools = 1,
	                              .tool_options = options,
	                              .n_tool_options = 2};
	struct st_error e = {0};
	struct st_profile *p = st_profile_collect(&run, &o, &e);
	if (!p)
		fail_msg("%s", e.text);
	fake_free(f);
	return p;
}

static char *
save(const struct st_profile *p)
{
	static char path[] = "/tmp/strobe-pieces-XXXXXX";
	strcpy(path + sizeof path - 7, "XXXXXX");
	int file = mkstemp(path);
	assert_true(file >= 0);
	close(file);
	assert_int_equal(st_profile_save(p, path, NULL), 0);
	return path;
}

/* The label of a block; bytes 0: the first that is there. */
static const struct st_profile_label *
label(const struct st_profile *p, uint64_t offset, uint32_t bytes)
{
	for (size_t i = 0; i < p->labels.n; i++)
		if (p->labels.v[i].offset == offset && (!bytes || p->labels.v[i].bytes == bytes))
			return &p->labels.v[i];
	fail_msg("no label");
	return NULL;
}

/* Its first piece has that length, and so many instructions, and goes on there; next 0: nowhere. */
static void
assert_piece(const struct st_profile *p, const struct st_profile_label *l, uint32_t piece,
             uint32_t insns, uint64_t next)
{
	assert_int_equal(l->piece, piece);
	assert_int_equal(l->insns, insns);
	if (next)
		assert_int_equal(p->labels.v[l->next].offset, next);
	else
		assert_int_equal(l->next, UINT32_MAX);
}

static void
assert_pieces(const struct st_profile *p)
{
	uint64_t spin = fixture_offset("spin"), made = 0x7e0000000000 + MADE;
	assert_piece(p, label(p, spin, 10), 2, 1, spin + 2);
	assert_piece(p, label(p, spin, 5), 2, 1, spin + 2);
	assert_piece(p, label(p, spin + 2, 8), 3, 1, spin + 5);
	assert_piece(p, label(p, spin + 5, 5), 5, 2, 0);
	assert_piece(p, label(p, spin + 10, 1), 1, 1, 0);
	assert_piece(p, label(p, made, 12), 4, 0, made + 4); /* there is no code to be read */
	assert_piece(p, label(p, made + 4, 8), 8, 0, 0);
}

static void
blocks_are_cut(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	assert_pieces(p);
	st_profile_free(p);
}

static void
a_file_has_the_pieces(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	char *path = save(p);
	st_profile_free(p);
	struct st_error e = {0};
	p = st_profile_load(path, &e);
	assert_non_null(p);
	assert_pieces(p);
	st_profile_free(p);
	unlink(path);
}

static void
assert_count(const struct st_contexts *c, uint64_t offset, uint64_t count, uint32_t bytes)
{
	for (size_t i = 0; i < c->n_labels; i++)
		if (c->labels[i].offset == offset) {
			assert_int_equal(c->labels[i].count, count);
			assert_int_equal(c->labels[i].bytes, bytes);
			return;
		}
	fail_msg("no label");
}

/* Nodes of the trees of callers that are no roots. */
static size_t
callers_of(const struct st_contexts *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->groups.n; i++)
		for (uint32_t k = 0; k < c->groups.v[i].kccf.n; k++)
			n += c->groups.v[i].kccf.nodes[k].parent != ST_NO_NODE;
	return n;
}

/* With room for next to nothing, each function still has those that called it. */
static void
callers_are_never_left_out(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	struct st_context_choice choice = {.kccf = true};
	struct st_contexts c;
	struct st_error e;
	assert_int_equal(st_contexts_make(&c, p, &choice, &e), 0);
	const size_t all = callers_of(&c);
	const uint32_t k = c.k_callers;
	assert_true(all > 0 && k == c.k);
	st_contexts_free(&c);
	choice.most_callers = 1;
	assert_int_equal(st_contexts_make(&c, p, &choice, &e), 0);
	assert_int_equal(c.k_callers, 1);
	assert_true(callers_of(&c) > 0 && callers_of(&c) <= all);
	st_contexts_free(&c);
	choice.most_callers = 1000;
	assert_int_equal(st_contexts_make(&c, p, &choice, &e), 0);
	assert_true(c.k_callers == k && callers_of(&c) == all);
	st_contexts_free(&c);
	st_profile_free(p);
}

static void
counts_are_of_pieces(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	struct st_contexts c;
	struct st_error e;
	uint64_t spin = fixture_offset("spin"), made = 0x7e0000000000 + MADE;
	assert_int_equal(st_contexts_make(&c, p, &(struct st_context_choice){.kccf = true}, &e), 0);
	assert_count(&c, spin, 5 + 3, 2);
	assert_count(&c, spin + 2, 5 + 3 + 40, 3);
	assert_count(&c, spin + 5, 5 + 40 + 3, 5);
	assert_count(&c, spin + 8, 0, 0);
	assert_count(&c, spin + 10, 5, 1);
	assert_count(&c, made, 2, 4);
	assert_count(&c, made + 4, 2 + 7, 8);
	assert_int_equal(c.n_blocks, 6);
	st_contexts_free(&c);
	assert_int_equal(st_contexts_make(&c, p, &(struct st_context_choice){.pin = true}, &e), 0);
	assert_count(&c, spin, 5 + 3, 10);
	assert_count(&c, spin + 2, 40, 8);
	assert_count(&c, spin + 5, 3, 5);
	assert_count(&c, made, 2, 12);
	assert_count(&c, made + 4, 7, 8);
	assert_int_equal(c.n_blocks, 6);
	st_contexts_free(&c);
	st_profile_free(p);
}

static void
change(const char *path, const char *sql)
{
	sqlite3 *db;
	char *why = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s", why);
	sqlite3_close(db);
}

/* A file of before there were pieces: its blocks are as they were executed. */
static void
old_files_are_read(void **state)
{
	(void)state;
	struct st_profile *p = collect();
	struct st_contexts c;
	struct st_error e = {0};
	char *path = save(p);
	st_profile_free(p);
	change(path, "ALTER TABLE label RENAME TO new;"
	             "CREATE TABLE label AS SELECT id, image, offset, function, file, line,"
	             " column FROM new; DROP TABLE new");
	p = st_profile_load(path, &e);
	assert_non_null(p);
	assert_int_equal(st_contexts_make(&c, p, &(struct st_context_choice){0}, &e), 0);
	assert_count(&c, fixture_offset("spin") + 2, 40, 0);
	st_contexts_free(&c);
	st_profile_free(p);
	unlink(path);
}

static void
damage_is_refused(void **state)
{
	static const char *const damages[] = {"UPDATE label SET next = id WHERE next IS NOT NULL",
	                                      "UPDATE label SET next = 1000 WHERE bytes",
	                                      "UPDATE label SET piece = 0 WHERE next IS NOT NULL",
	                                      "UPDATE label SET piece = piece + 1",
	                                      "UPDATE label SET bytes = -1",
	                                      "UPDATE label SET bytes = 1 << 20",
	                                      "UPDATE label SET insns = 7 WHERE piece = 2"};
	(void)state;
	struct st_profile *p = collect();
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct st_error e = {0};
		char *path = save(p);
		change(path, damages[i]);
		if (st_profile_load(path, &e))
			fail_msg("%s: was read", damages[i]);
		assert_int_equal(e.code, ST_EXIT_FAILED);
		unlink(path);
	}
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(blocks_are_cut),
	        cmocka_unit_test(a_file_has_the_pieces),
	        cmocka_unit_test(counts_are_of_pieces),
	        cmocka_unit_test(old_files_are_read),
	        cmocka_unit_test(damage_is_refused),
	        cmocka_unit_test(callers_are_never_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
