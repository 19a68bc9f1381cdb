/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text form of Valtchev, "IHPP" (BSc thesis, Sapienza 2012), listing 4.5: a header, and for
 * each thread its forests, a node a line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "report/contexts.h"
#include "report/contexts_lists.h"
#include "report/contexts_loops.h"
#include "report/contexts_seen.h"
#include "report/report.h"

static const char rule[] = "------------------------------------------------------------\n";

static void
contexts_text_write_node(const struct st_contexts *c, const struct st_tree_node *n, unsigned depth,
                         FILE *out)
{
	static const char blanks[] = "                                ";
	for (unsigned left = 2 * depth, most = sizeof blanks - 1; left;) {
		unsigned width = left < most ? left : most;
		fwrite(blanks, 1, width, out);
		left -= width;
	}
	fputs("| ", out);
	st_contexts_name(c, n->label, out);
	fprintf(out, ",%" PRIu64, n->weight.count + n->top);
	if (c->timed)
		fprintf(out, " self=%" PRIu64 "ns total=%" PRIu64 "ns", n->weight.self_ns,
		        n->total_ns);
	if (c->with_instructions)
		fprintf(out, " insns=%" PRIu64 " total=%" PRIu64, n->weight.instructions,
		        n->total_instructions);
	if (n->loop)
		st_loop_text(st_loop_at(c, n->loop), out);
	fputc('\n', out);
}

/* Without recursion: a tree may be as deep as the program's. */
static void
contexts_text_write_forest(const struct st_contexts *c, const struct st_forest *f, FILE *out)
{
	unsigned depth = 0;
	for (uint32_t i = f->first; i != ST_NO_NODE;) {
		const struct st_tree_node *n = &f->nodes[i];
		contexts_text_write_node(c, n, depth, out);
		if (n->first != ST_NO_NODE) {
			i = n->first;
			depth++;
			continue;
		}
		while (i != ST_NO_NODE && f->nodes[i].next == ST_NO_NODE) {
			i = f->nodes[i].parent;
			depth--;
		}
		if (i != ST_NO_NODE)
			i = f->nodes[i].next;
	}
}

static void
contexts_text_write_title(const struct st_contexts *c, const struct st_context_group *g, FILE *out)
{
	if (g->thread != UINT32_MAX) {
		const struct st_profile_thread *t = &c->profile->threads.v[g->thread];
		fprintf(out, "%sThread ID: %" PRIu32 " (tid %" PRId64 "%s%s)\n", rule,
		        g->thread + 1, t->tid, *t->name ? ", " : "", t->name);
	}
	if (g->function != UINT32_MAX) {
		const char *name = c->labels[g->function].name;
		fprintf(out, "%sFunction: %s%s\n", rule, name, strchr(name, '(') ? "" : "()");
	}
}

/* ---- all functions, all blocks ---- */

static void
contexts_text_write_insn(void *context, const struct st_listed_insn *in)
{
	FILE *out = context;
	if (in->first)
		fputs("Disassembly:\n", out);
	if (in->part)
		fprintf(out, "%18s%s:\n", "", in->part);
	char inside[24];
	snprintf(inside, sizeof inside, "+%" PRIu64, in->inside);
	fprintf(out, "%16s  %s\n", inside, in->text);
}

static void
write_no_code(const char *why, FILE *out)
{
	if (why)
		fprintf(out, "Disassembly: none, %s\n", why);
}

static void
contexts_text_write_place(const struct st_context_label *l, uint64_t offset, uint64_t count,
                          FILE *out)
{
	fprintf(out, " addr: %s+0x%" PRIx64 " counter: %" PRIu64,
	        l->image ? st_base_name(l->image) : "", offset, count);
}

static void
contexts_text_write_function(struct st_context_lists *l, const struct st_listed_function *f,
                             FILE *out)
{
	const struct st_context_label *label = &l->c->labels[f->label];
	fprintf(out, "%s%s", label->name, strchr(label->name, '(') ? "" : "()");
	contexts_text_write_place(label, f->offset, f->count, out);
	if (f->blocks)
		fprintf(out, " blocks: %" PRIu64, f->blocks);
	if (f->measured)
		fprintf(out, " insns: %" PRIu64, f->instructions);
	if (f->file)
		fprintf(out, " at %s:%" PRIu32, f->file, f->line);
	fputc('\n', out);
	if (l->c->list_code)
		write_no_code(st_lists_function_code(l, f, contexts_text_write_insn, out), out);
}

static void
write_block(struct st_context_lists *l, uint32_t label, FILE *out)
{
	const struct st_context_label *b = &l->c->labels[label];
	st_contexts_name(l->c, label, out);
	contexts_text_write_place(b, b->offset, b->count, out);
	if (b->insns)
		fprintf(out, " insns: %" PRIu64, b->count * b->insns);
	if (b->file)
		fprintf(out, " at %s:%" PRIu32, b->file, b->line);
	fputc('\n', out);
	if (l->c->list_code)
		write_no_code(st_lists_block_code(l, label, contexts_text_write_insn, out), out);
}

static void
contexts_text_write_loops(const struct st_contexts *c, FILE *out)
{
	if (!c->with_loops)
		return;
	fprintf(out, "%sAll loops\n%s", rule, rule);
	for (uint32_t i = 0; (i = st_loop_next(c, i)) < c->n_labels; i++) {
		const struct st_context_label *l = &c->labels[i];
		st_contexts_name(c, i, out);
		fprintf(out, " addr: %s+0x%" PRIx64, l->image ? st_base_name(l->image) : "",
		        l->offset);
		st_loop_text(st_loop_at(c, l->loop), out);
		if (l->file)
			fprintf(out, " at %s:%" PRIu32, l->file, l->line);
		fputc('\n', out);
	}
}

static void
contexts_text_write_lists(const struct st_contexts *c, FILE *out)
{
	struct st_context_lists l;
	if (!c->list_functions && !c->list_blocks)
		return;
	int status = st_lists_open(&l, c, true);
	if (!status && c->list_functions) {
		fprintf(out, "%sAll functions\n%s", rule, rule);
		for (size_t i = 0; i < l.functions.n; i++)
			contexts_text_write_function(&l, &l.functions.v[i], out);
	}
	if (!status && c->list_blocks) {
		fprintf(out, "%sAll basic blocks\n%s", rule, rule);
		for (uint32_t i = 0; (i = st_lists_block(c, i)) < c->n_labels; i++)
			write_block(&l, i, out);
	}
	st_lists_close(&l);
}

static void
contexts_text_write_seen(const struct st_contexts *c, FILE *out)
{
	struct st_contexts_seen s;
	if (!st_contexts_seen(c->profile, &s))
		return;
	if (s.timed)
		fprintf(out, "Measured part of the CPU time: %.2f%%\n", st_contexts_seen_part(&s));
	if (s.entries)
		fprintf(out, "Times measuring went on: %" PRIu64 "\n", s.entries);
	if (s.lost)
		fprintf(out, "Stacks not unwound to the beginning: %" PRIu64 "\n", s.lost);
}

void
st_contexts_text(const struct st_contexts *c, FILE *out)
{
	char k[16];
	const char *text = st_contexts_k(c, k);
	fprintf(out, "K value: %s\n", strcmp(text, "inf") ? text : "INFINITE");
	fprintf(out, "Functions count: %zu\n", c->n_functions);
	if (c->mode != ST_CONTEXT_FUNC)
		fprintf(out, "Basic blocks count: %zu\n", c->n_blocks);
	fprintf(out, "Maximum number of different threads: %zu\n", c->n_threads);
	fprintf(out, "Nodes count of k slab forest: %zu\n", c->n_ksf);
	if (c->with_kccf)
		fprintf(out, "Nodes count of kCCF: %zu\n", c->n_kccf);
	if (c->k_callers != c->k)
		fprintf(out, "K value of kCCF: %" PRIu32 "\n", c->k_callers);
	if (c->n_left_out)
		fprintf(out, "Nodes left out: %zu\n", c->n_left_out);
	if (c->bytes)
		fprintf(out, "Bytes of nodes in the program: %" PRIu64 "\n", c->bytes);
	if (c->n_pruned)
		fprintf(out, "Pruned: %" PRIu64 " contexts, %" PRIu64 " activations\n", c->n_pruned,
		        c->n_in_pruned);
	contexts_text_write_seen(c, out);
	for (size_t i = 0; i < c->groups.n; i++) {
		const struct st_context_group *g = &c->groups.v[i];
		contexts_text_write_title(c, g, out);
		fprintf(out, "%sDUMP of K-SF\n%s", rule, rule);
		contexts_text_write_forest(c, &g->ksf, out);
		if (!c->with_kccf)
			continue;
		fprintf(out, "%sDUMP of K-CCF\n%s", rule, rule);
		contexts_text_write_forest(c, &g->kccf, out);
	}
	contexts_text_write_loops(c, out);
	contexts_text_write_lists(c, out);
}

/* ---- the hottest contexts ---- */

struct hot {
	uint64_t value;
	uint32_t group, node;
};

static int
compare_hot(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Where threads are apart, the number of the thread, and its name. */
static void
contexts_text_write_thread(const struct st_contexts *c, uint32_t group, FILE *out)
{
	enum { WIDTH = 20 };
	const uint32_t thread = c->groups.v[group].thread;
	char text[WIDTH + 1];
	if (thread == UINT32_MAX)
		return;
	snprintf(text, sizeof text, "%" PRIu32 " %s", thread + 1,
	         c->profile->threads.v[thread].name);
	fprintf(out, "%-*s  ", WIDTH, text);
}

/* The last labels of the path, outermost first. */
static void
contexts_text_write_path(const struct st_contexts *c, const struct st_forest *f, uint32_t node,
                         FILE *out)
{
	enum { MOST = 6 };
	uint32_t path[MOST] = {0}, n = 0;
	for (; node != ST_NO_NODE && n < MOST; node = f->nodes[node].parent)
		path[n++] = f->nodes[node].label;
	if (node != ST_NO_NODE)
		fputs(".. > ", out);
	while (n-- > 0) {
		const struct st_context_label *l = &c->labels[path[n]];
		fputs(l->name, out);
		if (c->mode != ST_CONTEXT_FUNC)
			fprintf(out, "%+" PRId64, l->inside);
		if (n)
			fputs(" > ", out);
	}
	fputc('\n', out);
}

static struct hot *
list_contexts(const struct st_contexts *c, size_t *n, uint64_t *sum)
{
	struct hot *all = malloc((c->n_ksf + 1) * sizeof *all);
	*n = 0;
	*sum = 0;
	for (uint32_t g = 0; all && g < c->groups.n; g++) {
		const struct st_forest *f = &c->groups.v[g].ksf;
		for (uint32_t i = 0; i < f->n; i++) {
			all[*n] = (struct hot){st_contexts_value(c, &f->nodes[i].weight), g, i};
			*sum += all[(*n)++].value;
		}
	}
	if (all)
		qsort(all, *n, sizeof *all, compare_hot);
	return all;
}

static void
write_hottest(const struct st_contexts *c, size_t top, FILE *out)
{
	size_t n;
	uint64_t sum;
	char k[16];
	struct hot *all = list_contexts(c, &n, &sum);
	fprintf(out, "\n  %s of %s (%s, k %s) in %s\n", ST_COUNT(c->n_ksf, "context", "contexts"),
	        c->mode == ST_CONTEXT_FUNC ? ST_COUNT(c->n_functions, "function", "functions")
	                                   : ST_COUNT(c->n_blocks, "basic block", "basic blocks"),
	        st_contexts_mode(c), st_contexts_k(c, k),
	        ST_COUNT(c->n_threads, "thread", "threads"));
	if (!all || !sum) {
		free(all);
		return;
	}
	fprintf(out, "\n  %7s  %15s  %shottest contexts, by %s\n", "share",
	        c->timed               ? "self"
	        : c->with_instructions ? "instructions"
	        : c->sampled           ? "samples"
	                               : "count",
	        c->join_threads ? "" : "thread                ",
	        c->timed               ? "their own time"
	        : c->with_instructions ? "their own instructions"
	        : c->sampled           ? "samples"
	                               : "activations");
	for (size_t i = 0; i < n && (!top || i < top) && all[i].value; i++) {
		fprintf(out, "  %6.2f%%  ", 100.0 * (double)all[i].value / (double)sum);
		if (c->timed)
			fprintf(out, "%12.3f ms  ", (double)all[i].value / 1e6);
		else
			fprintf(out, "%15s  ", ST_NUMBER(all[i].value));
		contexts_text_write_thread(c, all[i].group, out);
		contexts_text_write_path(c, &c->groups.v[all[i].group].ksf, all[i].node, out);
	}
	free(all);
}

void
st_contexts_summary(const struct st_contexts *c, size_t top, FILE *out)
{
	write_hottest(c, top, out);
	st_loop_table(c, top, out);
	if (c->list_functions || c->list_blocks)
		fputc('\n', out);
	contexts_text_write_lists(c, out);
}
