/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pruning of forests: the subtrees that count least are taken back, as many as are needed for half
 * of the nodes; what they counted is added to one child of the node that they were below. No node
 * is sorted: by what a subtree counts it belongs to a class, and whole classes go.
 *
 * A thread prunes its own trees, between two of its steps, and those of threads that have ended. So
 * nobody is on the way through them. What is remembered (`recent`) is cleared in all of its nodes,
 * those that stay, too: it is found again with one call of the tool for each transition, and until
 * as many nodes as stay have been made there is no next pruning. Meanwhile it is room to work in.
 */
#include "rt/contexts/forest.h"

enum {
	CLASSES = 256,
	ALL = CLASSES - 1, /* everything that need not be kept */
	LEAST_SHARE = 8,   /* pruning that frees less than one node of this many was not worth it */
	AT_A_TIME = 1 << 20 /* nodes for which a tool's function may take its time */
};
/* The fields of a slot of `recent` while the forest is pruned. */
enum {
	SUM,      /* and the slot behind it: what the node and all below it count */
	KEPT = 2, /* IS_KEPT, which is no node */
	PRUNED,   /* its child that stands for pruned ones */
	LAST      /* its last child that stays */
};
static const uint32_t IS_KEPT = UINT32_MAX;

struct pruning {
	struct thread *t;
	strobe_node *nodes;
	strobe_cost *costs; /* NULL: there are none */
	uint32_t label;     /* of pruned contexts */
	uint32_t seen, freed;
	bool links;    /* some node has one */
	unsigned most; /* class of what goes */
	uint32_t n[CLASSES];
};

/* ---- in the order in which a node comes behind all below it ---- */

/* A visitor; it may change what is below the node. */
typedef void visit_node(struct pruning *p, struct forest *f, uint32_t i);

/* On the way down nodes are visited for the first time: then what they remember is cleared, if at
 * all, for to go through millions of them takes as long as to read their memory. */
static uint32_t
deepest(const struct pruning *p, uint32_t i, bool clear)
{
	for (;; i = p->nodes[i].child) {
		strobe_node *n = &p->nodes[i];
		__builtin_prefetch(&p->nodes[n->next]);
		if (clear) {
			bool kept = n->recent[KEPT] == IS_KEPT;
			memset(n->recent, 0, sizeof n->recent);
			n->recent[KEPT] = kept ? IS_KEPT : 0;
		}
		if (!n->child)
			return i;
	}
}

/* It does not loop. */
static void
take_prune_time(struct pruning *p, uint32_t *n)
{
	if (!(++*n % AT_A_TIME))
		p->t->tools.running_since = 0;
}

/* For each node below the root, and it. */
static void
each(struct pruning *p, struct forest *f, uint32_t root, bool clear, visit_node *visit)
{
	uint32_t n = 0;
	for (uint32_t next, i = root ? deepest(p, root, clear) : 0; i; i = next) {
		const strobe_node *node = &p->nodes[i];
		next = i == root ? 0 : node->next ? deepest(p, node->next, clear) : node->parent;
		visit(p, f, i);
		take_prune_time(p, &n);
	}
}

/* ---- what stays ---- */

static void
keep_node(strobe_node *nodes, uint32_t i)
{
	for (; i && nodes[i].recent[KEPT] != IS_KEPT; i = nodes[i].parent)
		nodes[i].recent[KEPT] = IS_KEPT;
}

void
strobe_keep(const strobe_node *node)
{
	strobe_node *nodes = strobe_nodes();
	rt_self()->contexts.forest->kept++;
	keep_node(nodes, (uint32_t)(node - nodes));
}

static uint64_t
node_sum(const strobe_node *n)
{
	return n->recent[SUM] | (uint64_t)n->recent[SUM + 1] << 32;
}

/* Four to each power of two. */
static unsigned
sum_class(uint64_t sum)
{
	if (sum < 4)
		return (unsigned)sum;
	unsigned bit = 63u - (unsigned)__builtin_clzll(sum);
	return bit << 2 | (unsigned)(sum >> (bit - 2) & 3);
}

/* The nodes that stand for pruned ones go with their parents. */
static void
weigh_node(struct pruning *p, struct forest *f, uint32_t i)
{
	strobe_node *n = &p->nodes[i], *parent = &p->nodes[n->parent];
	uint64_t sum = node_sum(n) + n->count, above = node_sum(parent) + sum;
	(void)f;
	n->recent[SUM] = (uint32_t)sum;
	n->recent[SUM + 1] = (uint32_t)(sum >> 32);
	p->seen++;
	p->links |= n->label && n->link;
	if (n->parent) {
		parent->recent[SUM] = (uint32_t)above;
		parent->recent[SUM + 1] = (uint32_t)(above >> 32);
	}
	if (n->label == p->label)
		parent->recent[PRUNED] = i;
	else if (!n->recent[KEPT])
		p->n[sum_class(sum)] += 1 + (n->recent[PRUNED] != 0);
}

static unsigned
choose_most(const struct pruning *p)
{
	uint32_t n = p->n[0];
	unsigned most = 0;
	while (most < ALL && n < p->seen / 2)
		n += p->n[++most];
	return most;
}

static bool
node_goes(const struct pruning *p, uint32_t i)
{
	const strobe_node *n = &p->nodes[i];
	if (n->label == p->label)
		n = &p->nodes[n->parent];
	return !n->recent[KEPT] && sum_class(node_sum(n)) <= p->most;
}

/* A node that others link to has no link itself. */
static void
keep_link(struct pruning *p, struct forest *f, uint32_t i)
{
	const strobe_node *n = &p->nodes[i];
	(void)f;
	if (n->label && n->link && !node_goes(p, i))
		keep_node(p->nodes, n->link);
}

/* ---- what goes ---- */

/* The program may be killed at any instruction. */
static void
move(struct pruning *p, uint32_t from, uint32_t to)
{
	static const strobe_cost none;
	struct st_moved *m = &rt.results->contexts.moved;
	strobe_node *nodes = p->nodes;
	strobe_cost cost = p->costs ? p->costs[from] : none;
	if (!nodes[from].count && !cost.ticks && !cost.instructions)
		return;
	m->to = to;
	m->count = nodes[to].count + nodes[from].count;
	m->ticks = cost.ticks + (p->costs ? p->costs[to].ticks : 0);
	m->instructions = cost.instructions + (p->costs ? p->costs[to].instructions : 0);
	__atomic_store_n(&m->from, from, __ATOMIC_RELEASE);
	nodes[to].count = m->count;
	nodes[from].count = 0;
	if (p->costs) {
		p->costs[to] = (strobe_cost){m->ticks, m->instructions};
		p->costs[from] = none;
	}
	__atomic_store_n(&m->from, 0, __ATOMIC_RELEASE);
}

static void
take_node_back(struct pruning *p, struct forest *f, uint32_t i, uint32_t into)
{
	move(p, i, into);
	nodes_give(f, i, 1);
	p->freed++;
}

/* A node stays, with those of its children that do. */
static void
stay(struct pruning *p, uint32_t i)
{
	strobe_node *n = &p->nodes[i], *parent = &p->nodes[n->parent];
	uint32_t last = n->recent[LAST];
	if (last)
		p->nodes[last].next = 0;
	else
		n->child = 0;
	memset(n->recent, 0, sizeof n->recent);
	if (!n->parent)
		return;
	if (parent->recent[LAST])
		p->nodes[parent->recent[LAST]].next = i;
	else
		parent->child = i;
	parent->recent[LAST] = i;
}

static void
cut_node(struct pruning *p, struct forest *f, uint32_t i)
{
	strobe_node *n = &p->nodes[i], *parent = &p->nodes[n->parent];
	uint32_t pruned = parent->label == p->label ? n->parent : parent->recent[PRUNED];
	if (!node_goes(p, i)) {
		stay(p, i);
		return;
	}
	rt.results->contexts.pruned += n->label != p->label;
	if (node_goes(p, n->parent)) {
		take_node_back(p, f, i, n->parent);
	} else if (pruned) {
		take_node_back(p, f, i, pruned);
	} else {
		n->link = 0;
		n->label = p->label;
		parent->recent[PRUNED] = i;
		stay(p, i);
	}
}

/* ---- the process ---- */

static bool
is_own_forest(const struct pruning *p, const struct forest *f)
{
	return (f == p->t->contexts.forest || f->ended) && f->node;
}

static void
each_of_ours(struct pruning *p, bool clear, visit_node *visit)
{
	for (struct forest *f = all_forests; f; f = f->next_forest)
		if (is_own_forest(p, f))
			each(p, f, f->node, clear, visit);
}

static void
clear_aside(struct pruning *p, struct forest *f, uint32_t i)
{
	(void)f;
	memset(p->nodes[i].recent, 0, sizeof p->nodes[i].recent);
}

static void
give_aside(struct pruning *p, struct forest *f, uint32_t i)
{
	if (i != f->aside)
		nodes_give(f, i, 1);
	else
		p->nodes[i].child = 0;
}

/* Drops references to nodes that stand outside the nodes that are shown: in hidden nodes, in forks,
 * and in the table of children. */
static void
forget_remembered(struct pruning *p, struct forest *f)
{
	uint32_t n = 0;
	for (uint32_t next, i = f->forks; i; i = next) {
		next = p->nodes[i].next;
		nodes_give(f, i, STROBE_FORK_NODES);
		take_prune_time(p, &n);
	}
	f->forks = 0;
	each(p, f, f->aside, false, f->ended ? give_aside : clear_aside);
	map_clear(&f->children);
}

static bool
is_in_ours(const struct pruning *p, uint32_t i)
{
	while (p->nodes[i].parent)
		i = p->nodes[i].parent;
	for (const struct forest *f = all_forests; f; f = f->next_forest)
		if (f->node == i)
			return is_own_forest(p, f);
	return false;
}

/* Loops go with their heads. */
static void
drop_loops(const struct pruning *p)
{
	struct st_results_header *r = rt.results;
	strobe_loop *loops = (strobe_loop *)((char *)r + r->layout.off_loops);
	for (uint32_t i = 0; i < r->contexts.n_loops; i++) {
		uint32_t head = loops[i].head;
		if (!head || !is_in_ours(p, head) || !node_goes(p, head))
			continue;
		loops[i].head = 0;
		r->contexts.loops_dropped++;
	}
}

static void
prune_forest(struct pruning *p, void (*keep_nodes)(strobe_thread *t), bool all)
{
	struct forest *own = p->t->contexts.forest;
	p->seen = 0;
	memset(p->n, 0, sizeof p->n);
	p->links = false;
	for (struct forest *f = all_forests; f; f = f->next_forest)
		if (is_own_forest(p, f)) {
			forget_remembered(p, f);
			keep_node(p->nodes, f->node);
		}
	keep_nodes((strobe_thread *)p->t);
	each_of_ours(p, true, weigh_node);
	p->most = all ? ALL : choose_most(p);
	if (p->links)
		each_of_ours(p, false, keep_link);
	drop_loops(p);
	each_of_ours(p, false, cut_node);
	each(p, own, own->aside, false, clear_aside);
}

/* Others who have more than their share are asked to prune, too, if it is that which is missing. */
static void
ask_others(const struct forest *own)
{
	uint32_t n = 0, mine = own->held;
	for (const struct forest *f = all_forests; f; f = f->next_forest) {
		n += !f->ended;
		mine += f->ended ? f->held : 0;
	}
	uint32_t share = nodes_bound() / (n ? n : 1);
	if (mine > share / 2)
		return;
	for (struct forest *f = all_forests; f; f = f->next_forest)
		f->asked |= f != own && f->held > share;
}

void
strobe_prune(strobe_thread *t, void (*keep_nodes)(strobe_thread *t))
{
	struct pruning p = {.t = (struct thread *)t, .nodes = strobe_nodes()};
	struct forest *f = p.t->contexts.forest;
	if (!f || !f->node)
		return;
	p.label = p.nodes[f->pruned].label;
	p.costs = rt.results->contexts.has_costs ? strobe_costs() : NULL;
	tools_lock();
	f->asked = false;
	f->kept = 0;
	ask_others(f);
	prune_forest(&p, keep_nodes, false);
	uint32_t least = (p.seen + f->kept) / LEAST_SHARE;
	if (p.freed < p.seen / LEAST_SHARE)
		prune_forest(&p, keep_nodes, true);
	/* To look at each guess must be worth while, too. */
	least += walk_forget_guesses(p.t) / LEAST_SHARE;
	f->patience = p.freed < least ? least - p.freed : 0;
	tools_unlock();
}

int
strobe_is_short(strobe_thread *handle)
{
	struct forest *f = ((struct thread *)handle)->contexts.forest;
	if (!f || !f->node)
		return 0;
	if (f->asked)
		return 1;
	if (nodes_enough(f))
		return 0;
	if (f->patience) {
		f->patience--;
		return 0;
	}
	return 1;
}
