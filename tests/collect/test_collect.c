/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From results to a profile: every count of the fixture, exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/ahead.h"
#include "fake.h"
#include "profile/profile.h"
#include "symbol/symbol.h"

static char *const command[] = {"fixture", "one", "two words", NULL};

static struct st_profile_origin
origin(void)
{
	return (struct st_profile_origin){.tool = "hot",
	                                  .argv = command,
	                                  .options = "-t hot",
	                                  .sample_hz = 1000,
	                                  .keep_blocks = true,
	                                  .start_ns = 1700000000000000000};
}

static struct st_run
run_of(struct st_process *processes, size_t n)
{
	return (struct st_run){.processes = processes,
	                       .n_processes = n,
	                       .seconds = 0.5,
	                       .cpu_user = 0.4,
	                       .cpu_system = 0.1,
	                       .tsc_hz = 1e9};
}

static struct st_profile *
collect(struct st_process *processes, size_t n)
{
	struct st_profile_origin o = origin();
	struct st_run run = run_of(processes, n);
	struct st_error e = {0};
	struct st_profile *p = st_profile_collect(&run, &o, &e);
	if (!p)
		fail_msg("%s", e.text);
	return p;
}

static const struct st_profile_function *
function(const struct st_profile *p, const char *name)
{
	const struct st_profile_function *found = NULL;
	for (size_t i = 0; i < p->functions.n; i++)
		if (!strcmp(p->functions.v[i].name, name)) {
			assert_null(found); /* each once */
			found = &p->functions.v[i];
		}
	assert_non_null(found);
	return found;
}

static const struct st_profile_line *
line(const struct st_profile *p, uint32_t number)
{
	const struct st_profile_line *found = NULL;
	for (size_t i = 0; i < p->lines.n; i++)
		if (p->lines.v[i].line == number) {
			assert_null(found);
			found = &p->lines.v[i];
		}
	assert_non_null(found);
	return found;
}

/* Half a second of CPU, and the engine was left after 0.1 s of it. */
static void
native_execution_is_told(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 4711, 1, "fixture");
	struct st_profile *p = collect(&process, 1);
	assert_float_equal(st_profile_cache_share(p), 1.0, 1e-9);
	st_profile_free(p);
	fake_header(f)->run.left_ns = 100000000;
	p = collect(&process, 1);
	assert_int_equal(p->run.native_ns, 400000000);
	assert_float_equal(st_profile_cache_share(p), 0.2, 1e-9);
	st_profile_free(p);
	fake_free(f);
}

static void
functions_are_exact(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 4711, 1, "fixture");
	struct st_profile *p = collect(&process, 1);
	assert_int_equal(p->functions.n, 5);
	const struct st_profile_function *spin = function(p, "spin");
	assert_int_equal(spin->offset, fixture_offset("spin"));
	assert_int_equal(spin->size, 11);
	assert_int_equal(spin->calls, 5);
	assert_true(spin->calls_exact);
	assert_int_equal(spin->executions, 50);
	assert_int_equal(spin->instructions, 5 * 4 + 40 * 3 + 5);
	assert_int_equal(spin->samples, 60);
	assert_string_equal(spin->file, "/strobe/fixture.c");
	assert_int_equal(spin->line, 10);
	const struct st_profile_function *restart = function(p, "restart");
	assert_int_equal(restart->calls, 10); /* 100 less 60 jumps and 90 - 60 branches back */
	assert_true(restart->calls_exact);
	assert_int_equal(restart->instructions, 200 + 180 + 120 + 10);
	assert_int_equal(restart->samples, 20);
	assert_int_equal(restart->samples_engine, 10);
	const struct st_profile_function *vague = function(p, "vague");
	assert_int_equal(vague->calls, 20);
	assert_false(vague->calls_exact);
	const struct st_profile_function *caller = function(p, "caller");
	assert_int_equal(caller->calls, 5);
	assert_int_equal(caller->instructions, 5 + 10 + 1);
	assert_int_equal(caller->samples, 0);
	assert_int_equal(caller->samples_kernel, 30);
	const struct st_profile_function *made = function(p, "[generated code]");
	assert_int_equal(made->instructions, 12);
	assert_int_equal(made->calls, 0);
	assert_string_equal(p->images.v[made->image].path, ST_ANON_IMAGE);
	assert_float_equal(st_profile_self_share(p, spin), 0.75, 1e-12);
	assert_float_equal(st_profile_self_share(p, caller), 0, 1e-12);
	st_profile_free(p);
	fake_free(f);
}

static void
lines_are_exact(void **state)
{
	(void)state;
	static const struct {
		uint32_t line;
		uint64_t executions, instructions, samples;
	} expected[] = {{10, 5, 5, 0},     {11, 45, 90, 60},  {12, 45, 45, 0},  {13, 5, 5, 0},
	                {20, 100, 100, 0}, {21, 100, 100, 0}, {22, 90, 180, 0}, {23, 60, 120, 20},
	                {24, 10, 10, 0},   {30, 20, 40, 0},   {31, 7, 7, 0},    {40, 5, 5, 0},
	                {41, 5, 11, 0}};
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 4711, 1, "fixture");
	struct st_profile *p = collect(&process, 1);
	assert_int_equal(p->lines.n, sizeof expected / sizeof *expected);
	for (size_t i = 0; i < p->lines.n; i++) {
		const struct st_profile_line *l = line(p, expected[i].line);
		assert_string_equal(l->file, "/strobe/fixture.c");
		assert_int_equal(l->executions, expected[i].executions);
		assert_int_equal(l->instructions, expected[i].instructions);
		assert_int_equal(l->samples, expected[i].samples);
	}
	st_profile_free(p);
	fake_free(f);
}

static void
blocks_and_run_are_exact(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 4711, 1, "fixture");
	struct st_profile *p = collect(&process, 1);
	assert_int_equal(p->blocks.n, 12); /* the one that never ran is left out */
	for (size_t i = 1; i < p->blocks.n; i++)
		assert_true(p->blocks.v[i - 1].image < p->blocks.v[i].image ||
		            p->blocks.v[i - 1].offset < p->blocks.v[i].offset);
	const struct st_profile_block *first = &p->blocks.v[0];
	assert_int_equal(first->offset, fixture_offset("spin"));
	assert_int_equal(first->target, fixture_offset("spin") + 2);
	assert_int_equal(first->executions, 5);
	assert_int_equal(p->blocks.v[1].samples, 60); /* the later of two that overlap */
	assert_int_equal(first->samples, 0);
	uint64_t total;
	assert_true(st_profile_counter(p, "blocks", &total));
	assert_int_equal(total, 50 + 260 + 27 + 10 + 3 + 1); /* entered once more, left early */
	assert_true(st_profile_counter(p, "instructions", &total));
	assert_int_equal(total, 145 + 510 + 47 + 16 + 12);
	assert_false(st_profile_counter(p, "loads", &total));
	assert_int_equal(p->processes.v[0].instructions, 145 + 510 + 47 + 16 + 12);
	assert_int_equal(p->processes.v[0].wall_ns, 500000000);
	assert_int_equal(p->run.samples_code, 80);
	assert_int_equal(p->run.samples_kernel, 30);
	assert_int_equal(p->run.samples_engine, 10);
	assert_int_equal(p->run.wall_ns, 500000000);
	assert_int_equal(p->run.cpu_user_ns, 400000000);
	assert_int_equal(st_profile_statistic(p, "syscalls"), 77);
	assert_int_equal(p->threads.n, 2);
	assert_string_equal(p->threads.v[0].name, "worker");
	assert_int_equal(p->threads.v[0].end_ns, 250000000);
	assert_string_equal(p->threads.v[1].name, "a-name-of-16-cha");
	assert_int_equal(p->threads.v[1].end_ns, -1);
	assert_int_equal(p->fallbacks.n, 1);
	assert_int_equal(p->fallbacks.v[0].offset, fixture_offset("vague") + 4);
	assert_string_equal(p->images.v[0].path, fixture_path());
	assert_string_equal(p->images.v[0].build_id, "0123456789abcdef0123456789abcdef01234567");
	assert_string_equal(p->run.command.v[2], "two words");
	st_profile_free(p);
	fake_free(f);
}

static void
processes_add_up(void **state)
{
	(void)state;
	struct fake *a = fixture_results(), *b = fixture_results();
	struct st_process both[] = {fake_process(a, 10, 1, "fixture"),
	                            fake_process(b, 11, 10, "child")};
	struct st_profile *p = collect(both, 2);
	assert_int_equal(p->blocks.n, 12);
	assert_int_equal(p->images.n, 2);
	assert_int_equal(function(p, "spin")->calls, 10);
	assert_int_equal(function(p, "restart")->calls, 20);
	assert_int_equal(line(p, 11)->executions, 90);
	assert_int_equal(line(p, 41)->instructions, 22);
	uint64_t total;
	assert_true(st_profile_counter(p, "blocks", &total));
	assert_int_equal(total, 702);
	assert_int_equal(p->processes.v[1].executions, 350);
	assert_int_equal(p->threads.v[2].process, 1);
	st_profile_free(p);
	fake_free(a);
	fake_free(b);
}

static void
with_few_samples_shares_are_instructions(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	fake_header(f)->samples.n = 19; /* one too few */
	struct st_process process = fake_process(f, 4711, 1, "fixture");
	struct st_profile *p = collect(&process, 1);
	assert_false(st_profile_share_is_time(p));
	assert_float_equal(st_profile_self_share(p, function(p, "spin")), 145.0 / 730, 1e-12);
	assert_int_equal(p->notes.n, 1);
	assert_non_null(strstr(p->notes.v[0], "instructions"));
	st_profile_free(p);
	fake_free(f);
}

static void
a_file_without_symbols_is_kept(void **state)
{
	(void)state;
	static const char *const counters[] = {"instructions", NULL};
	struct fake *f = fake_new(counters);
	uint32_t map = fake_map(f, "/nonexistent/lib.so", 0x10000, 0x20000, 0x3000);
	fake_count(f, 0, fake_block(f, map, 0x10010, 4, 2, ST_END_RETURN, 0), 9);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_profile *p = collect(&process, 1);
	assert_string_equal(p->images.v[0].build_id, "");
	assert_string_equal(p->images.v[0].symbols, "none");
	assert_int_equal(p->blocks.v[0].offset, 0x3010);
	assert_int_equal(function(p, "[no symbol]")->instructions, 18);
	assert_non_null(strstr(p->notes.v[0], "/nonexistent/lib.so"));
	st_profile_free(p);
	fake_free(f);
}

/* Blocks that start in the middle of another's instruction cannot share a decoding. */
static void
misaligned_blocks_are_counted_alone(void **state)
{
	(void)state;
	static const char *const counters[] = {"instructions", NULL};
	struct fake *f = fake_new(counters);
	fake_map(f, fixture_path(), FIXTURE_BASE + 0x1000, FIXTURE_BASE + 0x2000, 0x1000);
	/* test $1, %edi from its first byte; and from its last four: 01 00 = add %eax, (%rax), 00
	 * 00, then jz */
	fake_count(f, 0,
	           fake_block(f, 0, fixture_address("restart", 4), 8, 2, ST_END_BRANCH,
	                      fixture_address("restart", 0)),
	           10);
	fake_count(f, 0,
	           fake_block(f, 0, fixture_address("restart", 6), 6, 3, ST_END_BRANCH,
	                      fixture_address("restart", 0)),
	           7);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_profile *p = collect(&process, 1);
	assert_int_equal(p->lines.n, 1);
	assert_int_equal(line(p, 22)->instructions, 10 * 2 + 7 * 3);
	assert_int_equal(line(p, 22)->executions, 10);
	st_profile_free(p);
	fake_free(f);
}

/* Where one mapping replaced another, samples go to the one that is there. */
static void
samples_find_the_live_mapping(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	struct st_results_header *h = fake_header(f);
	uint32_t gone = fake_map(f, NULL, FIXTURE_BASE, FIXTURE_BASE + 0x5000, 0);
	((struct st_map *)((char *)h + h->layout.off_maps))[gone].flags = ST_MAP_GONE;
	fake_samples(f, 0x123, ST_SAMPLE_CODE, 4); /* in no mapping */
	struct st_process process = fake_process(f, 4711, 1, "fixture");
	struct st_profile *p = collect(&process, 1);
	assert_int_equal(function(p, "spin")->samples, 60);
	assert_int_equal(p->run.samples_code, 84);
	st_profile_free(p);
	fake_free(f);
}

static void
what_is_not_covered_is_said(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	fake_header(f)->run.state = ST_RUN_EXECED;
	struct st_process process = fake_process(f, 4711, 1, "fixture");
	struct st_profile *p = collect(&process, 1);
	assert_int_equal(p->notes.n, 1);
	assert_non_null(strstr(p->notes.v[0], "process 4711 executed another program (execve)"));
	st_profile_free(p);
	fake_header(f)->run.state = ST_RUN_EXITED;
	fake_header(f)->layout.magic = 0;
	p = collect(&process, 1);
	assert_int_equal(p->processes.n, 1); /* the process is listed all the same */
	assert_non_null(strstr(p->notes.v[0], "process 4711: the results of the run are damaged"));
	assert_non_null(strstr(p->notes.v[0], "; run it again"));
	st_profile_free(p);
	fake_free(f);
}

/* Images that were read while the program ran are as good, and each has one owner. */
static void
images_are_read_ahead(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 100, 1, "fixture");
	struct st_ahead *ahead = st_ahead_new(true, true);
	struct st_profile *before = collect(&process, 1);
	st_ahead_look(ahead, &process, 1);
	assert_null(st_ahead_take(ahead, fixture_path())); /* it is too early */
	st_ahead_free(ahead);

	ahead = st_ahead_new(true, true);
	st_ahead_look(ahead, &process, 1);
	usleep(150000);
	st_ahead_look(ahead, &process, 1);
	usleep(50000); /* or else it is read when it is asked for */
	struct st_profile_origin o = origin();
	struct st_run run = run_of(&process, 1);
	struct st_error e = {0};
	o.ahead = ahead;
	struct st_profile *p = st_profile_collect(&run, &o, &e);
	assert_non_null(p);
	assert_null(st_ahead_take(ahead, fixture_path())); /* the profile has had it */
	assert_int_equal(p->functions.n, before->functions.n);
	for (size_t i = 0; i < p->functions.n; i++) {
		assert_string_equal(p->functions.v[i].name, before->functions.v[i].name);
		assert_int_equal(p->functions.v[i].instructions,
		                 before->functions.v[i].instructions);
	}
	assert_int_equal(p->lines.n, before->lines.n);
	st_profile_free(before);
	st_profile_free(p);
	st_ahead_free(ahead);
	fake_free(f);
}

/* What was read is what the file was then. */
static void
images_ahead_may_change(void **state)
{
	(void)state;
	char path[] = "/tmp/strobe-ahead-XXXXXX", copy[200];
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	snprintf(copy, sizeof copy, "cat '%s' > '%s'", fixture_path(), path);
	assert_int_equal(system(copy), 0);
	struct fake *f = fake_new((const char *const[]){NULL});
	fake_map(f, path, FIXTURE_BASE, FIXTURE_BASE + 4096, 0);
	struct st_process process = fake_process(f, 100, 1, "fixture");
	struct st_ahead *ahead = st_ahead_new(true, true);
	st_ahead_look(ahead, &process, 1);
	usleep(150000);
	st_ahead_look(ahead, &process, 1);
	usleep(100000);
	assert_int_equal(ftruncate(fd, 0), 0);
	struct st_image *image = st_ahead_take(ahead, path);
	assert_non_null(image);
	const struct st_function *found = st_image_function(image, fixture_offset("spin"));
	assert_non_null(found);
	assert_string_equal(found->name, "spin");
	st_image_close(image);
	st_ahead_free(ahead);
	fake_free(f);
	close(fd);
	unlink(path);
}

/* What nobody takes is closed. */
static void
images_ahead_are_closed(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 100, 1, "fixture");
	struct st_ahead *ahead = st_ahead_new(true, false);
	st_ahead_look(ahead, &process, 1);
	usleep(150000);
	st_ahead_look(ahead, &process, 1);
	st_ahead_free(ahead);
	fake_free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(functions_are_exact),
	        cmocka_unit_test(native_execution_is_told),
	        cmocka_unit_test(lines_are_exact),
	        cmocka_unit_test(images_are_read_ahead),
	        cmocka_unit_test(images_ahead_may_change),
	        cmocka_unit_test(images_ahead_are_closed),
	        cmocka_unit_test(blocks_and_run_are_exact),
	        cmocka_unit_test(processes_add_up),
	        cmocka_unit_test(with_few_samples_shares_are_instructions),
	        cmocka_unit_test(a_file_without_symbols_is_kept),
	        cmocka_unit_test(misaligned_blocks_are_counted_alone),
	        cmocka_unit_test(samples_find_the_live_mapping),
	        cmocka_unit_test(what_is_not_covered_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
