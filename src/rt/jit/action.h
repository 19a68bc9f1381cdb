/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code for actions. A sequence leaves every register and flag as it found it: what it borrows it
 * first stores to the thread's tool_save (flags: tool_flags), where recovery finds it.
 */
#ifndef STROBE_RT_ACTION_H
#define STROBE_RT_ACTION_H

#include "rt/arch/x86_64/emit.h"
#include "rt/jit/pins.h"
#include "rt/tool/tool.h"

/* Emits one action at instruction `a->insn` of the piece. flags_live: ST_F_* that must be kept.
 * call: index of the call for ACTION_INVOKE. False when it has become too long: nothing is emitted.
 */
bool action_emit(struct emit *e, const struct build *b, const struct action *a, uint8_t flags_live,
                 uint32_t call, struct pins *pins);
/* Registers that its operands and its condition name. */
uint16_t action_registers(const struct build *b, const struct action *a);
/* Does it need a register to work with, beside the one that says where its row goes or holds its
 * sum? */
bool action_works(const struct build *b, const struct action *a);

/* Restores what the first `at` bytes of a sequence at the cache offset have borrowed, but for what
 * was borrowed before. Returns whether by then the action has been done. */
bool action_recover(const struct thread *t, struct pins *pins, uint32_t start, uint32_t at,
                    struct regs *regs);

/* A call that translated code makes: index = the thread's exit_id. */
struct invoke {
	strobe_callee *function;
	struct resume resume; /* where the program is when it has been made */
	uint32_t back;        /* cache offset where it goes on */
	uint8_t tool;
};
struct invokes {
	struct invoke *list;
	uint32_t n;
};
extern struct invokes invokes;
enum { MAX_INVOKES = 4 << 20 };

#endif
