/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the page is given: results as docs/json.md has them, and what else its views need to know.
 */
#include <stdlib.h>
#include <string.h>

#include "report/basic_blocks.h"
#include "report/json.h"
#include "report/page.h"
#include "report/page_shares.h"

enum { PAGE_VERSION = 1 };

json_t *
st_page_new(void)
{
	return json_pack("{s:{s:i, s:i}, s:[]}", "strobe", "version", PAGE_VERSION, "report",
	                 PAGE_VERSION, "results");
}

int
st_page_add_json(json_t *page, const char *label, json_t *result)
{
	json_t *entry = json_object();
	int bad = json_array_append_new(json_object_get(page, "results"), entry);
	bad |= json_object_set_new(entry, "label", st_json_text(label));
	return bad | json_object_set_new(entry, "result", result);
}

int
st_page_add_history(json_t *page, json_t *history)
{
	json_t *all = json_object_get(page, "histories");
	if (!all && json_object_set_new(page, "histories", all = json_array())) {
		json_decref(history);
		return -1;
	}
	return json_array_append_new(all, history);
}

static json_t *
about(const struct st_profile_run *run)
{
	json_t *out = json_object();
	const struct {
		const char *key, *value;
	} texts[] = {
	        {"strobe", run->strobe_version},
	        {"options", run->options},
	        {"cwd", run->cwd},
	        {"host", run->host},
	        {"machine", run->machine},
	        {"kernel", run->kernel},
	        {"cpu", run->cpu},
	};
	int bad = json_object_set_new(out, "cores", json_integer(run->cores));
	bad |= json_object_set_new(out, "start_ns", json_integer(run->start_ns));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].value)
			bad |= json_object_set_new(out, texts[i].key, st_json_text(texts[i].value));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
column(const struct st_profile_column *c)
{
	return json_pack("{s:o, s:s, s:s}", "name", st_json_text(c->name), "type",
	                 st_profile_type_name(c->type), "role", st_profile_role_name(c->role));
}

/* The columns of the tools' tables: their rows are in the result. */
static json_t *
tables(const struct st_profile *p)
{
	json_t *array = json_array();
	int bad = 0;
	for (size_t i = 0; i < p->tables.n && !bad; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		json_t *columns = json_array();
		for (size_t c = 0; c < t->n_columns && !bad; c++)
			bad = json_array_append_new(columns, column(&t->columns[c]));
		bad |= json_array_append_new(
		        array, json_pack("{s:o, s:o, s:o, s:o}", "name", st_json_text(t->name),
		                         "tool", st_json_text(t->tool), "help",
		                         st_json_text(t->help), "columns", columns));
	}
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

static int
add_cut(json_t *array, const char *what, size_t most, size_t n)
{
	if (!most || n <= most)
		return 0;
	return json_array_append_new(array,
	                             json_pack("{s:o, s:I, s:I}", "what", st_json_text(what),
	                                       "shown", (json_int_t)most, "of", (json_int_t)n));
}

/* The part that the limits left out: a page that shows a part must say so. */
static json_t *
cuts(const struct st_report *r, const struct st_page_limits *l)
{
	const struct st_profile *p = r->profile;
	struct st_basic_blocks blocks;
	json_t *array = json_array();
	int bad = st_basic_blocks_open(&blocks, r) || !array;
	if (p->run.has_functions)
		bad |= add_cut(array, "functions", l->functions, p->functions.n);
	bad |= add_cut(array, "lines", l->rows, p->lines.n);
	bad |= add_cut(array, "basic_blocks", l->rows, blocks.n);
	st_basic_blocks_close(&blocks);
	for (size_t i = 0; i < p->tables.n; i++)
		bad |= add_cut(array, p->tables.v[i].name, l->functions,
		               st_profile_rows(&p->tables.v[i]));
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

static int
add_paths(json_t *entry, const struct st_profile *p)
{
	size_t left_out;
	json_t *loop_lines, *paths = st_page_paths(p, &left_out, &loop_lines);
	int bad = paths ? json_object_set_new(entry, "paths", paths) : 0;
	if (loop_lines)
		bad |= json_object_set_new(entry, "loop_lines", loop_lines);
	if (left_out)
		bad |= json_object_set_new(entry, "contexts_left_out",
		                           json_integer((json_int_t)left_out));
	return bad;
}

/* The counts of single processes, if there are several. */
static int
add_shares(json_t *entry, const struct st_report *r)
{
	size_t n;
	if (!r->profile->shares.n)
		return 0;
	uint32_t *order = st_report_order(r, &n);
	json_t *shares =
	        order ? st_page_shares(r->profile, order, r->top && r->top < n ? r->top : n) : NULL;
	free(order);
	return json_object_set_new(entry, "process_functions", shares);
}

static int
add_branches(json_t *entry, const struct st_profile *p, size_t most)
{
	size_t n;
	json_t *branches = st_page_branches(p, most, &n);
	if (branches && !n) {
		json_decref(branches);
		return 0;
	}
	int bad = json_object_set_new(entry, "branches", branches);
	return bad | add_cut(json_object_get(entry, "cut"), "conditional branches", most, n);
}

static int
add_trace(json_t *entry, const struct st_profile *p, const struct st_page_limits *limits)
{
	json_t *trace = st_page_trace(p, limits);
	return trace ? json_object_set_new(entry, "trace", trace) : 0;
}

size_t
st_page_results(const json_t *page)
{
	return json_array_size(json_object_get(page, "results"));
}

json_t *
st_page_last(const json_t *page)
{
	json_t *results = json_object_get(page, "results");
	return json_array_get(results, json_array_size(results) - 1);
}

/* A number of the result that was added last. */
static size_t
last_number(const json_t *page, const char *name)
{
	return (size_t)json_integer_value(json_object_get(st_page_last(page), name));
}

size_t
st_page_left_out(const json_t *page)
{
	return last_number(page, "contexts_left_out");
}

size_t
st_page_kept_back(const json_t *page)
{
	return last_number(page, "sources_kept_back");
}

static int
add_sources(json_t *entry, const json_t *result, bool all)
{
	size_t kept_back;
	int bad = json_object_set_new(
	        entry, "sources",
	        st_page_sources(result, json_object_get(entry, "loop_lines"), all, &kept_back));
	if (kept_back)
		bad |= json_object_set_new(entry, "sources_kept_back",
		                           json_integer((json_int_t)kept_back));
	return bad;
}

int
st_page_add_profile(json_t *page, const char *label, const struct st_profile *p,
                    const struct st_page_limits *limits)
{
	unsigned functions = p->run.has_functions ? ST_PART_LINES | ST_PART_BLOCKS : 0;
	struct st_report r = {.profile = p,
	                      .top = limits->functions,
	                      .top_parts = limits->rows,
	                      .parts =
	                              functions | ST_PART_IMAGES | ST_PART_THREADS | ST_PART_STATS};
	json_t *result = st_report_object(&r);
	if (st_page_add_json(page, label, result))
		return -1;
	json_t *entry = st_page_last(page);
	int bad = json_object_set_new(entry, "about", about(&p->run));
	bad |= json_object_set_new(entry, "tables", tables(p));
	bad |= json_object_set_new(entry, "cut", cuts(&r, limits));
	if (p->overshoots.n)
		bad |= json_object_set_new(entry, "overshoots", st_overshoots_json(p, 0));
	bad |= add_shares(entry, &r);
	bad |= add_branches(entry, p, limits->rows);
	bad |= add_paths(entry, p);
	bad |= add_trace(entry, p, limits);
	bad |= json_object_set_new(entry, "code", st_page_code(p, limits->rows));
	json_t *models = st_page_models(p);
	if (models)
		bad |= json_object_set_new(entry, "models", models);
	if (limits->sources)
		bad |= add_sources(entry, result, limits->all_sources);
	return bad;
}
