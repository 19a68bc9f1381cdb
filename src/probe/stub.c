/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/stub.h"

#include <string.h>

#include "probe/move.h"

static void
call_handler(struct probe_code *code, const struct st_probe_where *where)
{
	probe_put(code, "\x68", 1);
	probe_put(code, &where->index, 4);
	probe_put(code, "\xff\x15", 2);
	probe_put_distance(code, where->slot, 0);
	probe_put(code, "\x48\x8d\x64\x24\x08", 5); /* lea 8(%rsp), %rsp */
}

/* The site has been judged, so its bytes can be decoded and moved. */
static void
move_displaced(struct probe_code *code, const struct st_probe_site *site,
               const struct st_probe_where *where, struct st_probe_stub *out)
{
	uint64_t entry = site->at + where->bias;
	const struct probe_moved moved = {entry, code->pc + code->n};
	struct st_insn in;
	for (unsigned at = 0; at < site->displaced; at += in.len) {
		st_decode(site->bytes + at, ST_PROBE_BYTES - at, &in);
		out->map[out->insns++] = (struct st_probe_insn){(uint8_t)at, (uint8_t)code->n};
		probe_move(code, &in, site->bytes + at, entry + at, &moved);
	}
	if (!site->ends)
		probe_put_jump(code, entry + site->displaced);
}

/* The jump to the stub, from where it will stand. */
static bool
jump_to_stub(uint8_t *bytes, uint64_t from, uint64_t stub)
{
	struct probe_code code = {.p = bytes, .pc = from, .reaches = true};
	probe_put_jump(&code, stub);
	return code.reaches;
}

st_status
st_probe_stub(const struct st_probe_site *site, const struct st_probe_where *where,
              struct st_probe_stub *out)
{
	struct probe_code code = {.p = out->bytes, .pc = where->stub, .reaches = true};
	uint64_t entry = site->at + where->bias;
	memset(out, 0, sizeof *out);
	call_handler(&code, where);
	move_displaced(&code, site, where, out);
	out->size = (uint8_t)code.n;
	out->patched = site->patched;
	if (site->way == ST_PROBE_JUMP)
		return code.reaches && jump_to_stub(out->patch, entry, where->stub) ? ST_OK
		                                                                    : ST_FAILED;
	out->patch[0] = 0xeb;
	out->patch[1] = (uint8_t)(site->island - site->at - ST_PROBE_SHORT_LENGTH);
	return code.reaches && jump_to_stub(out->island, site->island + where->bias, where->stub)
	               ? ST_OK
	               : ST_FAILED;
}
