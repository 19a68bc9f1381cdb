/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folded stacks: "a;b;c NUMBER", a line for each context, with what it is worth by itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/contexts.h"

/* A semicolon would end the name. */
static void
st_contexts_folded_label(const struct st_contexts *c, uint32_t label, FILE *out)
{
	const struct st_context_label *l = &c->labels[label];
	for (const char *p = l->name; *p;) {
		size_t n = strcspn(p, ";\n");
		fwrite(p, 1, n, out);
		p += n;
		if (*p++)
			fputc(':', out);
		else
			break;
	}
	if (c->mode != ST_CONTEXT_FUNC)
		fprintf(out, "%+" PRId64, l->inside);
}

static void
contexts_folded_write_forest(const struct st_contexts *c, const struct st_forest *f, FILE *out)
{
	uint32_t *path = malloc((f->n + 1) * sizeof *path);
	for (uint32_t i = 0; path && i < f->n; i++) {
		uint64_t value = st_contexts_value(c, &f->nodes[i].weight);
		uint32_t n = 0;
		if (!value)
			continue;
		for (uint32_t k = i; k != ST_NO_NODE; k = f->nodes[k].parent)
			path[n++] = f->nodes[k].label;
		while (n-- > 0) {
			st_contexts_folded_label(c, path[n], out);
			fputc(n ? ';' : ' ', out);
		}
		fprintf(out, "%" PRIu64 "\n", value);
	}
	free(path);
}

void
st_contexts_folded(const struct st_contexts *c, FILE *out)
{
	for (size_t i = 0; i < c->groups.n; i++)
		contexts_folded_write_forest(c, &c->groups.v[i].ksf, out);
}

/* ---- what a context takes ---- */

/* Between labels there are semicolons: one less than labels. */
const struct st_context_cost st_context_cost_folded = {
        .label = st_contexts_folded_label,
        .node = ST_COST_OF("\n"),
        .whole_path = true,
        .worth = true,
};
