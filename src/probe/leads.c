/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/leads.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "probe/move.h"

enum {
	LONGEST = 15,      /* bytes of an instruction */
	TABLE_MOST = 4096, /* entries of a jump table that are looked at */
};

/* A bit for each byte of the code. */
struct bits {
	uint8_t *v;
	uint64_t first, n;
};

struct filling {
	uint64_t from, to;
};

struct probe_leads {
	struct st_image *image;
	const struct st_code_range *ranges;
	size_t n_ranges;
	bool fixed; /* numbers may be addresses */
	bool knows_pads;
	struct bits targets, called, padding, claimed;
	ST_VEC(uint64_t) back; /* entries, in order */
	/* While code is decoded: */
	uint8_t *code; /* of the range */
	size_t room;
	bool falls_through;            /* the instruction before may go on with the next one */
	ST_VEC(uint64_t) taken;        /* addresses of data that the frame's code takes */
	ST_VEC(struct filling) filled; /* padding in the frame */
	bool jumps;                    /* the frame has an indirect jump */
	uint64_t frame, frame_end;
};

static bool
bit(const struct bits *b, uint64_t at)
{
	uint64_t i = at - b->first;
	return i < b->n && b->v[i / 8] >> i % 8 & 1;
}

static void
set_bit(struct bits *b, uint64_t at, bool on)
{
	uint64_t i = at - b->first;
	if (i >= b->n)
		return;
	if (on)
		b->v[i / 8] |= (uint8_t)(1u << i % 8);
	else
		b->v[i / 8] &= (uint8_t) ~(1u << i % 8);
}

static bool
make_bits(struct bits *b, const struct st_code_range *ranges, size_t n)
{
	b->first = n ? ranges[0].start : 0;
	b->n = n ? ranges[n - 1].end - b->first : 0;
	b->v = calloc(b->n / 8 + 1, 1);
	return b->v != NULL;
}

static void
leads_note_target(void *context, uint64_t address)
{
	struct probe_leads *l = context;
	set_bit(&l->targets, address, true);
}

/* Of a call, or of an address that is taken. */
static void
note(void *context, uint64_t address)
{
	struct probe_leads *l = context;
	set_bit(&l->targets, address, true);
	set_bit(&l->called, address, true);
}

static bool
leads_has_target(const struct st_insn *in)
{
	return in->cls == ST_C_JMP || in->cls == ST_C_JCC || in->cls == ST_C_LOOP ||
	       in->cls == ST_C_CALL || in->cls == ST_C_XBEGIN;
}

static bool
leads_goes_on(const struct st_insn *in, const uint8_t *code)
{
	return !probe_is_trap(in, code) && in->cls != ST_C_JMP && in->cls != ST_C_IJMP &&
	       in->cls != ST_C_RET && in->cls != ST_C_FAR && in->cls != ST_C_INT3 &&
	       in->cls != ST_C_INVALID;
}

/* An instruction of which only the length counts: what assemblers and linkers fill with. */
static bool
is_filling(const struct st_insn *in, const uint8_t *code)
{
	uint8_t op = code[in->op_off];
	if (in->cls == ST_C_INT3)
		return true;
	if (in->cls != ST_C_NORMAL)
		return false;
	if (op == 0x1f && in->op_off && code[in->op_off - 1] == 0x0f)
		return true;
	return op == 0x90 && in->op_off + 1 == in->len && !(in->flags & ST_I_REX);
}

static void
note_branch(struct probe_leads *l, const struct st_code_range *range, uint64_t to, bool jump)
{
	if (jump)
		leads_note_target(l, to);
	else
		note(l, to);
	uint64_t *entry = jump && to && to == range->function ? ST_PUSH(&l->back) : NULL;
	if (entry)
		*entry = to;
}

static void
note_address(struct probe_leads *l, const struct st_insn *in, const uint8_t *code, uint64_t next)
{
	int32_t value;
	if (in->flags & ST_I_RIPREL && in->flags & ST_I_LEA) {
		memcpy(&value, code + in->disp_off, sizeof value);
		uint64_t address = next + (uint64_t)(int64_t)value;
		note(l, address);
		uint64_t *data = ST_PUSH(&l->taken);
		if (data)
			*data = address;
	} else if (l->fixed && in->imm_len == 4 && !leads_has_target(in)) {
		memcpy(&value, code + in->imm_off, sizeof value);
		note(l, (uint64_t)(uint32_t)value);
	}
}

static void
note_insn(struct probe_leads *l, const struct st_code_range *range, const struct st_insn *in,
          const uint8_t *code, uint64_t at)
{
	uint64_t next = at + in->len;
	if (leads_has_target(in))
		note_branch(l, range, next + (uint64_t)(int64_t)in->rel, in->cls != ST_C_CALL);
	else
		note_address(l, in, code, next);
	l->jumps |= in->cls == ST_C_IJMP;
}

/* The entries of a table of 32-bit offsets from its begin, as long as they lead to code. */
static void
note_table(struct probe_leads *l, uint64_t table)
{
	int32_t entry;
	for (int i = 0; i < TABLE_MOST; i++) {
		if (st_image_bytes(l->image, table + 4 * (uint64_t)i, &entry, sizeof entry) !=
		    sizeof entry)
			return;
		uint64_t to = table + (uint64_t)(int64_t)entry;
		if (to - l->targets.first >= l->targets.n)
			return;
		if (to >= l->frame && to < l->frame_end)
			leads_note_target(l, to);
	}
}

static void
set_padding(struct probe_leads *l, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		set_bit(&l->padding, from, true);
}

static void
leads_end_frame(struct probe_leads *l)
{
	for (size_t i = 0; l->jumps && i < l->taken.n; i++)
		if (l->taken.v[i] - l->targets.first >= l->targets.n)
			note_table(l, l->taken.v[i]);
	/* Code that is written by hand may jump into padding, with an address that it works out. */
	for (size_t i = 0; !l->jumps && i < l->filled.n; i++)
		set_padding(l, l->filled.v[i].from, l->filled.v[i].to);
	l->taken.n = l->filled.n = 0;
	l->jumps = false;
}

/* A frame or a function may be several ranges. */
static void
begin_range(struct probe_leads *l, size_t i)
{
	const struct st_code_range *r = &l->ranges[i];
	bool inside = r->frame == ST_FRAME_GOES_ON ||
	              (r->frame == ST_FRAME_NONE && r->function && r->function != r->start);
	if (inside)
		return;
	leads_end_frame(l);
	l->frame = r->start;
	l->frame_end = r->end;
	for (i++; i < l->n_ranges && l->ranges[i].frame == ST_FRAME_GOES_ON; i++)
		l->frame_end = l->ranges[i].end;
}

static size_t
leads_read(struct probe_leads *l, const struct st_code_range *range)
{
	size_t n = range->end - range->start;
	if (n + LONGEST > l->room) {
		uint8_t *code = realloc(l->code, n + LONGEST);
		if (!code)
			return 0;
		l->code = code;
		l->room = n + LONGEST;
	}
	return st_image_bytes(l->image, range->start, l->code, n + LONGEST);
}

/* An instruction that is padding if all before it are, from a return or a jump on. */
static void
note_filling(struct probe_leads *l, uint64_t from, uint64_t to)
{
	struct filling *last = l->filled.n ? &l->filled.v[l->filled.n - 1] : NULL;
	if (last && last->to == from) {
		last->to = to;
		return;
	}
	struct filling *new = ST_PUSH(&l->filled);
	if (new)
		*new = (struct filling){from, to};
}

/* Decodes the instruction at `at`; what cannot be decoded goes nowhere. */
static struct st_insn
leads_decode(const struct probe_leads *l, size_t at, size_t there)
{
	struct st_insn in;
	if (!st_decode(l->code + at, there - at, &in))
		in.len = in.len ? in.len : 1;
	return in;
}

static void
follow_range(struct probe_leads *l, const struct st_code_range *range)
{
	size_t n = range->end - range->start, there = leads_read(l, range), at = 0;
	bool between = !range->function && range->frame == ST_FRAME_NONE;
	while (at < n && at < there) {
		const struct st_insn in = leads_decode(l, at, there);
		const uint8_t *code = l->code + at;
		uint64_t from = range->start + at;
		if (in.cls != ST_C_INVALID)
			note_insn(l, range, &in, code, from);
		at += in.len;
		if (!l->falls_through && is_filling(&in, code) && at <= n) {
			note_filling(l, from, from + in.len);
			continue;
		}
		l->falls_through = leads_goes_on(&in, code);
	}
	/* A gap between functions is padding as a whole or not at all. */
	if (between && l->filled.n &&
	    (l->filled.v[l->filled.n - 1].to != range->end ||
	     l->filled.v[l->filled.n - 1].from > range->start))
		l->filled.n--;
}

static int
leads_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void
leads_follow_all(struct probe_leads *l)
{
	for (size_t i = 0; i < l->n_ranges; i++) {
		if (!i || l->ranges[i].start != l->ranges[i - 1].end)
			l->falls_through = false;
		begin_range(l, i);
		follow_range(l, &l->ranges[i]);
	}
	leads_end_frame(l);
	st_image_code_addresses(l->image, note, l);
	l->knows_pads = st_image_landing_pads(l->image, leads_note_target, l);
	if (l->back.n)
		qsort(l->back.v, l->back.n, sizeof *l->back.v, leads_order);
}

struct probe_leads *
probe_leads_new(struct st_image *image, const struct st_code_range *ranges, size_t n)
{
	struct probe_leads *l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	l->image = image;
	l->ranges = ranges;
	l->n_ranges = n;
	l->fixed = st_image_is_fixed(image);
	if (!make_bits(&l->targets, ranges, n) || !make_bits(&l->called, ranges, n) ||
	    !make_bits(&l->padding, ranges, n) || !make_bits(&l->claimed, ranges, n)) {
		probe_leads_free(l);
		return NULL;
	}
	leads_follow_all(l);
	free(l->code);
	free(l->taken.v);
	free(l->filled.v);
	l->code = NULL;
	l->taken.v = NULL;
	l->filled.v = NULL;
	return l;
}

void
probe_leads_free(struct probe_leads *l)
{
	if (!l)
		return;
	free(l->targets.v);
	free(l->called.v);
	free(l->filled.v);
	free(l->padding.v);
	free(l->claimed.v);
	free(l->back.v);
	free(l->taken.v);
	free(l->code);
	free(l);
}

bool
probe_leads_into(const struct probe_leads *l, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		if (bit(&l->targets, from))
			return true;
	return false;
}

bool
probe_leads_called(const struct probe_leads *l, uint64_t entry)
{
	return bit(&l->called, entry);
}

bool
probe_leads_back(const struct probe_leads *l, uint64_t entry)
{
	return l->back.n && bsearch(&entry, l->back.v, l->back.n, sizeof entry, leads_order);
}

bool
probe_leads_padding(const struct probe_leads *l, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		if (!bit(&l->padding, from) || bit(&l->targets, from))
			return false;
	return true;
}

void
probe_leads_take(struct probe_leads *l, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		set_bit(&l->padding, from, false);
}

bool
probe_leads_knows_pads(const struct probe_leads *l)
{
	return l->knows_pads;
}

void
probe_leads_claim(struct probe_leads *l, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		set_bit(&l->claimed, from, true);
}

bool
probe_leads_claimed(const struct probe_leads *l, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		if (bit(&l->claimed, from))
			return true;
	return false;
}
