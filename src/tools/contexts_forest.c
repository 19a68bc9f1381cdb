/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The k-slab forest, built as the program runs (Valtchev, "IHPP", BSc thesis, Sapienza 2012,
 * section 3.3: definition 7, listing 3.2).
 *
 * The literature moves two pointers, into the top and the bottom region of two trees, and counts
 * at both. But the bottom says where the top is: a node k or more levels deep stands for a path,
 * and the top for what is left of that path without its first k labels. So a context is one node
 * here, with a link to its top, and each activation counts once, at that node; how often a node
 * was the top of others is added up when the forest is read, and what the literature has to clear
 * before it inverts the forest was never counted.
 *
 *	level of the new node	its parent		its link
 *	below k			the context before	-
 *	k			the context before	the root with its label
 *	above k, below 2k	the context before	a child of the link of the context before
 *	would be 2k: is k	the link of that	the root with its label
 */
#include "tools/contexts.h"
#include "wire/results/header.h"

/* Level of the nodes that stand for functions, when contexts are of blocks: they are not shown, but
 * the blocks that each activation begins with are found from there. */
static const uint32_t OF_FUNCTION = UINT32_MAX;

struct contexts_options contexts_options;
uint64_t *contexts_address, *contexts_address_before;

/* The root with the label, of the trees of the thread that the node is of. */
static uint32_t
root_of(strobe_thread *t, strobe_node *nodes, uint32_t label)
{
	return strobe_child(t, nodes, strobe_thread_node(t), label);
}

static uint32_t
child_of(strobe_thread *t, strobe_node *nodes, uint32_t parent, uint32_t label)
{
	uint32_t i = strobe_child(t, nodes, parent, label);
	if (i)
		nodes[i].level = nodes[parent].level + 1;
	return i;
}

/* A child, with its link: `from` is the context before. */
static uint32_t
deeper(strobe_thread *t, strobe_node *nodes, uint32_t from, uint32_t parent, uint32_t label)
{
	uint32_t i = child_of(t, nodes, parent, label), k = contexts_options.k;
	strobe_node *n = &nodes[i];
	if (!i || n->link || n->level < k)
		return i;
	n->link = n->level == k ? root_of(t, nodes, label)
	                        : child_of(t, nodes, nodes[from].link, label);
	return i;
}

/* Is it where contexts begin? */
static bool
is_root(const strobe_node *n)
{
	return !n->label || n->level == OF_FUNCTION;
}

static uint32_t
find_next(strobe_thread *t, strobe_node *nodes, uint32_t from, uint32_t label)
{
	uint32_t k = contexts_options.k, parent = from;
	if (is_root(&nodes[from]) || !k)
		return root_of(t, nodes, label);
	if (nodes[from].level + 1 == 2 * (uint64_t)k)
		parent = nodes[from].link;
	return deeper(t, nodes, from, parent, label);
}

/* Where a context leads to is remembered with it: a child, or what is gone back to. What it is a
 * child of is another when its slab is full. */
static uint32_t
next(strobe_thread *t, uint32_t from, uint32_t label, bool back)
{
	strobe_node *nodes = strobe_nodes();
	bool shown = nodes[from].label;
	uint32_t found = shown ? strobe_recall(nodes, from, label) : 0;
	if (found)
		return found;
	found = back ? contexts_above(t, from, label) : 0;
	if (!found)
		found = find_next(t, nodes, from, label);
	if (shown && found)
		strobe_remember(t, from, label, found);
	return found;
}

static uint32_t
function_node(strobe_thread *t, strobe_node *nodes, uint32_t label)
{
	uint32_t i = strobe_child(t, nodes, strobe_aside_node(t), label);
	nodes[i].level = i ? OF_FUNCTION : 0;
	return i;
}

/* The context of a call, which is not counted. It is also where the next such call finds it. */
static uint32_t
find_call(strobe_thread *t, uint32_t from, uint32_t label)
{
	strobe_node *nodes = strobe_nodes();
	const struct contexts_options *o = &contexts_options;
	bool again = o->mode == CONTEXTS_FUNC && o->roll && nodes[from].label == label;
	if (o->mode == CONTEXTS_FUNC && !again)
		return next(t, from, label, o->cycles && o->k == CONTEXTS_INFINITE);
	uint32_t to = again ? from : function_node(t, nodes, label);
	if (to)
		strobe_remember(t, from, label, to);
	return to;
}

/* 0: there was no room for it. */
static strobe_node *
node_of(strobe_thread *t, uint32_t node)
{
	return &strobe_nodes()[node ? node : strobe_pruned_node(t)];
}

static strobe_node *
count(strobe_thread *t, uint32_t node)
{
	strobe_node *n = node_of(t, node);
	n->count++;
	return n;
}

static uint32_t
number_of(const strobe_node *n)
{
	return (uint32_t)(n - strobe_nodes());
}

strobe_node *
contexts_under_way(strobe_thread *t, const strobe_node *from, uint32_t label)
{
	return node_of(t, find_call(t, number_of(from), label));
}

strobe_node *
contexts_call(strobe_thread *t, const strobe_node *from, uint32_t label)
{
	strobe_node *n = node_of(t, find_call(t, number_of(from), label));
	n->count += contexts_options.mode == CONTEXTS_FUNC;
	return n;
}

strobe_node *
contexts_follow(strobe_thread *t, const strobe_node *from, uint32_t label)
{
	return count(t, next(t, number_of(from), label, contexts_options.loops));
}

/* ---- blocks after a gap ---- */

strobe_node *
contexts_unknown(strobe_thread *t)
{
	return &strobe_nodes()[strobe_aside_node(t)];
}

/* The first block may have begun unseen, and be the rest of it. The next k are passed without a
 * count: their contexts reach back into what was not seen. Rolled loops always do. */
strobe_node *
contexts_find_out(strobe_thread *t, uint64_t *passed, uint32_t label)
{
	const strobe_node *nodes = strobe_nodes();
	uint32_t unknown = strobe_aside_node(t);
	bool first = *passed == unknown;
	if (contexts_options.loops || contexts_options.cycles)
		return contexts_unknown(t);
	if (!*passed) {
		*passed = unknown;
		return contexts_unknown(t);
	}
	uint32_t n = first ? root_of(t, strobe_nodes(), label)
	                   : next(t, (uint32_t)*passed, label, false);
	*passed = n;
	return n && nodes[n].level >= contexts_options.k ? count(t, n) : contexts_unknown(t);
}

/* ---- the beginning ---- */

static struct contexts_strand *
first_strand(uint32_t room)
{
	struct contexts_strand *c = strobe_allocate(sizeof *c);
	contexts_frame *frames = strobe_allocate(room * sizeof *frames);
	if (!c || !frames)
		return NULL;
	*c = (struct contexts_strand){
	        .frames = frames, .n = 1, .base = 1, .room = room, .top = UINT64_MAX};
	return c;
}

/* The functions under way when the process was forked are under way in the child, too; they were
 * not called there, so they are not counted. */
static void
inherit(strobe_thread *t, struct contexts_strand *c, const struct contexts_strand *parent)
{
	uint32_t shift = parent->base - 1;
	for (uint32_t i = parent->base; i < parent->n; i++) {
		contexts_frame f = parent->frames[i];
		uint32_t from = c->n - 1;
		uint64_t place = contexts_address_before[f.label];
		f.label = strobe_label(place);
		contexts_address[f.label] = place; /* for children of its own */
		f.mine = contexts_options.cycles && f.mine > shift ? f.mine - shift : c->n;
		f.more = contexts_options.cycles && f.more > shift ? f.more - shift : from;
		f.node = f.mine != c->n ? c->frames[f.mine].node
		                        : contexts_under_way(t, c->frames[f.more].node, f.label);
		f.inner = f.node;
		c->frames[c->n++] = f;
	}
	c->top = parent->top;
}

/* The stack of its parent, which the walk knows better than the strand. */
static const struct contexts_strand *
inherited(strobe_thread *t)
{
	const struct contexts_state *before = strobe_state_before_fork(t);
	struct contexts_strand *parent = before ? before->strand : NULL;
	const strobe_frame *top = strobe_walk_of(t)->before;
	if (parent && top)
		parent->n = (uint32_t)(top - parent->frames) + 1;
	return contexts_address_before ? parent : NULL;
}

bool
contexts_begin(strobe_thread *t, struct contexts_state *s)
{
	enum { FIRST = 16 };
	const struct contexts_strand *parent = inherited(t);
	uint32_t thread = strobe_thread_node(t);
	struct contexts_strand *c = first_strand(FIRST + (parent ? parent->n : 0));
	if (!thread || !c)
		return false;
	strobe_node *nodes = strobe_nodes();
	bool artificial = contexts_options.root && contexts_options.mode != CONTEXTS_INTRA;
	s->root = artificial ? number_of(count(t, root_of(t, nodes, strobe_label(ST_LABEL_ROOT))))
	                     : thread;
	strobe_walk_of(t)->node = &nodes[s->root];
	c->frames[0] = contexts_above_all(&nodes[s->root]);
	if (parent)
		inherit(t, c, parent);
	if (strobe_thread_stack_top(t))
		c->top = strobe_thread_stack_top(t);
	s->strand = c;
	return true;
}
