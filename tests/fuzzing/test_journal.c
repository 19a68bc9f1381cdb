/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The journal of a campaign: what is written is read back; damaged lines are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "fuzz/campaign.h"

struct executed {
	struct st_fuzz_places places;
	struct st_fuzz_map map;
	struct st_fuzz_execution x;
};

static void
executed_free(struct executed *x)
{
	st_fuzz_places_free(&x->places);
	st_fuzz_execution_free(&x->x);
	free(x->map.most.v);
}

static void
add_image(struct st_fuzz_places *places, const char *path)
{
	char **new = ST_PUSH(&places->images);
	assert_non_null(new);
	*new = strdup(path);
}

static void
add_count(struct executed *x, uint32_t image, uint64_t offset, uint64_t times)
{
	struct st_fuzz_count *count = ST_PUSH(&x->x.counts);
	assert_non_null(count);
	*count = (struct st_fuzz_count){st_fuzz_place_number(&x->places, image, offset), times};
	x->x.work += times;
}

/* An edge from place to place of an image. */
static void
add_edge(struct executed *x, uint32_t image, uint64_t from, uint64_t to, uint64_t times)
{
	struct st_fuzz_edge_count *count = ST_PUSH(&x->x.edges);
	const struct st_fuzz_edge edge = {{0, from}, {image, to}};
	assert_non_null(count);
	*count = (struct st_fuzz_edge_count){st_fuzz_edge_number(&x->places, edge), times};
}

static void
raise_map(struct executed *x)
{
	bool raised;
	assert_false(st_fuzz_map_raise(&x->map, &x->x, &raised));
}

static void
begin_execution(struct executed *x, enum st_fuzz_end end, int code)
{
	x->x.counts.n = 0;
	x->x.edges.n = 0;
	x->x.work = 0;
	x->x.end = end;
	x->x.code = code;
}

/* Three executions: new places and edges; of the edges one raised, one not, one to a new image; an
 * end by a signal. */
static void
fill(struct st_fuzz_journal *j, struct executed *x)
{
	struct st_error e;
	add_image(&x->places, "/bin/a b%");
	begin_execution(x, ST_END_EXIT, 3);
	add_count(x, 0, 0x1000, 5);
	add_count(x, 0, 0x1abc, 7);
	add_edge(x, 0, 0x1004, 0x1000, 4);
	add_edge(x, 0, 0x1004, 0x1abc, 1);
	assert_false(st_fuzz_journal_add(j, 0, &x->places, &x->map, &x->x, false, 0.5, &e));
	raise_map(x);
	begin_execution(x, ST_END_EXIT, 0);
	add_image(&x->places, "/lib/c");
	add_count(x, 0, 0x1000, 6);
	add_count(x, 0, 0x1abc, 7);
	add_count(x, 1, 0x20, UINT64_C(1) << 40);
	add_edge(x, 0, 0x1004, 0x1000, 5);
	add_edge(x, 0, 0x1004, 0x1abc, 1);
	add_edge(x, 1, 0x1004, 0x20, UINT64_C(1) << 41);
	assert_false(st_fuzz_journal_add(j, 1, &x->places, &x->map, &x->x, false, 1.25, &e));
	raise_map(x);
	begin_execution(x, ST_END_SIGNAL, 6);
	add_count(x, 0, 0x1000, 9);
	add_count(x, 1, 0x30, 2);
	add_edge(x, 0, 0x1004, 0x1000, 8);
	add_edge(x, 1, 0x1004, 0x30, 2);
	assert_false(st_fuzz_journal_add(j, 2, &x->places, &x->map, &x->x, false, 2, &e));
}

static void
lines(void **state)
{
	struct st_fuzz_journal j = {0};
	struct executed x = {0};
	(void)state;
	fill(&j, &x);
	assert_int_equal(j.lines.n, 3);
	assert_string_equal(j.lines.v[0], "exit 3 12 0.500 @/bin/a%20b%25 0:1000=5 0:1abc=7 "
	                                  "+0:1004:0:1000=4 +0:1004:0:1abc=1");
	assert_string_equal(j.lines.v[1],
	                    "exit 0 1099511627789 1.250 @/lib/c 1:20=1099511627776 0=5 "
	                    "+0:1004:1:20=2199023255552");
	assert_string_equal(j.lines.v[2], "signal 6 11 2.000 1:30=2 +0:1004:1:30=2");
	st_fuzz_journal_close(&j);
	executed_free(&x);
}

static void
check_taken(struct st_fuzz_journal *j, struct executed *x)
{
	static const double when[] = {0.5, 1.25, 2};
	static const uint64_t work[] = {12, (UINT64_C(1) << 40) + 13, 11};
	static const size_t n_counts[] = {2, 1, 1}, n_edges[] = {2, 2, 1};
	struct st_error e;
	double seconds;
	for (size_t i = 0; i < 3; i++) {
		assert_true(st_fuzz_journal_has(j, i));
		assert_false(st_fuzz_journal_take(j, i, &x->places, &x->x, &seconds, &e));
		assert_int_equal(x->x.work, work[i]);
		assert_int_equal(x->x.counts.n, n_counts[i]);
		assert_int_equal(x->x.edges.n, n_edges[i]);
		assert_float_equal(seconds, when[i], 0);
	}
	assert_false(st_fuzz_journal_has(j, 3));
	assert_int_equal(x->x.end, ST_END_SIGNAL);
	assert_int_equal(x->x.code, 6);
	assert_int_equal(x->places.images.n, 2);
	assert_string_equal(x->places.images.v[0], "/bin/a b%");
	assert_int_equal(x->places.list.n, 4);
	assert_int_equal(x->places.list.v[3].image, 1);
	assert_int_equal(x->places.list.v[3].offset, 0x30);
	assert_int_equal(x->places.edges.n, 4);
	assert_int_equal(x->places.edges.v[3].from.offset, 0x1004);
	assert_int_equal(x->places.edges.v[3].to.image, 1);
	assert_int_equal(x->places.edges.v[3].to.offset, 0x30);
}

/* What was added before the file was opened is in it, and what was added behind that. */
static void
file(void **state)
{
	char path[] = "/tmp/strobe-test-journal-XXXXXX";
	struct st_fuzz_journal j = {0}, read = {0}, other = {0};
	struct executed x = {0}, again = {0};
	struct st_error e;
	(void)state;
	close(mkstemp(path));
	fill(&j, &x);
	assert_false(st_fuzz_journal_open(&j, path, "fuzz a", &e));
	assert_false(st_fuzz_journal_has(&j, 0)); /* it was executed now */
	begin_execution(&x, ST_END_HANG, 9);
	assert_false(st_fuzz_journal_add(&j, 3, &x.places, &x.map, &x.x, false, 3, &e));
	st_fuzz_journal_close(&j);
	assert_true(st_fuzz_journal_open(&other, path, "fuzz b", &e));
	st_fuzz_journal_close(&other);
	assert_false(st_fuzz_journal_open(&read, path, "fuzz a", &e));
	assert_int_equal(read.n_read, 4);
	read.n_read = 3;
	check_taken(&read, &again);
	st_fuzz_journal_close(&read);
	executed_free(&x);
	executed_free(&again);
	unlink(path);
}

/* The campaign can be resumed when there is room again. */
static void
full_disk(void **state)
{
	static const char what[] = ": No space left on device; make room there, then continue with "
	                           "--resume";
	char folder[] = "/tmp/strobe-test-journal-XXXXXX", path[100], part[110], text[300];
	struct st_fuzz_journal j = {0};
	struct executed x = {0};
	struct st_error e;
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/file", folder);
	snprintf(part, sizeof part, "%s.part", path);
	assert_false(st_fuzz_journal_open(&j, path, "fuzz a", &e));
	const int full = open("/dev/full", O_WRONLY);
	assert_true(full >= 0 && dup2(full, j.file.fd) >= 0 && !close(full));
	assert_true(st_fuzz_journal_add(&j, 0, &x.places, &x.map, &x.x, false, 3, &e));
	snprintf(text, sizeof text, "cannot write the journal %s%s", path, what);
	assert_string_equal(e.text, text);
	st_fuzz_journal_close(&j);
	assert_int_equal(symlink("/dev/full", part), 0);
	struct st_fuzz_bytes bytes = {.v = (uint8_t *)path, .n = 5};
	assert_true(st_fuzz_bytes_write(&bytes, path, &e));
	snprintf(text, sizeof text, "cannot write %s%s", path, what);
	assert_string_equal(e.text, text);
	unlink(path);
	rmdir(folder);
	executed_free(&x);
}

static bool
is_taken(const char *line, struct executed *x)
{
	struct st_fuzz_journal j = {0};
	struct st_error e;
	double seconds;
	char **new = ST_PUSH(&j.lines);
	assert_non_null(new);
	*new = strdup(line);
	j.n_read = 1;
	const bool taken = !st_fuzz_journal_take(&j, 0, &x->places, &x->x, &seconds, &e);
	if (!taken)
		assert_int_equal(e.code, ST_EXIT_FAILED);
	st_fuzz_journal_close(&j);
	return taken;
}

static void
add_path_count(struct executed *x, struct st_fuzz_path path, uint64_t calls, uint64_t instructions)
{
	struct st_fuzz_path_count *new = ST_PUSH(&x->x.paths);
	assert_non_null(new);
	*new = (struct st_fuzz_path_count){st_fuzz_path_number(&x->places, path), calls,
	                                   instructions};
}

/* Paths are named when they are new, and their counts are written when they are asked for. */
static void
call_paths(void **state)
{
	struct st_fuzz_journal j = {0};
	struct executed x = {0}, again = {0};
	struct st_error e;
	double seconds;
	(void)state;
	add_image(&x.places, "/a");
	begin_execution(&x, ST_END_EXIT, 0);
	add_path_count(&x, (struct st_fuzz_path){ST_HASHMAP_NONE, {0, 0x10}}, 1, 20);
	add_path_count(&x, (struct st_fuzz_path){0, {0, 0x2f}}, 3, 40);
	x.x.growth = (struct st_fuzz_growth){.most = 1.5, .score = 0.1, .beyond = 1.25, .path = 1};
	assert_false(st_fuzz_journal_add(&j, 0, &x.places, &x.map, &x.x, true, 1, &e));
	assert_false(st_fuzz_journal_add(&j, 1, &x.places, &x.map, &x.x, false, 2, &e));
	assert_string_equal(j.lines.v[0], "exit 0 0 1.000 @/a >0:0:10 >1:0:2f "
	                                  "~1.5,0.10000000000000001,1.25,1 /0=1,20 /1=3,40");
	assert_string_equal(j.lines.v[1], "exit 0 0 2.000 ~1.5,0.10000000000000001,1.25,1");
	j.n_read = 2;
	assert_false(st_fuzz_journal_take(&j, 0, &again.places, &again.x, &seconds, &e));
	assert_int_equal(again.places.paths.n, 2);
	assert_int_equal(again.places.paths.v[0].parent, ST_HASHMAP_NONE);
	assert_int_equal(again.places.paths.v[1].parent, 0);
	assert_int_equal(again.places.paths.v[1].function.offset, 0x2f);
	assert_int_equal(again.x.paths.n, 2);
	assert_int_equal(again.x.paths.v[1].calls, 3);
	assert_int_equal(again.x.paths.v[1].instructions, 40);
	assert_true(again.x.growth.score == x.x.growth.score && again.x.growth.path == 1);
	assert_false(st_fuzz_journal_take(&j, 1, &again.places, &again.x, &seconds, &e));
	assert_int_equal(again.x.paths.n, 0);
	st_fuzz_journal_close(&j);
	executed_free(&x);
	executed_free(&again);
}

static void
damaged(void **state)
{
	static const char *const bad[] = {"",
	                                  "exit",
	                                  "exit 0 5",
	                                  "exit 0 5 x",
	                                  "exit 0 5 -1",
	                                  "exit 0 5 nan",
	                                  "exit 256 5 1",
	                                  "exit -1 5 1",
	                                  "left 0 5 1",
	                                  "exit 0 99999999999999999999 1",
	                                  "exit 0 5 1 ",
	                                  "exit 0 5 1 @",
	                                  "exit 0 5 1 @relative",
	                                  "exit 0 5 1 @/a%2",
	                                  "exit 0 5 1 @/a%00b",
	                                  "exit 0 5 1 0=1",
	                                  "exit 0 5 1 0:10=1",
	                                  "exit 0 5 1 @/a 0:=1",
	                                  "exit 0 5 1 @/a 0:10",
	                                  "exit 0 5 1 @/a 0:10=",
	                                  "exit 0 5 1 @/a 0:10=1 1=2",
	                                  "exit 0 5 1 @/a 0:10=1 0:20=2 0:10=3",
	                                  "exit 0 5 1 @/a +0:10:0:20",
	                                  "exit 0 5 1 @/a +0:10:1:20=3",
	                                  "exit 0 5 1 @/a +1:10:0:20=3",
	                                  "exit 0 5 1 @/a +0:10:0:=3",
	                                  "exit 0 5 1 @/a +0:10:0:20=3 +0:10:0:20=4",
	                                  "exit 0 5 1 @/a +0:10:0:20=3 1=4",
	                                  "exit 0 5 1 >0:0:10",
	                                  "exit 0 5 1 @/a >1:0:10",
	                                  "exit 0 5 1 @/a >0:1:10",
	                                  "exit 0 5 1 @/a >0:0",
	                                  "exit 0 5 1 @/a >0:0:10 >0:0:10",
	                                  "exit 0 5 1 @/a >0:0:10 ~1,1,1,1",
	                                  "exit 0 5 1 @/a >0:0:10 ~1,1,0",
	                                  "exit 0 5 1 @/a >0:0:10 ~1,nan,1,0",
	                                  "exit 0 5 1 @/a >0:0:10 ~1,-1,1,0",
	                                  "exit 0 5 1 @/a >0:0:10 /1=1,1",
	                                  "exit 0 5 1 @/a >0:0:10 /0=1",
	                                  "exit 0 5 1 @/a >0:0:10 /0=1,1 /0=1,1"};
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct executed x = {0};
		if (is_taken(bad[i], &x))
			fail_msg("'%s' was taken", bad[i]);
		executed_free(&x);
	}
}

/* Whatever a line has, it is taken or refused, and places stay within the table. */
static void
mutations(void **state)
{
	static const char good[] =
	        "exit 0 12 0.500 @/bin/a%20b @/b 0:1000=5 1:1abc=7 +0:20:1:30=4 +1:2:1:3=1 "
	        "0=8 1=9 >0:1:20 >1:0:30 ~1.5,1,1.25,1 /0=1,2 /1=3,4";
	static const char letters[] = " 0123456789abcdefxits=:@%/.-<>~,+";
	uint64_t random = 7;
	size_t taken = 0;
	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct executed x = {0};
		char line[sizeof good];
		memcpy(line, good, sizeof good);
		for (size_t n = st_random_below(&random, 4); n > 0; n--)
			line[st_random_below(&random, sizeof good - 1)] =
			        letters[st_random_below(&random, sizeof letters - 1)];
		line[round % 4 ? sizeof good - 1 : st_random_below(&random, sizeof good)] = '\0';
		taken += is_taken(line, &x);
		for (size_t i = 0; i < x.x.counts.n; i++)
			assert_true(x.x.counts.v[i].place < x.places.list.n);
		for (size_t i = 0; i < x.x.edges.n; i++)
			assert_true(x.x.edges.v[i].edge < x.places.edges.n);
		for (size_t i = 0; i < x.places.edges.n; i++)
			assert_true(x.places.edges.v[i].from.image < x.places.images.n &&
			            x.places.edges.v[i].to.image < x.places.images.n);
		for (size_t i = 0; i < x.places.list.n; i++)
			assert_true(x.places.list.v[i].image < x.places.images.n);
		for (size_t i = 0; i < x.x.paths.n; i++)
			assert_true(x.x.paths.v[i].path < x.places.paths.n);
		assert_true(x.x.growth.path == 0 || x.x.growth.path < x.places.paths.n);
		for (size_t i = 0; i < x.places.paths.n; i++)
			assert_true(x.places.paths.v[i].parent == ST_HASHMAP_NONE ||
			            x.places.paths.v[i].parent < i);
		executed_free(&x);
	}
	assert_in_range(taken, 20000 / 8, 20000 - 1);
}

static char *
identity_of(const char *argument, uint64_t seed, const char *bytes)
{
	char *argv[] = {(char *)"no/such/program", (char *)argument, NULL};
	const struct st_fuzz_target target = {.argv = argv, .hang_seconds = 10};
	const struct st_fuzz_rules rules = {0};
	const struct st_fuzz_campaign_choice choice = {.seed = seed, .rate = 1.5};
	const struct st_fuzz_bytes one = {.v = (uint8_t *)bytes, .n = strlen(bytes)};
	char *text = st_fuzz_identity(&target, &rules, &choice, &one, 1);
	assert_non_null(text);
	return text;
}

static void
identity(void **state)
{
	char *texts[] = {identity_of("a b", 1, "x"), identity_of("a%20b", 1, "x"),
	                 identity_of("a b", 2, "x"), identity_of("a b", 1, "y")};
	char *same = identity_of("a b", 1, "x");
	(void)state;
	assert_string_equal(texts[0], same);
	assert_non_null(strstr(same, " word=no/such/program word=a%20b"));
	free(same);
	for (size_t i = 0; i < 4; i++) {
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(texts[i], texts[k]);
		assert_null(strchr(texts[i], '\n'));
	}
	for (size_t i = 0; i < 4; i++)
		free(texts[i]);
}

/* The message about an identity that differs from the one in a journal; NULL: it does not. */
static const char *
difference_of(const char *kept, const char *now, struct st_error *e)
{
	char path[] = "/tmp/strobe-test-identity-XXXXXX";
	struct st_fuzz_journal j = {0};
	struct st_error ignored;
	close(mkstemp(path));
	assert_false(st_fuzz_journal_open(&j, path, kept, &ignored));
	st_fuzz_journal_close(&j);
	const st_status status = st_fuzz_identity_check(path, now, e);
	char *name = strstr(e->text, path);
	if (status && name) /* the path has letters by chance */
		memset(name, 'P', strlen(path));
	unlink(path);
	return status ? e->text : NULL;
}

static void
differences(void **state)
{
	static const char kept[] =
	        "fuzz=edges seed=1 seeds=1:aa rate=1.5 size=0 strategy=mixed program=ab rule=x "
	        "rule=y expression=a expression=b tokens=0:cc word=p word=q";
	static const struct {
		const char *now, *what;
	} cases[] = {
	        {"fuzz=edges seed=12 seeds=1:aa rate=1.5", "--seed was 1 and is now 12;"},
	        {"fuzz=edges seed=1 seeds=1:ab rate=1.5",
	         "the content of the seeds (--seeds) has changed;"},
	        {"fuzz=edges seed=1 seeds=1:aa rate=1.25", "--rate was 1.5 and is now 1.25;"},
	        {"fuzz=edges seed=1 seeds=1:aa rate=1.5 size=0 strategy=unitary",
	         "--strategy was mixed and is now unitary;"},
	        {"fuzz=edges seed=1 seeds=1:aa rate=1.5 size=0 strategy=mixed program=b",
	         "the content of the program has changed;"},
	        {"fuzz=edges seed=1 seeds=1:aa rate=1.5 size=0 strategy=mixed program=ab rule=x "
	         "expression=a",
	         "the set of rules (--rules) has changed;"},
	        {"fuzz=edges seed=1 seeds=1:aa rate=1.5 size=0 strategy=mixed program=ab rule=x "
	         "rule=y rule=z",
	         "the set of rules (--rules) has changed;"},
	        {"fuzz=edges seed=1 seeds=1:aa rate=1.5 size=0 strategy=mixed program=ab rule=x "
	         "rule=y tokens=0:cc",
	         "the option --regex has changed;"},
	        {"fuzz=edges seed=1 seeds=1:aa rate=1.5 size=0 strategy=mixed program=ab rule=x "
	         "rule=y expression=a expression=b tokens=0:cc word=p",
	         "the command has changed;"},
	        {"fuzz seed=1", "the version of strobe has changed;"},
	};
	struct st_error e = {0};
	(void)state;
	assert_null(difference_of(kept, kept, &e));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *text = difference_of(kept, cases[i].now, &e);
		assert_non_null(text);
		if (!strstr(text, cases[i].what))
			fail_msg("'%s' is not in '%s'", cases[i].what, text);
	}
	assert_false(st_fuzz_identity_check("/no/such/journal", kept, &e));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(lines),       cmocka_unit_test(file),
	        cmocka_unit_test(call_paths),  cmocka_unit_test(damaged),
	        cmocka_unit_test(mutations),   cmocka_unit_test(identity),
	        cmocka_unit_test(differences), cmocka_unit_test(full_disk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
