/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a function is left: its returns, and its jumps to other functions. For functions whose
 * return address must not be replaced, these can be patched instead, and nothing on the stack
 * changes. All exits of a function can be patched, or none is.
 *
 * An exit needs five bytes of its own: the instruction, those before it that no jump leads into,
 * and padding behind it; or two bytes, and five of padding nearby (an island). The stub has the
 * displaced instructions but the last, calls the handler, and leaves:
 *
 *     the displaced instructions but the last
 *     push $INDEX
 *     call *RETURNS(%rip)
 *     lea 8(%rsp), %rsp
 *     the return or jump
 *
 * The handler sees the stack as that of entries does: the stack pointer is where the return address
 * lies, so nothing that the function still needs is below it. A function that is left by a jump has
 * ended for the handler when the other one begins.
 *
 * What a decoder can be mistaken about is checked against unwind information: at an exit the return
 * address lies at the stack pointer. An indirect jump that may be either a switch or a call of
 * another function makes the function's exits unknown.
 */
#ifndef STROBE_PROBE_EXITS_H
#define STROBE_PROBE_EXITS_H

#include "base/vec.h"
#include "probe/stub.h"

#define ST_EXIT_REFUSALS(X)                                                                        \
	X(NONE, "")                                                                                \
	X(CODE, "its code cannot be told from data")                                               \
	X(STACK, "it returns or jumps with something else at the stack pointer than its return "   \
	         "address")                                                                        \
	X(INDIRECT, "a jump of it may lead to a part of it or to another function")                \
	X(PART, "it jumps to what may be a part of it")                                            \
	X(NARROW, "a return of it has too few bytes for a jump")                                   \
	X(MEMORY, "strobe has no memory left")

enum st_exit_refusal {
#define X(name, text) ST_EXIT_NO_##name,
	ST_EXIT_REFUSALS(X)
#undef X
	        ST_EXIT_N_REFUSALS
};

struct st_probe_exit {
	uint64_t at;     /* of the first displaced byte */
	uint64_t island; /* as in struct st_probe_site */
	uint8_t way, displaced, patched, insns;
	bool conditional; /* the last instruction may go on with the next one */
	uint8_t bytes[ST_PROBE_BYTES];
	uint8_t under_island[ST_PROBE_JUMP_LENGTH];
};

struct st_probe_exits {
	uint8_t refusal; /* enum st_exit_refusal */
	ST_VEC(struct st_probe_exit) list;
};

/*
 * Finds the exits of a function that takes a probe. Those among the instructions that its entry's
 * probe displaces are in site->exits then. To be asked once for each function, and after all
 * entries were judged: both need padding. exits->list.v is to be freed.
 */
void st_probe_find_exits(struct st_probe_planner *planner, const struct st_function *f,
                         struct st_probe_site *site, struct st_probe_exits *exits);

/* The same as st_probe_stub, of an exit; where->returns is used. */
st_status st_probe_exit_stub(const struct st_probe_exit *exit, const struct st_probe_where *where,
                             struct st_probe_stub *out);

/* Why the exits of the function cannot be patched. */
const char *st_probe_exits_text(const struct st_probe_exits *exits);

#endif
