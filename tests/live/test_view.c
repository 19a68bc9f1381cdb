/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live view's lines, from results that are made in memory and go on while it looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "live/view.h"
#include "symbol/symbol.h"

enum { GENERATED = 2 }; /* its mapping, from 1 on */

static strobe_node *
node(struct fake *f, uint32_t i)
{
	struct st_results_header *h = fake_header(f);
	return (strobe_node *)((char *)h + h->layout.off_nodes) + i;
}

static strobe_cost *
cost(struct fake *f, uint32_t i)
{
	struct st_results_header *h = fake_header(f);
	return (strobe_cost *)((char *)h + h->layout.off_costs) + i;
}

/* Of a function, in a mapping from 1 on; 0: it is not said which. */
static uint32_t
label(struct fake *f, uint64_t address, uint64_t map)
{
	struct st_results_header *h = fake_header(f);
	uint32_t i = fake_label(f, 0, 0);
	((uint64_t *)((char *)h + h->layout.off_labels))[i] =
	        map << ST_LABEL_ADDRESS_BITS | address;
	return i;
}

/* A process in which caller has called spin and restart, and that code without a name. */
enum { THREAD = 1, CALLER, SPIN, RESTART, MADE };
static struct fake *
calls(void)
{
	struct fake *f = fixture_results();
	uint32_t caller = label(f, fixture_address("caller", 0), 1);
	uint32_t spin = label(f, fixture_address("spin", 0), 1);
	uint32_t restart = label(f, fixture_address("restart", 0), 0);
	uint32_t made = label(f, 0x7e0000000100, GENERATED);
	assert_int_equal(fake_node(f, 0, 0, 0), THREAD);
	assert_int_equal(fake_node(f, caller, THREAD, 100), CALLER);
	assert_int_equal(fake_node(f, spin, CALLER, 2000), SPIN);
	assert_int_equal(fake_node(f, restart, CALLER, 50), RESTART);
	assert_int_equal(fake_node(f, made, RESTART, 25), MADE);
	return f;
}

static struct st_image *fixture;

static struct st_image *
open_image(void *arg, const char *path)
{
	assert_string_equal(path, fixture_path());
	assert_null(arg);
	return fixture;
}

static struct st_live
live(enum st_live_worth worth, bool blocks)
{
	struct st_live l;
	st_live_init(&l, worth, blocks);
	l.open = open_image;
	return l;
}

static const struct st_live_look usual = {.command = "paths",
                                          .what = "fixture",
                                          .width = 79,
                                          .height = 15,
                                          .elapsed = 3,
                                          .interval = 2,
                                          .tsc_hz = 1e9,
                                          .files = 9};

static void
check_view(struct st_live *l, const struct st_live_look *look, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_true(st_live_view(l, look, out));
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* A view of functions alone, of another command. */
static void
contexts_are_left_out(void **state)
{
	(void)state;
	struct fake *f = calls();
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_live_look look = usual;
	struct st_live l = live(ST_LIVE_ACTIVATIONS, false);
	look.command = "trace";
	look.only_places = true;
	look.height = 8;
	st_live_look(&l, &process, 1);
	node(f, SPIN)->count += 3000000;
	st_live_look(&l, &process, 1);
	check_view(&l, &look,
	           "strobe trace: fixture, 3.0 s, 1 thread, 4 functions\n"
	           "1.50M calls/s, 3.00M in all; hottest of the last 2.0 s\n"
	           "   share  calls/s    calls  functions\n"
	           "  100.0%    1.50M    3.00M  spin\n"
	           "    0.0%        0      100  caller\n"
	           "    0.0%        0       50  restart\n"
	           "    0.0%        0       25  [generated]+0x7e0000000100\n"
	           "\n");
	st_live_free(&l);
	fake_free(f);
}

static void
what_is_hot_is_shown(void **state)
{
	(void)state;
	struct fake *f = calls();
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_live_look look = usual;
	struct st_live l = live(ST_LIVE_ACTIVATIONS, false);
	st_live_look(&l, &process, 1);
	node(f, SPIN)->count += 3000000;
	node(f, RESTART)->count += 1000000;
	st_live_look(&l, &process, 1);
	look.keys = "s: of all, q: quit";
	check_view(&l, &look,
	           "strobe paths: fixture, 3.0 s, 1 thread, 4 contexts, 4 functions\n"
	           "2.00M calls/s, 4.00M in all; hottest of the last 2.0 s; s: of all, q: quit\n"
	           "\n"
	           "   share  calls/s    calls  functions\n"
	           "   75.0%    1.50M    3.00M  spin\n"
	           "   25.0%     500k    1.00M  restart\n"
	           "    0.0%        0      100  caller\n"
	           "    0.0%        0       25  [generated]+0x7e0000000100\n"
	           "\n"
	           "\n"
	           "   share  calls/s    calls  contexts\n"
	           "   75.0%    1.50M    3.00M  caller > spin\n"
	           "   25.0%     500k    1.00M  caller > restart\n"
	           "    0.0%        0      100  caller\n"
	           "    0.0%        0       25  caller > restart > [generated]+0x7e0000000100\n");
	st_live_free(&l);
	fake_free(f);
}

/* Nothing happens: what was hottest of all stays where it is. */
static void
it_fits_small_terminals(void **state)
{
	(void)state;
	struct fake *f = calls();
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_live_look look = usual;
	struct st_live l = live(ST_LIVE_ACTIVATIONS, false);
	st_live_look(&l, &process, 1);
	st_live_look(&l, &process, 1);
	look.of_all = true;
	look.height = 10;
	look.width = 43;
	check_view(&l, &look,
	           "strobe paths: fixture, 3.0 s, 1 thread, ...\n"
	           "0 calls/s, 2.17k in all; hottest of all\n"
	           "   share  calls/s    calls  functions\n"
	           "   92.0%        0    2.00k  spin\n"
	           "    4.6%        0      100  caller\n"
	           "    2.3%        0       50  restart\n"
	           "   share  calls/s    calls  contexts\n"
	           "   92.0%        0    2.00k  caller > spin\n"
	           "    4.6%        0      100  caller\n"
	           "    2.3%        0       50  .. > restart\n");
	look.height = 5;
	check_view(&l, &look,
	           "strobe paths: fixture, 3.0 s, 1 thread, ...\n"
	           "0 calls/s, 2.17k in all; hottest of all\n"
	           "   share  calls/s    calls  functions\n"
	           "   92.0%        0    2.00k  spin\n"
	           "    4.6%        0      100  caller\n");
	st_live_free(&l);
	fake_free(f);
}

static void
time_is_shown(void **state)
{
	(void)state;
	struct fake *f = calls();
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_live_look look = usual;
	struct st_live l = live(ST_LIVE_TIME, false);
	cost(f, CALLER)->ticks = 90000000000; /* 90 s */
	st_live_look(&l, &process, 1);
	cost(f, SPIN)->ticks += 500000000;
	cost(f, RESTART)->ticks += 1500000000;
	node(f, RESTART)->count += 10;
	st_live_look(&l, &process, 1);
	look.height = 9;
	check_view(&l, &look,
	           "strobe paths: fixture, 3.0 s, 1 thread, 4 contexts, 4 functions\n"
	           "5 calls/s, 2.19k in all; hottest of the last 2.0 s\n"
	           "   share   self/s     self  calls/s  functions\n"
	           "   75.0%    750ms    1.50s        5  restart\n"
	           "   25.0%    250ms    500ms        0  spin\n"
	           "    0.0%       0s    90.0s        0  caller\n"
	           "   share   self/s     self  calls/s  contexts\n"
	           "   75.0%    750ms    1.50s        5  caller > restart\n"
	           "   25.0%    250ms    500ms        0  caller > spin\n");
	st_live_free(&l);
	fake_free(f);
}

/* The same contexts of two processes, of which one ends; blocks and instructions are named so. */
static void
processes_are_one(void **state)
{
	(void)state;
	struct fake *a = calls(), *b = calls();
	struct st_process processes[] = {fake_process(a, 1, 0, "fixture"),
	                                 fake_process(b, 2, 1, "fixture")};
	struct st_live_look look = usual;
	struct st_live l = live(ST_LIVE_INSTRUCTIONS, false);
	cost(a, SPIN)->instructions = 7;
	cost(b, SPIN)->instructions = 2;
	st_live_look(&l, processes, 1);
	st_live_look(&l, processes, 2);
	processes[1].gone = true;
	cost(b, SPIN)->instructions = 5;
	st_live_look(&l, processes, 2);
	processes[1].results = NULL; /* is not looked at any more */
	st_live_look(&l, processes, 2);
	cost(a, SPIN)->instructions = 11;
	st_live_look(&l, processes, 2);
	look.height = 8;
	check_view(
	        &l, &look,
	        "strobe paths: fixture, 3.0 s, 1 thread, 1 of 2 processes, 5 contexts, 5 func...\n"
	        "0 calls/s, 4.35k in all; hottest of the last 2.0 s\n"
	        "   share  insns/s    insns  calls/s  functions\n"
	        "  100.0%        2       16        0  spin\n"
	        "    0.0%        0        0        0  caller\n"
	        "   share  insns/s    insns  calls/s  contexts\n"
	        "  100.0%        2       16        0  caller > spin\n"
	        "    0.0%        0        0        0  caller\n");
	st_live_free(&l);
	fake_free(a);
	fake_free(b);
}

static void
blocks_are_shown(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_live_look look = usual;
	uint32_t first = fake_label(f, fixture_address("spin", 0), 10);
	uint32_t loop = fake_label(f, fixture_address("spin", 2), 8);
	uint32_t aside = fake_label(f, fixture_address("spin", 0), 0);
	uint32_t thread = fake_node(f, 0, 0, 0);
	uint32_t hidden = fake_node(f, STROBE_FORK, 0, 0);
	fake_node(f, loop, fake_node(f, first, thread, 5), 40);
	fake_node(f, aside, hidden, 1000);
	struct st_live l = live(ST_LIVE_ACTIVATIONS, true);
	st_live_look(&l, &process, 1);
	look.height = 8;
	check_view(&l, &look,
	           "strobe paths: fixture, 3.0 s, 1 thread, 2 contexts, 2 basic blocks\n"
	           "22 runs/s, 45 in all; hottest of the last 2.0 s\n"
	           "   share   runs/s     runs  basic blocks\n"
	           "   88.9%       20       40  spin+2\n"
	           "   11.1%        2        5  spin+0\n"
	           "   share   runs/s     runs  contexts\n"
	           "   88.9%       20       40  spin+0 > spin+2\n"
	           "   11.1%        2        5  spin+0\n");
	st_live_free(&l);
	fake_free(f);
}

static void
contexts_are_bounded(void **state)
{
	(void)state;
	struct fake *f = calls();
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_live_look look = usual;
	struct st_live l = live(ST_LIVE_ACTIVATIONS, false);
	l.most_contexts = 2;
	st_live_look(&l, &process, 1);
	look.height = 10;
	check_view(&l, &look,
	           "strobe paths: fixture, 3.0 s, 1 thread, 2 or more contexts, 4 functions\n"
	           "1.09k calls/s, 2.17k in all; hottest of the last 2.0 s\n"
	           "   share  calls/s    calls  functions\n"
	           "   92.0%    1.00k    2.00k  spin\n"
	           "    4.6%       50      100  caller\n"
	           "    2.3%       25       50  restart\n"
	           "   share  calls/s    calls  contexts\n"
	           "   92.0%    1.00k    2.00k  caller > spin\n"
	           "    4.6%       50      100  caller\n"
	           "    3.4%       38       75  (contexts that came when there were too many)\n");
	st_live_free(&l);
	fake_free(f);
}

/* Files are read for names a few at a time. */
static void
names_come_later(void **state)
{
	(void)state;
	struct fake *f = calls();
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_live_look look = usual;
	char *text = NULL, plain[64];
	size_t size;
	struct st_live l = live(ST_LIVE_ACTIVATIONS, false);
	st_live_look(&l, &process, 1);
	look.files = 0;
	FILE *out = open_memstream(&text, &size);
	assert_false(st_live_view(&l, &look, out));
	fclose(out);
	const char *path = fixture_path();
	snprintf(plain, sizeof plain, "%s+0x%lx\n", strrchr(path, '/') + 1,
	         (unsigned long)(fixture_address("spin", 0) - FIXTURE_BASE));
	assert_non_null(strstr(text, plain));
	assert_null(strstr(text, "spin"));
	free(text);
	st_live_free(&l);
	fake_free(f);
}

/* A number that was given back may be another context's, and less than its parent's. */
static void
numbers_are_used_again(void **state)
{
	(void)state;
	struct fake *f = calls();
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_live_look look = usual;
	struct st_live l = live(ST_LIVE_ACTIVATIONS, false);
	st_live_look(&l, &process, 1);
	uint32_t caller = node(f, CALLER)->label, spin = node(f, SPIN)->label;
	*node(f, MADE) = (strobe_node){.label = caller, .parent = MADE + 1, .count = 8};
	assert_int_equal(fake_node(f, spin, RESTART, 4), MADE + 1);
	st_live_look(&l, &process, 1);
	look.height = 14;
	check_view(&l, &look,
	           "strobe paths: fixture, 3.0 s, 1 thread, 6 contexts, 3 functions\n"
	           "6 calls/s, 2.16k in all; hottest of the last 2.0 s\n"
	           "\n"
	           "   share  calls/s    calls  functions\n"
	           "   66.7%        4      108  caller\n"
	           "   33.3%        2    2.00k  spin\n"
	           "    0.0%        0       50  restart\n"
	           "\n"
	           "\n"
	           "   share  calls/s    calls  contexts\n"
	           "   66.7%        4        8  caller > restart > spin > caller\n"
	           "   33.3%        2        4  caller > restart > spin\n"
	           "    0.0%        0    2.00k  caller > spin\n"
	           "    0.0%        0      100  caller\n");
	st_live_free(&l);
	fake_free(f);
}

/* What the program may have written over its results: it counts nothing, and is survived. */
static void
wild_nodes_are_nothing(void **state)
{
	(void)state;
	struct fake *f = calls();
	struct st_process process = fake_process(f, 1, 0, "fixture");
	struct st_live_look look = usual;
	struct st_live l = live(ST_LIVE_ACTIVATIONS, false);
	node(f, RESTART)->parent = RESTART; /* a circle */
	node(f, MADE)->parent = UINT32_MAX;
	node(f, SPIN)->label = 1 << 30;
	fake_node(f, node(f, CALLER)->label, CALLER + 4, 33); /* is no context */
	st_live_look(&l, &process, 1);
	look.height = 5;
	check_view(&l, &look,
	           "strobe paths: fixture, 3.0 s, 1 thread, 1 context, 1 function\n"
	           "50 calls/s, 100 in all; hottest of the last 2.0 s\n"
	           "   share  calls/s    calls  functions\n"
	           "  100.0%       50      100  caller\n"
	           "\n");
	/* Of one that was good before: less than there was is none. */
	node(f, CALLER)->count = 3;
	node(f, CALLER)->label = UINT32_MAX;
	st_live_look(&l, &process, 1);
	fake_header(f)->contexts.n_nodes = UINT32_MAX;
	st_live_look(&l, &process, 1);
	fake_header(f)->contexts.n_nodes = 0;
	fake_header(f)->contexts.n_labels = 0;
	st_live_look(&l, &process, 1);
	fake_header(f)->layout.magic = 0;
	st_live_look(&l, &process, 1);
	check_view(&l, &look,
	           "strobe paths: fixture, 3.0 s, 0 threads, 1 context, 0 functions\n"
	           "0 calls/s, 0 in all; hottest of the last 2.0 s\n"
	           "   share  calls/s    calls  functions\n"
	           "\n"
	           "\n");
	st_live_free(&l);
	fake_free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(contexts_are_left_out),   cmocka_unit_test(what_is_hot_is_shown),
	        cmocka_unit_test(it_fits_small_terminals), cmocka_unit_test(time_is_shown),
	        cmocka_unit_test(processes_are_one),       cmocka_unit_test(blocks_are_shown),
	        cmocka_unit_test(contexts_are_bounded),    cmocka_unit_test(names_come_later),
	        cmocka_unit_test(wild_nodes_are_nothing),  cmocka_unit_test(numbers_are_used_again),
	};
	struct st_error e;
	fixture = st_image_open(fixture_path(), &e);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	st_image_close(fixture);
	return failed;
}
