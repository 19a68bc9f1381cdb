/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts as XML, in the structure of seed 002, listing 4.25. docs/paths.xsd is its description.
 */
#include <inttypes.h>
#include <string.h>

#include "report/contexts.h"
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
write_text(const char *bytes, FILE *out)
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
	write_text(bytes, out);
	fputc('"', out);
}

static void
write_number(const char *name, uint64_t value, FILE *out)
{
	fprintf(out, " %s=\"%" PRIu64 "\"", name, value);
}

static void
write_label(const struct st_contexts *c, const struct st_context_label *l, FILE *out)
{
	write_attribute("name", l->name, out);
	if (c->mode != ST_CONTEXT_FUNC && !l->root)
		write_number("inside", l->inside, out);
	fprintf(out, " address=\"0x%" PRIx64 "\"", l->offset);
	if (l->image)
		write_attribute("image", l->image, out);
	if (!l->file)
		return;
	write_attribute("file", l->file, out);
	write_number("line", l->line, out);
	write_number("column", l->column, out);
}

static void
write_node(const struct st_contexts *c, const struct st_tree_node *n, FILE *out)
{
	fputs("<node", out);
	write_label(c, &c->labels[n->label], out);
	write_number("counter", n->weight.count + n->top, out);
	if (c->timed) {
		write_number("self_ns", n->weight.self_ns, out);
		write_number("total_ns", n->total_ns, out);
	}
	if (c->with_instructions) {
		write_number("instructions", n->weight.instructions, out);
		write_number("total_instructions", n->total_instructions, out);
	}
	fputs(n->first == ST_NO_NODE ? "/>\n" : ">\n", out);
}

/* Without recursion: a tree may be as deep as the program's. */
static void
write_forest(const struct st_contexts *c, const char *name, const struct st_forest *f, FILE *out)
{
	fprintf(out, "<%s>\n", name);
	for (uint32_t i = f->first; i != ST_NO_NODE;) {
		write_node(c, &f->nodes[i], out);
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
write_forests(const struct st_contexts *c, const struct st_context_group *g, FILE *out)
{
	write_forest(c, "kSF", &g->ksf, out);
	if (c->with_kccf)
		write_forest(c, "kCCF", &g->kccf, out);
}

static void
write_function(const struct st_contexts *c, const struct st_context_group *g, FILE *out)
{
	const struct st_context_label *l = &c->labels[g->function];
	fputs("<func_ctx", out);
	write_attribute("name", l->name, out);
	if (l->image)
		write_attribute("image", l->image, out);
	fprintf(out, ">\n<funcAddr>0x%" PRIx64 "</funcAddr>\n", l->offset - l->inside);
	write_forests(c, g, out);
	fputs("</func_ctx>\n", out);
}

/* The thread of group `from`; the group behind it. */
static size_t
write_thread(const struct st_contexts *c, size_t from, FILE *out)
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
		write_forests(c, &c->groups.v[i++], out);
	} else {
		fputs("<intraMode_ctx>\n", out);
		for (; i < c->groups.n && c->groups.v[i].thread == thread; i++)
			write_function(c, &c->groups.v[i], out);
		fputs("</intraMode_ctx>\n", out);
	}
	fputs("</thread>\n", out);
	return i;
}

static void
write_header(const struct st_contexts *c, FILE *out)
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
	for (size_t i = 0; i < c->profile->processes.n; i++) {
		const struct st_profile_process *x = &c->profile->processes.v[i];
		fprintf(out, "<process pid=\"%" PRId64 "\" ppid=\"%" PRId64 "\"", x->pid, x->ppid);
		write_attribute("command", x->command, out);
		fputs("/>\n", out);
	}
	fputs("</header>\n", out);
}

void
st_contexts_xml(const struct st_contexts *c, FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<paths version=\"1\">\n", out);
	write_header(c, out);
	fputs("<threads>\n", out);
	for (size_t i = 0; i < c->groups.n;)
		i = write_thread(c, i, out);
	fputs("</threads>\n</paths>\n", out);
}
