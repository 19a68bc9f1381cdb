/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/exits.h"

#include <string.h>

#include "probe/move.h"

static void
push_and_call(struct probe_code *code, uint64_t slot, uint32_t index)
{
	probe_put(code, "\x68", 1);
	probe_put(code, &index, 4);
	probe_put(code, "\xff\x15", 2);
	probe_put_distance(code, slot, 0);
}

static void
call_handler(struct probe_code *code, uint64_t slot, uint32_t index)
{
	push_and_call(code, slot, index);
	probe_put(code, "\x48\x8d\x64\x24\x08", 5); /* lea 8(%rsp), %rsp */
}

static void
call_handler_inside(struct probe_code *code, uint64_t slot, uint32_t index)
{
	probe_put(code, "\x48\x8d\x64\x24\x80", 5); /* lea -128(%rsp), %rsp */
	push_and_call(code, slot, index);
	probe_put(code, "\x48\x8d\xa4\x24\x88\x00\x00\x00", 8); /* lea 136(%rsp), %rsp */
}

static void
jump_to_handler(struct probe_code *code, uint64_t slot, uint32_t index)
{
	probe_put(code, "\x48\x8d\x0d\x0b\x00\x00\x00", 7); /* lea 11(%rip), %rcx */
	probe_put(code, "\xba", 1);
	probe_put(code, &index, 4);
	probe_put(code, "\xff\x25", 2);
	probe_put_distance(code, slot, 0);
}

/* An instruction that leaves the function, with a call of the handler before. A conditional jump
 * does so only when it jumps: it jumps to a jump, then. */
static void
move_exit(struct probe_code *code, const struct st_insn *in, const uint8_t *bytes, uint64_t at,
          const struct probe_moved *moved, const struct st_probe_where *where)
{
	struct st_insn jump = *in;
	if (in->cls == ST_C_JCC) {
		const uint8_t over[] = {0x70 | (in->cond ^ 1), 16 + ST_PROBE_JUMP_LENGTH};
		probe_put(code, over, sizeof over);
		jump.cls = ST_C_JMP;
	}
	call_handler(code, where->returns, where->index);
	probe_move(code, &jump, bytes, at, moved);
}

struct displaced {
	const uint8_t *bytes;
	unsigned n;
	uint64_t at;   /* address in the process */
	uint8_t exits; /* as in struct st_probe_site */
	bool ends, inside;
};

/* They have been judged, so they can be decoded and moved. */
static void
move_displaced(struct probe_code *code, const struct displaced *d,
               const struct st_probe_where *where, struct st_probe_stub *out)
{
	/* A jump to a function's entry is no call of it; one to a point comes to its probe. */
	const struct probe_moved moved = {d->at, d->inside ? d->at : code->pc + code->n};
	struct st_insn in;
	for (unsigned at = 0; at < d->n; at += in.len) {
		st_decode(d->bytes + at, ST_PROBE_BYTES - at, &in);
		bool leaves = where->returns && d->exits >> out->insns & 1;
		out->map[out->insns++] = (struct st_probe_insn){(uint8_t)at, (uint8_t)code->n};
		if (leaves)
			move_exit(code, &in, d->bytes + at, d->at + at, &moved, where);
		else
			probe_move(code, &in, d->bytes + at, d->at + at, &moved);
	}
	if (!d->ends)
		probe_put_jump(code, d->at + d->n);
}

/* The jump to the stub, from where it will stand. */
static bool
jump_to_stub(uint8_t *bytes, uint64_t from, uint64_t stub)
{
	struct probe_code code = {.p = bytes, .pc = from, .reaches = true};
	probe_put_jump(&code, stub);
	return code.reaches;
}

/* The patch at `at` that leads to the stub. */
struct entrance {
	uint64_t at, island; /* addresses in the process */
	uint8_t way, patched;
};

static st_status
finish_stub(const struct probe_code *code, const struct entrance *to,
            const struct st_probe_where *where, struct st_probe_stub *out)
{
	out->size = (uint8_t)code->n;
	out->patched = to->patched;
	uint64_t from = to->at;
	uint8_t *jump = out->patch;
	if (to->way == ST_PROBE_ISLAND) {
		out->patch[0] = 0xeb;
		out->patch[1] = (uint8_t)(to->island - to->at - ST_PROBE_SHORT_LENGTH);
		from = to->island;
		jump = out->island;
	}
	return code->reaches && jump_to_stub(jump, from, where->stub) ? ST_OK : ST_FAILED;
}

st_status
st_probe_stub(const struct st_probe_site *site, const struct st_probe_where *where,
              struct st_probe_stub *out)
{
	struct probe_code code = {.p = out->bytes, .pc = where->stub, .reaches = true};
	const struct displaced d = {site->bytes, site->displaced, site->at + where->bias,
	                            site->exits, site->ends,      site->inside};
	const struct entrance entrance = {d.at, site->island + where->bias, site->way,
	                                  site->patched};
	memset(out, 0, sizeof *out);
	if (where->answers)
		jump_to_handler(&code, where->slot, where->index);
	else if (site->inside)
		call_handler_inside(&code, where->slot, where->index);
	else
		call_handler(&code, where->slot, where->index);
	move_displaced(&code, &d, where, out);
	return finish_stub(&code, &entrance, where, out);
}

st_status
st_probe_exit_stub(const struct st_probe_exit *exit, const struct st_probe_where *where,
                   struct st_probe_stub *out)
{
	struct probe_code code = {.p = out->bytes, .pc = where->stub, .reaches = true};
	const struct displaced d = {exit->bytes,
	                            exit->displaced,
	                            exit->at + where->bias,
	                            (uint8_t)(1u << (exit->insns - 1)),
	                            !exit->conditional,
	                            false};
	const struct entrance entrance = {d.at, exit->island + where->bias, exit->way,
	                                  exit->patched};
	memset(out, 0, sizeof *out);
	move_displaced(&code, &d, where, out);
	return finish_stub(&code, &entrance, where, out);
}
