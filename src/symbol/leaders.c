/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds places at which basic blocks may begin that have not been executed. Direct branches of
 * executed code lead to some of them. An indirect jump may lead to others, anywhere in its
 * function: the function is decoded from the first byte of its frame (.eh_frame) to the last. The
 * result is used only if the last instruction ends where the frame does, and all jumps within it
 * lead to beginnings of instructions; data between the instructions would hardly let that happen.
 *
 * A budget pays for it, so it is the runtime's decoder that does it: it is proven against Zydis,
 * and takes a quarter of its time.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/arch/x86_64/apart.h"
#include "symbol/internal.h"

struct targets {
	uint64_t *v;
	size_t n, room;
};

struct st_leaders {
	struct st_image *image;
	struct sym_ranges frames;
	/* The frame that is decoded: its bytes, which of them begin instructions, leaders. */
	uint8_t *code, *starts;
	size_t room;
	struct targets within, beyond;
};

/* May the next instruction follow it? */
static bool
goes_on(const struct st_insn *in)
{
	switch (in->cls) {
	case ST_C_JMP:
	case ST_C_IJMP:
	case ST_C_RET:
	case ST_C_FAR:
	case ST_C_INT3:
	case ST_C_INVALID:
		return false;
	default:
		return true;
	}
}

static bool
ends_block(const struct st_insn *in)
{
	return !goes_on(in) || in->cls == ST_C_JCC || in->cls == ST_C_LOOP ||
	       in->cls == ST_C_CALL || in->cls == ST_C_ICALL;
}

static bool
has_target(const struct st_insn *in)
{
	return in->cls == ST_C_JMP || in->cls == ST_C_JCC || in->cls == ST_C_LOOP ||
	       in->cls == ST_C_CALL || in->cls == ST_C_XBEGIN;
}

/* The first instruction of [from, to) that has been executed; `to`: none has. */
static uint64_t
next_executed(const struct st_executed *executed, uint64_t from, uint64_t to)
{
	for (; from < to; from++) {
		uint64_t bit = executed->first + from;
		uint8_t byte = __atomic_load_n(&executed->bits[bit / 8], __ATOMIC_RELAXED);
		if (!(byte >> bit % 8))
			from += 7 - bit % 8;
		else if (byte >> bit % 8 & 1)
			return from;
	}
	return to;
}

static bool
add_target(struct targets *list, uint64_t at)
{
	uint64_t *v = sym_grow(list->v, list->n, &list->room, sizeof *v);
	if (!v)
		return false;
	list->v = v;
	v[list->n++] = at;
	return true;
}

/* Where the instruction that ends at `next` jumps to by a distance of its own. */
static bool
note_target(struct st_leaders *l, const struct sym_range *frame, uint64_t next,
            const struct st_insn *in)
{
	uint64_t to = next + (uint64_t)(int64_t)in->rel;
	bool within = to >= frame->start && to < frame->end;
	return add_target(within ? &l->within : &l->beyond, to);
}

/* False: the frame is not made of whole instructions, or there is no memory. */
static bool
decode_frame(struct st_leaders *l, const struct sym_range *frame)
{
	struct st_insn in;
	uint64_t n = frame->end - frame->start;
	bool begins = true;
	for (uint64_t at = 0; at < n; at += in.len) {
		if (!st_decode(l->code + at, n - at, &in) || in.cls == ST_C_INVALID)
			return false;
		l->starts[at] = true;
		if (begins && !add_target(&l->within, frame->start + at))
			return false;
		begins = ends_block(&in);
		if (has_target(&in) && !note_target(l, frame, frame->start + at + in.len, &in))
			return false;
	}
	for (size_t i = 0; i < l->within.n; i++)
		if (!l->starts[l->within.v[i] - frame->start])
			return false;
	return true;
}

static bool
leaders_make_room(struct st_leaders *l, size_t n)
{
	uint8_t *code = n > l->room ? realloc(l->code, n) : l->code;
	if (!code)
		return false;
	l->code = code;
	uint8_t *starts = n > l->room ? realloc(l->starts, n) : l->starts;
	if (!starts)
		return false;
	l->starts = starts;
	l->room = n > l->room ? n : l->room;
	return true;
}

/* All of the frame. What lies beyond it is code, too, if it is: it jumps there. */
static void
tell_all(struct st_leaders *l, const struct sym_range *frame, st_leader_fn *fn, void *arg)
{
	l->within.n = l->beyond.n = 0;
	memset(l->starts, 0, frame->end - frame->start);
	if (!decode_frame(l, frame))
		return;
	for (size_t i = 0; i < l->within.n; i++)
		fn(arg, l->within.v[i]);
	for (size_t i = 0; i < l->beyond.n; i++)
		if (sym_ranges_find(&l->image->code, l->beyond.v[i]))
			fn(arg, l->beyond.v[i]);
}

/* Where an instruction at `at`, which has been executed, leads. */
static void
tell_next(struct st_leaders *l, const struct sym_range *frame, uint64_t at,
          const struct st_insn *in, st_leader_fn *fn, void *arg)
{
	uint64_t next = at + in->len, to = next + (uint64_t)(int64_t)in->rel;
	if (goes_on(in) && next < frame->end)
		fn(arg, next);
	if (!has_target(in) || !sym_ranges_find(&l->image->code, to))
		return;
	bool within = to >= frame->start && to < frame->end;
	bool near = to + APART_FROM > at && to < next + APART_FROM;
	if (within ? st_jumps_apart(l->code + (at - frame->start), in->len, in->rel) : !near)
		fn(arg, to);
}

static void
tell_frame(struct st_leaders *l, const struct sym_range *frame, const struct st_executed *executed,
           st_leader_fn *fn, void *arg)
{
	struct st_insn in;
	bool jumps = false;
	size_t n = frame->end - frame->start;
	if (!leaders_make_room(l, n) || st_image_bytes(l->image, frame->start, l->code, n) != n)
		return;
	for (uint64_t at = next_executed(executed, frame->start, frame->end); at < frame->end;
	     at = next_executed(executed, at + 1, frame->end)) {
		if (!st_decode(l->code + (at - frame->start), frame->end - at, &in))
			continue;
		tell_next(l, frame, at, &in, fn, arg);
		jumps |= in.cls == ST_C_IJMP;
	}
	if (jumps)
		tell_all(l, frame, fn, arg);
}

/* A bit for each frame, and one for all entries. */
size_t
st_leaders_told(const struct st_leaders *l)
{
	return l->frames.n / 8 + 1;
}

static bool
is_told(const uint8_t *told, size_t i)
{
	return told[i / 8] >> i % 8 & 1;
}

static void
set_told(uint8_t *told, size_t i)
{
	told[i / 8] |= (uint8_t)(1u << i % 8);
}

void
st_leaders_tell(struct st_leaders *l, uint8_t *told, const struct st_executed *executed,
                st_leader_fn *fn, void *arg)
{
	for (size_t i = 0; i < l->frames.n; i++) {
		const struct sym_range *frame = &l->frames.v[i];
		if (frame->start < executed->from || frame->end > executed->end)
			continue;
		if (!is_told(told, l->frames.n))
			fn(arg, frame->start);
		if (is_told(told, i) ||
		    next_executed(executed, frame->start, frame->end) == frame->end)
			continue;
		set_told(told, i);
		tell_frame(l, frame, executed, fn, arg);
	}
	set_told(told, l->frames.n);
}

struct st_leaders *
st_leaders_new(struct st_image *image)
{
	struct st_leaders *l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	l->image = image;
	sym_read_ehframe(image, &l->frames, NULL, NULL);
	sym_ranges_settle(&l->frames);
	return l;
}

void
st_leaders_free(struct st_leaders *l)
{
	if (!l)
		return;
	sym_ranges_free(&l->frames);
	free(l->code);
	free(l->starts);
	free(l->within.v);
	free(l->beyond.v);
	free(l);
}
