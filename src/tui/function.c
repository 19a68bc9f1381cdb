/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of a function: what it cost, its callers and callees, its source and disassembly. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/annotate.h"
#include "tui/function_rows.h"
#include "tui/pages.h"

/* A line: of text, or of a caller or callee, which Enter opens. */
struct function_line {
	char *text;
	enum st_tui_look look;
	bool leads;
	uint32_t function, label; /* as in struct st_tui_link */
};

struct function_page {
	const struct st_tui_calls *calls;
	ST_VEC(struct function_line) lines;
};

static char *
function_page_cell(const struct st_tui_page *p, size_t row, size_t column)
{
	const struct function_page *of = p->of;
	(void)column;
	return st_printable(of->lines.v[row].text);
}

static enum st_tui_look
function_page_look(const struct st_tui_page *p, size_t row)
{
	const struct function_page *of = p->of;
	return of->lines.v[row].look;
}

static void
function_page_open(struct st_tui *t, struct st_tui_page *p, size_t row)
{
	const struct function_page *of = p->of;
	const struct function_line *line = &of->lines.v[row];
	if (!line->leads) {
		st_tui_say(t, "this line leads to no other function");
		return;
	}
	st_tui_open_function(t, &(struct st_tui_link){NULL, line->function, line->label});
}

static void
function_page_free(struct st_tui_page *p)
{
	struct function_page *of = p->of;
	for (size_t i = 0; of && i < of->lines.n; i++)
		free(of->lines.v[i].text);
	if (of)
		free(of->lines.v);
	free(of);
}

static const struct st_tui_kind function_page_kind = {
        .keys = "[ ] parts  Enter open caller, callee",
        .cell = function_page_cell,
        .look = function_page_look,
        .open = function_page_open,
        .free = function_page_free};

/* Adds a line; the page owns the text from then on. */
static st_status
function_page_add(struct function_page *of, char *text, enum st_tui_look look)
{
	struct function_line *line = text ? ST_PUSH(&of->lines) : NULL;
	if (!line) {
		free(text);
		return ST_FAILED;
	}
	*line = (struct function_line){.text = text, .look = look};
	return ST_OK;
}

static st_status
function_page_head(struct function_page *of, const char *title)
{
	if (of->lines.n && function_page_add(of, strdup(""), ST_TUI_PLAIN))
		return ST_FAILED;
	return function_page_add(of, strdup(title), ST_TUI_HEAD);
}

/* Adds lines of text; the text is freed. */
static st_status
function_page_text(struct function_page *of, char *text)
{
	st_status status = text ? ST_OK : ST_FAILED;
	for (char *rest = text, *line; rest && *rest && !status;) {
		line = strsep(&rest, "\n");
		if (*line || (of->lines.n && of->lines.v[of->lines.n - 1].look != ST_TUI_HEAD))
			status = function_page_add(of, strdup(line), ST_TUI_PLAIN);
	}
	free(text);
	return status;
}

/* ---- callers and callees ---- */

/* Makes Enter on the last line open a function. */
static void
function_page_lead(struct function_page *of, uint32_t function, uint32_t label)
{
	struct function_line *line = &of->lines.v[of->lines.n - 1];
	line->leads = true;
	line->function = function;
	line->label = label;
}

static st_status
function_page_pair(struct function_page *of, const struct st_tui_pair *pair)
{
	const double percent = st_tui_calls_percent(of->calls, pair->value);
	char *name = st_tui_calls_name(of->calls, pair->label);
	char *value = st_tui_calls_value(of->calls, pair->value);
	char *text = name && value ? st_text_of("%14s %7.2f %%  %s", value, percent, name) : NULL;
	free(name);
	free(value);
	if (function_page_add(of, text, st_tui_look_of_percent(percent)))
		return ST_FAILED;
	const struct st_context_label *l = &of->calls->costs.contexts.labels[pair->label];
	function_page_lead(of, l->in_function, pair->label);
	return ST_OK;
}

static st_status
function_page_pairs(struct st_tui *t, struct function_page *of, uint32_t label, bool callers,
                    struct st_error *e)
{
	st_tui_pairs pairs;
	char *metric = st_tui_calls_title(&t->calls);
	char *title =
	        metric ? st_text_of("%s by %s", callers ? "callers" : "callees", metric) : NULL;
	st_status status = st_tui_calls_pairs(&t->calls, label, callers, &pairs, e);
	bool bad = !title;
	if (!status && pairs.n && !bad)
		bad = function_page_head(of, title);
	for (size_t i = 0; i < pairs.n && !status && !bad; i++)
		bad = function_page_pair(of, &pairs.v[i]);
	free(pairs.v);
	free(metric);
	free(title);
	return bad && !status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the callers")
	                      : status;
}

/* ---- rows of tables ---- */

static st_status
function_page_rows_head(void *of, const char *title)
{
	return title ? function_page_head(of, title) : ST_FAILED;
}

static st_status
function_page_row(void *of, char *text, uint32_t function)
{
	if (function_page_add(of, text, ST_TUI_PLAIN))
		return ST_FAILED;
	if (function != UINT32_MAX)
		function_page_lead(of, function, UINT32_MAX);
	return ST_OK;
}

static st_status
function_page_rows(struct function_page *of, const struct st_profile *p, uint32_t function)
{
	const struct st_tui_rows_taker taker = {function_page_rows_head, function_page_row, of};
	return function < p->functions.n ? st_tui_rows_of_function(p, function, &taker) : ST_OK;
}

/* ---- source and code ---- */

static char *
function_page_print(const struct st_annotation *a, void (*print)(const struct st_annotation *))
{
	struct st_text built;
	struct st_annotation to = *a;
	to.out = st_text_begin(&built);
	if (!to.out)
		return NULL;
	print(&to);
	return st_text_end(&built);
}

static st_status
function_page_part(struct function_page *of, const struct st_annotation *a, const char *title,
                   void (*print)(const struct st_annotation *))
{
	char *text = function_page_print(a, print);
	if (text && *text && title && function_page_head(of, title)) {
		free(text);
		return ST_FAILED;
	}
	return function_page_text(of, text);
}

static st_status
function_page_need_places(struct st_tui *t, struct st_error *e)
{
	if (t->annotates)
		return ST_OK;
	if (st_places_open(&t->places, t->profile))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the images");
	if (st_branches_open(&t->branches, t->profile)) {
		st_branches_close(&t->branches);
		st_places_close(&t->places);
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the branches");
	}
	t->annotates = true;
	return ST_OK;
}

/* Says that the profile has no counts of lines and instructions, as it has none of functions. */
static st_status
function_page_uncounted(struct function_page *of, const struct st_tui *t, uint32_t function)
{
	const struct st_profile_function *f =
	        function < t->profile->functions.n ? &t->profile->functions.v[function] : NULL;
	if (f && f->file &&
	    function_page_add(of, st_text_of("  %s:%" PRIu32, f->file, f->line), ST_TUI_PLAIN))
		return ST_FAILED;
	return function_page_add(
	        of,
	        strdup("  The profile has no counts of lines and instructions: strobe run -t hot "
	               "has."),
	        ST_TUI_PLAIN);
}

static st_status
function_page_fill(struct st_tui *t, struct function_page *of, const struct st_tui_link *link,
                   struct st_error *e)
{
	const struct st_report r = {.profile = t->profile};
	const bool counted =
	        t->profile->run.has_functions && link->function < t->profile->functions.n;
	struct st_annotation a = {&r, &t->places, NULL, link->function, &t->branches};
	uint32_t label = link->label;
	if (counted && function_page_need_places(t, e))
		return ST_FAILED;
	bool bad = counted ? function_page_part(of, &a, NULL, st_annotate_head)
	                   : function_page_uncounted(of, t, link->function);
	if (!bad && st_tui_has_calls(t->profile)) {
		if (st_tui_calls_need(&t->calls, e))
			return ST_FAILED;
		if (label == UINT32_MAX)
			label = st_tui_calls_label(&t->calls, link->function);
		if (label != UINT32_MAX && (function_page_pairs(t, of, label, true, e) ||
		                            function_page_pairs(t, of, label, false, e)))
			return ST_FAILED;
	}
	if (!bad)
		bad = function_page_rows(of, t->profile, link->function);
	if (!bad && counted)
		bad = function_page_part(of, &a, "source", st_annotate_source) ||
		      function_page_part(of, &a, "disassembly", st_annotate_code);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left for the function") : ST_OK;
}

static char *
function_page_name(const struct st_tui *t, const struct st_tui_link *link)
{
	if (link->function < t->profile->functions.n)
		return st_text_of("%s", t->profile->functions.v[link->function].name);
	return link->label == UINT32_MAX
	               ? NULL
	               : st_text_of("%s", t->calls.costs.contexts.labels[link->label].name);
}

struct st_tui_page *
st_tui_function_page(struct st_tui *t, const struct st_tui_link *link, struct st_error *e)
{
	char *name = function_page_name(t, link);
	struct st_tui_page *p = name ? st_tui_page_new(&function_page_kind, "%s", name) : NULL;
	struct function_page *of = p ? calloc(1, sizeof *of) : NULL;
	free(name);
	st_cause(e, ST_EXIT_FAILED, "no memory left for the function");
	if (of) {
		p->of = of;
		of->calls = &t->calls;
		if (!st_tui_page_add_column(p, "", true) && !function_page_fill(t, of, link, e)) {
			p->n = of->lines.n;
			return p;
		}
	}
	st_tui_page_free(p);
	return NULL;
}

void
st_tui_open_function(struct st_tui *t, const struct st_tui_link *link)
{
	enum { DEEPEST = 64 };
	struct st_error e;
	if (t->pages.n >= DEEPEST) {
		st_tui_say(t, "too many pages are open: close some with Left");
		return;
	}
	struct st_tui_page *p = st_tui_function_page(t, link, &e);
	if (p)
		st_tui_push(t, p);
	else
		st_tui_say(t, "%s", e.text);
}
