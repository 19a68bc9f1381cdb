/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declarations shared by the files that write translations: exits.c, body.c, translate.c. */
#ifndef STROBE_RT_JIT_SUPERBLOCK_H
#define STROBE_RT_JIT_SUPERBLOCK_H

#include "rt/arch/x86_64/emit.h"
#include "rt/jit/jit.h"
#include "rt/jit/reserve.h"

/* The superblock being translated: blocks that follow one another in the hot part. */
struct superblock {
	struct emit hot;
	struct build *now, *next; /* the block being written, and the one after its call */
	enum version version;
	uint32_t block;    /* index of the block being written */
	uint32_t first;    /* index of the superblock's first block */
	uint32_t id, base; /* of the basic block whose fragments are being written */
	uint32_t site;     /* of the branch at the end of the fragment: tool/targets.c */
	bool fresh;        /* its amounts are not in the results yet */
	bool once;         /* tools see the block in another translation */
	uint64_t stop;     /* where the basic block ends; 0: where it may */
	bool rest;         /* it is the rest of a basic block that was begun before */
	uint32_t skip;     /* actions of its first instruction that have been done */
	uint32_t back;     /* bytes of that instruction, when it has been executed; 0: it has not */
	bool joined;
	uint32_t joined_to; /* exit whose jump is to be skipped once the superblock is complete */
	uint32_t charge;    /* cache offset of the charge's amount; 0: there is none */
	bool charge_added;  /* as a negative number that is added */
	uint32_t charged;   /* the amount */
	uint32_t charge_exit, charged_insns; /* where it leaves; of the fragments so far */
	struct plan plan; /* where registers are spilled for longer; what is just now */
	struct reserved reserved;
	uint32_t back_constant; /* of the last call: where its return address is stored in the
	                           cache, or 0 */
};

/* `inc` leaves CF alone. */
enum { FLAGS_OF_INC = ST_F_PF | ST_F_AF | ST_F_ZF | ST_F_SF | ST_F_OF };

/* exits.c. Writing at the end of the warm part: one fragment at a time, rt.lock held. */
struct emit warm_begin(void);
void warm_mark(const struct emit *e, enum warm_kind kind, uint32_t block);
void warm_end(const struct emit *e);
/* Eight bytes in the warm part that code compares with or pushes; returns their cache offset. */
uint32_t warm_constant(uint64_t value);
/* exit_id of the thread = exit */
void emit_set_exit(struct emit *e, uint32_t exit);
uint32_t new_exit(enum exit_kind kind, enum exit_to to, uint32_t block);
/* Completes an exit whose rel32 has just been emitted: it leads to its stub, or to the target if
 * that is there. */
void finish_exit(uint32_t exit, uint32_t site);
/* A jump of the opcode (two bytes when it is above 0xff), and its exit. */
void emit_direct(struct emit *e, unsigned opcode, enum exit_kind kind, enum exit_to to,
                 uint32_t block);
/* The same for one of the two edges of a conditional branch, which may have to be counted. */
void emit_branch_edge(struct emit *e, unsigned opcode, enum exit_kind kind, enum exit_to to,
                      uint32_t block);
/* An exit to the runtime in the middle of the code. */
void emit_leave(struct superblock *u, enum exit_kind kind, enum exit_to to, unsigned app_len);
/* The exit of a block that its tools want to see once. Its first two bytes will become a jump over
 * it, while other threads execute it. */
void emit_first(struct superblock *u);

/* charge.c. The block takes what its execution costs off the thread's budget, and is left when that
 * is spent; the cost is known at the block's end. */
bool charge_wanted(const struct superblock *u);
void emit_charge(struct superblock *u);
/* The block is left when it has been executed often enough (budget/adaptive.h). */
void emit_often(struct superblock *u);
/* In plain code: leaves when the thread has been granted more, if the policy says so. */
void emit_look_back(struct superblock *u);
/* A plain block at which a suppressed thread may have to stop (enum suppress_stop). */
void emit_suppress_stop(struct superblock *u, unsigned stop);
void charge_end(struct superblock *u);

/* body.c. A record of what has been emitted from the offset `from` on, for an instruction of
 * app_len bytes or none. */
void add_record(struct superblock *u, enum record_kind kind, unsigned app_len, uint32_t from);
/* The body of the fragment in u->now, whose block has been opened. */
void emit_body(struct superblock *u);

#endif
