/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts of which the log of earlier runs says that nothing new is to be expected below them: a
 * function that is entered in one counts, and what it calls is not followed. */
#include "tools/contexts.h"

static void
leave_function(struct contexts_state *s)
{
	s->suppressed = s->strand;
	s->suppressed_with = s->strand->n;
	contexts_return(s, contexts_sp(contexts_top(s)));
	s->left_with = s->strand->n;
}

void
contexts_suppress(strobe_thread *t, struct contexts_state *s)
{
	const contexts_frame *top = contexts_top(s);
	uint32_t node = (uint32_t)(top->node - strobe_nodes());
	bool usual = !(top->sp % 4) || contexts_rounded(top->sp) - top->sp == STROBE_JUMPED;
	if (!usual || !strobe_is_complete(node))
		return;
	if (!strobe_is_followed(node) && strobe_suppress(t, node))
		leave_function(s);
}

void
contexts_end_suppression(strobe_thread *t, struct contexts_state *s)
{
	struct contexts_strand *c = s->strand;
	if (strobe_ended_suppression(t) && s->suppressed == c && c->n == s->left_with)
		c->n = s->suppressed_with;
}
