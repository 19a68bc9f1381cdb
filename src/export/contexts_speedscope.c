/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts for speedscope: a "sampled" profile for each thread, in which a sample is a context and
 * its weight what the context is worth by itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/contexts.h"
#include "report/json.h"

static void
write_frames(const struct st_contexts *c, FILE *out)
{
	fputs("\"shared\": {\"frames\": [", out);
	for (size_t i = 0; i < c->n_labels; i++) {
		const struct st_context_label *l = &c->labels[i];
		fputs(i ? ",\n{\"name\": " : "{\"name\": ", out);
		st_contexts_json_name(c, l, out);
		if (l->file) {
			fputs(", \"file\": ", out);
			st_json_print(l->file, out);
		}
		if (l->file && l->line)
			fprintf(out, ", \"line\": %" PRIu32, l->line);
		if (l->file && l->line && l->column)
			fprintf(out, ", \"col\": %" PRIu32, l->column);
		fputs("}", out);
	}
	fputs("]}", out);
}

/* The path to a node, outermost first. `path` has room for it. */
static void
write_sample(const struct st_forest *f, uint32_t node, uint32_t *path, FILE *out)
{
	uint32_t n = 0;
	for (; node != ST_NO_NODE; node = f->nodes[node].parent)
		path[n++] = f->nodes[node].label;
	fputc('[', out);
	while (n-- > 0)
		fprintf(out, n ? "%" PRIu32 "," : "%" PRIu32, path[n]);
	fputc(']', out);
}

/* Of groups `from` up to `end`: samples, or their weights. Returns the sum of the weights. */
static uint64_t
contexts_speedscope_write_contexts(const struct st_contexts *c, size_t from, size_t end,
                                   bool weights, FILE *out)
{
	uint64_t sum = 0;
	bool first = true;
	for (size_t g = from; g < end; g++) {
		const struct st_forest *f = &c->groups.v[g].ksf;
		uint32_t *path = malloc((f->n + 1) * sizeof *path);
		for (uint32_t i = 0; path && i < f->n; i++) {
			uint64_t value = st_contexts_value(c, &f->nodes[i].weight);
			if (!value)
				continue;
			if (!first)
				fputs(",\n", out);
			first = false;
			sum += value;
			if (weights)
				fprintf(out, "%" PRIu64, value);
			else
				write_sample(f, i, path, out);
		}
		free(path);
	}
	return sum;
}

static void
contexts_speedscope_write_name(const struct st_contexts *c, uint32_t thread, FILE *out)
{
	char *name = NULL;
	int n = 0;
	if (thread == UINT32_MAX) {
		n = asprintf(&name, "all threads");
	} else {
		const struct st_profile_thread *t = &c->profile->threads.v[thread];
		n = asprintf(&name, "thread %" PRIu32 " (tid %" PRId64 "%s%s)", thread + 1, t->tid,
		             *t->name ? ", " : "", t->name);
	}
	st_json_print(n < 0 ? "" : name, out);
	if (n >= 0)
		free(name);
}

/* The thread of group `from`; the group behind it. */
static size_t
contexts_speedscope_write_thread(const struct st_contexts *c, size_t from, FILE *out)
{
	uint32_t thread = c->groups.v[from].thread;
	size_t end = from;
	while (end < c->groups.n && c->groups.v[end].thread == thread)
		end++;
	fputs(from ? ",\n{\"type\": \"sampled\", \"name\": " : "{\"type\": \"sampled\", \"name\": ",
	      out);
	contexts_speedscope_write_name(c, thread, out);
	fprintf(out, ", \"unit\": \"%s\",\n\"samples\": [",
	        c->timed                               ? "nanoseconds"
	        : c->unit && !strcmp(c->unit, "bytes") ? "bytes"
	                                               : "none");
	contexts_speedscope_write_contexts(c, from, end, false, out);
	fputs("],\n\"weights\": [", out);
	uint64_t sum = contexts_speedscope_write_contexts(c, from, end, true, out);
	fprintf(out, "],\n\"startValue\": 0, \"endValue\": %" PRIu64 "}", sum);
	return end;
}

void
st_contexts_speedscope(const struct st_contexts *c, FILE *out)
{
	const struct st_profile *p = c->profile;
	fputs("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", "
	      "\"exporter\": \"strobe\", \"name\": ",
	      out);
	st_json_print(p->run.command.n ? p->run.command.v[0] : "", out);
	fputs(",\n", out);
	write_frames(c, out);
	fputs(",\n\"profiles\": [", out);
	for (size_t i = 0; i < c->groups.n;)
		i = contexts_speedscope_write_thread(c, i, out);
	fputs("]}\n", out);
}

/* ---- what a context takes ---- */

static void
contexts_speedscope_write_number(const struct st_contexts *c, uint32_t label, FILE *out)
{
	(void)c;
	fprintf(out, "%" PRIu32, label);
}

const struct st_context_cost st_context_cost_speedscope = {
        .label = contexts_speedscope_write_number,
        .node = ST_COST_OF("[],\n,\n"),
        .whole_path = true,
        .worth = true,
};
