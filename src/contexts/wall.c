/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of a part of wall time (profile/waits.h). */
#include <stdlib.h>
#include <string.h>

#include "contexts/internal.h"

bool
st_wall_part_named(const char *name, enum st_wall_part *part)
{
	static const char *const names[] = {"",
#define P(id, word) word,
	                                    ST_WALL_PARTS(P)
#undef P
	};
	for (size_t i = 1; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name)) {
			*part = (enum st_wall_part)i;
			return true;
		}
	return false;
}

struct st_weight
st_contexts_weight(const struct st_context_maker *m, const struct st_profile_context *x)
{
	const struct st_weight all = {x->count, x->self_ns, x->instructions};
	const struct st_profile_label *l = &m->c->profile->labels.v[x->label];
	if (m->part < ST_WALL_ON_CPU)
		return all;
	if (m->part == ST_WALL_SAMPLES)
		return (struct st_weight){.count = all.count};
	const bool waits = st_stack_kind_waits(st_profile_label_kind(l));
	return waits == (m->part == ST_WALL_WAITING) ? all : (struct st_weight){0};
}

st_status
st_contexts_keep_weights(struct st_forest *f)
{
	unsigned char *marks = calloc((size_t)f->n + 1, 1);
	if (!marks)
		return ST_FAILED;
	for (uint32_t i = f->n; i-- > 0;) {
		const struct st_weight *w = &f->nodes[i].weight;
		marks[i] |= w->count || w->self_ns || w->instructions || f->nodes[i].top;
		if (f->nodes[i].parent != ST_NO_NODE)
			marks[f->nodes[i].parent] |= marks[i];
	}
	st_forest_keep(f, marks, 1);
	free(marks);
	return ST_OK;
}
