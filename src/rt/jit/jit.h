/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The jit: blocks of the program translated into the code cache, and how they find each other.
 *
 * Cache addresses are held as 32-bit offsets from rt.target.area. The cache has a hot part (block
 *bodies, in the order in which they were first executed), a warm part (call thunks, entry pads) and
 *a cold part (the stubs of exits, by their number). They only grow; a full cache is flushed as a
 *whole.
 *
 * A block has no state across its borders: in its body every register but gs holds what the
 *program's register holds, so any exit can be linked to any block's body. An indirect branch comes
 *in through the block's pad instead, with rdx = the full target address, slot_rcx and slot_rdx =
 *the program's rcx and rdx A pad's first instruction (5 bytes) stores rdx to [rsp-8]; returns enter
 *there, because they are executed as real `ret`s with the cache address put on the stack for the
 *moment; jumps and calls enter 5 bytes further on.
 */
#ifndef STROBE_RT_JIT_JIT_H
#define STROBE_RT_JIT_JIT_H

#include "rt/arch/x86_64/decode.h"
#include "rt/code.h"
#include "rt/program.h"

enum {
	MOST_INSNS_AND_ACTIONS = 224, /* of a fragment, which has 255 records at most */
	MAX_SURE_SUPERBLOCKS = 16,    /* translated ahead of their execution, one after the other */
	MAX_SUPERBLOCK_BLOCKS = 24,   /* basic blocks translated in one go, across calls */
	MAX_WHOLE_INSNS = 16 << 10,   /* of a basic block in all; a longer one counts as several */
	MAX_WHOLE_CODE = 16 << 20,    /* more than such a block becomes in the cache */
	MAX_ACTION_CODE = 1024,       /* more than ten columns of any kind take, with a condition */
	MAX_CACHED_BLOCKS = 2 << 20,
	MAX_EXITS = 3 << 20,    /* whose stubs the cold part can hold */
	MAX_RECORDS = 64 << 20, /* bytes of instruction records */
	PAD_JUMP_ENTRY = 5,     /* where jumps enter a pad */
	CACHE_NOTHING = 16,     /* cache offset of two words: see jit_reset */
	N_PAGE_SLOTS = 1 << 19, /* pages of program code known at once, twice over */
};

/* The record of a translated block: three bytes for each instruction of the program. */
struct __attribute__((packed)) record {
	uint8_t kind_len;   /* low nibble: length of the program's instruction (0: inserted code);
	                       high: enum record_kind */
	uint16_t cache_len; /* bytes in the cache */
};
enum record_kind {
	REC_COPY = 0,    /* one machine instruction stands for one */
	REC_COUNT,       /* one increment, no instruction of the program */
	REC_COUNT_SPILL, /* count with a register spilled and given back */
	REC_SPILL,       /* spill, load address, operation, give back */
	REC_LOAD,        /* load the address into the destination, then the operation */
	REC_BRANCH,      /* a conditional branch: the branch itself, then perhaps a jump */
	REC_JUMP,
	REC_CALL,
	REC_RETURN,
	REC_IJUMP,
	REC_ICALL,
	REC_LOOP,
	REC_EXIT,   /* leaves the cache: system calls and what is handed to the runtime */
	REC_BEFORE, /* an action of the instruction after it */
	REC_AFTER,  /* an action of the instruction before it */
	REC_SPACE, /* sees to it that there is space for rows; spills registers for a live range, or
	             gives them back: see reserve.h */
};

static inline struct record
record_of_code(enum record_kind kind, unsigned app_len, uint32_t cache_len)
{
	return (struct record){(uint8_t)((unsigned)kind << 4 | app_len), (uint16_t)cache_len};
}
static inline enum record_kind
record_kind(const struct record *r)
{
	return r->kind_len >> 4;
}
/* Of the program's instruction that the code is; 0: it is none's. */
static inline unsigned
record_app_len(const struct record *r)
{
	return r->kind_len & 15;
}

enum block_flags {
	BLOCK_VALID = 1,
	BLOCK_JOINED =
	        2, /* the block before it in the cache falls into it: they live and die together */
	BLOCK_CONT = 4, /* a later fragment of a long basic block, right after the fragment before:
	                   no entry, not counted */
	BLOCK_WRITABLE = 8, /* its code may change: a copy of it is kept */
	BLOCK_CHECKED = 16, /* its code is compared with the program's before each execution */
	BLOCK_COUNTED = 32, /* it carries a counter */
	BLOCK_RESUME =
	        128, /* the rest of a basic block, for one that was stopped in it: no entry */
	BLOCK_SUSPENDED = 64, /* not valid now, but will be if its code turns out to be unchanged */
};

/* Three quarters of a cache line, because there is one for every 16 bytes of program code. */
struct block {
	uint64_t pc;
	uint32_t body;         /* cache offset */
	uint32_t records;      /* index of its first record */
	uint32_t pad;          /* cache offset of its entry pad; 0: none */
	uint32_t incoming;     /* first exit linked to it + 1 */
	uint32_t next_in_page; /* chain of blocks that start in the same page, + 1 */
	int32_t rel;           /* from its end to its direct target */
	uint16_t body_len;     /* its own code, landing pad included */
	uint16_t landing;      /* body-relative offset of the landing pad after its call; 0: none */
	uint16_t map;
	uint16_t bytes;  /* of program code */
	uint8_t beyond;  /* bytes looked at after it: some when it ends in what is no instruction */
	uint8_t n_insns; /* in this fragment */
	uint8_t n_records;
	uint8_t count_rec;   /* record that counts + 1; 0: none */
	uint8_t end : 4;     /* enum st_block_end */
	uint8_t version : 3; /* enum version: of the blocks that it leads to */
	uint8_t once : 1;    /* tools see it once, in a translation of its own: this one is plain */
	uint8_t flags;
};
_Static_assert(sizeof(struct block) == 48, "one for every few bytes of code");

static inline uint64_t
block_end(const struct block *b)
{
	return b->pc + b->bytes;
}
static inline uint64_t
block_target(const struct block *b)
{
	return block_end(b) + (uint64_t)(int64_t)b->rel;
}
/* Bytes of program code that it depends on. */
static inline uint32_t
block_extent(const struct block *b)
{
	return b->bytes + b->beyond;
}

/* Where an exit leads to. */
enum exit_to {
	TO_END,    /* the address after its block */
	TO_TARGET, /* the block's direct target */
	TO_SELF,   /* the block itself */
};

/* Its stub is the one of its number: jit_stub(). */
struct exit {
	uint32_t site;       /* cache offset of the rel32 to patch; 0: nothing to link */
	uint32_t next;       /* chain of exits linked to one block, + 1; without a site: cache
	                        offset after the exit; of EXIT_SPENT: what its block charges, for
	                        budget/audit.h */
	uint32_t block : 21; /* whose exit it is */
	uint32_t kind : 4;   /* enum exit_kind */
	uint32_t to : 2;     /* enum exit_to */
	uint32_t cause : 5;  /* for EXIT_NATIVE: enum st_fallback_cause; for EXIT_JUMP, EXIT_BRANCH:
	                        1 if it is an edge that may still have to be counted */
};
static inline enum direction
exit_direction(const struct exit *x)
{
	return x->to == TO_TARGET ? DIRECTION_TAKEN : DIRECTION_NOT_TAKEN;
}
enum exit_kind {
	EXIT_JUMP,    /* `jmp rel32` at the site */
	EXIT_BRANCH,  /* `jcc rel32` */
	EXIT_SYSCALL, /* to the address after the system call */
	EXIT_NATIVE,  /* to the instruction to hand to native execution */
	EXIT_CHECK,   /* to the block's own address, whose bytes must be compared; the block goes on
	                 after it */
	EXIT_SPACE,   /* to the block's own address, when there is space for the rows of stream
	                `cause` */
	EXIT_FIRST,   /* the same: it is executed for the first time */
	EXIT_REGION,  /* the same: the region of interest begins or ends, `cause` says which */
	EXIT_SPENT,   /* the same: the thread's budget is spent */
	EXIT_TARGETS, /* the same: code must be translated again, so that it counts targets */
	EXIT_OFTEN,   /* the same: it has been executed often enough, and is to be backed off */
	EXIT_SUPPRESSED, /* the same: who is not followed may be from here on; `cause` is an enum
	                    suppress_stop */
};

/* The areas of the warm part, in ascending order. */
enum warm_kind { WARM_THUNK, WARM_PAD, WARM_EDGE, WARM_TARGET, WARM_WALK };
struct warm_fragment {
	uint32_t at;
	uint32_t block : 28;
	uint32_t kind : 4; /* enum warm_kind */
};

/* Where the rest of a basic block begins (BLOCK_RESUME). */
struct rest_begin {
	uint16_t insns; /* of the basic block before it */
	uint8_t skip;   /* actions of its first instruction that have been done */
	uint8_t back;   /* length of that instruction, if it has been executed; else 0 */
};

/* The warm part. */
struct warm {
	uint32_t next, limit; /* cache offsets: next free, end */
	struct warm_fragment *fragments;
	uint32_t n_fragments;
};

struct jit {
	uint32_t hot; /* next free cache offset of the hot part */
	uint32_t hot_limit;
	struct warm warm;
	struct block *blocks; /* from 1 */
	uint32_t n_blocks;
	struct exit *exits;
	uint32_t n_exits, exit_limit;
	uint32_t n_stubs; /* written so far, ahead of the exits */
	struct record *records;
	uint32_t n_records;
	uint32_t *hash; /* blocks by pc, open addressing: index, and high bits of the hash */
	uint32_t hash_size, hash_used;
	uint32_t *ids; /* results id by pc: survives flushes */
	uint32_t ids_size;
	uint8_t *sources; /* copies of program code of writable blocks */
	uint32_t n_sources;
	uint32_t *source_of; /* by block: where its copy is, if it is BLOCK_WRITABLE */
	uint32_t *id_of;     /* by block: its whole basic block in the results, if blocks are
	                        counted; 0: none */
	uint32_t *edge_of;   /* by block, if blocks are counted: the branch at its end, whose edges
	                        are   counted (tool/edges.c); 0: none */
	struct rest_begin *rest_of; /* by block, if it is BLOCK_RESUME */
	uint32_t generation;        /* of the cache: flushes so far */
	uint32_t *pages; /* page number -> first block that starts there, open addressing: pairs of
	                    key and block + 1 */
	uint32_t n_pages;
	bool targets;        /* targets of indirect branches are counted */
	bool alone;          /* what is being translated leads to the dispatcher:
	                        native/breakpoint_sampling.h */
	uint32_t most_insns; /* of a fragment */
};
extern struct jit jit;

static inline uint8_t *
cache_write(uint32_t off)
{
	return (uint8_t *)(rt.alias + off);
}
/* To write code there. */
static inline struct emit
cache_emit(uint32_t off)
{
	return (struct emit){cache_write(off), off, &rt.target};
}
static inline uint64_t
cache_addr(uint32_t off)
{
	return rt.target.area + off;
}
static inline bool
in_cache(uint64_t address)
{
	return address - rt.target.area < ST_CACHE_SIZE;
}

/* jit/build.c: decodes and analyses the block at pc, which ends at `stop` at the latest; 0: where
 * it may. 0, or -1 when nothing can be fetched there. */
int jit_build(struct build *b, uint64_t pc, uint64_t stop);
/*
 * Flags (ST_F_*) that code at pc, or the handler of a fault in it, may read before they are
 * overwritten; looks a few instructions ahead. after_call: the stack has just been written to, so
 * that a push is taken not to fault.
 */
uint8_t jit_flags_live_at(uint64_t pc, bool after_call);
/* Arithmetic flags at the block's beginning that the program may read before it writes them. The
 * handler of a fault may yet see the others, too. */
uint8_t jit_flags_read(const struct build *b);

/* charge.c: machine instructions of tools' actions in the block, for each eight of the program's.
 */
unsigned jit_actions_for_eight(uint32_t block);
/* Does the instruction have to be executed natively, outside the cache? */
bool jit_is_foreign(const struct st_insn *in, const uint8_t *code);

/* jit/translate.c: translates the block at pc and what follows its calls; returns its index or 0.
 * rt.lock held. join: exit whose jump may be overwritten when it is the last thing in the hot part,
 * or NO_EXIT. indirect: an indirect branch has asked for it, so its pad goes right before it. */
enum { NO_EXIT = 0xffffffff };
uint32_t jit_translate(uint64_t pc, enum version version, uint32_t join, bool indirect);
/* Translates the rest of a basic block, for the thread that is at it; 0 when that cannot be. What
 * the tools asked for there stays in it, whatever version of code comes after it. */
uint32_t jit_translate_resume(const struct resume *at, enum version next);
/* From now on control runs past an EXIT_FIRST. Returns what stood there, for jit_arm_first; 0: it
 * did so already. */
uint16_t jit_skip_first(uint32_t exit);
/* Makes an entry pad for the block. */
void jit_make_pad(uint32_t block);

/* jit/cache.c */
int jit_init(void);
void jit_reset(void); /* forget every translation; no thread may be in the cache */
/* After a fork: an empty cache, and results that have no ids yet. */
void jit_restart(void);
void jit_insert(uint32_t block);
uint32_t
jit_result_id(const struct build *b); /* id in the results: the same code gets the same id again */
bool jit_has_space(void);
/* A BLOCK_WRITABLE block: keep a copy of its code, which is here; is it still the same? */
void jit_keep_source(uint32_t block, const void *code);
bool jit_same_source(uint32_t block);
/* The average time to translate a block, in ticks. */
uint64_t jit_ticks_of_block(void);
void jit_report_sizes(void);         /* to the statistics */
uint32_t jit_block_at(uint32_t off); /* block whose body holds the cache offset, or 0 */
uint32_t
jit_block_after(uint32_t off); /* first block whose body begins after the cache offset, or 0 */
const struct warm_fragment *jit_warm_at(uint32_t off);
uint64_t jit_exit_target(const struct exit *x);
/* Bytes of a stub, and of the same code within a body: exit_id = number; jmp rt_stub_exit. */
uint32_t jit_stub_len(void);
static inline uint32_t
jit_stub(uint32_t exit)
{
	return ST_AREA_COLD + exit * jit_stub_len();
}

/* jit/ahead.c: translates the blocks that begin at pcs, which an earlier copy of the process has
 * executed, and links everything that is translated: so that the next copy finds it done. s: what
 * the copy has found out besides. rt.lock held, one thread. */
void jit_translate_ahead(const uint64_t *pcs, size_t n, const struct st_serve *s, size_t n_misses);

/* jit/link.c */
/* Does the exit lead to its stub? */
bool jit_is_unlinked(uint32_t exit);
/* It leads to the cache offset from now on. */
void jit_lead(uint32_t exit, uint32_t to);
void jit_link(uint32_t exit, uint32_t block);
/* Makes the block known to the two below. */
void jit_page_add(uint32_t block);
/* Makes blocks in [start, end) unreachable, until jit_revalidate. */
void jit_suspend(uint64_t start, uint64_t end);
/* Drops those blocks in [start, end) whose code is not what was translated; suspended ones that are
 * unchanged are valid again. */
void jit_revalidate(uint64_t start, uint64_t end);
/* Drops every block whose code is not what was translated, as far as that is known; else it drops
 * it too. */
void jit_check_all(void);
bool jit_has_code(uint64_t start, uint64_t end);

/* jit/edge.c: the exit, an edge that is counted, leads to the block by way of the counting. */
void jit_link_edge(uint32_t exit, uint32_t block);
/* `at` bytes into the code that counts: has it been counted? Puts right what is spilled. */
bool jit_edge_counted(const struct thread *t, uint32_t start, uint32_t at, struct regs *regs);

/* jit/target.c: the pad through which indirect branches come to the block counts those of the site,
 * or does so sooner. */
void jit_learn_target(struct thread *t, uint32_t block, uint32_t site);
/* The former only, before any of them has come. */
void jit_learn_ahead(uint32_t block, uint32_t site);

/* jit/lookup.c */
/* The first pad for pc, or 0. */
uint32_t jit_lookup_pad(enum version version, uint64_t pc);
void jit_lookup_reset(void); /* empties the tables */
/* Indirect branches of the version's blocks to pc find the pad, and no longer find it. A pad can
 * stand in the tables only once. */
void jit_lookup_set(enum version version, uint64_t pc, uint32_t pad);
void jit_lookup_clear(enum version version, uint64_t pc, uint32_t pad);
/* The version's table of jumps, or of returns, for code to address. */
uint64_t jit_lookup_table(enum version version, bool returns);

/* jit/dispatch.c: what stubs.S calls. They return with thread->next set. */
void rt_dispatch_exit(struct thread *t);
void rt_dispatch_miss(struct thread *t);
void rt_dispatch_pc(struct thread *t);
void rt_dispatch_syscall(struct thread *t);
void rt_dispatch_syspatch(struct thread *t);
void rt_dispatch_trapped(struct thread *t);
uint64_t rt_dispatch_pending(struct thread *t); /* address of the signal mask to set, or 0 */

/* jit/recover.c: the program's state at an address in the cache, from the machine's registers
 * there. */
struct late { /* what a register held for a place in memory: to be written there */
	uint64_t *at;
	uint64_t value;
};
enum { MAX_HELD = 3 }; /* registers that hold fields at once */
struct recovered {
	struct regs regs;
	struct late late[MAX_HELD]; /* see jit/reserve.h */
	uint8_t n_late;
	uint32_t block;  /* block under way, or 0 between blocks */
	uint32_t done;   /* instructions of it that have completed */
	uint8_t actions; /* done at the next instruction; or after the last */
	uint8_t back;    /* length of the last instruction, when those after it are under way */
	bool counted;    /* its counter has already been incremented */
	bool at_end;     /* all of it has completed */
	bool own_work;   /* the instruction there does the program's work, not the engine's */
	bool boundary; /* the address is where an instruction of the program has just completed, or
	                  the block begins */
	uint32_t site; /* the indirect branch that has gone to regs.pc, if that has still to be
	                  counted; or 0 */
	uint32_t edge; /* the branch whose edge has still to be counted; 0: none */
	enum direction direction;
	uint64_t repair,
	        repair_value; /* a word of the program's stack to put right first; 0: none */
};
int jit_recover(struct thread *t, uint64_t address, const struct regs *machine,
                struct recovered *out);
/* The program leaves the cache where r says: writes what is late, sets t->resume, if it can go on
 * there later, and completes the counts of a block that is at its end. */
void jit_leave(struct thread *t, const struct recovered *r);
/* The same for one that is at the beginning of a block that is a later part of a basic block. */
void jit_stop_at(struct thread *t, uint32_t block);
/* After a fork, with results that are new. */
void jit_forget_partials(void);
/* The code at t->resume has changed: it is executed as another block. */
void jit_end_partial(struct thread *t);
/* It has come back: the block counts as executed again. */
void jit_resume_counts(struct thread *t);

/* jit/invoke.c */
void rt_dispatch_call(struct thread *t);

/* stubs.S */
void rt_stub_exit(void);
void rt_stub_call(void);
void rt_stub_miss(void);
void rt_stub_syscall(void);
void rt_stub_resume(void);
extern const char rt_stub_enter[], rt_stub_enter_end[];
extern const char rt_sys_check[], rt_sys_insn[], rt_sys_done[];

#endif
