/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts as JSON, written as it goes: there may be millions. docs/json.md is its description. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/contexts.h"
#include "report/contexts_lists.h"
#include "report/contexts_loops.h"
#include "report/contexts_seen.h"
#include "report/json.h"

void
st_contexts_json_name(const struct st_contexts *c, const struct st_context_label *l, FILE *out)
{
	char *name = NULL;
	if (c->mode == ST_CONTEXT_FUNC || l->root) {
		st_json_print(l->name, out);
		return;
	}
	if (asprintf(&name, "%s%+" PRId64, l->name, l->inside) < 0)
		return;
	st_json_print(name, out);
	free(name);
}

static void
contexts_json_write_place(const char *image, uint64_t offset, FILE *out)
{
	if (!image)
		return;
	fputs(", \"image\": ", out);
	st_json_print(image, out);
	fprintf(out, ", \"offset\": %" PRIu64, offset);
}

static void
contexts_json_write_line(const char *file, uint32_t line, uint32_t column, FILE *out)
{
	if (!file)
		return;
	fputs(", \"file\": ", out);
	st_json_print(file, out);
	fprintf(out, ", \"line\": %" PRIu32 ", \"column\": %" PRIu32, line, column);
}

void
st_contexts_json_label(const struct st_contexts *c, uint32_t label, FILE *out)
{
	const struct st_context_label *l = &c->labels[label];
	fputs("{\"name\": ", out);
	st_contexts_json_name(c, l, out);
	if (c->mode != ST_CONTEXT_FUNC && !l->root) {
		fputs(", \"function\": ", out);
		st_json_print(l->name, out);
	}
	contexts_json_write_place(l->image, l->offset, out);
	contexts_json_write_line(l->file, l->line, l->column, out);
}

static void
contexts_json_write_weight(const struct st_contexts *c, const struct st_tree_node *n, FILE *out)
{
	fprintf(out, ", \"count\": %" PRIu64, n->weight.count + n->top);
	if (c->timed)
		fprintf(out, ", \"self_ns\": %" PRIu64 ", \"total_ns\": %" PRIu64,
		        n->weight.self_ns, n->total_ns);
	if (c->with_instructions)
		fprintf(out, ", \"instructions\": %" PRIu64 ", \"total_instructions\": %" PRIu64,
		        n->weight.instructions, n->total_instructions);
	if (n->loop)
		st_loop_json(st_loop_at(c, n->loop), out);
}

/* Without recursion: a tree may be as deep as the program's. */
static void
contexts_json_write_forest(const struct st_contexts *c, const char *name, const struct st_forest *f,
                           FILE *out)
{
	fprintf(out, "\"%s\": [", name);
	for (uint32_t i = f->first; i != ST_NO_NODE;) {
		const struct st_tree_node *n = &f->nodes[i];
		st_contexts_json_label(c, n->label, out);
		contexts_json_write_weight(c, n, out);
		fputs(", \"children\": [", out);
		if (n->first != ST_NO_NODE) {
			i = n->first;
			continue;
		}
		fputs("]}", out);
		while (i != ST_NO_NODE && f->nodes[i].next == ST_NO_NODE) {
			i = f->nodes[i].parent;
			if (i != ST_NO_NODE)
				fputs("]}", out);
		}
		if (i != ST_NO_NODE) {
			fputs(",\n", out);
			i = f->nodes[i].next;
		}
	}
	fputs("]", out);
}

static void
contexts_json_write_forests(const struct st_contexts *c, const struct st_context_group *g,
                            FILE *out)
{
	contexts_json_write_forest(c, "ksf", &g->ksf, out);
	if (!c->with_kccf)
		return;
	fputs(",\n", out);
	contexts_json_write_forest(c, "kccf", &g->kccf, out);
}

static void
contexts_json_write_thread(const struct st_contexts *c, uint32_t thread, FILE *out)
{
	if (thread == UINT32_MAX) {
		fputs("{\"thread\": 1, \"joined\": true, ", out);
		return;
	}
	const struct st_profile_thread *t = &c->profile->threads.v[thread];
	fprintf(out,
	        "{\"thread\": %" PRIu32 ", \"tid\": %" PRId64 ", \"pid\": %" PRId64 ", \"comm\": ",
	        thread + 1, t->tid, c->profile->processes.v[t->process].pid);
	st_json_print(t->name, out);
	fputs(", ", out);
}

/* The functions of one thread, from group `from` on; the group behind them. */
static size_t
write_functions(const struct st_contexts *c, size_t from, FILE *out)
{
	size_t i = from;
	fputs("\"functions\": [", out);
	for (; i < c->groups.n && c->groups.v[i].thread == c->groups.v[from].thread; i++) {
		const struct st_context_group *g = &c->groups.v[i];
		const struct st_context_label *l = &c->labels[g->function];
		fputs(i > from ? ",\n{\"name\": " : "{\"name\": ", out);
		st_json_print(l->name, out);
		if (l->image) {
			fputs(", \"image\": ", out);
			st_json_print(l->image, out);
			fprintf(out, ", \"offset\": %" PRIu64, l->offset - (uint64_t)l->inside);
		}
		fputs(", ", out);
		contexts_json_write_forests(c, g, out);
		fputs("}", out);
	}
	fputs("]", out);
	return i;
}

static void
write_processes(const struct st_profile *p, FILE *out)
{
	fputs(",\n\"processes\": [", out);
	for (size_t i = 0; i < p->processes.n; i++) {
		const struct st_profile_process *x = &p->processes.v[i];
		fprintf(out, "%s{\"pid\": %" PRId64 ", \"ppid\": %" PRId64 ", \"command\": ",
		        i ? ", " : "", x->pid, x->ppid);
		st_json_print(x->command, out);
		fputs("}", out);
	}
	fputs("]", out);
}

/* ---- all functions, all blocks ---- */

static void
contexts_json_write_insn(void *context, const struct st_listed_insn *in)
{
	FILE *out = context;
	fputs(in->first ? ", \"code\": [\n" : ",\n", out);
	fprintf(out, "{\"offset\": %" PRIu64 ", \"text\": ", in->offset);
	st_json_print(in->text, out);
	fputs("}", out);
}

static void
end_code(const char *why, FILE *out)
{
	fputs(why ? ", \"no_code\": " : "]", out);
	if (why)
		st_json_print(why, out);
}

static void
contexts_json_write_listed_function(struct st_context_lists *l, const struct st_listed_function *f,
                                    FILE *out)
{
	const struct st_context_label *label = &l->c->labels[f->label];
	fputs("{\"name\": ", out);
	st_json_print(label->name, out);
	contexts_json_write_place(label->image, f->offset, out);
	contexts_json_write_line(f->file, f->line, f->column, out);
	fprintf(out, ", \"count\": %" PRIu64, f->count);
	if (f->blocks)
		fprintf(out, ", \"blocks\": %" PRIu64, f->blocks);
	if (f->measured)
		fprintf(out, ", \"instructions\": %" PRIu64, f->instructions);
	if (l->c->list_code)
		end_code(st_lists_function_code(l, f, contexts_json_write_insn, out), out);
	fputs("}", out);
}

static void
contexts_json_write_listed_block(struct st_context_lists *l, uint32_t label, FILE *out)
{
	const struct st_context_label *b = &l->c->labels[label];
	st_contexts_json_label(l->c, label, out);
	fprintf(out, ", \"count\": %" PRIu64, b->count);
	if (b->bytes)
		fprintf(out, ", \"bytes\": %" PRIu32, b->bytes);
	if (b->insns)
		fprintf(out, ", \"instructions\": %" PRIu64, b->count * b->insns);
	if (l->c->list_code)
		end_code(st_lists_block_code(l, label, contexts_json_write_insn, out), out);
	fputs("}", out);
}

static void
contexts_json_write_loops(const struct st_contexts *c, FILE *out)
{
	const char *between = "";
	if (!c->with_loops)
		return;
	fputs(",\n\"all_loops\": [", out);
	for (uint32_t i = 0; (i = st_loop_next(c, i)) < c->n_labels; i++) {
		fputs(between, out);
		st_contexts_json_label(c, i, out);
		st_loop_json(st_loop_at(c, c->labels[i].loop), out);
		fputs("}", out);
		between = ",\n";
	}
	fputs("]", out);
}

static void
contexts_json_write_lists(const struct st_contexts *c, FILE *out)
{
	struct st_context_lists l;
	if (!c->list_functions && !c->list_blocks)
		return;
	int status = st_lists_open(&l, c, false);
	if (!status && c->list_functions) {
		fputs(",\n\"all_functions\": [", out);
		for (size_t i = 0; i < l.functions.n; i++) {
			fputs(i ? ",\n" : "\n", out);
			contexts_json_write_listed_function(&l, &l.functions.v[i], out);
		}
		fputs("]", out);
	}
	if (!status && c->list_blocks) {
		const char *between = "\n";
		fputs(",\n\"all_blocks\": [", out);
		for (uint32_t i = 0; (i = st_lists_block(c, i)) < c->n_labels; i++) {
			fputs(between, out);
			contexts_json_write_listed_block(&l, i, out);
			between = ",\n";
		}
		fputs("]", out);
	}
	st_lists_close(&l);
}

static void
contexts_json_write_seen(const struct st_profile *p, FILE *out)
{
	struct st_contexts_seen s;
	if (!st_contexts_seen(p, &s))
		return;
	fprintf(out, ",\n\"seen\": {\"entries\": %" PRIu64 ", \"entries_lost\": %" PRIu64,
	        s.entries, s.lost);
	if (s.timed)
		fprintf(out, ", \"cpu_ns\": %" PRIu64 ", \"measured_ns\": %" PRIu64, s.cpu_ns,
		        s.measured_ns);
	fputs("}", out);
}

void
st_contexts_json(const struct st_contexts *c, FILE *out)
{
	char k[16];
	const char *text = st_contexts_k(c, k);
	bool infinite = !strcmp(text, "inf");
	fprintf(out, "{\"strobe\": {\"version\": 1, \"tool\": \"paths\"}, \"mode\": \"%s\", ",
	        st_contexts_mode(c));
	if (c->sampled)
		fputs("\"counted\": \"samples\", ", out);
	fprintf(out, infinite ? "\"k\": \"%s\",\n" : "\"k\": %s,\n", text);
	fprintf(out, "\"functions\": %zu, \"thread_count\": %zu, \"nodes_ksf\": %zu",
	        c->n_functions, c->n_threads, c->n_ksf);
	if (c->with_kccf)
		fprintf(out, ", \"nodes_kccf\": %zu", c->n_kccf);
	if (c->mode != ST_CONTEXT_FUNC)
		fprintf(out, ", \"blocks\": %zu", c->n_blocks);
	if (c->mode != ST_CONTEXT_FUNC && c->pinned)
		fputs(", \"pinned\": true", out);
	if (c->k_callers != c->k)
		fprintf(out, ", \"k_kccf\": %" PRIu32, c->k_callers);
	if (c->n_left_out)
		fprintf(out, ", \"nodes_left_out\": %zu", c->n_left_out);
	if (c->bytes)
		fprintf(out, ", \"bytes\": %" PRIu64, c->bytes);
	if (c->n_pruned)
		fprintf(out,
		        ", \"pruned\": {\"contexts\": %" PRIu64 ", \"activations\": %" PRIu64 "}",
		        c->n_pruned, c->n_in_pruned);
	contexts_json_write_seen(c->profile, out);
	write_processes(c->profile, out);
	fputs(",\n\"threads\": [", out);
	for (size_t i = 0; i < c->groups.n;) {
		if (i)
			fputs(",\n", out);
		contexts_json_write_thread(c, c->groups.v[i].thread, out);
		if (c->mode == ST_CONTEXT_INTRA)
			i = write_functions(c, i, out);
		else
			contexts_json_write_forests(c, &c->groups.v[i++], out);
		fputs("}", out);
	}
	fputs("]", out);
	contexts_json_write_loops(c, out);
	contexts_json_write_lists(c, out);
	fputs("}\n", out);
}
