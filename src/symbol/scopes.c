/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/scopes.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	DEEPEST = 256,         /* inlining and blocks nest deep, but not that deep */
	MOST_SPANS = 16 << 20, /* a damaged file can name one long list of ranges many times */
};

/* A range of a scope, as the entry has it. */
struct span {
	uint64_t start;
	uint64_t end;
	uint32_t scope;
};

struct reading {
	struct st_image *image;
	struct sym_scopes *scopes;
	struct span *spans;
	size_t n;
	size_t room;
	Dwarf_Off seen; /* behind the entry visited last */
	bool failed;
};

static bool
add_scope(struct reading *r, Dwarf_Die *die, uint32_t parent, bool inlined)
{
	struct sym_scopes *s = r->scopes;
	struct sym_scope *v = sym_grow(s->v, s->n, &s->room, sizeof *v);
	if (!v)
		return false;
	s->v = v;
	v[s->n++] = (struct sym_scope){.die = *die, .parent = parent, .inlined = inlined};
	return true;
}

static bool
add_span(struct reading *r, uint64_t start, uint64_t end)
{
	struct span *v = r->n < MOST_SPANS ? sym_grow(r->spans, r->n, &r->room, sizeof *v) : NULL;
	if (!v)
		return false;
	r->spans = v;
	v[r->n++] = (struct span){start, end, (uint32_t)r->scopes->n - 1};
	return true;
}

/* Adds the entry when it has code; returns what its children are in. */
static uint32_t
scopes_add_entry(struct reading *r, Dwarf_Die *die, uint32_t parent, bool inlined)
{
	Dwarf_Addr base, start, end;
	bool added = false;
	for (ptrdiff_t next = 0; (next = dwarf_ranges(die, next, &base, &start, &end)) > 0;) {
		if (start >= end || !sym_ranges_find(&r->image->code, start))
			continue;
		r->failed |= !added && !add_scope(r, die, parent, inlined);
		added = true;
		r->failed |= r->failed || !add_span(r, start, end);
		if (r->failed)
			return parent;
	}
	return added ? (uint32_t)r->scopes->n - 1 : parent;
}

static bool
may_hold_code(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

/* In the order in which the entries stand; damaged references to siblings could lead back. */
static void
read_children(struct reading *r, Dwarf_Die *parent, uint32_t scope, int depth)
{
	Dwarf_Die die, next;
	if (depth > DEEPEST || dwarf_child(parent, &die) != 0)
		return;
	for (; !r->failed; die = next) {
		int tag = dwarf_tag(&die);
		uint32_t inner = scope;
		if (dwarf_dieoffset(&die) < r->seen)
			return;
		r->seen = dwarf_dieoffset(&die) + 1;
		if (tag == DW_TAG_subprogram)
			inner = scopes_add_entry(r, &die, SYM_NO_SCOPE, false);
		else if (tag == DW_TAG_inlined_subroutine)
			inner = scopes_add_entry(r, &die, scope, true);
		if (may_hold_code(tag))
			read_children(r, &die, inner, depth + 1);
		if (dwarf_siblingof(&die, &next) != 0)
			return;
	}
}

/* Outer before inner: they start together, or the outer one starts first. */
static int
scopes_by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

static bool
scopes_emit(struct sym_scopes *s, uint64_t start, uint32_t scope)
{
	if (s->segments_n && s->segments[s->segments_n - 1].start == start)
		s->segments_n--;
	struct sym_segment *v = sym_grow(s->segments, s->segments_n, &s->segments_room, sizeof *v);
	if (!v)
		return false;
	s->segments = v;
	v[s->segments_n++] = (struct sym_segment){start, scope};
	return true;
}

/* Nested spans become a row of segments. A span that ends behind the one around it is cut. */
static bool
scopes_flatten(struct reading *r)
{
	struct span *stack = calloc(r->n ? r->n : 1, sizeof *stack);
	size_t depth = 0;
	bool good = stack != NULL;
	if (r->n)
		qsort(r->spans, r->n, sizeof *r->spans, scopes_by_start);
	for (size_t i = 0; good && i <= r->n; i++) {
		uint64_t start = i < r->n ? r->spans[i].start : UINT64_MAX;
		for (; good && depth && stack[depth - 1].end <= start; depth--)
			good = scopes_emit(r->scopes, stack[depth - 1].end,
			                   depth > 1 ? stack[depth - 2].scope : SYM_NO_SCOPE);
		if (i == r->n || !good)
			break;
		stack[depth] = r->spans[i];
		if (depth && stack[depth].end > stack[depth - 1].end)
			stack[depth].end = stack[depth - 1].end;
		good = scopes_emit(r->scopes, start, stack[depth++].scope);
	}
	free(stack);
	return good;
}

struct sym_scopes *
sym_scopes(struct st_image *image, struct sym_unit *unit)
{
	Dwarf_Die split = {0};
	if (unit->scopes)
		return unit->scopes;
	unit->scopes = calloc(1, sizeof *unit->scopes);
	if (!unit->scopes)
		return NULL;
	struct reading r = {.image = image, .scopes = unit->scopes};
	/* With -gsplit-dwarf the functions are in a .dwo file. */
	bool is_split =
	        dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
	        split.cu;
	r.scopes->root = is_split ? split : unit->die;
	read_children(&r, &r.scopes->root, SYM_NO_SCOPE, 0);
	if (r.failed || !scopes_flatten(&r))
		r.scopes->segments_n = 0;
	free(r.spans);
	return unit->scopes;
}

uint32_t
sym_scope_at(const struct sym_scopes *scopes, uint64_t address)
{
	size_t low = 0, high = scopes->segments_n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (scopes->segments[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? scopes->segments[low - 1].scope : SYM_NO_SCOPE;
}

void
sym_scopes_free(struct sym_scopes *scopes)
{
	if (!scopes)
		return;
	free(scopes->v);
	free(scopes->segments);
	free(scopes);
}

struct search {
	struct st_image *image;
	uint64_t address;
	uint64_t entry;
};

static bool
scopes_find_entry(struct sym_unit *unit, void *context)
{
	struct search *search = context;
	const struct sym_scopes *s = sym_scopes(search->image, unit);
	uint32_t scope = s ? sym_scope_at(s, search->address) : SYM_NO_SCOPE;
	uint64_t entry;
	if (scope == SYM_NO_SCOPE)
		return false;
	while (s->v[scope].parent != SYM_NO_SCOPE)
		scope = s->v[scope].parent;
	if (s->v[scope].inlined || !sym_entry_of(&s->v[scope].die, &entry))
		return false;
	search->entry = entry;
	return true;
}

uint64_t
sym_scope_entry(struct st_image *image, uint64_t address)
{
	struct sym_units *units = sym_units(image);
	struct search search = {.image = image, .address = address, .entry = UINT64_MAX};
	if (units)
		sym_units_at(units, address, scopes_find_entry, &search);
	return search.entry;
}
