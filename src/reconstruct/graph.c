/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reconstruct/graph.h"

#include "symbol/unwind.h"

enum { MOST_PARTS = 16, MOST_NODES = 1 << 20 };

/* Where nodes begin: in the order in which they were found, and as a set. */
struct leaders {
	ST_VEC(uint64_t) found;
	struct st_hashmap index;
};

struct builder {
	struct st_graph *g;
	struct st_code *c;
	uint32_t image;
	const struct st_function *parts[MOST_PARTS];
	size_t n_parts;
	struct leaders leaders;
};

/* ---- leaders ---- */

static bool
is_leader(const void *leaders, uint64_t address)
{
	const struct leaders *l = leaders;
	return ST_HASHMAP_FIND(&l->index, st_hash_number(address), i, l->found.v[i] == address) !=
	       ST_HASHMAP_NONE;
}

static bool
is_inside(const struct builder *b, uint64_t address)
{
	for (size_t i = 0; i < b->n_parts; i++)
		if (address - b->parts[i]->offset < b->parts[i]->size)
			return true;
	return false;
}

/* An address outside of the function is none of its leaders, and no mistake. */
static st_status
graph_add_leader(struct builder *b, uint64_t address)
{
	struct leaders *l = &b->leaders;
	if (!address || !is_inside(b, address) || is_leader(l, address))
		return 0;
	if (l->found.n >= MOST_NODES)
		return -1;
	uint64_t *at = ST_PUSH(&l->found);
	if (!at)
		return -1;
	*at = address;
	return st_hashmap_add(&l->index, st_hash_number(address), (uint32_t)l->found.n - 1);
}

static bool
goes_on_behind(enum st_piece_end how)
{
	return how == ST_PIECE_FALLS || how == ST_PIECE_CONDITIONAL || st_piece_calls(how);
}

static bool
goes_to_target(enum st_piece_end how)
{
	return how == ST_PIECE_JUMP || how == ST_PIECE_CONDITIONAL;
}

/* All that can be reached from the leaders that are there. */
static st_status
find_leaders(struct builder *b)
{
	for (size_t i = 0; i < b->leaders.found.n; i++) {
		struct st_piece p = st_code_piece(b->c, b->image, b->leaders.found.v[i], is_leader,
		                                  &b->leaders);
		if (goes_on_behind(p.how) && graph_add_leader(b, p.end))
			return -1;
		if (goes_to_target(p.how) && graph_add_leader(b, p.target))
			return -1;
	}
	return 0;
}

/* ---- nodes ---- */

static int
node_order(const void *a, const void *b)
{
	const struct st_node *x = a, *y = b;
	return x->piece.start < y->piece.start ? -1 : x->piece.start > y->piece.start;
}

uint32_t
st_graph_at(const struct st_graph *g, uint64_t address)
{
	struct st_node key = {.piece.start = address};
	const struct st_node *n =
	        g->nodes.n ? bsearch(&key, g->nodes.v, g->nodes.n, sizeof key, node_order) : NULL;
	return n ? (uint32_t)(n - g->nodes.v) : ST_NO_NODE;
}

static void
link_node(struct st_graph *g, struct st_node *n)
{
	const struct st_piece *p = &n->piece;
	n->next[0] = goes_on_behind(p->how) ? st_graph_at(g, p->end) : ST_NO_NODE;
	n->next[1] = goes_to_target(p->how) ? st_graph_at(g, p->target) : ST_NO_NODE;
	n->leaves = p->how == ST_PIECE_RETURN || p->how == ST_PIECE_SLOT_JUMP ||
	            (goes_on_behind(p->how) && n->next[0] == ST_NO_NODE) ||
	            (goes_to_target(p->how) && n->next[1] == ST_NO_NODE);
}

static bool
is_name_of_two_returns(const char *name)
{
	return name && (strstr(name, "setjmp") || strstr(name, "getcontext"));
}

static bool
returns_twice(struct st_image *image, const struct st_piece *p)
{
	if (p->how == ST_PIECE_CALL) {
		const struct st_function *f = st_image_function(image, p->target);
		return f && is_name_of_two_returns(f->name);
	}
	size_t n;
	const struct st_slot *slots =
	        p->how == ST_PIECE_INDIRECT_CALL && p->target ? st_image_slots(image, &n) : NULL;
	for (size_t i = 0; slots && i < n; i++)
		if (slots[i].address == p->target)
			return is_name_of_two_returns(slots[i].symbol);
	return false;
}

static st_status
make_nodes(struct builder *b)
{
	struct st_graph *g = b->g;
	g->comes_anywhere = st_image_has_handlers(g->image);
	for (size_t i = 0; i < b->leaders.found.n; i++) {
		struct st_node *n = ST_PUSH(&g->nodes);
		if (!n)
			return -1;
		n->piece = st_code_piece(b->c, b->image, b->leaders.found.v[i], is_leader,
		                         &b->leaders);
		g->comes_anywhere |= returns_twice(g->image, &n->piece);
	}
	if (g->nodes.n)
		qsort(g->nodes.v, g->nodes.n, sizeof *g->nodes.v, node_order);
	for (size_t i = 0; i < g->nodes.n; i++)
		link_node(g, &g->nodes.v[i]);
	return 0;
}

/* ---- entries ---- */

static st_status
add_entries(struct builder *b, bool as_nodes)
{
	size_t n;
	const uint64_t *foreign = st_code_foreign(b->c, b->image, &n);
	for (size_t i = 0; i <= n; i++) {
		uint64_t at = i < n ? foreign[i] : b->g->function->offset;
		if (!is_inside(b, at))
			continue;
		if (!as_nodes && graph_add_leader(b, at))
			return -1;
		uint32_t *entry = as_nodes ? ST_PUSH(&b->g->entries) : NULL;
		if (as_nodes && !entry)
			return -1;
		if (entry)
			*entry = st_graph_at(b->g, at);
	}
	return 0;
}

static st_status
graph_build(struct builder *b, const uint64_t *starts, size_t n)
{
	if (add_entries(b, false))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!is_inside(b, starts[i]) || graph_add_leader(b, starts[i]))
			return -1;
	return find_leaders(b) || make_nodes(b) || add_entries(b, true) ? -1 : 0;
}

st_status
st_graph_build(struct st_graph *g, struct st_code *c, uint32_t image, const uint64_t *starts,
               size_t n)
{
	*g = (struct st_graph){.image = st_code_image(c, image)};
	g->function = g->image && n ? st_code_function(g->image, starts[0]) : NULL;
	if (!g->function)
		return -1;
	struct builder b = {.g = g, .c = c, .image = image, .parts = {g->function}, .n_parts = 1};
	size_t parts = st_image_parts(g->image, g->function, b.parts + 1, MOST_PARTS - 1);
	int status = -1;
	if (parts < MOST_PARTS) {
		b.n_parts += parts;
		status = graph_build(&b, starts, n);
	}
	free(b.leaders.found.v);
	st_hashmap_free(&b.leaders.index);
	if (status)
		st_graph_free(g);
	return status;
}

void
st_graph_free(struct st_graph *g)
{
	free(g->nodes.v);
	free(g->entries.v);
	*g = (struct st_graph){0};
}

uint32_t
st_graph_last(const struct st_graph *g, uint32_t node)
{
	/* Straight code only goes forward, so this ends. */
	while (node != ST_NO_NODE && g->nodes.v[node].piece.how == ST_PIECE_FALLS &&
	       g->nodes.v[node].next[0] != ST_NO_NODE)
		node = g->nodes.v[node].next[0];
	return node;
}

uint32_t
st_graph_call_before(const struct st_graph *g, uint64_t address)
{
	for (size_t i = 0; i < g->nodes.n; i++) {
		const struct st_piece *p = &g->nodes.v[i].piece;
		if (p->end == address &&
		    (p->how == ST_PIECE_CALL || p->how == ST_PIECE_INDIRECT_CALL))
			return (uint32_t)i;
	}
	return ST_NO_NODE;
}
