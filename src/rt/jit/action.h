/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code for actions. A sequence leaves every register and flag as it found it: what it spills it
 * first stores to the thread's action.save (flags: action.flags), where recovery finds it.
 */
#ifndef STROBE_RT_JIT_ACTION_H
#define STROBE_RT_JIT_ACTION_H

#include "rt/arch/x86_64/emit.h"
#include "rt/jit/jit.h"
#include "rt/jit/reserve.h"
#include "rt/tool/tool.h"

/* Emits one action at instruction `a->insn` of the fragment. flags_live: ST_F_* that must be kept.
 * call: index of the call for ACTION_INVOKE. False when it has become too long: nothing is emitted.
 */
bool action_emit(struct emit *e, const struct build *b, const struct action *a, uint8_t flags_live,
                 uint32_t call, struct reserved *reserved);
/* Registers that its operands and its condition name. */
uint16_t action_registers(const struct build *b, const struct action *a);
/* Does it need a register to work with, beside the one that says where its row goes or holds its
 * sum? */
bool action_works(const struct build *b, const struct action *a);

/* Restores what the first `at` bytes of a sequence at the cache offset have spilled, except for
 * what was spilled before. Returns whether by then the action has been done. */
bool action_recover(struct thread *t, struct reserved *reserved, uint32_t start, uint32_t at,
                    struct recovered *out);

/* walk.c: the step, up to where it has to be left to the tool; call: its index. */
struct seq;
void walk_emit(struct seq *s, const struct build *b, const struct action *a, uint32_t call);
/* The same without anything in line. */
void walk_emit_call(struct emit *e, uint32_t call);
void walk_emit_time(struct seq *s);
void walk_emit_cost(struct seq *s, const struct action *a);
/* `off` is in a walk's fragment in the warm part: takes back what was spilled since it began.
 * Returns where in the block's own code that begins: there all is spilled that was spilled before.
 */
uint32_t walk_spilled(struct thread *t, uint32_t fragment, uint32_t off, struct recovered *out);
/* Of the machine instruction at p, in the code of an action: does it count, so that the action is
 * done except for the instruction after it? That is to be done, too, with what registers hold. */
bool walk_counts(const uint8_t *p, const struct st_insn *in);
void walk_finish(struct thread *t, const uint8_t *p, const struct regs *machine,
                 struct recovered *out);

/* A call that translated code makes: index = the thread's exit_id. */
struct invoke {
	strobe_callee *function;
	struct resume resume; /* where the program is when it has been made */
	uint32_t back;        /* cache offset where it goes on */
	uint32_t block;       /* the fragment it is of */
	uint8_t tool;
	bool walks;            /* values are what follows, not the thread's */
	uint32_t label, owner; /* of the step */
};
struct invokes {
	struct invoke *list;
	uint32_t n;
};
extern struct invokes invokes;
enum { MAX_INVOKES = 4 << 20 };

#endif
