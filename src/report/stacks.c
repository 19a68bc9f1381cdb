/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stacks of samples as a tree. */
#include <stdlib.h>

#include "base/number.h"
#include "profile/waits.h"
#include "report/callers.h"
#include "report/mem.h"

struct stacks_tree {
	const struct st_report *r;
	const struct st_contexts *c;
	const struct st_forest *f;
	bool waits;        /* rows are ordered by wall time, and show it */
	uint64_t *samples; /* by node: of it and of all below it; of wall time its ns */
	uint64_t *waiting; /* ns of the samples that were none on the CPU */
	bool *shown;       /* by node */
	/* The tree with siblings by their samples, the most first. */
	uint32_t root, *first, *next;
};

/* A node that may be shown. */
struct stacks_row {
	uint64_t samples;
	uint32_t node;
};

/* What a node counts by itself. */
static uint64_t
stacks_own(const struct stacks_tree *t, uint32_t node)
{
	const struct st_weight *w = &t->f->nodes[node].weight;
	return t->waits ? w->self_ns : w->count;
}

/* The most samples first; a node before those below it. */
static int
stacks_order(const void *a, const void *b)
{
	const struct stacks_row *x = a, *y = b;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

static void
stacks_add_up(const struct stacks_tree *t)
{
	for (uint32_t i = t->f->n; i-- > 0;) { /* children come after their parents */
		const uint32_t parent = t->f->nodes[i].parent;
		t->samples[i] += stacks_own(t, i);
		if (st_stack_kind_waits(t->c->labels[t->f->nodes[i].label].kind))
			t->waiting[i] += t->f->nodes[i].weight.self_ns;
		if (parent == ST_NO_NODE)
			continue;
		t->samples[parent] += t->samples[i];
		t->waiting[parent] += t->waiting[i];
	}
}

/* Whether a function only called itself here: such levels become one row. */
static bool
stacks_is_passed(const struct stacks_tree *t, uint32_t node)
{
	const struct st_tree_node *n = &t->f->nodes[node];
	return n->first != ST_NO_NODE && n->first == n->last && !stacks_own(t, node) &&
	       t->f->nodes[n->first].label == n->label;
}

static void
stacks_sort_siblings(struct stacks_tree *t, struct stacks_row *rows)
{
	for (uint32_t i = 0; i < t->f->n; i++) {
		rows[i] = (struct stacks_row){t->samples[i], i};
		t->first[i] = ST_NO_NODE;
	}
	qsort(rows, t->f->n, sizeof *rows, stacks_order);
	t->root = ST_NO_NODE;
	for (uint32_t i = t->f->n; i-- > 0;) {
		const uint32_t node = rows[i].node, parent = t->f->nodes[node].parent;
		uint32_t *head = parent == ST_NO_NODE ? &t->root : &t->first[parent];
		t->next[node] = *head;
		*head = node;
	}
}

/* Chooses the rows. Returns the number of those without room. */
static size_t
stacks_choose(const struct stacks_tree *t, struct stacks_row *rows)
{
	size_t n = 0, left_out = 0;
	for (uint32_t i = 0; i < t->f->n; i++)
		if (!stacks_is_passed(t, i))
			rows[n++] = (struct stacks_row){t->samples[i], i};
	qsort(rows, n, sizeof *rows, stacks_order);
	for (size_t i = 0; i < n; i++) {
		const bool fits = !t->r->top || i < t->r->top;
		t->shown[rows[i].node] = fits;
		left_out += !fits;
	}
	return left_out;
}

static void
stacks_add_row(const struct stacks_tree *t, struct st_table *table, uint32_t node, size_t depth,
               size_t levels)
{
	const struct st_context_label *l = &t->c->labels[t->f->nodes[node].label];
	const struct st_profile_run *run = &t->r->profile->run;
	const double all = (double)(t->waits ? run->on_cpu_ns + run->waiting_ns : run->stacks);
	char on_cpu[ST_NUMBER_SIZE], waiting[ST_NUMBER_SIZE];
	enum { MOST_INDENT = 60 };
	const int indent = depth < MOST_INDENT ? (int)depth : MOST_INDENT;
	st_table_cell(table, "%.2f", 100.0 * (double)t->samples[node] / all);
	st_table_cell(table, "%.2f", 100.0 * (double)stacks_own(t, node) / all);
	if (t->waits) {
		const uint64_t waited = t->waiting[node];
		st_table_cell(table, "%s",
		              st_duration(on_cpu, (int64_t)(t->samples[node] - waited)));
		st_table_cell(table, "%s", st_duration(waiting, (int64_t)waited));
	} else {
		st_table_count(table, t->samples[node]);
	}
	if (levels > 1)
		st_table_cell(table, "%*s%s (%s levels)", indent, "", l->name, ST_NUMBER(levels));
	else
		st_table_cell(table, "%*s%s", indent, "", l->name);
}

/* Without recursion: a tree may be as deep as the program's. */
static void
stacks_add_rows(const struct stacks_tree *t, struct st_table *table)
{
	size_t depth = 0, levels = 1;
	for (uint32_t i = t->root; i != ST_NO_NODE;) {
		if (stacks_is_passed(t, i)) {
			levels++;
			i = t->first[i];
			continue;
		}
		if (t->shown[i])
			stacks_add_row(t, table, i, depth, levels);
		levels = 1;
		if (t->first[i] != ST_NO_NODE) {
			i = t->first[i];
			depth++;
			continue;
		}
		while (i != ST_NO_NODE && t->next[i] == ST_NO_NODE) {
			i = t->f->nodes[i].parent;
			depth -= i != ST_NO_NODE && !stacks_is_passed(t, i);
		}
		i = i == ST_NO_NODE ? i : t->next[i];
	}
}

static void
stacks_print_title(const struct stacks_tree *t, FILE *out)
{
	const struct st_profile_run *run = &t->r->profile->run;
	char wall[ST_NUMBER_SIZE];
	fprintf(out, "\n%scall stacks of %s%s\n", t->r->style.colour ? "\033[1m" : "",
	        t->waits ? st_duration(wall, (int64_t)(run->on_cpu_ns + run->waiting_ns))
	                 : ST_COUNT(run->stacks, "sample", "samples"),
	        t->r->style.colour ? "\033[0m" : "");
}

static st_status
stacks_print(struct stacks_tree *t, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"total %", false}, {"self %", false}, {"samples", false}, {"stack", true}};
	static const struct st_table_column with_waits[] = {{"total %", false},
	                                                    {"self %", false},
	                                                    {"on CPU", false},
	                                                    {"waiting", false},
	                                                    {"stack", true}};
	struct stacks_row *rows = calloc((size_t)t->f->n + 1, sizeof *rows);
	struct st_table *table = st_table_new(t->waits ? with_waits : columns, t->waits ? 5 : 4);
	t->samples = calloc((size_t)t->f->n + 1, sizeof *t->samples);
	t->waiting = calloc((size_t)t->f->n + 1, sizeof *t->waiting);
	t->shown = calloc((size_t)t->f->n + 1, sizeof *t->shown);
	t->first = calloc((size_t)t->f->n + 1, sizeof *t->first);
	t->next = calloc((size_t)t->f->n + 1, sizeof *t->next);
	const bool bad =
	        !rows || !table || !t->samples || !t->waiting || !t->shown || !t->first || !t->next;
	if (!bad) {
		stacks_add_up(t);
		stacks_sort_siblings(t, rows);
		const size_t left_out = stacks_choose(t, rows);
		stacks_add_rows(t, table);
		stacks_print_title(t, out);
		st_table_print(table, out, t->r->style);
		if (left_out)
			fprintf(out, "  ... and %s (--top)\n",
			        ST_COUNT(left_out, "more frame", "more frames"));
	}
	st_table_free(table);
	free(rows);
	free(t->samples);
	free(t->waiting);
	free(t->shown);
	free(t->first);
	free(t->next);
	return bad ? ST_FAILED : ST_OK;
}

static st_status
stacks_of_allocations(const struct st_report *r, FILE *out, struct st_error *e)
{
	struct st_mem m;
	st_status status = st_mem_read(&m, r->profile, e);
	if (!status)
		status = st_mem_tree_text(&m, false, r->top, out, e);
	st_mem_free(&m);
	return status;
}

st_status
st_report_stacks(const struct st_report *r, FILE *out, struct st_error *e)
{
	const struct st_context_choice choice = {.join_threads = true};
	struct st_context_options o;
	struct st_contexts c;
	if (st_mem_tool(r->profile) && !st_contexts_options(r->profile, &o))
		return stacks_of_allocations(r, out, e);
	if (st_profile_has_tool(r->profile, "locks") && !st_contexts_options(r->profile, &o))
		return st_fail(e, ST_EXIT_USAGE,
		               "the profile has no stacks of samples: strobe show --table "
		               "lock_stacks shows the stacks that waited for locks");
	if (!st_contexts_options(r->profile, &o) || !o.sampled)
		return st_fail(e, ST_EXIT_USAGE,
		               !st_profile_has_tool(r->profile, "contexts")
		                       ? "the profile has no stacks of samples: measure with "
		                         "strobe run -t hot, and not with --sample-hz 0"
		                       : "the contexts of the profile were counted, not sampled: "
		                         "strobe paths --from shows them");
	st_status status = st_contexts_make(&c, r->profile, &choice, e);
	struct stacks_tree t = {.r = r, .c = &c, .waits = c.timed};
	if (!status && c.groups.n) {
		t.f = &c.groups.v[0].ksf;
		if (stacks_print(&t, out))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the stacks");
	}
	st_contexts_free(&c);
	return status;
}
