/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph of the functions of all images. A function uses locks if it is a function that does, or
 * calls one. It does I/O if it is a function that does, or leads to one by any number of calls; the
 * calls within the C library do not count there, since a failed allocation, for instance, may print
 * a message.
 */
#include "blow/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"

struct node {
	const struct st_image *image;
	uint64_t offset;
	uint32_t sites, traits;
	bool opaque; /* what it calls does not matter for I/O */
};
struct edge {
	uint32_t from, to;
};
/* A call of an imported function, until all images are known. */
struct import {
	uint32_t from;
	char *symbol;
};
struct st_blow_calls {
	ST_VEC(struct node) nodes;
	struct st_hashmap index; /* of nodes by their offsets */
	ST_VEC(struct edge) edges;
	ST_VEC(struct import) imports;
	ST_VEC(struct st_image *) images;
};

/* ---- reading the code ---- */

/* The function whose calls are read. */
struct caller {
	struct st_blow_calls *c;
	const struct st_image *image;
	uint32_t node;
	bool no_memory;
};

static uint32_t
node_of(const struct st_blow_calls *c, const struct st_image *image, uint64_t offset)
{
	return ST_HASHMAP_FIND(&c->index, st_hash_number(offset), at,
	                       c->nodes.v[at].offset == offset && c->nodes.v[at].image == image);
}

static st_status
add_call_edge(struct st_blow_calls *c, uint32_t from, uint32_t to)
{
	struct edge *edge = ST_PUSH(&c->edges);
	if (!edge)
		return ST_FAILED;
	*edge = (struct edge){from, to};
	c->nodes.v[to].sites++;
	return ST_OK;
}

static void
note_call(void *arg, const struct st_call *call)
{
	struct caller *w = arg;
	if (call->number != ST_CALL_NONE) {
		w->c->nodes.v[w->node].traits |= st_blow_traits_of_call(call->number);
	} else if (call->target) {
		const uint32_t to = node_of(w->c, w->image, call->target->offset);
		if (to != ST_HASHMAP_NONE && add_call_edge(w->c, w->node, to))
			w->no_memory = true;
	} else if (call->symbol) {
		char *symbol = strndup(call->symbol, call->length);
		struct import *import = symbol ? ST_PUSH(&w->c->imports) : NULL;
		if (import) {
			*import = (struct import){w->node, symbol};
		} else {
			free(symbol);
			w->no_memory = true;
		}
	}
}

static bool
is_whole(const struct st_function *f)
{
	return f->whole == f->offset && f->source != ST_SYM_PLT && f->source != ST_SYM_PERFMAP;
}

static st_status
add_call_node(struct st_blow_calls *c, struct st_image *image, const struct st_function *f,
              bool opaque)
{
	struct node *node = ST_PUSH(&c->nodes);
	if (!node)
		return ST_FAILED;
	*node = (struct node){.image = image,
	                      .offset = f->offset,
	                      .traits = st_blow_traits_of_name(f->raw_name),
	                      .opaque = opaque};
	node->opaque |= (node->traits & ST_BLOW_ENDS_PROGRAM) != 0;
	if (st_image_is_constant(image, f))
		node->traits |= ST_BLOW_CONSTANT;
	return st_hashmap_add(&c->index, st_hash_number(f->offset), (uint32_t)c->nodes.n - 1);
}

/* The C library, but no program that is linked with it statically. */
static bool
is_c_library(struct st_image *image)
{
	const char *slash = strrchr(st_image_path(image), '/');
	const char *name = slash ? slash + 1 : st_image_path(image);
	return !strncmp(name, "ld-", 3) ||
	       (st_image_defines(image, "__libc_start_main") && !st_image_defines(image, "main"));
}

st_status
st_blow_calls_add(struct st_blow_calls *c, struct st_image *image)
{
	size_t n;
	for (size_t i = 0; i < c->images.n; i++)
		if (c->images.v[i] == image)
			return ST_OK;
	struct st_image **slot = ST_PUSH(&c->images);
	const bool opaque = is_c_library(image);
	const struct st_function *v = st_image_functions(image, &n);
	if (!slot)
		return ST_FAILED;
	*slot = image;
	for (size_t i = 0; i < n; i++)
		if (is_whole(&v[i]) && add_call_node(c, image, &v[i], opaque))
			return ST_FAILED;
	struct caller w = {.c = c, .image = image};
	for (size_t i = 0; i < n; i++) {
		w.node = node_of(c, image, v[i].whole);
		if (w.node != ST_HASHMAP_NONE)
			st_image_calls(image, &v[i], note_call, &w);
	}
	return w.no_memory ? ST_FAILED : ST_OK;
}

/* ---- imports ---- */

struct definition {
	const char *name; /* raw, of the image */
	uint32_t node;
};
struct definitions {
	ST_VEC(struct definition) list;
	struct st_hashmap index;
};

static uint32_t
definition_of(const struct definitions *d, const char *name)
{
	const uint32_t found = ST_HASHMAP_FIND(&d->index, st_hash_text(name), at,
	                                       !strcmp(d->list.v[at].name, name));
	return found == ST_HASHMAP_NONE ? ST_HASHMAP_NONE : d->list.v[found].node;
}

static st_status
add_definitions(const struct st_blow_calls *c, struct st_image *image, struct definitions *d)
{
	size_t n;
	const struct st_symbol *v = st_image_symbols(image, &n);
	for (size_t i = 0; i < n; i++) {
		const uint32_t node = v[i].entry == v[i].start && v[i].source != ST_SYM_PLT
		                              ? node_of(c, image, v[i].start)
		                              : ST_HASHMAP_NONE;
		if (node == ST_HASHMAP_NONE || definition_of(d, v[i].raw_name) != ST_HASHMAP_NONE)
			continue;
		struct definition *slot = ST_PUSH(&d->list);
		if (!slot)
			return ST_FAILED;
		*slot = (struct definition){v[i].raw_name, node};
		if (st_hashmap_add(&d->index, st_hash_text(v[i].raw_name), (uint32_t)d->list.n - 1))
			return ST_FAILED;
	}
	return ST_OK;
}

/* A function that no image defines is known by its name only. */
static st_status
connect_import(struct st_blow_calls *c, const struct definitions *d, const struct import *import)
{
	struct node *from = &c->nodes.v[import->from];
	const uint32_t passed = from->opaque ? ST_BLOW_USES_LOCKS
	                                     : ST_BLOW_USES_LOCKS | ST_BLOW_DOES_IO,
	               to = definition_of(d, import->symbol);
	from->traits |= st_blow_traits_of_name(import->symbol) & passed;
	return to == ST_HASHMAP_NONE ? ST_OK : add_call_edge(c, import->from, to);
}

/* ---- I/O ---- */

static int
edge_order(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	return (x->to > y->to) - (x->to < y->to);
}

/* The first edge to the node; edges are sorted by `to`. */
static size_t
first_edge(const struct st_blow_calls *c, uint32_t to)
{
	size_t low = 0, high = c->edges.n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (c->edges.v[middle].to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Callers of functions that do I/O do so, too. */
static st_status
spread_io(struct st_blow_calls *c)
{
	uint32_t *work = calloc(c->nodes.n + 1, sizeof *work);
	size_t left = 0;
	if (!work)
		return ST_FAILED;
	for (uint32_t i = 0; i < c->nodes.n; i++)
		if (c->nodes.v[i].traits & ST_BLOW_DOES_IO)
			work[left++] = i;
	while (left) {
		const uint32_t to = work[--left];
		for (size_t i = first_edge(c, to); i < c->edges.n && c->edges.v[i].to == to; i++) {
			struct node *from = &c->nodes.v[c->edges.v[i].from];
			if (from->opaque || from->traits & ST_BLOW_DOES_IO ||
			    c->nodes.v[to].traits & ST_BLOW_ENDS_PROGRAM)
				continue;
			from->traits |= ST_BLOW_DOES_IO;
			work[left++] = c->edges.v[i].from;
		}
	}
	free(work);
	return ST_OK;
}

/* Only direct callers of functions that are locks by their names. */
static st_status
spread_locks(struct st_blow_calls *c)
{
	bool *is_lock = calloc(c->nodes.n + 1, sizeof *is_lock);
	if (!is_lock)
		return ST_FAILED;
	for (size_t i = 0; i < c->nodes.n; i++)
		is_lock[i] = c->nodes.v[i].traits & ST_BLOW_IS_LOCK;
	for (size_t i = 0; i < c->edges.n; i++)
		if (is_lock[c->edges.v[i].to])
			c->nodes.v[c->edges.v[i].from].traits |= ST_BLOW_USES_LOCKS;
	free(is_lock);
	return ST_OK;
}

st_status
st_blow_calls_connect(struct st_blow_calls *c)
{
	struct definitions d = {0};
	st_status status = ST_OK;
	for (size_t i = 0; i < c->images.n && !status; i++)
		status = add_definitions(c, c->images.v[i], &d);
	for (size_t i = 0; i < c->imports.n && !status; i++)
		status = connect_import(c, &d, &c->imports.v[i]);
	free(d.list.v);
	st_hashmap_free(&d.index);
	if (c->edges.n)
		qsort(c->edges.v, c->edges.n, sizeof *c->edges.v, edge_order);
	return status || spread_io(c) || spread_locks(c) ? ST_FAILED : ST_OK;
}

/* ---- the result ---- */

void
st_blow_calls_fill(const struct st_blow_calls *c, const struct st_image *image,
                   struct st_blow_function *f)
{
	const uint32_t at = node_of(c, image, f->offset);
	if (at == ST_HASHMAP_NONE)
		return;
	f->sites = c->nodes.v[at].sites;
	f->traits = c->nodes.v[at].traits;
}

struct st_blow_calls *
st_blow_calls_new(void)
{
	return calloc(1, sizeof(struct st_blow_calls));
}

void
st_blow_calls_free(struct st_blow_calls *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->imports.n; i++)
		free(c->imports.v[i].symbol);
	free(c->imports.v);
	free(c->edges.v);
	free(c->nodes.v);
	free(c->images.v);
	st_hashmap_free(&c->index);
	free(c);
}
