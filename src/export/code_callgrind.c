/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The costs are instructions and samples. A function's costs are at its lines; what belongs to no
 * line is at line 0, so that the sums are those of the profile. Calls have samples including those
 * of the callee's callees, and no instructions, because these are counted without stacks.
 */
#include "export/code_callgrind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "contexts/contexts.h"
#include "export/code_edges.h"

struct code_cost {
	uint64_t instructions, samples;
};

struct code_writer {
	const struct st_profile *p;
	struct st_code_edges edges;
	FILE *out;
	bool with_samples, samples_first;
	bool *named_function, *named_image; /* by number: its name has been written */
	struct st_hashmap files;            /* of names below */
	ST_VEC(const char *) names;
	const char *file; /* of the lines that follow */
	bool failed;      /* no memory */
};

bool
st_export_has_code(const struct st_profile *p)
{
	struct st_context_options o;
	if (!p->run.has_functions || !p->lines.n || !p->blocks.n)
		return false;
	return !st_contexts_options(p, &o) || (o.sampled && !o.time);
}

/* ---- names ---- */

static void
code_put_text(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc(*text == '\n' || *text == '\r' ? '?' : *text, out);
}

static void
code_put_name(struct code_writer *w, const char *key, size_t number, const char *name, bool *named)
{
	fprintf(w->out, "%s=(%zu)", key, number);
	if (!*named) {
		fputc(' ', w->out);
		code_put_text(name && *name ? name : "\?\?\?", w->out);
	}
	fputc('\n', w->out);
	*named = true;
}

static void
code_put_file(struct code_writer *w, const char *key, const char *file)
{
	const char *name = file && *file ? file : "\?\?\?";
	const uint32_t hash = st_hash_text(name);
	uint32_t i = ST_HASHMAP_FIND(&w->files, hash, at, !strcmp(w->names.v[at], name));
	bool named = i != ST_HASHMAP_NONE;
	if (!named) {
		const char **slot = ST_PUSH(&w->names);
		i = (uint32_t)w->names.n - 1;
		if (!slot || st_hashmap_add(&w->files, hash, i)) {
			w->failed = true;
			return;
		}
		*slot = name;
	}
	code_put_name(w, key, i + 1, name, &named);
}

static bool
code_same_file(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* Sets the file of the lines that follow: that of the function, or of an inlined one. */
static void
code_enter_file(struct code_writer *w, const struct st_profile_function *f, const char *file)
{
	if (code_same_file(file, w->file))
		return;
	code_put_file(w, code_same_file(file, f->file) ? "fe" : "fi", file);
	w->file = file;
}

static void
code_put_function(struct code_writer *w, size_t i, bool called)
{
	const struct st_profile_function *f = &w->p->functions.v[i];
	code_put_name(w, called ? "cob" : "ob", f->image + 1, w->p->images.v[f->image].path,
	              &w->named_image[f->image]);
	code_put_file(w, called ? "cfi" : "fl", f->file);
	code_put_name(w, called ? "cfn" : "fn", i + 1, f->name, &w->named_function[i]);
}

/* ---- costs ---- */

static void
code_put_cost(const struct code_writer *w, struct code_cost cost)
{
	const uint64_t first = w->samples_first ? cost.samples : cost.instructions;
	fprintf(w->out, " %" PRIu64, first);
	if (w->with_samples)
		fprintf(w->out, " %" PRIu64, w->samples_first ? cost.instructions : cost.samples);
	fputc('\n', w->out);
}

/* Writes the lines of a function from the index `at` on, and returns the index after the last one.
 * Lines never have more than the function in all, or the sums would differ. */
static size_t
code_put_lines(struct code_writer *w, size_t function, size_t at)
{
	const struct st_profile_function *f = &w->p->functions.v[function];
	struct code_cost left = {f->instructions, f->samples};
	for (; at < w->p->lines.n && w->p->lines.v[at].function <= function; at++) {
		const struct st_profile_line *l = &w->p->lines.v[at];
		if (l->function < function || !l->line || l->instructions > left.instructions ||
		    l->samples > left.samples)
			continue;
		code_enter_file(w, f, l->file);
		fprintf(w->out, "%" PRIu32, l->line);
		code_put_cost(w, (struct code_cost){l->instructions, l->samples});
		left.instructions -= l->instructions;
		left.samples -= l->samples;
	}
	if (left.instructions || left.samples) {
		code_enter_file(w, f, f->file);
		fputc('0', w->out);
		code_put_cost(w, left);
	}
	return at;
}

static void
code_put_jump(struct code_writer *w, const struct st_code_edge *edge)
{
	if (!code_same_file(edge->to_file, edge->file))
		code_put_file(w, "jfi", edge->to_file);
	if (edge->conditional)
		fprintf(w->out, "jcnd=%" PRIu64 "/%" PRIu64, edge->followed, edge->executed);
	else
		fprintf(w->out, "jump=%" PRIu64, edge->executed);
	fprintf(w->out, " %" PRIu32 "\n%" PRIu32 "\n", edge->to_line, edge->line);
}

/* Writes the calls and jumps of a function from the index `at` on, and returns the index after the
 * last one. */
static size_t
code_put_edges(struct code_writer *w, size_t function, size_t at)
{
	const struct st_profile_function *f = &w->p->functions.v[function];
	for (; at < w->edges.v.n && w->edges.v.v[at].function <= function; at++) {
		const struct st_code_edge *edge = &w->edges.v.v[at];
		code_enter_file(w, f, edge->file);
		if (edge->callee == ST_EDGE_JUMP) {
			code_put_jump(w, edge);
			continue;
		}
		code_put_function(w, edge->callee, true);
		fprintf(w->out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32, edge->followed,
		        w->p->functions.v[edge->callee].line, edge->line);
		code_put_cost(w, (struct code_cost){.samples = edge->samples});
	}
	return at;
}

/* ---- the file ---- */

static void
code_put_header(const struct code_writer *w)
{
	static const char *const names[] = {"Ir", "Samples"};
	struct code_cost sum = {0};
	fputs("# callgrind format\nversion: 1\ncreator: strobe export\n", w->out);
	if (w->p->processes.n == 1)
		fprintf(w->out, "pid: %" PRId64 "\n", w->p->processes.v[0].pid);
	fputs("cmd:", w->out);
	for (size_t i = 0; i < w->p->run.command.n; i++) {
		fputc(' ', w->out);
		code_put_text(w->p->run.command.v[i], w->out);
	}
	fputs("\ndesc: Calls: include the samples of what was called, and no instructions\n"
	      "positions: line\nevent: Ir : Instructions\n",
	      w->out);
	if (w->with_samples)
		fputs("event: Samples : Samples of CPU time\n", w->out);
	fprintf(w->out, "events: %s", names[w->samples_first]);
	fprintf(w->out, w->with_samples ? " %s\nsummary:" : "\nsummary:", names[!w->samples_first]);
	for (size_t i = 0; i < w->p->functions.n; i++) {
		sum.instructions += w->p->functions.v[i].instructions;
		sum.samples += w->p->functions.v[i].samples;
	}
	code_put_cost(w, sum);
}

static void
code_put_all(struct code_writer *w)
{
	size_t line = 0, edge = 0;
	code_put_header(w);
	for (size_t i = 0; i < w->p->functions.n && !w->failed; i++) {
		const struct st_profile_function *f = &w->p->functions.v[i];
		const bool calls = edge < w->edges.v.n && w->edges.v.v[edge].function == i;
		if (!f->instructions && !f->samples && !calls)
			continue;
		fputc('\n', w->out);
		code_put_function(w, i, false);
		w->file = f->file;
		line = code_put_lines(w, i, line);
		edge = code_put_edges(w, i, edge);
	}
}

st_status
st_export_code_callgrind(const struct st_profile *p, FILE *out, struct st_error *e)
{
	struct code_writer w = {.p = p,
	                        .out = out,
	                        .with_samples = p->run.samples_code > 0,
	                        .samples_first = st_profile_share_is_time(p)};
	w.named_function = calloc(p->functions.n + 1, sizeof *w.named_function);
	w.named_image = calloc(p->images.n + 1, sizeof *w.named_image);
	st_status status = st_code_edges_make(&w.edges, p, e);
	w.failed = !w.named_function || !w.named_image;
	if (!status && !w.failed)
		code_put_all(&w);
	if (!status && w.failed)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to write the file");
	free(w.names.v);
	st_hashmap_free(&w.files);
	free(w.named_function);
	free(w.named_image);
	st_code_edges_free(&w.edges);
	return status;
}
