/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/exits.h"

#include <stdlib.h>
#include <string.h>

#include "probe/move.h"
#include "probe/planner.h"
#include "symbol/unwind.h"

enum { MOST_PARTS = 8, LOOK_BACK = 12, STACK = 0x1000, FRAME = 0x900000 };

struct placed {
	uint64_t at;
	struct st_insn in;
	const uint8_t *bytes;
};

/* The function under the eye: its own range, and parts that stand elsewhere. */
struct leaving {
	struct st_probe_planner *p;
	const struct st_function *f;
	struct st_probe_site *site;
	struct st_probe_exits *out;
	const struct st_function *ranges[MOST_PARTS + 1];
	size_t n_ranges;
	uint8_t *code; /* of all ranges, one after the other */
	ST_VEC(struct placed) insns;
};

static bool
exits_is_within(const struct leaving *l, uint64_t at)
{
	for (size_t i = 0; i < l->n_ranges; i++)
		if (at - l->ranges[i]->offset < l->ranges[i]->size)
			return true;
	return false;
}

/* ---- parts ---- */

static int
order_parts(const void *a, const void *b)
{
	const struct probe_part *x = a, *y = b;
	return x->whole < y->whole ? -1 : x->whole > y->whole;
}

/* Asking the image for the parts of each function would look at all functions each time. */
static bool
exits_collect_parts(struct st_probe_planner *p)
{
	size_t n;
	const struct st_function *v = st_image_functions(p->image, &n);
	if (p->has_parts)
		return true;
	p->parts = calloc(n + 1, sizeof *p->parts);
	for (size_t i = 0; p->parts && i < n; i++)
		if (v[i].whole != v[i].offset)
			p->parts[p->n_parts++] = (struct probe_part){v[i].whole, &v[i]};
	if (p->n_parts)
		qsort(p->parts, p->n_parts, sizeof *p->parts, order_parts);
	return p->has_parts = p->parts != NULL;
}

/* The function's own range first; false: there are too many. */
static bool
find_ranges(struct leaving *l)
{
	const struct probe_part *v = l->p->parts;
	size_t low = 0, high = l->p->n_parts;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (v[middle].whole < l->f->offset)
			low = middle + 1;
		else
			high = middle;
	}
	l->ranges[l->n_ranges++] = l->f;
	for (; low < l->p->n_parts && v[low].whole == l->f->offset; low++) {
		if (l->n_ranges > MOST_PARTS)
			return false;
		l->ranges[l->n_ranges++] = v[low].part;
	}
	return true;
}

/* ---- decoding ---- */

static uint8_t
decode_range(struct leaving *l, const struct st_function *f, uint8_t *code)
{
	size_t n = f->size;
	if (st_image_bytes(l->p->image, f->offset, code, n) != n)
		return ST_EXIT_NO_CODE;
	for (size_t at = 0; at < n;) {
		struct placed *placed = ST_PUSH(&l->insns);
		if (!placed)
			return ST_EXIT_NO_MEMORY;
		placed->at = f->offset + at;
		placed->bytes = code + at;
		if (!st_decode(code + at, n - at, &placed->in))
			return ST_EXIT_NO_CODE;
		at += placed->in.len;
	}
	return ST_EXIT_NO_NONE;
}

static uint8_t
decode_function(struct leaving *l)
{
	size_t n = 0;
	if (!exits_collect_parts(l->p))
		return ST_EXIT_NO_MEMORY;
	if (!find_ranges(l))
		return ST_EXIT_NO_CODE;
	for (size_t i = 0; i < l->n_ranges; i++)
		n += l->ranges[i]->size;
	l->code = malloc(n + 1);
	uint8_t *code = l->code, refusal = code ? ST_EXIT_NO_NONE : ST_EXIT_NO_MEMORY;
	for (size_t i = 0; !refusal && i < l->n_ranges; i++) {
		refusal = decode_range(l, l->ranges[i], code);
		code += l->ranges[i]->size;
	}
	return refusal;
}

static int
order_placed(const void *key, const void *element)
{
	uint64_t at = *(const uint64_t *)key;
	const struct placed *placed = element;
	return at < placed->at ? -1 : at > placed->at;
}

/* Instructions are in the order of ranges, which is not that of addresses: each is asked. */
static bool
begins_insn(const struct leaving *l, uint64_t at)
{
	size_t first = 0;
	for (size_t i = 0; i < l->n_ranges; i++) {
		size_t n = 0;
		while (first + n < l->insns.n &&
		       l->insns.v[first + n].at - l->ranges[i]->offset < l->ranges[i]->size)
			n++;
		if (at - l->ranges[i]->offset < l->ranges[i]->size)
			return bsearch(&at, l->insns.v + first, n, sizeof *l->insns.v,
			               order_placed);
		first += n;
	}
	return false;
}

/* ---- what leaves ---- */

/* Does unwind information say that the return address is at the stack pointer? Where there is none
 * it is believed. */
static bool
is_at_return(const struct leaving *l, uint64_t at)
{
	uint64_t slot;
	if (!l->p->has_frames)
		return true;
	return st_image_frame(l->p->image, at, STACK, FRAME, &slot) && slot == STACK;
}

static bool
has_index(const struct placed *i)
{
	unsigned modrm = i->bytes[i->in.modrm_off];
	unsigned rex = i->in.flags & ST_I_REX ? i->bytes[i->in.rex_off] : 0;
	if (modrm >> 6 == 3 || (modrm & 7) != 4)
		return false;
	return (i->bytes[i->in.modrm_off + 1] >> 3 & 7) != 4 || rex & 2;
}

static unsigned
rm_register(const struct placed *i)
{
	unsigned rex = i->in.flags & ST_I_REX ? i->bytes[i->in.rex_off] : 0;
	return (i->bytes[i->in.modrm_off] & 7) | (rex & 1) << 3;
}

enum jump { JUMP_WITHIN, JUMP_OUT, JUMP_UNKNOWN };

/*
 * Of jmp *register where the stack is that of a return: who has written the register last in the
 * block? A switch adds an entry of its table to the table's address; the address of a function is
 * loaded from somewhere without an index, or handed over by another register.
 */
static enum jump
kind_of_register_jump(const struct leaving *l, size_t i)
{
	unsigned reg = rm_register(&l->insns.v[i]);
	for (size_t back = 1; back <= LOOK_BACK && back <= i; back++) {
		const struct placed *w = &l->insns.v[i - back];
		uint8_t op = w->bytes[w->in.op_off];
		bool straight = w->in.cls == ST_C_NORMAL || w->in.cls == ST_C_JCC;
		if (!straight)
			return JUMP_UNKNOWN;
		if ((op == 0x01 || op == 0x03) && w->in.gpr_written >> reg & 1)
			return JUMP_WITHIN;
		if (w->in.gpr_written >> reg & 1)
			return op == 0x8b && w->in.flags & ST_I_MEM && !has_index(w) ? JUMP_OUT
			       : op == 0x89 || (op & 0xf8) == 0x58                   ? JUMP_OUT
			                                                             : JUMP_UNKNOWN;
		if (probe_leads_into(l->p->leads, w->at, w->at + 1))
			break;
	}
	return JUMP_UNKNOWN;
}

static enum jump
kind_of_indirect(const struct leaving *l, size_t i)
{
	const struct placed *jump = &l->insns.v[i];
	if (l->p->has_frames && !is_at_return(l, jump->at))
		return JUMP_WITHIN;
	if (!(jump->in.flags & ST_I_MEM))
		return kind_of_register_jump(l, i);
	return has_index(jump) ? JUMP_UNKNOWN : JUMP_OUT;
}

/* Where a direct jump leads out of the function: to another one, certainly? */
static bool
leads_to_function(const struct leaving *l, uint64_t to)
{
	const struct st_function *g = st_image_function(l->p->image, to);
	if (!g || g->offset != to)
		return false;
	if (g->source == ST_SYM_PLT)
		return true;
	if (g->whole != to || !probe_is_entry(l->p, g))
		return false;
	return g->source != ST_SYM_EHFRAME || probe_leads_called(l->p->leads, to);
}

/* Does the instruction leave the function? refusal: why that is not known. */
static bool
leaves(const struct leaving *l, size_t i, uint8_t *refusal)
{
	const struct placed *placed = &l->insns.v[i];
	const struct st_insn *in = &placed->in;
	uint64_t to = placed->at + in->len + (uint64_t)(int64_t)in->rel;
	bool direct = in->cls == ST_C_JMP || in->cls == ST_C_JCC || in->cls == ST_C_LOOP ||
	              in->cls == ST_C_XBEGIN;
	enum jump kind = JUMP_WITHIN;
	if (in->cls == ST_C_RET || (direct && !exits_is_within(l, to)))
		kind = JUMP_OUT;
	else if (direct && !begins_insn(l, to))
		*refusal = ST_EXIT_NO_CODE;
	else if (in->cls == ST_C_IJMP)
		kind = kind_of_indirect(l, i);
	if (kind == JUMP_UNKNOWN)
		*refusal = ST_EXIT_NO_INDIRECT;
	if (kind != JUMP_OUT)
		return false;
	if (in->cls == ST_C_LOOP || in->cls == ST_C_XBEGIN || (direct && !leads_to_function(l, to)))
		*refusal = ST_EXIT_NO_PART;
	else if (!is_at_return(l, placed->at))
		*refusal = ST_EXIT_NO_STACK;
	return true;
}

/* ---- the bytes of an exit ---- */

static bool
goes_to_next(const struct st_insn *in)
{
	return in->cls == ST_C_NORMAL || in->cls == ST_C_GS || in->cls == ST_C_JCC ||
	       in->cls == ST_C_LOOP;
}

/* May the instruction before number i, which ends where that begins, be displaced with it? */
static bool
takes_before(const struct leaving *l, size_t i, uint64_t exit_end)
{
	uint8_t ignored = ST_EXIT_NO_NONE;
	if (!i)
		return false;
	const struct placed *before = &l->insns.v[i - 1];
	uint64_t entry_end =
	        l->site->at +
	        (l->site->displaced > l->site->patched ? l->site->displaced : l->site->patched);
	bool of_entry = before->at >= l->site->at && before->at < entry_end;
	return before->at + before->in.len == l->insns.v[i].at && !of_entry &&
	       exit_end - before->at <= ST_PROBE_BYTES && goes_to_next(&before->in) &&
	       probe_movable(&before->in, before->bytes) && !leaves(l, i - 1, &ignored) &&
	       !probe_leads_into(l->p->leads, l->insns.v[i].at, l->insns.v[i].at + 1);
}

/* Displaces as few instructions as make `need` bytes, with padding that follows where these do not
 * suffice. */
static bool
measure_exit(const struct leaving *l, size_t last, unsigned need, struct st_probe_exit *exit)
{
	const struct placed *leaver = &l->insns.v[last];
	uint64_t end = leaver->at + leaver->in.len;
	size_t first = last;
	while (end - l->insns.v[first].at < need && last - first + 1 < ST_PROBE_MOST_INSNS &&
	       takes_before(l, first, end))
		first--;
	exit->at = l->insns.v[first].at;
	exit->displaced = (uint8_t)(end - exit->at);
	exit->insns = (uint8_t)(last - first + 1);
	exit->patched = (uint8_t)need;
	exit->conditional = leaver->in.cls == ST_C_JCC;
	uint64_t patched = exit->at + need;
	bool follows = end >= patched ||
	               (!exit->conditional && probe_leads_padding(l->p->leads, end, patched));
	/* Nothing leads behind the first byte, neither to an instruction nor into one. */
	uint64_t most = end > patched ? patched : end;
	return follows && !probe_leads_into(l->p->leads, exit->at + 1, most);
}

static uint8_t
place_exit(struct leaving *l, size_t last)
{
	struct st_probe_exit exit = {0};
	if (!probe_movable(&l->insns.v[last].in, l->insns.v[last].bytes))
		return ST_EXIT_NO_NARROW;
	if (!measure_exit(l, last, ST_PROBE_JUMP_LENGTH, &exit)) {
		if (!measure_exit(l, last, ST_PROBE_SHORT_LENGTH, &exit))
			return ST_EXIT_NO_NARROW;
		exit.way = ST_PROBE_ISLAND;
		exit.island = probe_take_island(l->p, exit.at, exit.under_island);
		if (!exit.island)
			return ST_EXIT_NO_NARROW;
	}
	if (exit.displaced < exit.patched)
		probe_leads_take(l->p->leads, exit.at + exit.displaced, exit.at + exit.patched);
	probe_leads_claim(l->p->leads, exit.at, exit.at + exit.displaced);
	st_image_bytes(l->p->image, exit.at, exit.bytes, ST_PROBE_BYTES);
	struct st_probe_exit *kept = ST_PUSH(&l->out->list);
	if (!kept)
		return ST_EXIT_NO_MEMORY;
	*kept = exit;
	return ST_EXIT_NO_NONE;
}

/* An exit among what the entry displaces is left to the entry's stub. */
static bool
is_displaced_by_entry(const struct leaving *l, size_t i)
{
	uint64_t from = l->insns.v[i].at - l->site->at;
	if (from >= l->site->displaced)
		return false;
	l->site->exits |= (uint8_t)(1u << i);
	return true;
}

static uint8_t
find_all(struct leaving *l)
{
	uint8_t refusal = decode_function(l);
	for (size_t i = 0; !refusal && i < l->insns.n; i++)
		leaves(l, i, &refusal);
	for (size_t i = 0; !refusal && i < l->insns.n; i++) {
		uint8_t known = ST_EXIT_NO_NONE;
		if (leaves(l, i, &known) && !is_displaced_by_entry(l, i))
			refusal = place_exit(l, i);
	}
	return refusal;
}

void
st_probe_find_exits(struct st_probe_planner *planner, const struct st_function *f,
                    struct st_probe_site *site, struct st_probe_exits *exits)
{
	struct leaving l = {.p = planner, .f = f, .site = site, .out = exits};
	memset(exits, 0, sizeof *exits);
	site->exits = 0;
	exits->refusal = find_all(&l);
	if (exits->refusal) {
		site->exits = 0;
		exits->list.n = 0;
	}
	free(l.insns.v);
	free(l.code);
}

const char *
st_probe_exits_text(const struct st_probe_exits *exits)
{
	static const char *const texts[] = {
#define X(name, text) (text),
	        ST_EXIT_REFUSALS(X)
#undef X
	};
	return texts[exits->refusal];
}
