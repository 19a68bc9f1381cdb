/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts as XML, in the structure of Valtchev, "IHPP" (BSc thesis, Sapienza 2012), listing 4.25.
 * docs/paths.xsd is its description. */
#include <inttypes.h>
#include <string.h>

#include "export/contexts.h"
#include "report/contexts_lists.h"
#include "report/contexts_loops.h"
#include "report/contexts_seen.h"
#include "report/json.h"

/* Characters that XML has no way to write: of ASCII those without a picture, and two of Unicode's.
 * The length of the one at `p`, 0: it is none. */
static size_t
forbidden_length(const char *p)
{
	unsigned char c = (unsigned char)*p;
	if (c < 0x20 && c != '\t' && c != '\n' && c != '\r')
		return 1;
	return !strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3) ? 3 : 0;
}

/* For attributes and for what stands between marks. */
static void
write_escaped(const char *text, FILE *out)
{
	for (const char *p = text; *p; p++) {
		size_t forbidden = forbidden_length(p);
		if (forbidden) {
			fputs("\xef\xbf\xbd", out);
			p += forbidden - 1;
		} else if (strchr("&<>\"\t\n\r", *p)) {
			fprintf(out, "&#%d;", *p);
		} else {
			fputc(*p, out);
		}
	}
}

static void
contexts_xml_write_text(const char *bytes, FILE *out)
{
	json_t *clean = st_json_text(bytes); /* for its UTF-8 */
	if (clean)
		write_escaped(json_string_value(clean), out);
	json_decref(clean);
}

static void
write_attribute(const char *name, const char *bytes, FILE *out)
{
	fprintf(out, " %s=\"", name);
	contexts_xml_write_text(bytes, out);
	fputc('"', out);
}

static void
contexts_xml_write_number(const char *name, uint64_t value, FILE *out)
{
	fprintf(out, " %s=\"%" PRIu64 "\"", name, value);
}

static void
contexts_xml_write_line(const char *file, uint32_t line, uint32_t column, FILE *out)
{
	if (!file)
		return;
	write_attribute("file", file, out);
	contexts_xml_write_number("line", line, out);
	contexts_xml_write_number("column", column, out);
}

static void
st_contexts_xml_label(const struct st_contexts *c, uint32_t label, FILE *out)
{
	const struct st_context_label *l = &c->labels[label];
	write_attribute("name", l->name, out);
	if (c->mode != ST_CONTEXT_FUNC && !l->root)
		fprintf(out, " inside=\"%" PRId64 "\"", l->inside);
	fprintf(out, " address=\"0x%" PRIx64 "\"", l->offset);
	if (l->image)
		write_attribute("image", l->image, out);
	contexts_xml_write_line(l->file, l->line, l->column, out);
}

static void
contexts_xml_write_node(const struct st_contexts *c, const struct st_tree_node *n, FILE *out)
{
	fputs("<node", out);
	st_contexts_xml_label(c, n->label, out);
	contexts_xml_write_number("counter", n->weight.count + n->top, out);
	if (c->timed) {
		contexts_xml_write_number("self_ns", n->weight.self_ns, out);
		contexts_xml_write_number("total_ns", n->total_ns, out);
	}
	if (c->with_instructions) {
		contexts_xml_write_number("instructions", n->weight.instructions, out);
		contexts_xml_write_number("total_instructions", n->total_instructions, out);
	}
	if (n->loop)
		st_loop_xml(st_loop_at(c, n->loop), out);
	fputs(n->first == ST_NO_NODE ? "/>\n" : ">\n", out);
}

/* Without recursion: a tree may be as deep as the program's. */
static void
contexts_xml_write_forest(const struct st_contexts *c, const char *name, const struct st_forest *f,
                          FILE *out)
{
	fprintf(out, "<%s>\n", name);
	for (uint32_t i = f->first; i != ST_NO_NODE;) {
		contexts_xml_write_node(c, &f->nodes[i], out);
		if (f->nodes[i].first != ST_NO_NODE) {
			i = f->nodes[i].first;
			continue;
		}
		while (i != ST_NO_NODE && f->nodes[i].next == ST_NO_NODE) {
			i = f->nodes[i].parent;
			if (i != ST_NO_NODE)
				fputs("</node>\n", out);
		}
		if (i != ST_NO_NODE)
			i = f->nodes[i].next;
	}
	fprintf(out, "</%s>\n", name);
}

static void
contexts_xml_write_forests(const struct st_contexts *c, const struct st_context_group *g, FILE *out)
{
	contexts_xml_write_forest(c, "kSF", &g->ksf, out);
	if (c->with_kccf)
		contexts_xml_write_forest(c, "kCCF", &g->kccf, out);
}

static void
contexts_xml_write_function(const struct st_contexts *c, const struct st_context_group *g,
                            FILE *out)
{
	const struct st_context_label *l = &c->labels[g->function];
	fputs("<func_ctx", out);
	write_attribute("name", l->name, out);
	if (l->image)
		write_attribute("image", l->image, out);
	fprintf(out, ">\n<funcAddr>0x%" PRIx64 "</funcAddr>\n", l->offset - (uint64_t)l->inside);
	contexts_xml_write_forests(c, g, out);
	fputs("</func_ctx>\n", out);
}

/* The thread of group `from`; the group behind it. */
static size_t
contexts_xml_write_thread(const struct st_contexts *c, size_t from, FILE *out)
{
	uint32_t thread = c->groups.v[from].thread;
	size_t i = from;
	fputs("<thread", out);
	if (thread != UINT32_MAX) {
		const struct st_profile_thread *t = &c->profile->threads.v[thread];
		fprintf(out, " tid=\"%" PRId64 "\" pid=\"%" PRId64 "\"", t->tid,
		        c->profile->processes.v[t->process].pid);
		write_attribute("comm", t->name, out);
	} else {
		fputs(" joined=\"true\"", out);
	}
	fprintf(out, ">\n<id>%" PRIu32 "</id>\n", thread == UINT32_MAX ? 1 : thread + 1);
	if (c->mode != ST_CONTEXT_INTRA) {
		contexts_xml_write_forests(c, &c->groups.v[i++], out);
	} else {
		fputs("<intraMode_ctx>\n", out);
		for (; i < c->groups.n && c->groups.v[i].thread == thread; i++)
			contexts_xml_write_function(c, &c->groups.v[i], out);
		fputs("</intraMode_ctx>\n", out);
	}
	fputs("</thread>\n", out);
	return i;
}

static void
contexts_xml_write_seen(const struct st_profile *p, FILE *out)
{
	struct st_contexts_seen s;
	if (!st_contexts_seen(p, &s))
		return;
	fprintf(out, "<seen entries=\"%" PRIu64 "\" entriesLost=\"%" PRIu64 "\"", s.entries,
	        s.lost);
	if (s.timed)
		fprintf(out, " cpuNs=\"%" PRIu64 "\" measuredNs=\"%" PRIu64 "\"", s.cpu_ns,
		        s.measured_ns);
	fputs("/>\n", out);
}

static void
contexts_xml_write_header(const struct st_contexts *c, FILE *out)
{
	char k[16];
	fprintf(out, "<header>\n<mode>%s</mode>\n<k>%s</k>\n", st_contexts_mode(c),
	        st_contexts_k(c, k));
	fprintf(out, "<functions>%zu</functions>\n<threadCount>%zu</threadCount>\n", c->n_functions,
	        c->n_threads);
	if (c->mode != ST_CONTEXT_FUNC)
		fprintf(out, "<blockCount pinned=\"%s\">%zu</blockCount>\n",
		        c->pinned ? "true" : "false", c->n_blocks);
	fprintf(out, "<nodesKSF>%zu</nodesKSF>\n", c->n_ksf);
	if (c->with_kccf)
		fprintf(out, "<nodesKCCF>%zu</nodesKCCF>\n", c->n_kccf);
	if (c->k_callers != c->k)
		fprintf(out, "<kKCCF>%" PRIu32 "</kKCCF>\n", c->k_callers);
	if (c->n_left_out)
		fprintf(out, "<nodesLeftOut>%zu</nodesLeftOut>\n", c->n_left_out);
	if (c->bytes)
		fprintf(out, "<bytes>%" PRIu64 "</bytes>\n", c->bytes);
	if (c->n_pruned)
		fprintf(out, "<pruned contexts=\"%" PRIu64 "\" activations=\"%" PRIu64 "\"/>\n",
		        c->n_pruned, c->n_in_pruned);
	contexts_xml_write_seen(c->profile, out);
	for (size_t i = 0; i < c->profile->processes.n; i++) {
		const struct st_profile_process *x = &c->profile->processes.v[i];
		fprintf(out, "<process pid=\"%" PRId64 "\" ppid=\"%" PRId64 "\"", x->pid, x->ppid);
		write_attribute("command", x->command, out);
		fputs("/>\n", out);
	}
	fputs("</header>\n", out);
}

/* ---- all functions, all blocks ---- */

static void
contexts_xml_write_insn(void *context, const struct st_listed_insn *in)
{
	FILE *out = context;
	fprintf(out, "%s<insn address=\"0x%" PRIx64 "\">", in->first ? ">\n" : "", in->offset);
	contexts_xml_write_text(in->text, out);
	fputs("</insn>\n", out);
}

/* Ends the element; why: there is no code. */
static void
end_listed(const char *why, bool code, const char *element, FILE *out)
{
	if (why)
		write_attribute("noCode", why, out);
	if (why || !code)
		fputs("/>\n", out);
	else
		fprintf(out, "</%s>\n", element);
}

static void
contexts_xml_write_listed_function(struct st_context_lists *l, const struct st_listed_function *f,
                                   FILE *out)
{
	const struct st_context_label *label = &l->c->labels[f->label];
	fputs("<function", out);
	write_attribute("name", label->name, out);
	fprintf(out, " address=\"0x%" PRIx64 "\"", f->offset);
	if (label->image)
		write_attribute("image", label->image, out);
	contexts_xml_write_line(f->file, f->line, f->column, out);
	contexts_xml_write_number("counter", f->count, out);
	if (f->blocks)
		contexts_xml_write_number("blocks", f->blocks, out);
	if (f->measured)
		contexts_xml_write_number("instructions", f->instructions, out);
	const char *why =
	        l->c->list_code ? st_lists_function_code(l, f, contexts_xml_write_insn, out) : NULL;
	end_listed(why, l->c->list_code, "function", out);
}

static void
contexts_xml_write_listed_block(struct st_context_lists *l, uint32_t label, FILE *out)
{
	const struct st_context_label *b = &l->c->labels[label];
	fputs("<block", out);
	st_contexts_xml_label(l->c, label, out);
	contexts_xml_write_number("counter", b->count, out);
	if (b->bytes)
		contexts_xml_write_number("bytes", b->bytes, out);
	if (b->insns)
		contexts_xml_write_number("instructions", b->count * b->insns, out);
	const char *why = l->c->list_code
	                          ? st_lists_block_code(l, label, contexts_xml_write_insn, out)
	                          : NULL;
	end_listed(why, l->c->list_code, "block", out);
}

static void
contexts_xml_write_loops(const struct st_contexts *c, FILE *out)
{
	if (!c->with_loops)
		return;
	fputs("<allLoops>\n", out);
	for (uint32_t i = 0; (i = st_loop_next(c, i)) < c->n_labels; i++) {
		fputs("<loop", out);
		st_contexts_xml_label(c, i, out);
		st_loop_xml(st_loop_at(c, c->labels[i].loop), out);
		fputs("/>\n", out);
	}
	fputs("</allLoops>\n", out);
}

static void
contexts_xml_write_lists(const struct st_contexts *c, FILE *out)
{
	struct st_context_lists l;
	if (!c->list_functions && !c->list_blocks)
		return;
	int status = st_lists_open(&l, c, false);
	if (!status && c->list_functions) {
		fputs("<allFunctions>\n", out);
		for (size_t i = 0; i < l.functions.n; i++)
			contexts_xml_write_listed_function(&l, &l.functions.v[i], out);
		fputs("</allFunctions>\n", out);
	}
	if (!status && c->list_blocks) {
		fputs("<allBlocks>\n", out);
		for (uint32_t i = 0; (i = st_lists_block(c, i)) < c->n_labels; i++)
			contexts_xml_write_listed_block(&l, i, out);
		fputs("</allBlocks>\n", out);
	}
	st_lists_close(&l);
}

void
st_contexts_xml(const struct st_contexts *c, FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<paths version=\"1\">\n", out);
	contexts_xml_write_header(c, out);
	fputs("<threads>\n", out);
	for (size_t i = 0; i < c->groups.n;)
		i = contexts_xml_write_thread(c, i, out);
	fputs("</threads>\n", out);
	contexts_xml_write_loops(c, out);
	contexts_xml_write_lists(c, out);
	fputs("</paths>\n", out);
}

/* ---- what a context takes ---- */

const struct st_context_cost st_context_cost_xml = {
        .label = st_contexts_xml_label,
        .loop = st_loop_xml,
        .node = ST_COST_OF("<node counter=\"\">\n</node>\n"),
        .time = ST_COST_OF(" self_ns=\"\" total_ns=\"\""),
        .instructions = ST_COST_OF(" instructions=\"\" total_instructions=\"\""),
        .callers = true,
};
