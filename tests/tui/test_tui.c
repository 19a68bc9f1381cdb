/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terminal browser without a terminal: what keys do to its state, and the lines of its screens.
 */
#include "browser.h"
#include "tui/bytes.h"

static void
test_functions_are_sorted_by_their_own_time(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), NULL, NULL);
	assert_string_equal(st_tui_top(&b->t)->title, "functions by samples");
	assert_int_equal(st_tui_top(&b->t)->n, 4);
	assert_at(b, "work [app]");
	assert_cell(b, 0, "self %", "90.00");
	assert_cell(b, 0, "calls", "12");
	assert_cell(b, 1, "function", "Übung [app]");
	assert_cell(b, 2, "self %", "3.00");
	assert_cell(b, 3, "function", "idle [app]");
	assert_int_equal(st_tui_top(&b->t)->kind->look(st_tui_top(&b->t), 0), ST_TUI_HOT);
	assert_int_equal(st_tui_top(&b->t)->kind->look(st_tui_top(&b->t), 2), ST_TUI_WARM);
	assert_int_equal(st_tui_top(&b->t)->kind->look(st_tui_top(&b->t), 3), ST_TUI_PLAIN);
	browser_end(b);
}

static void
test_the_cursor_stays_in_the_rows(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), NULL, NULL);
	b->t.height = 3;
	press(b, "kk");
	assert_at(b, "work [app]");
	press(b, "jj");
	assert_at(b, "main [app]");
	press(b, "jjjj");
	assert_at(b, "idle [app]");
	st_tui_press(&b->t, ST_TUI_PAGE_UP); /* a row of the screen before stays */
	assert_at(b, "Übung [app]");
	press(b, "g");
	assert_at(b, "work [app]");
	press(b, " ");
	assert_at(b, "main [app]");
	st_tui_press(&b->t, ST_TUI_END);
	assert_at(b, "idle [app]");
	browser_end(b);
}

static void
test_sorting_by_a_column_and_backwards(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), NULL, NULL);
	press(b, "s");
	assert_string_equal(st_tui_top(&b->t)->title, "sort by");
	assert_int_equal(st_tui_top(&b->t)->cursor, 0); /* self % is what they are sorted by */
	press(b, "G\r");                                /* function */
	assert_cell(b, 0, "function", "idle [app]");
	assert_cell(b, 3, "function", "Übung [app]");
	press(b, "r");
	assert_cell(b, 0, "function", "Übung [app]");
	press(b, "sk\r"); /* instructions, in its usual order again */
	assert_cell(b, 0, "instructions", "500");
	assert_cell(b, 2, "function", "main [app]"); /* before idle, which has as many: its time */
	browser_end(b);
}

static void
test_sorting_from_the_command_line(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), "functions", "name");
	struct st_tui t;
	struct st_error e;
	assert_at(b, "idle [app]");
	assert_int_equal(
	        st_tui_open(&t, b->profile, "app.db", &(struct st_tui_begin){.sort = "size"}, &e),
	        -1);
	assert_string_equal(e.text, "the first page has no column 'size'; s lists the columns");
	st_tui_close(&t);
	assert_int_equal(st_tui_open(&t, b->profile, "app.db",
	                             &(struct st_tui_begin){.table = "function"}, &e),
	                 -1);
	assert_string_equal(e.text,
	                    "the profile has no table 'function'; did you mean 'functions'?");
	assert_int_equal(e.code, ST_EXIT_USAGE);
	st_tui_close(&t);
	browser_end(b);
}

/* The whole name comes first, then a part of one. */
static void
test_function_of_the_command_line(void **state)
{
	(void)state;
	struct st_profile *p = profile_of_functions();
	p->functions.v[1].name = "main_loop"; /* before main in the list */
	static const char *const wanted[][2] = {
	        {"main", "main"}, {"ain_l", "main_loop"}, {"main_", "main_loop"}, {"idle", "idle"}};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		struct st_tui t;
		struct st_error e;
		const struct st_tui_begin begin = {.function = wanted[i][0]};
		assert_int_equal(st_tui_open(&t, p, "app.db", &begin, &e), 0);
		assert_int_equal(t.pages.n, 2);
		assert_string_equal(st_tui_top(&t)->title, wanted[i][1]);
		st_tui_close(&t);
	}
	st_profile_free(p);
}

static void
test_functions_that_wait(void **state)
{
	(void)state;
	struct st_profile *p = profile_of_functions();
	p->run.tool = "hot:wall=1";
	st_profile_tools_of_text(p);
	p->functions.v[0].waiting_ns = 2000000;
	p->functions.v[3].waiting_ns = 5000000;
	struct browser *b = browser_of(p, "functions", "waiting");
	assert_at(b, "idle [app]");
	assert_cell(b, 0, "waiting", "5.0 ms");
	assert_cell(b, 0, "calls", "2");
	assert_cell(b, 1, "function", "main [app]");
	assert_cell(b, 1, "waiting", "2.0 ms");
	browser_end(b);
}

static void
test_search_while_typing(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), NULL, NULL);
	press(b, "/m");
	assert_true(b->t.prompt.open);
	assert_at(b, "main [app]");
	press(b, "x");
	assert_at(b, "work [app]"); /* where it began */
	assert_string_equal(b->t.message, "no row has 'mx'");
	st_tui_press(&b->t, ST_TUI_BACKSPACE);
	assert_at(b, "main [app]");
	st_tui_press(&b->t, ST_TUI_ESCAPE);
	assert_false(b->t.prompt.open);
	assert_at(b, "work [app]");
	press(b, "n");
	assert_string_equal(b->t.message, "type / and what to search for first");
	browser_end(b);
}

static void
test_next_and_previous_match(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), NULL, NULL);
	press(b, "/i\r"); /* main, idle */
	assert_at(b, "main [app]");
	press(b, "n");
	assert_at(b, "idle [app]");
	press(b, "n"); /* around the end */
	assert_at(b, "main [app]");
	press(b, "NN");
	assert_at(b, "main [app]");
	press(b, "/Main\r");
	assert_string_equal(b->t.message, "no row has 'Main'"); /* a capital letter matters */
	press(b, "g/");
	st_tui_press(&b->t, 0xdc); /* Ü */
	assert_at(b, "Übung [app]");
	st_tui_press(&b->t, ST_TUI_BACKSPACE); /* both bytes */
	assert_string_equal(b->t.prompt.text, "");
	st_tui_press(&b->t, ST_TUI_BACKSPACE); /* as in vi: that was all */
	assert_false(b->t.prompt.open);
	browser_end(b);
}

static void
test_quit_closes_help_first(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), NULL, NULL);
	press(b, "?");
	assert_string_equal(st_tui_top(&b->t)->title, "keys");
	press(b, "?"); /* once is enough */
	assert_int_equal(b->t.pages.n, 2);
	press(b, "q");
	assert_false(b->t.quit);
	assert_int_equal(b->t.pages.n, 1);
	st_tui_press(&b->t, ST_TUI_ESCAPE);
	assert_int_equal(b->t.pages.n, 1); /* the first page stays */
	press(b, "q");
	assert_true(b->t.quit);
	browser_end(b);
}

static void
test_views_of_a_profile(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), NULL, NULL);
	press(b, "v");
	assert_string_equal(st_tui_top(&b->t)->title, "views");
	char *first = st_tui_row_text(st_tui_top(&b->t), 0);
	assert_string_equal(first, "functions\n");
	free(first);
	press(b, "/images\r\r");
	assert_string_equal(st_tui_top(&b->t)->title, "images");
	assert_cell(b, 0, "image", "/usr/bin/app");
	assert_int_equal(b->t.pages.n, 1);
	st_tui_press(&b->t, ST_TUI_TAB);
	assert_string_equal(st_tui_top(&b->t)->title, "summary");
	press(b, "sr");
	assert_string_equal(b->t.message, "the rows of this page have one order only");
	st_tui_press(&b->t, ST_TUI_TAB);
	assert_string_equal(st_tui_top(&b->t)->title, "functions by samples");
	press(b, "+");
	assert_string_equal(b->t.message,
	                    "this page is no tree: v chooses one, if the profile has calls");
	press(b, "x");
	assert_string_equal(b->t.message, "this key does nothing here: ? lists the keys");
	browser_end(b);
}

static void
test_a_frame_of_usual_size(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), NULL, NULL);
	assert_line(b, 24, 80, 0,
	            "app.db  functions by samples                                                 "
	            "1/4");
	assert_line(b, 24, 80, 1,
	            "self %  total %  samples  calls  blocks  instructions  function");
	assert_line(b, 24, 80, 2,
	            " 90.00    90.00       90     12      12           500  work [app]");
	assert_line(b, 24, 80, 23,
	            "? help  q quit  / search  v views  s sort  r reverse  Enter open");
	press(b, "/x");
	assert_line(b, 24, 80, 23, "/x   no row has 'x'");
	browser_end(b);
}

/* Every size has lines that are as wide as the screen; with two of them there is one for what is
 * typed. */
static void
test_frames_of_any_size(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), NULL, NULL);
	static const char *const keys[] = {"", "?", "qjj", "s", "q/m"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		press(b, keys[i]);
		for (size_t lines = 1; lines < 12; lines++)
			for (size_t columns = 1; columns < 50; columns++) {
				struct st_tui_frame f;
				assert_int_equal(st_tui_frame_make(&f, &b->t, lines, columns), 0);
				assert_int_equal(f.lines.n, lines);
				assert_true(f.line < lines && f.column < columns);
				for (size_t k = 0; k < lines; k++)
					assert_int_equal(st_tui_width(f.lines.v[k].text), columns);
				st_tui_frame_free(&f);
			}
	}
	assert_line(b, 2, 30, 1, "/m");
	browser_end(b);
}

static void
test_narrow_screens_leave_out_columns(void **state)
{
	(void)state;
	struct browser *b = browser_of(profile_of_functions(), NULL, NULL);
	assert_line(b, 5, 40, 1, "self %  total %  samples  function");
	assert_line(b, 5, 20, 1, "self %  function");
	press(b, ">>"); /* to the columns that had no space */
	assert_line(b, 5, 20, 1, "samples  function");
	press(b, "<<<");
	assert_line(b, 3, 20, 0, " 90.00  work [app]"); /* rows only */
	press(b, "jjj");
	assert_line(b, 3, 20, 2, "  0.00  idle [app]"); /* the cursor's row is on the screen */
	browser_end(b);
}

static void
test_long_names_are_cut_in_the_middle(void **state)
{
	(void)state;
	struct st_profile *p = profile_of_functions();
	p->functions.v[1].name =
	        "std::vector<std::pair<int, long>>::push_back(std::pair<int, long>)";
	struct browser *b = browser_of(p, NULL, NULL);
	assert_line(b, 12, 60, 2, " 90.00    90.00       90     12  std::vector<...long>) [app]");
	assert_line(b, 12, 60, 10, "std::vector<std::pair<int, lo...(std::pair<int, long>) [app]");
	assert_line(b, 12, 100, 2,
	            " 90.00    90.00       90     12      12           500  "
	            "std::vector<std::pair...air<int, long>) [app]");
	press(b, ">>");
	assert_line(b, 12, 100, 2,
	            " 90.00    90.00       90     12      12           500  "
	            ":pair<int, long>>::push_back(std::pair<int, l");
	press(b, "<<<");
	assert_line(b, 12, 60, 2, " 90.00    90.00       90     12  std::vector<...long>) [app]");
	browser_end(b);
}

static void
test_an_empty_profile_has_a_summary(void **state)
{
	(void)state;
	struct st_profile *p = st_profile_new();
	p->run.tool = "null";
	p->run.exit = -1;
	struct browser *b = browser_of(p, NULL, NULL);
	assert_string_equal(st_tui_top(&b->t)->title, "summary");
	press(b, "jk/x\r\rn\tq");
	assert_true(b->t.quit);
	browser_end(b);
}

static void
assert_fit(const char *text, size_t columns, bool left, const char *expected)
{
	char *made = st_tui_fit(text, columns, left);
	assert_string_equal(made, expected);
	free(made);
}

static void
test_widths(void **state)
{
	(void)state;
	assert_int_equal(st_tui_width("Übung"), 5);
	assert_int_equal(st_tui_width("中文"), 4);
	assert_int_equal(st_tui_width("e\xcc\x81"), 1); /* with an accent of its own */
	assert_int_equal(st_tui_width("\xff\xc3"), 2);  /* no characters */
	assert_fit("12", 4, false, "  12");
	assert_fit("ab", 4, true, "ab  ");
	assert_fit("abcdefghijkl", 8, true, "abc...kl");
	assert_fit("中文中文中文", 8, true, "中...文 "); /* half a character is none */
	assert_fit("abcdefgh", 3, true, "abc");
	assert_string_equal(st_tui_skip("中文x", 2), "文x");
}

/* What the bytes make, one after the other. */
static void
assert_characters(const char *bytes, const uint32_t *expected, size_t n)
{
	struct st_tui_bytes b = {0};
	size_t at = 0;
	for (; *bytes; bytes++) {
		const uint32_t c = st_tui_bytes_add(&b, (unsigned char)*bytes);
		if (!c)
			continue;
		assert_true(at < n);
		assert_int_equal(c, expected[at++]);
	}
	assert_int_equal(at, n);
}

static void
test_bytes_of_keys(void **state)
{
	(void)state;
	const uint32_t q = 'q', both[] = {0xf6, 'q'};
	assert_characters("q", &q, 1);
	assert_characters("ö\xf0\x90q", both, 2);
	assert_characters("\xc3öq", both, 2); /* the first byte alone, then all of it */
	assert_characters("文", &(uint32_t){0x6587}, 1);
	assert_characters("\xf0\x90\x8d\x88", &(uint32_t){0x10348}, 1);
	assert_characters("\xf4\x8f\xbf\xbf", &(uint32_t){0x10ffff}, 1);
	static const char *const skipped[] = {
	        "\x80q",         "\xe9q",         "\xffq",     "\xc0\x80q",
	        "\xe0\x80\x80q", "\xed\xa0\x80q", "\xe6\x96q", "\xf4\x90\x80\x80q"};
	for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
		assert_characters(skipped[i], &q, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_functions_are_sorted_by_their_own_time),
	        cmocka_unit_test(test_the_cursor_stays_in_the_rows),
	        cmocka_unit_test(test_sorting_by_a_column_and_backwards),
	        cmocka_unit_test(test_sorting_from_the_command_line),
	        cmocka_unit_test(test_function_of_the_command_line),
	        cmocka_unit_test(test_functions_that_wait),
	        cmocka_unit_test(test_search_while_typing),
	        cmocka_unit_test(test_next_and_previous_match),
	        cmocka_unit_test(test_quit_closes_help_first),
	        cmocka_unit_test(test_views_of_a_profile),
	        cmocka_unit_test(test_a_frame_of_usual_size),
	        cmocka_unit_test(test_frames_of_any_size),
	        cmocka_unit_test(test_narrow_screens_leave_out_columns),
	        cmocka_unit_test(test_long_names_are_cut_in_the_middle),
	        cmocka_unit_test(test_an_empty_profile_has_a_summary),
	        cmocka_unit_test(test_widths),
	        cmocka_unit_test(test_bytes_of_keys),
	};
	return cmocka_run_group_tests_name("tui", tests, use_utf8, NULL);
}
