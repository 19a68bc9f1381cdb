/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/points.h"

#include <stdlib.h>
#include <string.h>

#include "probe/move.h"
#include "probe/planner.h"

enum { LOOK_BACK = 12 };

enum mark {
	MARK_INSN = 1,   /* an instruction begins */
	MARK_JUMP = 2,   /* the one before is a conditional jump */
	MARK_CALL = 4,   /* the instruction is a call */
	MARK_BEHIND = 8, /* the one before is a call */
};

void
probe_inside_free(struct probe_inside *inside)
{
	free(inside->code);
	free(inside->marks);
	*inside = (struct probe_inside){0};
}

/* The function's instructions so far, while it is decoded. */
struct decoding {
	struct st_probe_planner *p;
	const struct st_function *f;
	struct probe_inside *inside;
	size_t last[LOOK_BACK]; /* offsets of the latest instructions, in a ring */
	size_t n;
	bool jumps; /* it has an indirect jump */
};

static bool
is_call(const struct st_insn *in)
{
	return in->cls == ST_C_CALL || in->cls == ST_C_ICALL;
}

static unsigned
points_rm(const struct st_insn *in, const uint8_t *bytes)
{
	const unsigned rex = in->flags & ST_I_REX ? bytes[in->rex_off] : 0;
	return (bytes[in->modrm_off] & 7) | (rex & 1) << 3;
}

/*
 * jmp *register: where does the register come from? From memory, it is an address that data has, or
 * an entry of a table is added to the table's address: such targets are known (leads.h). A distance
 * that is worked out is not. At a jump that another one leads to, nothing is known.
 */
static bool
is_from_table(const struct decoding *d, const struct st_insn *jump, const uint8_t *bytes)
{
	const unsigned reg = points_rm(jump, bytes);
	bool adds = false;
	for (size_t back = 1; back <= LOOK_BACK && back <= d->n; back++) {
		struct st_insn in;
		const size_t at = d->last[(d->n - back) % LOOK_BACK];
		const uint8_t *code = d->inside->code + at;
		if (!st_decode(code, d->f->size - at, &in))
			return false;
		const uint8_t op = code[in.op_off];
		if (adds && op == 0x63 && in.flags & ST_I_MEM) /* movslq: an entry of a table */
			return true;
		if (!adds && (op == 0x01 || op == 0x03) && in.gpr_written >> reg & 1)
			adds = true;
		else if (!adds && in.gpr_written >> reg & 1)
			return op == 0x8b && in.flags & ST_I_MEM;
	}
	return false;
}

static uint8_t
refusal_of_jump(struct decoding *d, const struct st_insn *in, const uint8_t *code)
{
	if (in->cls != ST_C_IJMP)
		return ST_REFUSAL_NONE;
	d->jumps = true;
	return in->flags & ST_I_MEM || is_from_table(d, in, code) ? ST_REFUSAL_NONE
	                                                          : ST_REFUSAL_JUMPS;
}

static bool
changes_direction(const struct st_insn *in, const uint8_t *code)
{
	return in->op_off + 1u == in->len && code[in->op_off] == 0xfd && !in->modrm_off &&
	       !(in->op_off && code[in->op_off - 1] == 0x0f);
}

static bool
has_near_target(const struct st_insn *in)
{
	return in->cls == ST_C_JMP || in->cls == ST_C_JCC || in->cls == ST_C_LOOP ||
	       in->cls == ST_C_XBEGIN;
}

/* All of the function is instructions, from the first byte to the last. */
static uint8_t
decode_inside(struct decoding *d)
{
	const size_t n = d->f->size;
	uint8_t *marks = d->inside->marks, next = 0, refusal = ST_REFUSAL_NONE;
	struct st_insn in;
	for (size_t at = 0; at < n && !refusal; at += in.len) {
		const uint8_t *code = d->inside->code + at;
		if (!st_decode(code, n - at, &in))
			return ST_REFUSAL_DATA;
		marks[at] = (uint8_t)(MARK_INSN | next | (is_call(&in) ? MARK_CALL : 0));
		next = in.cls == ST_C_JCC || in.cls == ST_C_LOOP ? MARK_JUMP
		       : is_call(&in)                            ? MARK_BEHIND
		                                                 : 0;
		if (changes_direction(&in, code))
			return ST_REFUSAL_DIRECTION;
		refusal = refusal_of_jump(d, &in, code);
		d->last[d->n++ % LOOK_BACK] = at;
	}
	return refusal;
}

/* No jump of it leads into the middle of an instruction. */
static uint8_t
check_jumps(const struct decoding *d)
{
	const size_t n = d->f->size;
	struct st_insn in;
	for (size_t at = 0; at < n; at += in.len) {
		st_decode(d->inside->code + at, n - at, &in);
		const uint64_t to = at + in.len + (uint64_t)(int64_t)in.rel;
		if (has_near_target(&in) && to < n && !d->inside->marks[to])
			return ST_REFUSAL_DATA;
	}
	return ST_REFUSAL_NONE;
}

static uint8_t
read_inside(struct decoding *d)
{
	const size_t n = d->f->size;
	d->inside->code = malloc(n + 1);
	d->inside->marks = calloc(n + 1, 1);
	if (!d->inside->code || !d->inside->marks)
		return ST_REFUSAL_MEMORY;
	if (!n || st_image_bytes(d->p->image, d->f->offset, d->inside->code, n) != n ||
	    !probe_leads_knows_pads(d->p->leads))
		return ST_REFUSAL_DATA;
	const uint8_t refusal = decode_inside(d);
	return refusal ? refusal : check_jumps(d);
}

/* A table of the function may lead to this part of it, which is not looked at then. */
static uint8_t
refusal_of_part(struct st_probe_planner *p, const struct st_function *part)
{
	const struct st_function *whole = st_image_function(p->image, part->whole);
	struct probe_inside ignored = {0};
	struct decoding d = {.p = p, .f = whole, .inside = &ignored};
	if (!whole || whole->whole != whole->offset)
		return ST_REFUSAL_DATA;
	const uint8_t refusal = read_inside(&d);
	probe_inside_free(&ignored);
	return refusal ? refusal : d.jumps ? ST_REFUSAL_JUMPS : ST_REFUSAL_NONE;
}

static uint8_t
refusal_of_all(struct st_probe_planner *p, const struct st_function *f)
{
	const struct st_probe_site site = {.inside = true, .role = probe_role_of(p, f)};
	const uint8_t refusal = probe_refusal_of_kind(p, f, &site);
	if (refusal)
		return refusal;
	return site.role.role == ST_ROLE_NORMAL || site.role.role == ST_ROLE_COUNT
	               ? ST_REFUSAL_NONE
	               : ST_REFUSAL_NAME;
}

/* The instructions of the function, which stay until another one is asked for. */
static const struct probe_inside *
look_inside(struct st_probe_planner *p, const struct st_function *f)
{
	struct probe_inside *inside = &p->inside;
	if (inside->f == f)
		return inside;
	probe_inside_free(inside);
	inside->f = f;
	inside->refusal = refusal_of_all(p, f);
	struct decoding d = {.p = p, .f = f, .inside = inside};
	if (!inside->refusal)
		inside->refusal = read_inside(&d);
	if (!inside->refusal && f->whole != f->offset)
		inside->refusal = refusal_of_part(p, f);
	return inside;
}

/* Adds it; false: there is no memory. */
static bool
points_add(struct st_probe_point_list *to, const struct st_probe_point *point)
{
	struct st_probe_point *new = ST_PUSH(&to->list);
	if (new)
		*new = *point;
	return new != NULL;
}

/* Adds what the instruction at `i` is; call: the call before it, if there is one. */
static bool
points_add_at(const struct st_probe_planner *p, const struct probe_inside *inside, size_t i,
              struct st_probe_point *call, struct st_probe_point_list *to)
{
	const uint64_t at = inside->f->offset + i;
	const uint8_t mark = inside->marks[i];
	struct st_probe_point point = {.at = at};
	bool ok = true;
	if (!i || mark & MARK_JUMP || probe_leads_into(p->leads, at, at + 1))
		ok = points_add(to, &point);
	if (ok && mark & MARK_BEHIND) {
		call->kind = ST_POINT_AFTER;
		call->at = at;
		ok = points_add(to, call);
	}
	if (ok && mark & MARK_CALL) {
		struct st_insn in;
		st_decode(inside->code + i, inside->f->size - i, &in);
		*call = (struct st_probe_point){.at = at, .call = at, .kind = ST_POINT_BEFORE};
		if (in.cls == ST_C_CALL)
			call->target = at + in.len + (uint64_t)(int64_t)in.rel;
		ok = points_add(to, call);
	}
	return ok;
}

uint8_t
st_probe_list_points(struct st_probe_planner *planner, const struct st_function *f,
                     struct st_probe_point_list *to)
{
	const struct probe_inside *inside = look_inside(planner, f);
	struct st_probe_point call = {0};
	const size_t before = to->list.n;
	bool ok = true;
	for (size_t i = 0; !inside->refusal && ok && i < f->size; i++)
		if (inside->marks[i])
			ok = points_add_at(planner, inside, i, &call, to);
	if (!ok)
		to->list.n = before;
	return ok ? inside->refusal : ST_REFUSAL_MEMORY;
}

/* Of its bytes, when the function is no reason. */
static void
judge_inside(struct st_probe_planner *p, const struct probe_inside *inside,
             struct st_probe_site *site)
{
	const uint64_t i = site->at - inside->f->offset;
	if (i >= inside->f->size || !inside->marks[i]) {
		site->refusal = ST_REFUSAL_MIDDLE;
		return;
	}
	st_image_bytes(p->image, site->at, site->bytes, ST_PROBE_BYTES);
	probe_judge_bytes(p, site);
}

void
st_probe_judge_point(struct st_probe_planner *planner, const struct st_function *f, uint64_t at,
                     struct st_probe_site *site)
{
	const struct probe_inside *inside = look_inside(planner, f);
	*site = (struct st_probe_site){.at = at,
	                               .size = f->offset + f->size - at,
	                               .inside = true,
	                               .role = probe_role_of(planner, f),
	                               .refusal = inside->refusal};
	if (!site->refusal)
		judge_inside(planner, inside, site);
}
