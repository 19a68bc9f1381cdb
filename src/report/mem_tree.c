/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations as a tree of calls: as text, and for the page. */
#include <inttypes.h>
#include <stdlib.h>

#include "mem/tree.h"
#include "report/json.h"
#include "report/mem.h"
#include "report/text.h"

/* ---- text ---- */

/* "f (a.c:7)", or "malloc [libc.so.6]" */
static void
mem_tree_name(const struct st_mem_frame *f, FILE *out)
{
	fputs(f->function, out);
	if (*f->file)
		fprintf(out, " (%s:%" PRIu32 ")", st_base_name(f->file), f->line);
	else if (*f->image)
		fprintf(out, " [%s]", st_base_name(f->image));
	if (f->inlined)
		fputs(" inlined", out);
}

static void
mem_tree_row(const struct st_mem *m, const struct st_mem_tree *t, const struct st_mem_node *n,
             struct st_table *table)
{
	enum { MOST_INDENT = 60 };
	const uint32_t depth = n->depth - 1;
	struct st_text text;
	st_table_cell(table, "%.2f",
	              100 * (double)n->subtree.calls / (double)t->nodes.v[0].subtree.calls);
	st_table_count(table, n->subtree.calls);
	st_table_count(table, n->subtree.bytes);
	st_table_count(table, n->subtree.live);
	if (!st_text_begin(&text))
		return;
	fprintf(text.out, "%*s", (int)(depth < MOST_INDENT ? depth : MOST_INDENT), "");
	mem_tree_name(&m->frames.v[n->frame], text.out);
	char *name = st_text_end(&text);
	st_table_cell(table, "%s", name ? name : "");
	free(name);
}

/* The node after this one in the order of the tree; ST_MEM_NONE: there is none. */
static uint32_t
mem_tree_after(const struct st_mem_tree *t, uint32_t i, bool into)
{
	const struct st_mem_node *v = t->nodes.v;
	if (into && v[i].first != ST_MEM_NONE)
		return v[i].first;
	while (i != ST_MEM_NONE && v[i].next == ST_MEM_NONE)
		i = v[i].parent;
	return i == ST_MEM_NONE ? i : v[i].next;
}

static int
mem_tree_by_calls(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x < y) - (x > y);
}

/* The least number of calls of the `top` nodes with the most. 0: all nodes are among them. */
static st_status
mem_tree_least(const struct st_mem_tree *t, size_t top, uint64_t *least)
{
	*least = 0;
	if (!top || t->nodes.n - 1 <= top)
		return ST_OK;
	uint64_t *calls = calloc(t->nodes.n, sizeof *calls);
	if (!calls)
		return ST_FAILED;
	for (size_t i = 1; i < t->nodes.n; i++)
		calls[i - 1] = t->nodes.v[i].subtree.calls;
	qsort(calls, t->nodes.n - 1, sizeof *calls, mem_tree_by_calls);
	*least = calls[top - 1];
	free(calls);
	return ST_OK;
}

st_status
st_mem_tree_text(const struct st_mem *m, bool callers, size_t top, FILE *out, struct st_error *e)
{
	const struct st_table_column columns[] = {
	        {"calls %", false},
	        {"calls", false},
	        {"bytes", false},
	        {"never freed", false},
	        {callers ? "allocation function, callers below" : "call stack", true}};
	struct st_table *table = st_table_new(columns, sizeof columns / sizeof *columns);
	struct st_mem_tree t;
	uint64_t least;
	st_status status =
	        !table || st_mem_tree_make(&t, m, callers) || mem_tree_least(&t, top, &least)
	                ? st_fail(e, ST_EXIT_FAILED, "no memory left for the call stacks")
	                : ST_OK;
	size_t shown = 0;
	const size_t room = top ? top : SIZE_MAX;
	for (uint32_t i = status ? ST_MEM_NONE : t.nodes.v[0].first;
	     i != ST_MEM_NONE && shown < room;) {
		const bool fits = t.nodes.v[i].subtree.calls >= least;
		if (fits)
			mem_tree_row(m, &t, &t.nodes.v[i], table);
		shown += fits;
		i = mem_tree_after(&t, i, fits);
	}
	if (!status && t.nodes.n > 1) {
		fprintf(out, "\n%s of %s\n", callers ? "callers" : "call stacks",
		        ST_COUNT(t.nodes.v[0].subtree.calls, "allocation", "allocations"));
		st_table_print(table, out, st_style_of(out));
		if (shown < t.nodes.n - 1)
			fprintf(out, "  ... and %s (-n 0 prints all)\n",
			        ST_COUNT(t.nodes.n - 1 - shown, "more frame", "more frames"));
	}
	if (table)
		st_mem_tree_free(&t);
	st_table_free(table);
	return status;
}

/* ---- the page ---- */

/* A page with more nodes is of no use to a browser, and deeper JSON is not read. */
enum { MOST_PAGE_NODES = 20000, MOST_PAGE_LEVELS = 900 };

static st_status
mem_tree_set_amounts(json_t *node, const struct st_mem_amounts *a)
{
	int bad = json_object_set_new(node, "count", st_json_count(a->calls));
	bad |= json_object_set_new(node, "bytes", st_json_count(a->bytes));
	bad |= json_object_set_new(node, "live", st_json_count(a->live));
	bad |= json_object_set_new(node, "peak", st_json_count(a->peak));
	return bad ? ST_FAILED : ST_OK;
}

/* Appends a node to the children of another one, or to the list of roots. NULL: no memory. */
static json_t *
mem_tree_append(json_t *list, const struct st_mem_frame *f, const struct st_mem_amounts *a)
{
	json_t *node = f ? json_pack("{s:o, s:o, s:I, s:o, s:i, s:b, s:[]}", "name",
	                             st_json_text(f->function), "image", st_json_text(f->image),
	                             "offset", (json_int_t)f->offset, "file", st_json_text(f->file),
	                             "line", (int)f->line, "inlined", (int)f->inlined, "children")
	                 : json_pack("{s:s, s:[]}", "name", "(other)", "children");
	if (json_array_append_new(list, node) || mem_tree_set_amounts(node, a))
		return NULL;
	return node;
}

static void
mem_tree_sum(struct st_mem_amounts *to, const struct st_mem_amounts *a)
{
	to->calls += a->calls;
	to->bytes += a->bytes;
	to->live += a->live;
	to->peak += a->peak;
}

/* The children of a node that fit; the others are one node "(other)". */
static st_status
mem_tree_children(const struct st_mem *m, const struct st_mem_tree *t, uint32_t of, bool callers,
                  uint64_t least, json_t *list, json_t **made)
{
	struct st_mem_amounts other = {0};
	const struct st_mem_node *v = t->nodes.v;
	for (uint32_t i = v[of].first; i != ST_MEM_NONE; i = v[i].next) {
		if (v[i].subtree.calls < least || v[i].depth > MOST_PAGE_LEVELS) {
			mem_tree_sum(&other, &v[i].subtree);
			continue;
		}
		made[i] = mem_tree_append(list, &m->frames.v[v[i].frame],
		                          callers ? &v[i].subtree : &v[i].own);
		if (!made[i])
			return ST_FAILED;
	}
	return !other.calls || mem_tree_append(list, NULL, &other) ? ST_OK : ST_FAILED;
}

json_t *
st_mem_tree_json(const struct st_mem *m, bool callers)
{
	struct st_mem_tree t;
	uint64_t least = 0;
	json_t **made = NULL, *roots = json_array();
	st_status status = !roots || st_mem_tree_make(&t, m, callers) ||
	                                   mem_tree_least(&t, MOST_PAGE_NODES, &least)
	                           ? ST_FAILED
	                           : ST_OK;
	if (!status && !(made = calloc(t.nodes.n, sizeof *made)))
		status = ST_FAILED;
	for (uint32_t i = 0; !status && i < t.nodes.n; i++)
		if (!i || made[i])
			status = mem_tree_children(m, &t, i, callers, least,
			                           i ? json_object_get(made[i], "children") : roots,
			                           made);
	free(made);
	if (roots)
		st_mem_tree_free(&t);
	if (!status)
		return roots;
	json_decref(roots);
	return NULL;
}
