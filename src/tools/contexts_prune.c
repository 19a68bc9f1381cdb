/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the forest has no more room: which contexts are under way, so that they stay. */
#include "tools/contexts.h"

static void
keep_frame(strobe_thread *t, const contexts_frame *f)
{
	strobe_keep(f->node);
	strobe_keep(f->inner);
	/* It is not made here, where there is no room. */
	const struct contexts_state *s = strobe_state(t);
	if (s->gap && f->inner == contexts_unknown(t) && !contexts_options.cycles)
		strobe_keep(&strobe_nodes()[f->more]);
}

static void
keep_strand(strobe_thread *t, const struct contexts_strand *c)
{
	for (; c; c = c->interrupted)
		for (uint32_t i = 0; i < c->n; i++)
			keep_frame(t, &c->frames[i]);
}

static void
keep(strobe_thread *t)
{
	const struct contexts_state *s = strobe_state(t);
	const strobe_walk *w = strobe_walk_of(t);
	strobe_keep(&strobe_nodes()[s->root]);
	strobe_keep(w->node);
	strobe_keep(&strobe_nodes()[s->passed]);
	strobe_keep(w->closed.node);
	keep_strand(t, s->strand);
	for (const struct contexts_strand *c = s->parked; c; c = c->next)
		keep_strand(t, c);
}

void
contexts_make_room(strobe_thread *t)
{
	if (!strobe_is_short(t))
		return;
	struct contexts_state *s = strobe_state(t);
	strobe_prune(t, keep);
	contexts_loops_pruned(s);
	s->path.n = 0;
}
