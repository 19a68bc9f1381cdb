/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages of calls: trees, functions with their callers and callees, threads and metrics. */
#include "browser.h"

#include "wire/results/contexts.h"
#include "wire/results/samples.h"

static void
test_tree_of_calls(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), "calls", NULL);
	assert_string_equal(st_tui_top(&b->t)->title, "calls by samples");
	assert_rows(b, (const char *[]){"+ main [app]", "  work [app]", NULL});
	assert_cell(b, 0, "total %", "80.00");
	assert_cell(b, 0, "self %", "3.00");
	assert_cell(b, 0, "samples", "80");
	st_tui_press(&b->t, ST_TUI_RIGHT);
	assert_rows(b, (const char *[]){"- main [app]", " + work [app]", "   Übung [app]",
	                                "  work [app]", NULL});
	press(b, "j+");
	assert_rows(b, (const char *[]){"- main [app]", " - work [app]", "    work [app]",
	                                "   Übung [app]", "  work [app]", NULL});
	assert_cell(b, 1, "total %", "70.00");
	assert_cell(b, 2, "total %", "10.00");
	press(b, "+"); /* it is expanded */
	press(b, "jj");
	st_tui_press(&b->t, ST_TUI_LEFT); /* nothing to collapse: to the row above it */
	assert_int_equal(st_tui_top(&b->t)->cursor, 0);
	press(b, "-");
	assert_rows(b, (const char *[]){"+ main [app]", "  work [app]", NULL});
	st_tui_press(&b->t, ST_TUI_LEFT); /* it has no row above */
	assert_int_equal(b->t.pages.n, 1);
	browser_end(b);
}

static void
test_the_hottest_way_down(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), "calls", NULL);
	press(b, "*"); /* work's inner call has less than half */
	assert_rows(b, (const char *[]){"- main [app]", " - work [app]", "    work [app]",
	                                "   Übung [app]", "  work [app]", NULL});
	assert_int_equal(st_tui_top(&b->t)->cursor, 1);
	browser_end(b);
}

static void
test_tree_of_callers(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), "callers", NULL);
	assert_rows(b, (const char *[]){"+ work [app]", "+ Übung [app]", "+ main [app]", NULL});
	assert_cell(b, 0, "share %", "90.00");
	press(b, "+");
	assert_rows(b, (const char *[]){"- work [app]", "   main [app]", " + work [app]",
	                                "+ Übung [app]", "+ main [app]", NULL});
	assert_cell(b, 1, "share %", "60.00");
	assert_cell(b, 2, "share %", "10.00");
	press(b, "G+"); /* main has no caller, as it turns out */
	assert_rows(b, (const char *[]){"- work [app]", "   main [app]", " + work [app]",
	                                "+ Übung [app]", "  main [app]", NULL});
	browser_end(b);
}

static void
test_search_expands_what_leads_to_a_match(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), "calls", NULL);
	press(b, "/bung\r");
	assert_rows(b, (const char *[]){"- main [app]", " + work [app]", "   Übung [app]",
	                                "  work [app]", NULL});
	assert_int_equal(st_tui_top(&b->t)->cursor, 2);
	press(b, "/work\r");
	assert_int_equal(st_tui_top(&b->t)->cursor, 3);
	press(b, "n"); /* around the end */
	assert_int_equal(st_tui_top(&b->t)->cursor, 1);
	press(b, "n"); /* the call of itself was not shown */
	assert_rows(b, (const char *[]){"- main [app]", " - work [app]", "    work [app]",
	                                "   Übung [app]", "  work [app]", NULL});
	assert_int_equal(st_tui_top(&b->t)->cursor, 2);
	press(b, "NN");
	assert_int_equal(st_tui_top(&b->t)->cursor, 4);
	press(b, "/nothing\r");
	assert_string_equal(b->t.message, "no row has 'nothing'");
	assert_int_equal(st_tui_top(&b->t)->cursor, 4);
	browser_end(b);
}

/* Esc goes back to the row in which the search began, although rows above it were expanded. */
static void
test_a_search_that_is_given_up(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), "calls", NULL);
	press(b, "j/bung");
	assert_rows(b, (const char *[]){"- main [app]", " + work [app]", "   Übung [app]",
	                                "  work [app]", NULL});
	assert_int_equal(st_tui_top(&b->t)->cursor, 2);
	st_tui_press(&b->t, ST_TUI_ESCAPE);
	assert_int_equal(st_tui_top(&b->t)->cursor, 3);
	press(b, "k-g/bung"); /* rows below it do not move it */
	st_tui_press(&b->t, ST_TUI_ESCAPE);
	assert_int_equal(st_tui_top(&b->t)->cursor, 0);
	browser_end(b);
}

/* Backwards, the last match below a row comes first; upwards, callers are searched. */
static void
test_search_backwards_and_among_callers(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), "calls", NULL);
	press(b, "/work\rg-GN");
	assert_rows(b, (const char *[]){"- main [app]", " - work [app]", "    work [app]",
	                                "   Übung [app]", "  work [app]", NULL});
	assert_int_equal(st_tui_top(&b->t)->cursor, 2);
	browser_end(b);
	b = browser_of(profile_of_calls(), "callers", NULL);
	press(b, "/main\r");
	assert_rows(b, (const char *[]){"- work [app]", "   main [app]", " + work [app]",
	                                "+ Übung [app]", "+ main [app]", NULL});
	assert_int_equal(st_tui_top(&b->t)->cursor, 1);
	press(b, "n"); /* main called work, which called itself */
	assert_rows(b, (const char *[]){"- work [app]", "   main [app]", " - work [app]",
	                                "    main [app]", "+ Übung [app]", "+ main [app]", NULL});
	assert_int_equal(st_tui_top(&b->t)->cursor, 3);
	browser_end(b);
}

static void
test_the_page_of_a_function(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), NULL, NULL);
	press(b, "\r"); /* work */
	assert_string_equal(st_tui_top(&b->t)->title, "work");
	assert_line_of_page(b, "  /usr/bin/app, offset 0x2000, 16 bytes");
	assert_line_of_page(b, "  self 90.00 % of the program's time, 90 samples, 12 calls, 500 "
	                       "instructions");
	assert_line_of_page(b, "callers by samples");
	press(b, "\r");
	assert_string_equal(b->t.message, "this line leads to no other function");
	press(b, "]");
	press(b, "j\r"); /* its caller */
	assert_string_equal(st_tui_top(&b->t)->title, "main");
	assert_line_of_page(b, "callees by samples");
	assert_line_of_page(b, "            70   70.00 %  work [app]");
	assert_line_of_page(b, "             7    7.00 %  Übung [app]");
	press(b, "]j\r");
	assert_int_equal(b->t.pages.n, 4);
	assert_string_equal(st_tui_top(&b->t)->title, "work");
	press(b, "[");
	assert_string_equal(b->t.message, "there is no further heading");
	st_tui_press(&b->t, ST_TUI_LEFT);
	st_tui_press(&b->t, ST_TUI_LEFT);
	st_tui_press(&b->t, ST_TUI_LEFT);
	assert_string_equal(st_tui_top(&b->t)->title, "functions by samples");
	browser_end(b);
}

/* Enter in a tree opens the function of the row. */
static void
test_functions_of_trees(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), "calls", NULL);
	press(b, "j\r");
	assert_string_equal(st_tui_top(&b->t)->title, "work");
	press(b, "]j\r");
	assert_string_equal(st_tui_top(&b->t)->title, "main");
	browser_end(b);
}

static void
test_pages_are_not_opened_without_end(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), NULL, NULL);
	press(b, "\r");
	for (size_t i = 0; i < 63; i++)
		press(b, "]j\r");
	assert_int_equal(b->t.pages.n, 64);
	assert_string_equal(b->t.message, "too many pages are open: close some with Left");
	browser_end(b);
}

static void
test_choice_of_threads(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), NULL, NULL);
	press(b, "t");
	assert_rows(b,
	            (const char *[]){"all threads", "thread 41  app", "thread 42  worker", NULL});
	press(b, "G\r");
	assert_string_equal(st_tui_top(&b->t)->title, "functions by samples of thread 42 worker");
	assert_rows(b, (const char *[]){"work [app]", NULL});
	assert_cell(b, 0, "self %", "100.00");
	assert_cell(b, 0, "total", "20");
	st_tui_press(&b->t, ST_TUI_TAB);
	assert_string_equal(st_tui_top(&b->t)->title, "calls by samples of thread 42 worker");
	assert_rows(b, (const char *[]){"  work [app]", NULL});
	press(b, "tg\r");
	assert_string_equal(st_tui_top(&b->t)->title, "calls by samples");
	assert_int_equal(st_tui_top(&b->t)->n, 2);
	press(b, "t");
	press(b, "j\r");
	assert_rows(b, (const char *[]){"+ main [app]", NULL});
	assert_cell(b, 0, "total %", "100.00");
	browser_end(b);
	b = browser_of(profile_of_functions(), NULL, NULL);
	press(b, "t");
	assert_string_equal(b->t.message,
	                    "the profile does not tell threads apart, or has one only");
	browser_end(b);
}

static void
test_choice_of_processes(void **state)
{
	(void)state;
	struct st_profile *p = profile_of_calls();
	struct st_profile_process *process = ST_PUSH(&p->processes);
	*process = (struct st_profile_process){.pid = 50, .ppid = 40, .command = "child"};
	p->threads.v[1].process = 1;
	struct browser *b = browser_of(p, "calls", NULL);
	press(b, "t");
	assert_rows(b, (const char *[]){"all threads", "process 40  app", "process 50  child",
	                                "thread 41  app", "thread 42  worker", NULL});
	press(b, "jj\r");
	assert_string_equal(st_tui_top(&b->t)->title, "calls by samples of process 50");
	assert_rows(b, (const char *[]){"  work [app]", NULL});
	browser_end(b);
}

static void
test_choice_of_the_metric(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_calls(), NULL, NULL);
	press(b, "m");
	assert_rows(b, (const char *[]){"samples", "instructions", "calls", "blocks", NULL});
	press(b, "j\r");
	assert_string_equal(st_tui_top(&b->t)->title, "functions by instructions");
	assert_cell(b, 0, "self %", "50.00");
	assert_cell(b, 1, "self %", "30.00");
	assert_cell(b, 1, "function", "Übung [app]");
	press(b, "\tm");
	assert_string_equal(b->t.message, "the profile has one metric only: samples");
	browser_end(b);
	b = browser_of(profile_of_functions(), "images", NULL);
	press(b, "m");
	assert_string_equal(b->t.message, "this page has no choice of metrics");
	browser_end(b);
}

/* A profile of strobe paths --time: functions are known by their contexts only. */
static struct st_profile *
profile_of_paths(void)
{
	struct st_profile *p = profile_of_calls();
	p->run.has_functions = false;
	p->run.stacks = 0;
	p->run.tool = "contexts:time=1";
	st_profile_tools_of_text(p);
	for (size_t i = 0; i < p->contexts.n; i++)
		p->contexts.v[i].self_ns = i == 1 ? 4000000 : 1000000;
	return p;
}

static void
test_metrics_of_contexts(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_paths(), NULL, NULL);
	assert_string_equal(st_tui_top(&b->t)->title, "functions by time");
	assert_cell(b, 0, "self %", "75.00");
	assert_cell(b, 0, "self", "6.0 ms");
	assert_cell(b, 0, "total", "6.0 ms"); /* its call of itself counts once */
	press(b, "mj\r");
	assert_string_equal(st_tui_top(&b->t)->title, "functions by count");
	assert_cell(b, 0, "self", "90");
	press(b, "\r");
	assert_line_of_page(b, "  The profile has no counts of lines and instructions: strobe run "
	                       "-t hot has.");
	assert_line_of_page(b, "callers by count");
	assert_line_of_page(b, "            60   60.00 %  main [app]");
	assert_line_of_page(b, "            10   10.00 %  work [app]");
	browser_end(b);
}

static void
test_metrics_that_were_measured(void **state)
{
	(void)state;
	struct st_profile *p = profile_of_paths();
	p->run.tool = "contexts:time=1,instructions=1";
	p->run.tools.n = p->run.tool_options.n = 0;
	st_profile_tools_of_text(p);
	struct browser *b = browser_of(p, "calls", NULL);
	press(b, "m");
	assert_rows(b, (const char *[]){"time", "instructions", "count", NULL});
	browser_end(b);
}

/* Of wall time its parts; what threads waited for are rows like functions. */
static void
test_parts_of_wall_time(void **state)
{
	(void)state;
	struct st_profile *p = profile_of_calls();
	p->run.tool = "hot:wall=1";
	st_profile_tools_of_text(p);
	for (size_t i = 0; i < p->contexts.n; i++)
		p->contexts.v[i].self_ns = 1000000;
	p->labels.v[UEBUNG].image = UINT32_MAX; /* work waits, for a lock */
	p->labels.v[UEBUNG].function = UINT32_MAX;
	p->labels.v[UEBUNG].offset = ST_LABEL_KINDS + ST_STACK_LOCK;
	p->contexts.v[3].parent = 1;
	struct browser *b = browser_of(p, "calls", NULL);
	press(b, "m");
	assert_rows(b, (const char *[]){"wall", "on-cpu", "waiting", "samples", NULL});
	press(b, "jj\r*");
	assert_string_equal(st_tui_top(&b->t)->title, "calls by waiting");
	assert_rows(b, (const char *[]){"- main [app]", " - work [app]", "    [lock]", NULL});
	assert_cell(b, 2, "waiting", "1.0 ms");
	press(b, "m\033mk\r");
	assert_string_equal(st_tui_top(&b->t)->title, "calls by on-cpu");
	assert_cell(b, 0, "on-cpu", "3.0 ms");
	press(b, "mG\r");
	assert_cell(b, 0, "samples", "80");
	browser_end(b);
}

/* Whatever is pressed, on screens of any size, there is a page and a frame of it. */
static void
test_any_keys(void **state)
{
	(void)state;
	static const int keys[] = {'j',
	                           'k',
	                           ' ',
	                           'g',
	                           'G',
	                           '+',
	                           '-',
	                           '*',
	                           '/',
	                           'w',
	                           'm',
	                           'n',
	                           'N',
	                           's',
	                           'r',
	                           't',
	                           'v',
	                           '<',
	                           '>',
	                           '[',
	                           ']',
	                           '\r',
	                           '\t',
	                           '?',
	                           'x',
	                           0xdc,
	                           ST_TUI_UP,
	                           ST_TUI_DOWN,
	                           ST_TUI_LEFT,
	                           ST_TUI_RIGHT,
	                           ST_TUI_PAGE_UP,
	                           ST_TUI_PAGE_DOWN,
	                           ST_TUI_ESCAPE,
	                           '\r',
	                           ST_TUI_BACKSPACE,
	                           ST_TUI_HELP,
	                           ST_TUI_END};
	struct browser *b = browser_of(profile_of_calls(), NULL, NULL);
	uint64_t random = 1;
	for (size_t i = 0; i < 20000; i++) {
		struct st_tui_frame f;
		random = random * 6364136223846793005u + 1442695040888963407u;
		const uint64_t r = random >> 33;
		const size_t lines = 1 + r % 30, columns = 1 + r / 30 % 90;
		st_tui_press(&b->t, keys[r / 2700 % (sizeof keys / sizeof *keys)]);
		assert_false(b->t.quit);
		assert_in_range(st_tui_top(&b->t)->cursor, 0,
		                st_tui_top(&b->t)->n ? st_tui_top(&b->t)->n - 1 : 0);
		assert_int_equal(st_tui_frame_make(&f, &b->t, lines, columns), 0);
		assert_int_equal(f.lines.n, lines);
		st_tui_frame_free(&f);
	}
	browser_end(b);
}

static void
test_rows_of_tables_lead_to_functions(void **state)
{
	(void)state;
	struct st_profile *p = profile_of_functions();
	struct st_profile_table *t = ST_PUSH(&p->tables);
	*t = (struct st_profile_table){.name = "pairs",
	                               .help = "calls by caller and callee",
	                               .tool = "calls",
	                               .n_columns = 3,
	                               .n_keys = 2,
	                               .columns = {{"caller", STROBE_FUNCTION, STROBE_IS_KEY},
	                                           {"callee", STROBE_FUNCTION, STROBE_IS_KEY},
	                                           {"count", STROBE_NUMBER, STROBE_IS_SUM}}};
	const struct st_profile_value rows[] = {{0x1000, "main", 0, MAIN},
	                                        {0x2000, "work", 0, WORK},
	                                        {.number = 12},
	                                        {0x2000, "work", 0, WORK},
	                                        {0x99, NULL, UINT32_MAX, UINT32_MAX},
	                                        {.number = 5},
	                                        {0x98, NULL, UINT32_MAX, UINT32_MAX},
	                                        {0x99, NULL, UINT32_MAX, UINT32_MAX},
	                                        {.number = 1}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		*ST_PUSH(&t->values) = rows[i];
	struct browser *b = browser_of(p, "pairs", NULL);
	assert_string_equal(st_tui_top(&b->t)->title, "pairs: calls by caller and callee");
	assert_cell(b, 0, "callee", "work [app]");
	press(b, "\r");
	assert_rows(b, (const char *[]){"caller: main", "callee: work", NULL});
	press(b, "j\r");
	assert_string_equal(st_tui_top(&b->t)->title, "work");
	assert_line_of_page(b, "pairs: calls by caller and callee");
	assert_line_of_page(b, "  count  caller      callee");
	assert_line_of_page(b, "     12  main [app]  work [app]");
	assert_line_of_page(b, "      5  work [app]  0x99");
	press(b, "/12  main\r\r"); /* the other function of the row */
	assert_string_equal(st_tui_top(&b->t)->title, "main");
	assert_line_of_page(b, "     12  main [app]  work [app]");
	st_tui_press(&b->t, ST_TUI_ESCAPE);
	st_tui_press(&b->t, ST_TUI_ESCAPE);
	press(b, "j\r"); /* only one is known */
	assert_string_equal(st_tui_top(&b->t)->title, "work");
	st_tui_press(&b->t, ST_TUI_ESCAPE);
	press(b, "j\r");
	assert_string_equal(st_tui_top(&b->t)->title, "row"); /* none is: its columns */
	assert_line_of_page(b, "               count  1");
	assert_int_equal(st_tui_top(&b->t)->n, 3);
	press(b, "q");
	assert_false(b->t.quit);
	browser_end(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_tree_of_calls),
	        cmocka_unit_test(test_the_hottest_way_down),
	        cmocka_unit_test(test_tree_of_callers),
	        cmocka_unit_test(test_search_expands_what_leads_to_a_match),
	        cmocka_unit_test(test_a_search_that_is_given_up),
	        cmocka_unit_test(test_search_backwards_and_among_callers),
	        cmocka_unit_test(test_the_page_of_a_function),
	        cmocka_unit_test(test_functions_of_trees),
	        cmocka_unit_test(test_pages_are_not_opened_without_end),
	        cmocka_unit_test(test_choice_of_threads),
	        cmocka_unit_test(test_choice_of_processes),
	        cmocka_unit_test(test_choice_of_the_metric),
	        cmocka_unit_test(test_metrics_of_contexts),
	        cmocka_unit_test(test_parts_of_wall_time),
	        cmocka_unit_test(test_metrics_that_were_measured),
	        cmocka_unit_test(test_any_keys),
	        cmocka_unit_test(test_rows_of_tables_lead_to_functions),
	};
	return cmocka_run_group_tests_name("tui_calls", tests, use_utf8, NULL);
}
