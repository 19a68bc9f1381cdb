/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile that is made in memory, and a browser of it. */
#ifndef STROBE_TESTS_TUI_BROWSER_H
#define STROBE_TESTS_TUI_BROWSER_H

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/frame.h"
#include "tui/pages.h"
#include "tui/width.h"

static inline void
add_function(struct st_profile *p, const char *name, uint64_t samples, uint64_t calls,
             uint64_t instructions)
{
	struct st_profile_function *f = ST_PUSH(&p->functions);
	assert_non_null(f);
	*f = (struct st_profile_function){.name = name,
	                                  .offset = 0x1000 * p->functions.n,
	                                  .size = 16,
	                                  .calls_exact = true,
	                                  .samples = samples,
	                                  .calls = calls,
	                                  .executions = calls,
	                                  .instructions = instructions};
}

/* Functions with 100 samples and 1,000 instructions in all. */
static inline struct st_profile *
profile_of_functions(void)
{
	struct st_profile *p = st_profile_new();
	assert_non_null(p);
	struct st_profile_image *image = ST_PUSH(&p->images);
	*image = (struct st_profile_image){
	        .path = "/usr/bin/app", .build_id = "", .symbols = "full"};
	p->run.has_functions = true;
	p->run.tool = "hot";
	p->run.samples_code = 100;
	p->run.stacks = 100;
	image->samples = 100;
	image->instructions = 1000;
	add_function(p, "main", 3, 1, 100);
	add_function(p, "work", 90, 12, 500);
	add_function(p, "Übung", 7, 5, 300);
	add_function(p, "idle", 0, 2, 100);
	return p;
}

static inline void
add_context(struct st_profile *p, uint32_t thread, uint32_t parent, uint32_t function,
            uint64_t samples)
{
	struct st_profile_context *x = ST_PUSH(&p->contexts);
	assert_non_null(x);
	*x = (struct st_profile_context){.thread = thread,
	                                 .parent = parent,
	                                 .label = function,
	                                 .link = UINT32_MAX,
	                                 .count = samples};
}

enum { MAIN, WORK, UEBUNG };

/* The same with stacks of two threads: main calls work, which calls itself, and Übung; the other
 * thread begins with work. */
static inline struct st_profile *
profile_of_calls(void)
{
	struct st_profile *p = profile_of_functions();
	struct st_profile_process *process = ST_PUSH(&p->processes);
	*process = (struct st_profile_process){.pid = 40, .command = "app"};
	for (int64_t i = 0; i < 2; i++) {
		struct st_profile_thread *t = ST_PUSH(&p->threads);
		*t = (struct st_profile_thread){.tid = 41 + i, .name = i ? "worker" : "app"};
	}
	for (uint32_t i = 0; i < 3; i++) {
		struct st_profile_label *l = ST_PUSH(&p->labels);
		*l = (struct st_profile_label){
		        .function = i, .offset = p->functions.v[i].offset, .next = UINT32_MAX};
	}
	add_context(p, 0, UINT32_MAX, MAIN, 3);
	add_context(p, 0, 0, WORK, 60);
	add_context(p, 0, 1, WORK, 10);
	add_context(p, 0, 0, UEBUNG, 7);
	add_context(p, 1, UINT32_MAX, WORK, 20);
	return p;
}

struct browser {
	struct st_profile *profile;
	struct st_tui t;
};

static inline struct browser *
browser_of(struct st_profile *p, const char *table, const char *sort)
{
	struct browser *b = calloc(1, sizeof *b);
	struct st_error e;
	b->profile = p;
	assert_int_equal(st_tui_open(&b->t, p, "app.db",
	                             &(struct st_tui_begin){.table = table, .sort = sort}, &e),
	                 0);
	return b;
}

static inline void
browser_end(struct browser *b)
{
	st_tui_close(&b->t);
	st_profile_free(b->profile);
	free(b);
}

static inline void
press(struct browser *b, const char *keys)
{
	for (; *keys; keys++)
		st_tui_press(&b->t, (unsigned char)*keys);
}

static inline char *
cell(const struct st_tui_page *p, size_t row, const char *title)
{
	for (size_t c = 0; c < p->columns.n; c++)
		if (!strcmp(p->columns.v[c].title, title))
			return p->kind->cell(p, row, c);
	fail_msg("no column %s", title);
	return NULL;
}

static inline void
assert_cell(const struct browser *b, size_t row, const char *title, const char *text)
{
	char *made = cell(st_tui_top(&b->t), row, title);
	assert_string_equal(made, text);
	free(made);
}

static inline void
assert_at(const struct browser *b, const char *name)
{
	assert_cell(b, st_tui_top(&b->t)->cursor, "function", name);
}

static inline void
assert_line(struct browser *b, size_t lines, size_t columns, size_t line, const char *text)
{
	struct st_tui_frame f;
	assert_int_equal(st_tui_frame_make(&f, &b->t, lines, columns), 0);
	assert_int_equal(f.lines.n, lines);
	for (size_t i = 0; i < f.lines.n; i++)
		assert_int_equal(st_tui_width(f.lines.v[i].text), columns);
	char *trimmed = strdup(f.lines.v[line].text);
	for (size_t n = strlen(trimmed); n && trimmed[n - 1] == ' '; n--)
		trimmed[n - 1] = '\0';
	assert_string_equal(trimmed, text);
	free(trimmed);
	st_tui_frame_free(&f);
}

static inline void
assert_rows(const struct browser *b, const char *const *names)
{
	const struct st_tui_page *p = st_tui_top(&b->t);
	size_t n = 0;
	for (; names[n]; n++) {
		char *row = n < p->n ? p->kind->cell(p, n, p->columns.n - 1) : strdup("(none)");
		assert_string_equal(row, names[n]);
		free(row);
	}
	assert_int_equal(p->n, n);
}

static inline void
assert_line_of_page(const struct browser *b, const char *text)
{
	const struct st_tui_page *p = st_tui_top(&b->t);
	for (size_t i = 0; i < p->n; i++) {
		char *row = p->kind->cell(p, i, 0);
		const bool same = !strcmp(row, text);
		free(row);
		if (same)
			return;
	}
	fail_msg("no line '%s'", text);
}

static inline int
use_utf8(void **state)
{
	(void)state;
	return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

#endif
