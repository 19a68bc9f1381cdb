/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Basic blocks with one entry. The engine's begin where a jump goes and end with a branch, so a
 * block that is entered in its middle, too, was executed as two that overlap. They are cut here
 * where others begin: into pieces, of which a block is a row.
 *
 * Code that is jumped over a prefix into (`lock`) makes two blocks that share what follows the
 * instruction, although neither begins there: that is a piece, too.
 */
#include "collect/collect.h"
#include "collect/lengths.h"

enum { NONE = UINT32_MAX };

/* A place where a block begins or ends, or which two share. */
struct cut {
	uint32_t image, label; /* label: the first that is here, or NONE */
	uint64_t offset;
	uint32_t piece, insns; /* of what begins here; piece 0: nothing known */
	uint32_t next;         /* the cut behind it, if code goes on there, or NONE */
	bool inside;           /* some block goes on behind it */
};

struct cutter {
	struct st_profile *p;
	struct st_collect *c;
	ST_VEC(struct cut) cuts;
	size_t n_cuts; /* of them in the order of places, each once */
	bool *used;    /* labels that contexts have */
	struct st_lengths *own, *other;
	const uint8_t *lengths; /* of the instructions of the block at hand, NULL: not known */
	uint32_t n_insns;
};

/* ---- places ---- */

static int
collect_pieces_compare_places(const struct cut *x, const struct cut *y)
{
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int
collect_pieces_compare(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;
	int order = collect_pieces_compare_places(x, y);
	return order ? order : (x->label > y->label) - (x->label < y->label);
}

static st_status
collect_pieces_add(struct cutter *t, uint32_t image, uint64_t offset, uint32_t label)
{
	struct cut *cut = ST_PUSH(&t->cuts);
	if (cut)
		*cut = (struct cut){.image = image, .offset = offset, .label = label, .next = NONE};
	return cut ? 0 : -1;
}

static void
collect_pieces_order(struct cutter *t)
{
	size_t n = 0;
	if (!t->cuts.n)
		return;
	qsort(t->cuts.v, t->cuts.n, sizeof *t->cuts.v, collect_pieces_compare);
	for (size_t i = 0; i < t->cuts.n; i++)
		if (!n || collect_pieces_compare_places(&t->cuts.v[n - 1], &t->cuts.v[i]))
			t->cuts.v[n++] = t->cuts.v[i];
	t->cuts.n = t->n_cuts = n;
}

/* The first that is not before the place. */
static size_t
collect_pieces_find(const struct cutter *t, uint32_t image, uint64_t offset)
{
	const struct cut place = {.image = image, .offset = offset};
	size_t low = 0, high = t->n_cuts;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (collect_pieces_compare_places(&t->cuts.v[mid], &place) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct st_image *
collect_pieces_image_of(const struct cutter *t, uint32_t image)
{
	return t->c->opened.v[image];
}

/* Is the label a block that was executed? */
static bool
collect_pieces_is_block(const struct cutter *t, size_t label)
{
	const struct st_profile_label *l = &t->p->labels.v[label];
	return t->used[label] && l->bytes && l->image != UINT32_MAX;
}

static st_status
collect_pieces_add_blocks(struct cutter *t)
{
	for (size_t i = 0; i < t->p->contexts.n; i++)
		t->used[t->p->contexts.v[i].label] |= t->p->contexts.v[i].count != 0;
	for (size_t i = 0; i < t->p->labels.n; i++) {
		const struct st_profile_label *l = &t->p->labels.v[i];
		if (collect_pieces_is_block(t, i) &&
		    (collect_pieces_add(t, l->image, l->offset, (uint32_t)i) ||
		     collect_pieces_add(t, l->image, l->offset + l->bytes, NONE)))
			return -1;
	}
	collect_pieces_order(t);
	return 0;
}

/* ---- a block ---- */

static void
collect_pieces_read_block(struct cutter *t, const struct st_profile_label *l)
{
	struct st_image *image = collect_pieces_image_of(t, l->image);
	t->lengths = image ? st_lengths_in(t->own, image, l->offset, l->bytes, &t->n_insns) : NULL;
}

/* Returns whether an instruction of the current block begins at that offset. Continues where the
 * last search ended: *at, of instruction *insn. */
static bool
begins_at(const struct cutter *t, uint64_t bytes, uint64_t *at, uint32_t *insn)
{
	while (t->lengths && *at < bytes && *insn < t->n_insns)
		*at += t->lengths[(*insn)++];
	return !t->lengths || *at == bytes;
}

/* ---- blocks that begin within an instruction ---- */

/* Where the block at hand and one that begins within one of its instructions have the same
 * instructions; the lesser end when they have none. */
static uint64_t
meeting(struct cutter *t, const struct st_profile_label *a, const struct st_profile_label *b)
{
	uint32_t n, i = 0, k = 0;
	const uint8_t *lengths = st_lengths_in(t->other, collect_pieces_image_of(t, b->image),
	                                       b->offset, b->bytes, &n);
	uint64_t x = a->offset, y = b->offset, end_x = x + a->bytes, end_y = y + b->bytes;
	while (lengths && x != y && x < end_x && y < end_y) {
		if (x < y)
			x += t->lengths[i++];
		else
			y += lengths[k++];
	}
	return lengths && x == y ? x : end_x < end_y ? end_x : end_y;
}

static st_status
find_meetings(struct cutter *t, const struct st_profile_label *l)
{
	uint64_t at = 0, end = l->offset + l->bytes;
	uint32_t insn = 0;
	collect_pieces_read_block(t, l);
	for (size_t i = collect_pieces_find(t, l->image, l->offset + 1);
	     t->lengths && i < t->n_cuts; i++) {
		const struct cut *cut = &t->cuts.v[i];
		if (cut->image != l->image || cut->offset >= end)
			break;
		if (begins_at(t, cut->offset - l->offset, &at, &insn) || cut->label == NONE)
			continue;
		uint64_t both = meeting(t, l, &t->p->labels.v[cut->label]);
		if (both < end && collect_pieces_add(t, l->image, both, NONE))
			return -1;
	}
	return 0;
}

/* ---- pieces ---- */

/* Cuts a block. */
static void
cut_block(struct cutter *t, const struct st_profile_label *l)
{
	size_t current = collect_pieces_find(t, l->image, l->offset);
	uint64_t at = 0, end = l->offset + l->bytes;
	uint32_t insn = 0, first = 0;
	collect_pieces_read_block(t, l);
	for (size_t i = current + 1; i <= t->n_cuts; i++) {
		struct cut *from = &t->cuts.v[current];
		struct cut *to = i < t->n_cuts ? &t->cuts.v[i] : NULL;
		bool last = !to || to->image != l->image || to->offset >= end;
		uint64_t until = last ? end : to->offset;
		if (!begins_at(t, until - l->offset, &at, &insn) && !last)
			continue;
		from->piece = (uint32_t)(until - from->offset);
		from->insns = t->lengths ? insn - first : 0;
		if (last)
			return;
		from->next = (uint32_t)i;
		to->inside = true;
		first = insn;
		current = i;
	}
}

/* Pieces that no block begins with get labels, too. */
static st_status
collect_pieces_add_labels(struct cutter *t)
{
	for (size_t i = 0; i < t->n_cuts; i++) {
		struct cut *cut = &t->cuts.v[i];
		if (cut->label != NONE || !cut->inside)
			continue;
		struct st_profile_label *l = ST_PUSH(&t->p->labels);
		struct st_hit *hit = ST_PUSH(&t->c->hits);
		if (!l || !hit)
			return -1;
		cut->label = (uint32_t)t->p->labels.n - 1;
		*l = (struct st_profile_label){.image = cut->image,
		                               .function = UINT32_MAX,
		                               .offset = cut->offset,
		                               .bytes = cut->piece};
		*hit = (struct st_hit){
		        .image = cut->image, .offset = cut->offset, .where = ST_HIT_FRAME};
	}
	return 0;
}

static void
describe_labels(struct cutter *t)
{
	for (size_t i = 0; i < t->p->labels.n; i++) {
		struct st_profile_label *l = &t->p->labels.v[i];
		size_t at = l->bytes ? collect_pieces_find(t, l->image, l->offset) : t->n_cuts;
		l->next = UINT32_MAX;
		if (at == t->n_cuts || t->cuts.v[at].image != l->image ||
		    t->cuts.v[at].offset != l->offset || !t->cuts.v[at].piece)
			continue;
		const struct cut *cut = &t->cuts.v[at];
		l->piece = cut->piece;
		l->insns = cut->insns;
		l->next = cut->next == NONE ? UINT32_MAX : t->cuts.v[cut->next].label;
	}
}

static st_status
cut_all(struct cutter *t)
{
	size_t n_labels = t->p->labels.n;
	if (collect_pieces_add_blocks(t))
		return -1;
	for (size_t i = 0; i < n_labels; i++)
		if (collect_pieces_is_block(t, i) && find_meetings(t, &t->p->labels.v[i]))
			return -1;
	collect_pieces_order(t);
	for (size_t i = 0; i < n_labels; i++)
		if (collect_pieces_is_block(t, i))
			cut_block(t, &t->p->labels.v[i]);
	if (collect_pieces_add_labels(t))
		return -1;
	describe_labels(t);
	return 0;
}

st_status
st_collect_pieces(struct st_collect *c)
{
	struct cutter t = {.p = c->profile, .c = c};
	t.used = calloc(t.p->labels.n + 1, sizeof *t.used);
	t.own = st_lengths_new();
	t.other = st_lengths_new();
	int status = t.used && t.own && t.other ? cut_all(&t) : -1;
	st_lengths_free(t.own);
	st_lengths_free(t.other);
	free(t.used);
	free(t.cuts.v);
	return status;
}
