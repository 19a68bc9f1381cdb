/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forests of contexts: nodes in the results, where the controller finds them whatever becomes of
 * the program. A node is made by the thread whose it is, so only its number has to be agreed upon.
 */
#include "rt/contexts/forest.h"

#include "rt/maps.h"

/* Nodes with more children than a list should have are looked up by parent and label. */
enum { MOST_LISTED = 12 };

struct forest *all_forests;

static strobe_map labels;
static uint32_t lock; /* of it */

strobe_node *
strobe_nodes(void)
{
	return (strobe_node *)((char *)rt.results + rt.results->layout.off_nodes);
}

strobe_cost *
strobe_costs(void)
{
	return (strobe_cost *)((char *)rt.results + rt.results->layout.off_costs);
}

/* The same address may be another library's later, and another label then. Not so of code made at
 * run time, whose mappings come and go. */
static uint64_t
label_place(uint64_t address)
{
	const struct map *m = address >> ST_LABEL_ADDRESS_BITS ? NULL : maps_find(address);
	if (!m || m->anonymous || m->index >= ST_LABEL_MAPS)
		return address;
	return address | (m->index + 1ul) << ST_LABEL_ADDRESS_BITS;
}

static uint32_t
label_of(uint64_t address)
{
	struct st_results_header *r = rt.results;
	uint64_t *known = strobe_map_at(&labels, address);
	if (known && *known)
		return (uint32_t)*known;
	uint32_t label = r->contexts.n_labels;
	if (!known || label >= ST_MAX_LABELS)
		return ST_MAX_LABELS - 1;
	((uint64_t *)((char *)r + r->layout.off_labels))[label] = address;
	__atomic_store_n(&r->contexts.n_labels, label + 1, __ATOMIC_RELEASE);
	known_note_label(label, address & ((1ul << ST_LABEL_ADDRESS_BITS) - 1));
	*known = label;
	return label;
}

uint32_t
strobe_label(uint64_t address)
{
	rt_lock(&lock);
	uint32_t label = label_of(label_place(address));
	rt_unlock(&lock);
	return label;
}

static void
set_node(uint32_t i, uint32_t parent, uint32_t label)
{
	strobe_node *nodes = strobe_nodes(), *n = &nodes[i];
	n->label = label;
	n->next = nodes[parent].child;
	known_note_node(i, parent, label);
	/* The last: the controller may look at any time. */
	__atomic_store_n(&n->parent, parent, __ATOMIC_RELEASE);
	if (parent)
		nodes[parent].child = i;
}

/* 0: there is no room. */
static uint32_t
new_node(struct forest *f, uint32_t parent, uint32_t label)
{
	uint32_t i = nodes_take(f, 1);
	if (i)
		set_node(i, parent, label);
	else
		__atomic_fetch_add(&rt.results->contexts.pruned, 1, __ATOMIC_RELAXED);
	return i;
}

static uint32_t
new_fork(struct forest *f)
{
	uint32_t first = nodes_take(f, STROBE_FORK_NODES);
	for (uint32_t i = 0; first && i < STROBE_FORK_NODES; i++)
		strobe_nodes()[first + i].label = STROBE_FORK;
	if (first) {
		strobe_nodes()[first].next = f->forks;
		f->forks = first;
	}
	return first;
}

struct forest *
forest_of(struct thread *t)
{
	if (t->contexts.forest)
		return t->contexts.forest;
	t->contexts.forest = strobe_allocate(sizeof *t->contexts.forest);
	if (t->contexts.forest) {
		tools_lock();
		t->contexts.forest->next_forest = all_forests;
		all_forests = t->contexts.forest;
		tools_unlock();
	}
	return t->contexts.forest;
}

uint32_t
strobe_thread_node(strobe_thread *handle)
{
	struct thread *t = (struct thread *)handle;
	struct forest *f = forest_of(t);
	if (!f || f->node)
		return f ? f->node : 0;
	uint32_t node = nodes_take_basic(f), pruned = nodes_take_basic(f);
	if (!node || !pruned)
		return 0;
	strobe_nodes()[node].link = t->record;
	set_node(pruned, node, strobe_label(ST_LABEL_PRUNED));
	f->pruned = pruned;
	f->node = node;
	return node;
}

uint32_t
strobe_pruned_node(strobe_thread *t)
{
	return strobe_thread_node(t) ? ((struct thread *)t)->contexts.forest->pruned : 0;
}

uint32_t
strobe_aside_node(strobe_thread *handle)
{
	struct forest *f = forest_of((struct thread *)handle);
	if (f && !f->aside) {
		f->aside = nodes_take_basic(f);
		if (f->aside)
			strobe_nodes()[f->aside].label = STROBE_FORK;
	}
	return f ? f->aside : 0;
}

static uint32_t *
fork_slot(strobe_node *nodes, uint32_t fork, uint32_t label)
{
	uint32_t slot = label / 8 % STROBE_FORK_SLOTS;
	return &nodes[fork + slot / 8].recent[slot % 8];
}

void
strobe_remember(strobe_thread *t, uint32_t from, uint32_t label, uint32_t to)
{
	struct forest *f = forest_of((struct thread *)t);
	strobe_node *nodes = strobe_nodes();
	uint32_t *slot = &nodes[from].recent[label & 7], other = *slot;
	if (strobe_is_complete(to)) /* the tool is to be asked each time */
		return;
	if (!other || !f || nodes[other].label == label) {
		*slot = to;
		return;
	}
	if (nodes[other].label != STROBE_FORK) {
		uint32_t fork = new_fork(f);
		if (!fork) {
			*slot = to;
			return;
		}
		*fork_slot(nodes, fork, nodes[other].label) = other;
		*slot = other = fork;
	}
	*fork_slot(nodes, other, label) = to;
}

/* The label is looked for as strobe_recall does. */
void
strobe_forget(strobe_thread *t, uint32_t from, uint32_t label)
{
	strobe_node *nodes = strobe_nodes();
	uint32_t *slot = &nodes[from].recent[label & 7];
	walk_forget_guess((struct thread *)t, label);
	if (nodes[*slot].label == STROBE_FORK)
		slot = fork_slot(nodes, *slot, label);
	if (nodes[*slot].label != label)
		return;
	*slot = 0;
}

strobe_loop *
strobe_new_loop(uint32_t head)
{
	struct st_results_header *r = rt.results;
	uint32_t i = __atomic_load_n(&r->contexts.n_loops, __ATOMIC_RELAXED);
	do
		if (i >= ST_MAX_LOOPS) {
			__atomic_fetch_add(&r->contexts.loops_dropped, 1, __ATOMIC_RELAXED);
			return NULL;
		}
	while (!__atomic_compare_exchange_n(&r->contexts.n_loops, &i, i + 1, false,
	                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	strobe_loop *l = (strobe_loop *)((char *)r + r->layout.off_loops) + i;
	l->head = head; /* before, it is none */
	return l;
}

/* In a list of children; *n: how many were looked at. */
static uint32_t
find_listed(const strobe_node *nodes, uint32_t child, uint32_t label, uint32_t *n)
{
	for (*n = 0; child && *n < MOST_LISTED; child = nodes[child].next, ++*n)
		if (nodes[child].label == label)
			return child;
	return 0;
}

/* From here on the node's children are looked up. */
static void
index_children(struct forest *f, const strobe_node *nodes, uint32_t parent)
{
	uint64_t *many = strobe_map_at(&f->children, (uint64_t)parent << 32);
	if (!many || *many)
		return;
	*many = 1;
	for (uint32_t c = nodes[parent].child; c; c = nodes[c].next) {
		uint64_t *at = strobe_map_at(&f->children, (uint64_t)parent << 32 | nodes[c].label);
		if (at)
			*at = c;
	}
}

uint32_t
strobe_find_child(strobe_thread *t, uint32_t parent, uint32_t label)
{
	struct forest *f = forest_of((struct thread *)t);
	strobe_node *nodes = strobe_nodes();
	if (!f || !parent)
		return 0;
	uint32_t n, found = find_listed(nodes, nodes[parent].child, label, &n);
	uint64_t *at = NULL;
	if (!found && n == MOST_LISTED) {
		index_children(f, nodes, parent);
		at = strobe_map_at(&f->children, (uint64_t)parent << 32 | label);
		found = at ? (uint32_t)*at : 0;
	}
	if (!found)
		found = new_node(f, parent, label);
	if (found && at)
		*at = found;
	if (found)
		strobe_remember(t, parent, label, found);
	return found;
}

void
forests_forget(struct thread *t)
{
	lock = 0; /* another thread of the parent may have held it */
	map_clear(&labels);
	nodes_forget();
	known_forget();
	all_forests = NULL;
	t->contexts.forest = NULL;
}

void
forest_end(struct thread *t)
{
	struct forest *f = t->contexts.forest;
	if (!f || f->ended)
		return;
	tools_lock();
	nodes_give_unused(f);
	f->ended = true;
	tools_unlock();
}
