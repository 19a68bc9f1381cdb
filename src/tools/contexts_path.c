/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which context above another has a label, when contexts are whole: where a loop or a cycle goes
 * back to. Paths are hundreds of nodes long, and most are asked for labels that they do not have.
 * So the path to the context that was asked about last is kept, by depth, and for each label how
 * deep it was seen: the next one differs at its end only. Nothing is taken out of it; what is found
 * is looked at again.
 */
#include "tools/contexts.h"

/* Room for one more than that; false: there is no memory. */
static bool
reserve(uint32_t **list, uint32_t *room, uint32_t last)
{
	enum { FIRST = 1024 };
	if (last < *room)
		return true;
	uint32_t more = *room ? *room : FIRST;
	while (more <= last)
		more *= 2;
	uint32_t *grown = strobe_allocate(more * sizeof *grown);
	if (!grown)
		return false;
	for (uint32_t i = 0; i < *room; i++)
		grown[i] = (*list)[i];
	*list = grown;
	*room = more;
	return true;
}

/* Makes it the path to the node. False: there is no memory, or no depth in some node above. */
static bool
follow(struct contexts_path *p, const strobe_node *nodes, uint32_t node)
{
	uint32_t end = nodes[node].level + 1;
	if (!end || !reserve(&p->node, &p->room, end))
		return false;
	for (uint32_t depth = end; depth-- > 0; node = nodes[node].parent) {
		uint32_t label = nodes[node].label;
		if (depth < p->n && p->node[depth] == node)
			break;
		if (nodes[node].level != depth || !label ||
		    !reserve(&p->depth, &p->labels, label)) {
			p->n = 0;
			return false;
		}
		p->node[depth] = node;
		p->depth[label] = depth;
	}
	p->n = end;
	return true;
}

static uint32_t
look(const strobe_node *nodes, uint32_t from, uint32_t label)
{
	for (; nodes[from].label; from = nodes[from].parent)
		if (nodes[from].label == label)
			return from;
	return 0;
}

uint32_t
contexts_above(strobe_thread *t, uint32_t from, uint32_t label)
{
	struct contexts_path *p = &((struct contexts_state *)strobe_state(t))->path;
	const strobe_node *nodes = strobe_nodes();
	if (contexts_options.k != CONTEXTS_INFINITE || !follow(p, nodes, from))
		return look(nodes, from, label);
	uint32_t depth = label < p->labels ? p->depth[label] : 0;
	return depth < p->n && nodes[p->node[depth]].label == label ? p->node[depth] : 0;
}
