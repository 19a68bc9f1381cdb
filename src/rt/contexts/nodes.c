/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory of forests: numbers of nodes. Threads are given them many at a time, so that they have to
 * agree seldom; what is pruned goes back to the process, for whoever needs it.
 */
#include "rt/contexts/forest.h"

enum {
	MOST_AT_ONCE = 64, /* numbers given to a thread; a multiple of STROBE_FORK_NODES */
	LEAST_AT_ONCE = 8,
	STEP = 8,  /* nodes that a step may take, at most */
	BASIC = 4, /* nodes for each thread that are there beyond any bound */
	SHARE = 3, /* a thread may have this many times the nodes that are left for the others: one
	              that has more and waits for them cannot prune */
	MOST_BOUND = ST_MAX_NODES - BASIC * ST_MAX_THREADS,
};

static struct spare_nodes pool; /* the process'; tools_lock held */
static uint32_t bound;          /* 0: none */

void
strobe_bound_nodes(uint64_t most)
{
	bound = most < MOST_BOUND ? (uint32_t)most : MOST_BOUND;
}

uint32_t
nodes_bound(void)
{
	return bound ? bound : MOST_BOUND;
}

/* Fewer where there are few: they lie idle in other threads. */
static uint32_t
at_once(void)
{
	uint32_t n = nodes_bound() / 1024 & ~(STROBE_FORK_NODES - 1u);
	return n > MOST_AT_ONCE ? MOST_AT_ONCE : n < LEAST_AT_ONCE ? LEAST_AT_ONCE : n;
}

/* ---- lists ---- */

static uint32_t
pop_nodes(uint32_t *list, uint32_t *n)
{
	strobe_node *nodes = strobe_nodes();
	uint32_t first = *list;
	if (!first)
		return 0;
	*list = nodes[first].next;
	nodes[first].next = 0;
	--*n;
	return first;
}

static void
push_nodes(uint32_t *list, uint32_t *n, uint32_t first)
{
	strobe_nodes()[first].next = *list;
	*list = first;
	++*n;
}

static void
put_nodes(struct spare_nodes *s, uint32_t first, uint32_t n)
{
	if (n == 1)
		push_nodes(&s->one, &s->n_ones, first);
	else
		push_nodes(&s->row, &s->n_rows, first);
}

/* ---- from the process to a thread ---- */

static uint32_t
have(const struct forest *f)
{
	return f->end - f->next + f->spare.n_ones + STROBE_FORK_NODES * f->spare.n_rows;
}

/* Numbers that nobody has had. */
static bool
begin_numbers(struct forest *f, uint32_t n, uint32_t most)
{
	struct st_results_header *r = rt.results;
	if (r->contexts.n_nodes > most || n > most - r->contexts.n_nodes)
		return false;
	while (f->next < f->end)
		put_nodes(&f->spare, f->next++, 1);
	f->next = r->contexts.n_nodes;
	f->end = f->next + n;
	f->held += n;
	__atomic_store_n(&r->contexts.n_nodes, f->end, __ATOMIC_RELEASE);
	return true;
}

static void
take_spare(struct forest *f, uint32_t n)
{
	uint32_t i;
	for (uint32_t left = n; left && (i = pop_nodes(&pool.one, &pool.n_ones)); left--, f->held++)
		put_nodes(&f->spare, i, 1);
	for (uint32_t left = n; left && (i = pop_nodes(&pool.row, &pool.n_rows));
	     left -= STROBE_FORK_NODES, f->held += STROBE_FORK_NODES)
		put_nodes(&f->spare, i, STROBE_FORK_NODES);
}

/* The number of no node. */
static uint32_t
left(void)
{
	uint32_t used = rt.results->contexts.n_nodes, most = nodes_bound();
	return pool.n_ones + STROBE_FORK_NODES * pool.n_rows + (used < most ? most - used : 0);
}

/* A look without the lock, as long as there is nothing. */
static void
get_more(struct forest *f)
{
	uint32_t n = at_once(), others = left();
	if (others < n || f->held / SHARE > others)
		return;
	tools_lock();
	if (!begin_numbers(f, n, nodes_bound()))
		take_spare(f, n);
	tools_unlock();
}

bool
nodes_enough(struct forest *f)
{
	if (have(f) < STEP)
		get_more(f);
	return have(f) >= STEP;
}

/* ---- of a thread ---- */

static uint32_t
take_one(struct forest *f)
{
	if (f->next < f->end)
		return f->next++;
	uint32_t row = f->spare.one ? 0 : pop_nodes(&f->spare.row, &f->spare.n_rows);
	for (uint32_t i = 0; row && i < STROBE_FORK_NODES; i++)
		put_nodes(&f->spare, row + i, 1);
	return pop_nodes(&f->spare.one, &f->spare.n_ones);
}

static uint32_t
take_row(struct forest *f)
{
	if (f->end - f->next < STROBE_FORK_NODES)
		return pop_nodes(&f->spare.row, &f->spare.n_rows);
	f->next += STROBE_FORK_NODES;
	return f->next - STROBE_FORK_NODES;
}

uint32_t
nodes_take(struct forest *f, uint32_t n)
{
	if (have(f) < n)
		get_more(f);
	return n == 1 ? take_one(f) : take_row(f);
}

uint32_t
nodes_take_basic(struct forest *f)
{
	uint32_t i = nodes_take(f, 1);
	if (i)
		return i;
	tools_lock();
	begin_numbers(f, 1, ST_MAX_NODES);
	tools_unlock();
	return take_one(f);
}

void
nodes_give(struct forest *f, uint32_t first, uint32_t n)
{
	memset(&strobe_nodes()[first], 0, n * sizeof(strobe_node));
	put_nodes(&pool, first, n);
	f->held -= n;
}

void
nodes_give_unused(struct forest *f)
{
	uint32_t i;
	while (f->next < f->end)
		nodes_give(f, f->next++, 1);
	while ((i = pop_nodes(&f->spare.one, &f->spare.n_ones)))
		nodes_give(f, i, 1);
	while ((i = pop_nodes(&f->spare.row, &f->spare.n_rows)))
		nodes_give(f, i, STROBE_FORK_NODES);
}

void
nodes_forget(void)
{
	pool = (struct spare_nodes){0};
	bound = 0;
}
