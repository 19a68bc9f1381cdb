/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calling contexts of a profile, for the page: as `strobe paths --format json` writes them. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/contexts_limit.h"
#include "report/json.h"
#include "report/page.h"

/* A page with more nodes is of no use to a browser, and deeper JSON is not read by the library that
 * we have for it: two of its levels are one of a tree. */
enum { MOST_NODES = 100000, MOST_LEVELS = 1000, MOST_LINES = 20000 };

/* The text is released. */
static json_t *
page_paths_parse(char *text, size_t size)
{
	json_t *paths = text ? json_loadb(text, size, 0, NULL) : NULL;
	free(text);
	return paths;
}

static json_t *
contexts_of(const struct st_contexts *c)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	st_contexts_json(c, out);
	char *text = st_text_end(&built);
	return page_paths_parse(text, built.n);
}

/* ---- where loops are ---- */

struct line {
	uint32_t label; /* one of it */
	uint64_t executions;
};

/* By function, file and line. */
static int
page_paths_compare_places(const void *a, const void *b, void *contexts)
{
	const struct st_contexts *c = contexts;
	const struct st_context_label *x = &c->labels[((const struct line *)a)->label];
	const struct st_context_label *y = &c->labels[((const struct line *)b)->label];
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	int order = strcmp(x->file, y->file);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int
compare_executions(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	if (x->executions != y->executions)
		return x->executions < y->executions ? 1 : -1;
	return x->label < y->label ? -1 : x->label > y->label;
}

/* Lines of functions that have loops, each once, as often as the block on it that was executed
 * most. How many there are. */
static size_t
list_lines(const struct st_contexts *c, const bool *has_loop, struct line *lines)
{
	size_t n = 0, kept = 0;
	for (uint32_t i = 0; i < c->n_labels; i++) {
		const struct st_context_label *l = &c->labels[i];
		if (l->seen && l->file && has_loop[l->function])
			lines[n++] = (struct line){i, l->count};
	}
	qsort_r(lines, n, sizeof *lines, page_paths_compare_places, (void *)(uintptr_t)c);
	for (size_t i = 0; i < n; i++) {
		bool same = kept && !page_paths_compare_places(&lines[kept - 1], &lines[i],
		                                               (void *)(uintptr_t)c);
		if (!same)
			lines[kept++] = lines[i];
		else if (lines[i].executions > lines[kept - 1].executions)
			lines[kept - 1].executions = lines[i].executions;
	}
	qsort(lines, kept, sizeof *lines, compare_executions);
	return kept < MOST_LINES ? kept : MOST_LINES;
}

static json_t *
write_lines(const struct st_contexts *c, const struct line *lines, size_t n)
{
	json_t *out = json_array();
	int bad = !out;
	for (size_t i = 0; i < n && !bad; i++) {
		const struct st_context_label *l = &c->labels[lines[i].label];
		bad = json_array_append_new(
		        out, json_pack("{s:o, s:i, s:o, s:I}", "file", st_json_text(l->file),
		                       "line", (int)l->line, "function", st_json_text(l->name),
		                       "executions", (json_int_t)lines[i].executions));
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
loop_lines_of(const struct st_contexts *c)
{
	bool *has_loop = calloc(c->n_labels + 1, sizeof *has_loop);
	struct line *lines = calloc(c->n_labels + 1, sizeof *lines);
	json_t *out = NULL;
	for (uint32_t i = 0; has_loop && i < c->n_labels; i++)
		if (c->labels[i].loop)
			has_loop[c->labels[i].function] = true;
	if (has_loop && lines)
		out = write_lines(c, lines, list_lines(c, has_loop, lines));
	free(has_loop);
	free(lines);
	return out;
}

json_t *
st_page_paths(const struct st_profile *p, size_t *left_out, json_t **loop_lines)
{
	static const struct st_context_limit limit = {.bytes = MOST_NODES, .levels = MOST_LEVELS};
	size_t own = p->contexts.n < MOST_NODES / 2 ? p->contexts.n : MOST_NODES / 2;
	const struct st_context_choice choice = {.kccf = true, .most_callers = MOST_NODES - own};
	struct st_context_options o;
	struct st_context_cut cut;
	struct st_contexts c;
	struct st_error e;
	json_t *paths = NULL;
	*left_out = 0;
	*loop_lines = NULL;
	if (!st_contexts_options(p, &o))
		return NULL;
	if (!st_contexts_make(&c, p, &choice, &e) &&
	    !st_contexts_cut(&c, &st_context_cost_nodes, &limit, &cut, &e)) {
		/* The trees of callers have the same contexts again. */
		*left_out = cut.contexts > cut.callers ? cut.contexts - cut.callers : cut.callers;
		paths = contexts_of(&c);
		if (c.with_loops)
			*loop_lines = loop_lines_of(&c);
	}
	st_contexts_free(&c);
	return paths;
}
