/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts for KCachegrind and callgrind_annotate: each function's own cost, and below it that of
 * its calls (contexts/pairs.h). */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "contexts/pairs.h"
#include "export/contexts.h"

/* Which labels have one name. Where it is first written it gets a number, by which it goes then. */
struct names {
	size_t field;     /* of a label: the name */
	uint32_t *number; /* by label: the first label with its name */
	bool *written;    /* by number */
};

struct writer {
	const struct st_contexts *c;
	struct st_forest pairs;
	struct names functions, files, images;
	FILE *out;
};

/* ---- names ---- */

static const char *
contexts_callgrind_name_of(const struct st_context_label *l, size_t field)
{
	const char *name;
	memcpy(&name, (const char *)l + field, sizeof name);
	return name ? name : "\?\?\?"; /* as callgrind itself says */
}

struct order {
	const struct st_context_label *labels;
	size_t field;
};

static int
compare_names(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int by_name = strcmp(contexts_callgrind_name_of(&o->labels[x], o->field),
	                     contexts_callgrind_name_of(&o->labels[y], o->field));
	return by_name ? by_name : (x > y) - (x < y);
}

static st_status
number_names(struct names *n, const struct st_contexts *c, size_t field)
{
	uint32_t n_labels = (uint32_t)c->n_labels, *order = calloc(n_labels + 1, sizeof *order);
	struct order by = {c->labels, field};
	n->field = field;
	n->number = calloc(n_labels + 1, sizeof *n->number);
	n->written = calloc(n_labels + 1, sizeof *n->written);
	if (!order || !n->number || !n->written) {
		free(order);
		return -1;
	}
	for (uint32_t i = 0; i < n_labels; i++)
		order[i] = i;
	qsort_r(order, n_labels, sizeof *order, compare_names, &by);
	for (uint32_t i = 0; i < n_labels; i++) {
		bool same =
		        i && !strcmp(contexts_callgrind_name_of(&c->labels[order[i]], field),
		                     contexts_callgrind_name_of(&c->labels[order[i - 1]], field));
		n->number[order[i]] = same ? n->number[order[i - 1]] : order[i];
	}
	free(order);
	return 0;
}

static void
free_names(struct names *n)
{
	free(n->number);
	free(n->written);
}

static void
contexts_callgrind_write_text(const char *text, FILE *out)
{
	for (const char *p = text; *p; p++)
		fputc(*p == '\n' || *p == '\r' ? '?' : *p, out);
}

static void
contexts_callgrind_write_name(struct writer *w, const char *key, struct names *n, uint32_t label)
{
	uint32_t number = n->number[label];
	fprintf(w->out, "%s=(%" PRIu32 ")", key, number + 1);
	if (!n->written[number]) {
		fputc(' ', w->out);
		contexts_callgrind_write_text(
		        contexts_callgrind_name_of(&w->c->labels[label], n->field), w->out);
	}
	fputc('\n', w->out);
	n->written[number] = true;
}

/* ---- costs ---- */

static void
contexts_callgrind_write_weight(const struct st_contexts *c, const struct st_weight *w, FILE *out)
{
	if (c->timed)
		fprintf(out, " %" PRIu64, w->self_ns);
	if (c->with_instructions)
		fprintf(out, " %" PRIu64, w->instructions);
	fprintf(out, " %" PRIu64 "\n", w->count);
}

static void
write_cost(struct writer *w, uint32_t line, const struct st_weight *weight)
{
	fprintf(w->out, "%" PRIu32, line);
	contexts_callgrind_write_weight(w->c, weight, w->out);
}

/* A function, or a block's part of it, which may be in a file of its own. */
static void
write_root(struct writer *w, const struct st_tree_node *root)
{
	const struct st_context_label *l = &w->c->labels[root->label];
	contexts_callgrind_write_name(w, "ob", &w->images, l->function);
	contexts_callgrind_write_name(w, "fl", &w->files, l->function);
	contexts_callgrind_write_name(w, "fn", &w->functions, l->function);
	if (w->files.number[root->label] != w->files.number[l->function])
		contexts_callgrind_write_name(w, "fi", &w->files, root->label);
	write_cost(w, l->line, &root->weight);
	for (uint32_t i = root->first; i != ST_NO_NODE; i = w->pairs.nodes[i].next) {
		const struct st_tree_node *n = &w->pairs.nodes[i];
		if (!n->top && !st_contexts_value(w->c, &n->weight))
			continue;
		contexts_callgrind_write_name(w, "cob", &w->images, n->label);
		contexts_callgrind_write_name(w, "cfi", &w->files, n->label);
		contexts_callgrind_write_name(w, "cfn", &w->functions, n->label);
		/* Readers want at least one, which was under way before anything was measured.
		 * Samples do not say how many calls there were. */
		fprintf(w->out, "calls=%" PRIu64 " %" PRIu32 "\n",
		        n->top && !w->c->sampled ? n->top : 1, w->c->labels[n->label].line);
		write_cost(w, l->line, &n->weight); /* where in it is not known */
	}
	fputc('\n', w->out);
}

static void
contexts_callgrind_write_header(const struct st_contexts *c, FILE *out)
{
	const struct st_profile *p = c->profile;
	char k[16];
	fputs("# callgrind format\nversion: 1\ncreator: strobe paths\n", out);
	if (p->processes.n == 1)
		fprintf(out, "pid: %" PRId64 "\n", p->processes.v[0].pid);
	fputs("cmd:", out);
	for (size_t i = 0; i < p->run.command.n; i++) {
		fputc(' ', out);
		contexts_callgrind_write_text(p->run.command.v[i], out);
	}
	fprintf(out, "\ndesc: Contexts: mode %s, k %s\n", st_contexts_mode(c), st_contexts_k(c, k));
	if (c->sampled)
		fputs("desc: Calls: not counted, so each is 1; costs are samples\n", out);
	fputs("positions: line\n", out);
	if (c->timed)
		fputs("event: Ns : Time in nanoseconds\n", out);
	if (c->with_instructions)
		fputs("event: Ir : Instructions\n", out);
	fprintf(out, "event: Count : %s\nevents:%s%s Count\n",
	        c->counted ? c->counted : "Activations", c->timed ? " Ns" : "",
	        c->with_instructions ? " Ir" : "");
}

static void
write_summary(struct writer *w)
{
	struct st_weight sum = {0};
	for (uint32_t i = w->pairs.first; i != ST_NO_NODE; i = w->pairs.nodes[i].next) {
		const struct st_weight *own = &w->pairs.nodes[i].weight;
		sum.count += own->count;
		sum.self_ns += own->self_ns;
		sum.instructions += own->instructions;
	}
	fputs("summary:", w->out);
	contexts_callgrind_write_weight(w->c, &sum, w->out);
	fputc('\n', w->out);
}

void
st_contexts_callgrind(const struct st_contexts *c, FILE *out)
{
	struct writer w = {.c = c, .out = out};
	st_pairs_make(c, &w.pairs);
	if (!number_names(&w.functions, c, offsetof(struct st_context_label, name)) &&
	    !number_names(&w.files, c, offsetof(struct st_context_label, file)) &&
	    !number_names(&w.images, c, offsetof(struct st_context_label, image))) {
		contexts_callgrind_write_header(c, out);
		if (w.pairs.out_of_memory)
			fputs("# incomplete: there was no memory for all of it\n", out);
		write_summary(&w);
		for (uint32_t i = w.pairs.first; i != ST_NO_NODE; i = w.pairs.nodes[i].next)
			write_root(&w, &w.pairs.nodes[i]);
	}
	free_names(&w.functions);
	free_names(&w.files);
	free_names(&w.images);
	st_forest_free(&w.pairs);
}
