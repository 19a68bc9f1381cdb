/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine's side of include/strobe/tool.h.
 *
 * While a fragment is translated, the tools' functions say what they want of it: constant
 * counts become amounts of the block in the results, everything else becomes an action, which
 * jit/action.c turns into machine code.
 */
#ifndef STROBE_RT_TOOL_TOOL_H
#define STROBE_RT_TOOL_TOOL_H

#include <strobe/tool.h>

#include "rt/arch/x86_64/operands.h"
#include "rt/arch/x86_64/pieces.h"
#include "rt/code.h"

/* The role of an operand for the instruction of the action. */
enum operand_kind {
	OPERAND_CONSTANT,
	OPERAND_TIMESTAMP,
	OPERAND_THREAD,
	OPERAND_REGISTER, /* detail: its number */
	OPERAND_ADDRESS,  /* detail: which of the instruction's accesses */
	OPERAND_SIZE,
	OPERAND_VALUE,
	OPERAND_TARGET, /* of the branch */
	OPERAND_TAKEN,
	OPERAND_RETURN_TO, /* the word at rsp */
};

enum action_kind {
	ACTION_COUNTER, /* a counter grows by one */
	ACTION_ADD,     /* a counter grows by operand 0 */
	ACTION_RECORD,  /* a row of the operands */
	ACTION_INVOKE,  /* a call of a function of the tool */
	ACTION_WALK,    /* a step of a walk, or that call */
	ACTION_TIME,    /* a cost of the walk's top frame */
	ACTION_COST,
};
enum walk_step { WALK_ENTER, WALK_LEAVE, WALK_STEP, WALK_ACROSS };

enum condition_kind {
	CONDITION_TAKEN,
	CONDITION_NOT_TAKEN,
	CONDITION_RELATION,
	CONDITION_RETURNS, /* the stack pointer is where the innermost function that a tool waits
	                      for was entered with */
};
struct relation {
	uint8_t relation; /* enum strobe_relation */
	strobe_operand a, b;
};
struct condition {
	uint8_t kind;       /* enum condition_kind */
	uint8_t narrows;    /* index + 1 of another that has to hold, too; 0: none */
	struct relation is; /* of CONDITION_RELATION */
};

/* The counter of an edge of the branch at the end of the fragment. */
struct edge_amount {
	uint64_t cell;
	int64_t amount;
	enum direction direction;
};

/* The counter by target of the indirect branch at the end of the fragment. */
struct target_count {
	strobe_table *table;
	uint8_t column, target; /* the key that is the target */
	uint64_t keys[STROBE_MOST_COLUMNS];
};

struct action {
	uint8_t kind; /* enum action_kind */
	uint8_t insn; /* index in the fragment */
	bool after;   /* it happens after the instruction */
	uint8_t n;    /* operands */
	uint8_t tool;
	uint8_t stream;    /* of a row */
	uint8_t condition; /* index + 1; 0: none */
	uint8_t step;      /* enum walk_step */
	uint32_t id;    /* of a counter: its id in the results; of a row: its site; of a walk: the
	                   label; of a cost: how much */
	uint32_t owner; /* of a walk's step: the function's label; of WALK_ENTER: jumps */
	uint64_t cell;  /* of a sum: where it goes */
	strobe_callee *function;
	strobe_operand operand[STROBE_MOST_COLUMNS];
	/* At a return and of the pieces of an access: the conditions themselves. */
	uint8_t n_relations;
	struct relation relations[STROBE_MOST_CONDITIONS];
};

enum {
	MAX_ACTIONS = 192, /* of a fragment: a block has no more records than 255 */
	MAX_CONDITIONS = 192,
	MAX_TARGET_COUNTS = 32, /* of a branch */
	MAX_ACTION_INSNS = 16,  /* of a fragment, once one has had too many actions */
};

/* The requests of the tools for the fragment being translated. One at a time, under rt.lock. */
/* Bits of strobe_point.where: when the function returns; at the block's entry; after the
 * instruction. */
enum { POINT_RETURN = 0x10000, POINT_ENTRY = 0x20000, POINT_AFTER = 0x40000 };

struct asked {
	const struct build *b;
	uint32_t id;     /* of the basic block in the results; 0: it has none */
	uint32_t base;   /* instructions of the basic block before this fragment */
	bool fresh;      /* its amounts have not been written yet */
	uint32_t from;   /* index of the instruction whose event is under way */
	uint32_t serial; /* things made for that instruction so far */
	unsigned tool;
	bool elements; /* the event is of an access that is several */
	unsigned n_actions, n_conditions, n_edge_amounts, n_target_counts;
	bool overflow;                      /* they want more than a fragment can have */
	uint8_t streams;                    /* bit s: it makes rows of stream s */
	uint8_t first[MAX_BLOCK_INSNS + 1]; /* actions by instruction: index of the first */
	struct action actions[MAX_ACTIONS];
	struct condition conditions[MAX_CONDITIONS];
	struct edge_amount edge_amounts[MAX_CONDITIONS];
	struct target_count target_counts[MAX_TARGET_COUNTS];
};
extern struct asked asked;

/* The tools of this run. */
struct active_tool {
	strobe_tool *tool;
	uint32_t options; /* offset into strings */
	bool failed;      /* it has crashed: it is not called any more */
};
struct tools {
	unsigned n;
	unsigned current; /* whose function runs, when no thread says so */
	struct active_tool tool[ST_MAX_TOOLS];
	bool wants_functions, wants_syscalls;
	bool has_rdfsbase;    /* the instruction may be used */
	uint32_t lock;        /* of tables and texts */
	struct thread *owner; /* who holds it */
};
extern struct tools tools;

/* tool/tools.c */
void tools_init(void);
/* After a fork, with results that are new: what the tools declared is declared again when it is
 * used, and they begin again. */
void tools_restart(struct thread *t);
/* Their first functions run, on the first thread. */
void tools_begin(void);
/* The one that a condition narrows, or NULL. */
const struct condition *condition_before(const struct condition *c);
/* Lets the tools see the fragment from its instruction `skip` on; with_block: the block event, too.
 */
void tools_see(const struct build *b, uint32_t id, uint32_t base, bool fresh, bool with_block);

/* tool/table.c */
void tables_forget(void);
/* It is one of the tool whose function runs. */
void table_declare(strobe_table *table);
/* An id for a counter of the block's thing `key`; the same each time it is asked. */
uint32_t counter_of(uint64_t key, uint64_t cell, int64_t amount);

/* tool/edges.c: see ST_BLOCK_EDGE in wire/results/blocks.h. */
/* The id of the branch at the end of the fragment, whose edges are to be counted; 0: they are not.
 */
uint32_t edge_of_fragment(void);
/* Is it this edge that is counted? Until a branch is executed neither is. */
bool edge_counts(uint32_t edge, enum direction direction);
/* The thread takes that edge, which is counted if need be: the other edge is the one that is
 * counted if none was gone before. */
void edge_pass(struct thread *t, uint32_t edge, enum direction direction);
void edges_forget(void);

/* tool/targets.c: the targets of indirect branches. A branch is known by a number, its site. */
/* The site of the branch at the end of the fragment; 0: its targets are not counted. */
uint32_t site_of_fragment(void);
/* The counter of a site's target; for site 0 one that nobody reads. rt.lock held. */
uint32_t target_counter(uint32_t site, uint64_t target);
/* The branch has gone there. */
void target_count(struct thread *t, uint32_t site, uint64_t target);
/* The greatest site so far. */
uint32_t targets_sites(void);
void targets_forget(void);

/* tool/stream.c */
uint32_t site_of(uint64_t key, const strobe_site *site);
/* The thread's buffer of each stream in the set has space for the rows of a fragment. */
void streams_make_space(struct thread *t, uint32_t set);
/* The same, unless to consume what is in the way would cost more than is left of the budget. Then
 * as much of it is consumed as can be paid, and it returns false. */
bool streams_try_space(struct thread *t, uint32_t set);
/* Flushes the buffers of the thread, which ends or whose program does. */
void streams_finish(struct thread *t);
/* Those of its rows that the tools themselves consume. */
void streams_consume(struct thread *t);
uint8_t stream_declare(strobe_stream *s);
/* Appends a row to the thread's buffer. */
void stream_append(struct thread *t, unsigned stream, uint32_t site, unsigned n,
                   const uint64_t *values);
/* A thread begins: it has no rows. */
void streams_begin(struct thread *t);
void streams_forget(struct thread *t);

/* tool/library.c */
void map_clear(strobe_map *m);
uint32_t text_add(const char *s);
void texts_forget(void);

/* tool/ask.c */
void counters_forget(void);
/* Where the counter's sum is: declares the counter when it is first used. */
uint64_t counter_cell(strobe_counter *counter);
/* tool/own.c: after a fork. */
void own_forget(void);
/* A new action at the point; NULL: there is no space for more. */
struct action *ask_action(strobe_point at, enum action_kind kind);
/* The engine itself asks for a call at an instruction; at_return: if it is the return of a function
 * that a tool waits for. */
void ask_invoke(uint32_t insn, strobe_callee *function, unsigned n, const strobe_operand *operands,
                bool at_return);

/* tool/entries.c: functions of the program that the controller has reported. */
/* There are new executable mappings: asks the controller about them, and waits. rt.lock held. */
void entries_ask(void);
void entries_forget(void);
/* The one that starts there, or NULL. */
const struct st_entry *entry_at(uint64_t pc);
/* The name that is shown; whether a name is that or another one of the function. */
const char *entry_name(const struct st_entry *entry);
bool entry_is(const struct st_entry *entry, const char *name);

/* asked.c: the current tool has compared a function's names with this one. */
void asked_note(const char *name, bool found);
/* Is code there to be instrumented? */
bool entries_choose(uint64_t pc);
/* Is it in one of the functions and images that are named? */
bool entries_chosen(uint64_t pc);
/* Where .eh_frame of the mapping's image is, if no table leads to it. */
bool entries_frames(uint32_t map, uint64_t *from, uint64_t *end);
/* Returns the entry of the function that contains the address; 0: no tool asks for that function.
 */
uint64_t entries_start(uint64_t pc);
/* The code that is there: of a function, or of one of its parts. False: as above. */
bool entries_range(uint64_t pc, uint64_t *start, uint64_t *end);
/* Do the tools see what the thread does now? */
static inline bool
thread_is_seen(const struct thread *t)
{
	return rt.on && !t->budget.left_out && !t->budget.spent && !t->budget.suppressed.sp;
}
/* Have they begun to? A thread may be granted a budget long before it comes to the dispatcher. */
static inline bool
thread_is_measured(const struct thread *t)
{
	return thread_is_seen(t) && !t->budget.gap_from;
}
/* The version of code that it is to execute. */
static inline enum version
thread_version(const struct thread *t)
{
	return thread_is_seen(t) ? VERSION_TOOLS : VERSION_PLAIN;
}

/* tool/returns.c */
/* The tools are about to say what they want at the return of a function: forgets what they wanted.
 */
void returns_begin(uint64_t function);
/* Space for an action there; NULL: there is none. */
struct action *returns_new_action(void);
/* The argument values[0] of returns_entered; 0: no tool asks for returns. */
uint32_t returns_plan(void);
/* The thread has not been seen for a while: nothing is known of the functions on its stack. */
void returns_forget(struct thread *t);
void returns_entered(strobe_thread *t, const uint64_t *values);
void returns_left(strobe_thread *t, const uint64_t *values);
/* The stack pointer, values[0], has been set to something else than it was. */
void returns_landed(strobe_thread *t, const uint64_t *values);

/* tool/perform.c */
/* A part of an access that is more than address and bytes. */
struct access_piece {
	uint64_t address, bytes, value;
};
/* Makes an action now, if its condition holds; piece: NULL, but at an access. */
void perform_action(struct thread *t, const struct action *a, const struct access_piece *piece);

/* tool/elements.c */
struct strobe_access;
/* A tool is about to say what it wants at an access. False: that is an ordinary one. */
bool elements_begin(const struct strobe_access *a, unsigned tool);
struct action *elements_new_action(void);
/* The argument values[0] of elements_access; 0: no tool asks for accesses. */
uint32_t elements_plan(void);
void elements_access(strobe_thread *t, const uint64_t *values);
void elements_forget(void);

/* Does it call a function of the tool, or may do so? */
static inline bool
action_calls(const struct action *a)
{
	return a->kind == ACTION_INVOKE || a->kind == ACTION_WALK;
}

/* contexts/forest.c: after a fork, with results that are new; a thread has taken its last step. */
void forests_forget(struct thread *t);
void forest_end(struct thread *t);

/* contexts/known.c: suppressing the node's context does not pay. */
void known_give_up(uint32_t node);

/* tool/code.c: strobe_insn_moves_stack. */
struct build;
bool code_moves_stack(const struct build *b, uint32_t index);

/* tool/leaders.c: where basic blocks end because jumps lead there, if a tool wants that. Looks
 * through the function that the address is in, whose code lies in the mapping. */
struct map;
void leaders_find(uint64_t pc, const struct map *map);
bool leaders_has(uint64_t pc);
/* After a fork. */
void leaders_forget(void);

/* contexts/walk.c: a thread begins; after a fork. */
void walk_begin(struct thread *t);
/* The thread's guesses: all, when nodes are taken back that they may lead to (how many there may
 * be); a label's. */
uint32_t walk_forget_guesses(struct thread *t);
void walk_forget_guess(struct thread *t, uint32_t label);
void walk_forget(struct thread *t);
/* The field of threads with the label's guess: where the walk was before it, and the node where it
 * was then, 8 bytes each. 0: there is no space for it. rt.lock held. */
uint32_t walk_guess(uint32_t label);

/* tool/call.c: calls a function of the tool, which may crash. */
void tool_call(unsigned tool, void (*function)(void), const void *a, const void *b);
void tools_lock(void);
void tools_unlock(void);
/* The tool whose function runs on this thread. */
unsigned tool_current(void);
/* A fault at pc in the runtime: is it a tool's? Then the tool is dead, and the thread has to go on
 * at rt_guard_failed. */
bool tool_failed(struct thread *t, int signo, uint64_t pc);
/* The same for a sample there, when one call has lasted for too long. */
bool tool_loops(struct thread *t, uint64_t pc);
extern const char rt_guard_failed[];
/* stubs.S: 0, or -1 when f has failed. */
int rt_call_guarded(void (*f)(const void *, const void *), const void *a, const void *b);

#endif
