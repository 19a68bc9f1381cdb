/* SPDX-License-Identifier: MIT */
/*
 * The tool API. A tool is one C file that includes this header and nothing else:
 *
 *	#include <strobe/tool.h>
 *
 *	STROBE_COUNTER(blocks, "basic blocks executed");
 *
 *	static void
 *	on_block(strobe_block *b)
 *	{
 *		strobe_count(strobe_at(b), &blocks, 1);
 *	}
 *
 *	STROBE_TOOL(mytool, .help = "count basic blocks", .block = on_block);
 *
 * The functions of a tool run inside the program under analysis. Those for code (block, insn,
 * access, branch, call, function) run once for each piece of code, when the engine translates it,
 * and ask for actions at points of it; the engine emits counts, sums, rows and conditions inline,
 * and calls the tool's own functions where it is asked to. Those for happenings (images, threads,
 * system calls, signals) run when they happen.
 *
 * What a tool may do: call what this header declares. It has no C library, may not touch the
 * program's memory except through strobe_read, may not use floating point or vector registers, and
 * must not keep a pointer to a block, insn, access, branch, call or function. Everything that it
 * counts is exact with any number of threads. docs/tools.md teaches the API from zero.
 *
 * Versions: 1: counters, the block event, sampling. 2: everything else. 3: limits of options. 4:
 * forests of contexts, strobe_behind, strobe_insn_moves_stack, strobe_function_at,
 * strobe_is_chosen, strobe_thread_stack, strobe_thread_stack_top, strobe_state_before_fork. 5:
 * walks through forests. 6: pruning of forests, loops, strobe_cut_blocks, strobe_forget,
 * strobe_unwind, strobe_function_name_at. 7: strobe_take_back. 8: forests, walks, pruning and loops
 * are no part of the API any more; a second condition on a point narrows the first. 9: columns of
 * the least value.
 */
#ifndef STROBE_TOOL_H
#define STROBE_TOOL_H

#include <stddef.h>
#include <stdint.h>

#define STROBE_ABI 9

#pragma GCC visibility push(default)

/* ---- results: counters, tables, streams ---- */

/* What a tool declares is listed, for `strobe tools` to read: where it is, its source and line. */
#define STROBE_LISTED(kind, identifier)                                                            \
	static const void *const strobe_listed_##identifier[4]                                     \
	        __attribute__((section("strobe_" #kind), used, aligned(32))) = {                   \
	                &identifier, __FILE__, (const void *)(uintptr_t)__LINE__, NULL}

/* A 64-bit sum over the run. Declare it with STROBE_COUNTER; the fields are the engine's. */
typedef struct {
	const char *name, *help;
	uint32_t id; /* 0 until first used */
} strobe_counter;

#define STROBE_COUNTER(identifier, text)                                                           \
	static strobe_counter identifier = {#identifier, text, 0};                                 \
	STROBE_LISTED(counters, identifier)

/* What a column holds, and how it is shown. */
enum strobe_type {
	STROBE_NUMBER,   /* an unsigned number */
	STROBE_SIGNED,   /* a signed number */
	STROBE_HEX,      /* a number best read in hexadecimal: data addresses, values */
	STROBE_TICKS,    /* of strobe_ticks(): shown as a time in nanoseconds */
	STROBE_TEXT,     /* of strobe_text() */
	STROBE_THREAD,   /* of strobe_thread_number() */
	STROBE_ADDRESS,  /* a program address: shown as image, offset, function */
	STROBE_FUNCTION, /* a program address: shown as the function that holds it */
	STROBE_LINE,     /* a program address: shown as file and line */
	/* Of strobe_insn_code(): shown as the instruction's mnemonic, its category; as each of the
	 * registers it reads, or writes: such a row counts for all of them. */
	STROBE_MNEMONIC,
	STROBE_CATEGORY,
	STROBE_REGISTERS_READ,
	STROBE_REGISTERS_WRITTEN,
	STROBE_SYSCALL, /* a system call's number: shown as its name */
	/* A program address: shown as file and line; of code that was inlined from a header of the
	 * system, those of the call outside of such headers. */
	STROBE_CALLER_LINE,
};

enum strobe_role {
	STROBE_IS_KEY, /* rows with the same keys are one */
	STROBE_IS_SUM, /* adds up */
	STROBE_IS_MAX, /* the greatest */
	STROBE_IS_MIN, /* the least that is not 0 */
};

typedef struct {
	const char *name;
	enum strobe_type type;
	enum strobe_role role;
} strobe_column;

enum { STROBE_MOST_COLUMNS = 10 };

/*
 * A table of sums by key. Columns: the keys first.
 *
 *	STROBE_TABLE(pairs, "calls by caller and callee", STROBE_KEY("caller", STROBE_FUNCTION),
 *	             STROBE_KEY("callee", STROBE_FUNCTION), STROBE_SUM("count", STROBE_NUMBER));
 *
 * Keys are compared as they are shown: two addresses in one function are one row of a
 * STROBE_FUNCTION column in the end.
 */
typedef struct {
	const char *name, *help;
	strobe_column columns[STROBE_MOST_COLUMNS];
	uint32_t id; /* 0 until first used */
} strobe_table;

#define STROBE_KEY(column, type)                                                                   \
	{                                                                                          \
		column, type, STROBE_IS_KEY                                                        \
	}
#define STROBE_SUM(column, type)                                                                   \
	{                                                                                          \
		column, type, STROBE_IS_SUM                                                        \
	}
#define STROBE_MAX(column, type)                                                                   \
	{                                                                                          \
		column, type, STROBE_IS_MAX                                                        \
	}
#define STROBE_MIN(column, type)                                                                   \
	{                                                                                          \
		column, type, STROBE_IS_MIN                                                        \
	}
#define STROBE_TABLE(identifier, text, ...)                                                        \
	static strobe_table identifier = {#identifier, text, {__VA_ARGS__}, 0};                    \
	STROBE_LISTED(tables, identifier)

/* One number of a table's row. */
typedef struct {
	uint64_t cell;
} strobe_cell;

/*
 * The number in `column` (an index among all columns, not a key's) of the row with these keys,
 * which is made if there is none. Tables hold a million rows; what finds no room goes into a row
 * that the report shows as "(others)".
 */
strobe_cell strobe_find_cell(strobe_table *table, unsigned column, const uint64_t *keys);
#define strobe_cell_of(table, column, ...)                                                         \
	strobe_find_cell(table, column, (const uint64_t[]){__VA_ARGS__})
/* For functions that run: adds to the number, raises it, or lowers it, at once. A least of 0 is
 * none yet, and stays none. */
void strobe_cell_add(strobe_cell cell, uint64_t amount);
void strobe_cell_max(strobe_cell cell, uint64_t value);
void strobe_cell_min(strobe_cell cell, uint64_t value);

/*
 * A stream of rows in the order in which a thread made them. All columns have the role of keys.
 * With `consume` the rows are handed to that function in the program, a buffer or a part of one at
 * a time; without, they go to the controller, which prints or keeps them. lossy: rows that the
 * controller is too slow for are dropped, and counted; else the program waits.
 */
typedef struct strobe_rows strobe_rows;
typedef struct strobe_thread strobe_thread;
typedef struct {
	const char *name, *help;
	strobe_column columns[STROBE_MOST_COLUMNS];
	void (*consume)(strobe_thread *t, const strobe_rows *rows);
	uint32_t lossy;
	uint32_t id; /* 0 until first used */
} strobe_stream;

#define STROBE_COLUMN(column, type)                                                                \
	{                                                                                          \
		column, type, STROBE_IS_KEY                                                        \
	}
/* STROBE_STREAM(name, "help", consume function or NULL, columns...) */
#define STROBE_STREAM(identifier, text, function, ...)                                             \
	static strobe_stream identifier = {#identifier, text, {__VA_ARGS__}, function, 0, 0};      \
	STROBE_LISTED(streams, identifier)
#define STROBE_LOSSY_STREAM(identifier, text, function, ...)                                       \
	static strobe_stream identifier = {#identifier, text, {__VA_ARGS__}, function, 1, 0};      \
	STROBE_LISTED(streams, identifier)

/* A row as it lies in a buffer: the number of its site, and what differs from row to row. What is
 * the same each time a point is passed is kept once, with the site. */
typedef struct {
	uint64_t tag; /* site << 4 | values that follow */
	uint64_t value[];
} strobe_row;
typedef struct {
	uint64_t constant[STROBE_MOST_COLUMNS];
	int8_t where[STROBE_MOST_COLUMNS]; /* column's index in value[]; -1: it is constant */
	uint8_t stream, n_values;
	uint8_t padding[4];
} strobe_site;
struct strobe_rows {
	const strobe_row *first, *end;
	const strobe_site *sites;
};

static inline const strobe_row *
strobe_next_row(const strobe_row *r)
{
	return (const strobe_row *)(r->value + (r->tag & 15));
}
static inline uint64_t
strobe_value(const strobe_rows *rows, const strobe_row *r, unsigned column)
{
	const strobe_site *s = &rows->sites[r->tag >> 4];
	return s->where[column] < 0 ? s->constant[column] : r->value[s->where[column]];
}

/* ---- code: what the translation-time events are about ---- */

/* A basic block of the program. It ends at a branch, call, return or system call; an instruction
 * with a rep prefix counts once. */
typedef struct strobe_block strobe_block;
typedef struct strobe_insn strobe_insn;
/*
 * One memory access of an instruction: an instruction may have up to three. Where data decides what
 * is accessed, actions happen once for each part, if any: each element of a gather or scatter, each
 * run of bytes that a mask does not leave out, all that a string instruction with a rep prefix goes
 * through (from its lowest byte on, and up to where repe and repne end), the area of the xsave
 * family up to the last part that it reads or writes. So do counts at it.
 */
typedef struct strobe_access strobe_access;
/* A jump, a call or a return, the last instruction of a block. */
typedef struct strobe_branch strobe_branch;
/* A call, direct or indirect: also seen as a branch. */
typedef struct strobe_call strobe_call;
/* A function of the program's symbol tables, whose first instruction is being translated. */
typedef struct strobe_function strobe_function;

/* A place where actions can be asked for, and perhaps a condition for them. */
typedef struct {
	void *event;
	uint32_t where;     /* the engine's */
	uint32_t condition; /* 0: none */
} strobe_point;

/* After the instruction, if it is none of those that end a block. */
strobe_point strobe_behind(strobe_insn *i);
/* Before a block's first instruction. */
strobe_point strobe_at_block(strobe_block *b);
/* Before the instruction; before the one that accesses, branches, calls; before the function's
 * first. */
strobe_point strobe_at_insn(strobe_insn *i);
strobe_point strobe_at_access(strobe_access *a);
strobe_point strobe_at_branch(strobe_branch *b);
strobe_point strobe_at_call(strobe_call *c);
strobe_point strobe_at_function(strobe_function *f);
/* When the function returns, also if it has jumped to another that returns in its place; not when
 * it is left by an exception or longjmp. All tools together can have eight actions there; a tool
 * that wants one more is left out. */
strobe_point strobe_at_return(strobe_function *f);
#define strobe_at(event)                                                                           \
	_Generic((event), strobe_block *                                                           \
	         : strobe_at_block, strobe_insn *                                                  \
	         : strobe_at_insn, strobe_access *                                                 \
	         : strobe_at_access, strobe_branch *                                               \
	         : strobe_at_branch, strobe_call *                                                 \
	         : strobe_at_call, strobe_function *                                               \
	         : strobe_at_function)(event)

/* Instructions in the block, its last one included. At least 1. */
uint32_t strobe_block_length(const strobe_block *b);
/* The program's address of the block's first instruction; bytes of its code. */
uint64_t strobe_block_address(const strobe_block *b);
uint32_t strobe_block_bytes(const strobe_block *b);

uint64_t strobe_insn_address(const strobe_insn *i);
uint32_t strobe_insn_bytes(const strobe_insn *i);
/* Does it give the stack pointer a value that has nothing to do with the one before, nor with the
 * frame pointer? As those do which switch stacks or leave several functions at once. */
int strobe_insn_moves_stack(const strobe_insn *i);
/* What the instruction is, without its displacement and immediate operand: for the columns
 * STROBE_MNEMONIC, STROBE_CATEGORY and STROBE_REGISTERS_*. */
uint64_t strobe_insn_code(const strobe_insn *i);

/* The accessing instruction. */
uint64_t strobe_access_insn(const strobe_access *a);
/* Bytes accessed, 0 when that is known only while it runs (rep, masks, xsave); of a gather or
 * scatter, of an element. */
uint32_t strobe_access_bytes(const strobe_access *a);
int strobe_access_reads(const strobe_access *a);
int strobe_access_writes(const strobe_access *a);

enum strobe_branch_kind {
	STROBE_JUMP,        /* unconditional, direct */
	STROBE_CONDITIONAL, /* direct; also loop and jrcxz */
	STROBE_CALL,        /* direct */
	STROBE_INDIRECT_JUMP,
	STROBE_INDIRECT_CALL,
	STROBE_RETURN,
};
/* The branching instruction, the one behind it, and the target of a direct branch (else 0). */
uint64_t strobe_branch_address(const strobe_branch *b);
uint64_t strobe_branch_next(const strobe_branch *b);
uint64_t strobe_branch_to(const strobe_branch *b);
enum strobe_branch_kind strobe_branch_kind(const strobe_branch *b);
const char *strobe_branch_kind_name(enum strobe_branch_kind kind);

uint64_t strobe_call_address(const strobe_call *c);
uint64_t strobe_call_next(const strobe_call *c);
/* 0: indirect */
uint64_t strobe_call_to(const strobe_call *c);

uint64_t strobe_function_address(const strobe_function *f);
/* As in the symbol table; demangled, without arguments, for C++ and Rust. Of several names the one
 * that is shown everywhere; docs/profile.md says which. */
const char *strobe_function_name(const strobe_function *f);
/* Has it this name, perhaps among others? */
int strobe_function_is(const strobe_function *f, const char *name);
/* Is the address in code that --funcs and --images name? */
int strobe_is_chosen(uint64_t address);
/* The first instruction of the function whose code an address is, of those that `function` events
 * are about; 0: none's. */
uint64_t strobe_function_at(uint64_t address);
/* From a tool's `begin` on: basic blocks of these functions also end wherever a direct jump of
 * theirs leads, so that what is run into and jumped to is a block of its own. */
void strobe_cut_blocks(void);
/* Its name, as strobe_function_name says it; NULL: it is none's. */
const char *strobe_function_name_at(uint64_t address);

/* ---- operands: what an action takes along from its point ---- */

typedef struct {
	uint32_t kind, detail; /* the engine's */
	uint64_t value;
} strobe_operand;

strobe_operand strobe_constant(uint64_t value);
strobe_operand strobe_timestamp(void);      /* TSC ticks */
strobe_operand strobe_thread_operand(void); /* number of the thread: strobe_thread_number */
enum strobe_register {
	STROBE_RAX,
	STROBE_RCX,
	STROBE_RDX,
	STROBE_RBX,
	STROBE_RSP,
	STROBE_RBP,
	STROBE_RSI,
	STROBE_RDI,
	STROBE_R8,
	STROBE_R9,
	STROBE_R10,
	STROBE_R11,
	STROBE_R12,
	STROBE_R13,
	STROBE_R14,
	STROBE_R15
};
strobe_operand strobe_register_value(enum strobe_register r);
/* Of a memory access: its effective address; its bytes (also when they vary); the value read or
 * written, zero-extended, the first 8 bytes of a larger one; with a rep prefix, of the element that
 * it begins with; 0 where a mask or a vector of indices says what is accessed. An action that takes
 * the value written happens after the instruction. */
strobe_operand strobe_access_address(const strobe_access *a);
strobe_operand strobe_access_size(const strobe_access *a);
strobe_operand strobe_access_value(const strobe_access *a);
/* Of a branch: the address it goes to, and whether it is taken (1, 0; 1 for unconditional ones). */
strobe_operand strobe_branch_target(const strobe_branch *b);
strobe_operand strobe_branch_taken(const strobe_branch *b);
strobe_operand strobe_call_target(const strobe_call *c);
/* Argument 0 to 5 of the call, of the function; integers and pointers, by the System V convention.
 */
strobe_operand strobe_call_argument(const strobe_call *c, unsigned n);
strobe_operand strobe_function_argument(const strobe_function *f, unsigned n);
/* Of a function at its entry: the address it will return to. At its return: what it returns. */
strobe_operand strobe_function_caller(const strobe_function *f);
strobe_operand strobe_function_result(const strobe_function *f);

/* ---- actions ---- */

enum strobe_relation {
	STROBE_EQUAL,
	STROBE_NOT_EQUAL,
	STROBE_BELOW, /* unsigned */
	STROBE_NOT_BELOW,
	STROBE_ABOVE,
	STROBE_NOT_ABOVE,
	STROBE_SHARES_BITS, /* a & b is not 0 */
};
/* The same point, where actions happen only if `a relation b`, and the conditions hold that it has
 * already: at most STROBE_MOST_CONDITIONS in all, or the tool is left out. */
enum { STROBE_MOST_CONDITIONS = 4 };
strobe_point strobe_when(strobe_point at, strobe_operand a, enum strobe_relation relation,
                         strobe_operand b);
/* Only if the branch is taken, is not taken. */
strobe_point strobe_when_taken(strobe_branch *b);
strobe_point strobe_when_not_taken(strobe_branch *b);

/* Adds amount each time the program passes the point. Without a condition all constant counts of a
 * block together cost one increment. */
void strobe_count_counter(strobe_point at, strobe_counter *counter, int64_t amount);
void strobe_count_cell(strobe_point at, strobe_cell cell, int64_t amount);
#define strobe_count(at, to, amount)                                                               \
	_Generic((to), strobe_counter *                                                            \
	         : strobe_count_counter, strobe_cell                                               \
	         : strobe_count_cell)(at, to, amount)
/*
 * Adds one, each time the branch is taken, to the number in `column` of a row of the table: the one
 * with these keys, but that key number `target` is where the branch goes, whatever is given for it.
 * The row is made when the branch first goes there.
 */
void strobe_count_row(strobe_branch *b, strobe_table *table, unsigned column, unsigned target,
                      const uint64_t *keys);
#define strobe_count_target(b, table, column, target, ...)                                         \
	strobe_count_row(b, table, column, target, (const uint64_t[]){__VA_ARGS__})
/* Adds one for each instruction of the block that is executed, also when a signal ends it early. */
void strobe_count_insns(strobe_block *b, strobe_counter *counter);
/* Adds an operand's value. */
void strobe_add_counter(strobe_point at, strobe_counter *counter, strobe_operand value);
void strobe_add_cell(strobe_point at, strobe_cell cell, strobe_operand value);
#define strobe_add(at, to, value)                                                                  \
	_Generic((to), strobe_counter *                                                            \
	         : strobe_add_counter, strobe_cell                                                 \
	         : strobe_add_cell)(at, to, value)
/* Appends a row: one operand for each column. */
void strobe_record_row(strobe_point at, strobe_stream *stream, unsigned n,
                       const strobe_operand *operands);
#define STROBE_OPERANDS(...)                                                                       \
	sizeof((strobe_operand[]){__VA_ARGS__}) / sizeof(strobe_operand), (const strobe_operand[]) \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define strobe_record(at, stream, ...) strobe_record_row(at, stream, STROBE_OPERANDS(__VA_ARGS__))
/* Calls a function of the tool with the operands' values, at most 5 of them. */
typedef void strobe_callee(strobe_thread *t, const uint64_t *values);
enum { STROBE_MOST_VALUES = 5 };
void strobe_invoke_with(strobe_point at, strobe_callee *function, unsigned n,
                        const strobe_operand *operands);
#define strobe_invoke(at, function, ...)                                                           \
	strobe_invoke_with(at, function, STROBE_OPERANDS(__VA_ARGS__))

/* ---- happenings, and what functions that run may use ---- */

/* Zeroed memory of the tool's `state` bytes, one for each thread. */
void *strobe_state(strobe_thread *t);
/* In a process that was forked, and on the thread that it began with: what that was in its parent,
 * all rows before the fork consumed. Else NULL. */
const void *strobe_state_before_fork(strobe_thread *t);
/* The thread's number in the run, from 0, and the kernel's id. */
uint32_t strobe_thread_number(const strobe_thread *t);
uint32_t strobe_thread_id(const strobe_thread *t);
/* The program's stack pointer, in happenings. */
uint64_t strobe_thread_stack(const strobe_thread *t);
/* What it was when the thread began; 0: not known, because the process was attached. */
uint64_t strobe_thread_stack_top(const strobe_thread *t);
/* A function that is under way. */
typedef struct {
	uint64_t function; /* strobe_function_at; 0: code of none */
	uint64_t pc;       /* where it goes on */
	uint64_t sp;       /* the stack pointer it was entered with; 0: nobody has called it */
	uint64_t called;   /* the function that the call named, or the signal's handler, which may
	                      have jumped to this one; 0: not known */
	int handler;       /* of a signal: the next one was not its caller, but interrupted */
} strobe_activation;
enum strobe_unwound {
	STROBE_OUTERMOST, /* to where the thread or the program began */
	STROBE_LOST, /* not as far: unwinding information is missing, or another stack begins */
};
/*
 * In `gap`, `syscall_before`, and in a function that is called: calls `each` for each function on
 * the stack, the innermost first, as the program's unwinding information has it. One at whose first
 * instruction the thread is counts as one of them, although it has yet to be entered. Functions
 * that have jumped to another one, in their place, are not on the stack.
 */
typedef void strobe_unwind_callee(void *to, const strobe_activation *a);
enum strobe_unwound strobe_unwind(strobe_thread *t, strobe_unwind_callee *each, void *to);
/* Appends a row to a stream: a value for each column. */
void strobe_write(strobe_thread *t, strobe_stream *stream, const uint64_t *values);
/* Takes back the row that the thread has written last: what was foreseen has not happened. Not 0:
 * the row is on its way already, or was of another stream's. */
int strobe_take_back(strobe_thread *t, strobe_stream *stream);

typedef struct {
	const char *path; /* "[vdso]"; "" for memory without a file */
	uint64_t start, end, file_offset;
} strobe_image;
typedef struct {
	uint64_t number, argument[6];
	uint64_t begin;  /* ticks, before it */
	int64_t result;  /* after it */
	uint64_t end;    /* ticks, after it */
	uint64_t caller; /* program address of the instruction */
} strobe_syscall;

uint64_t strobe_ticks(void);
/* Zeroed memory that lives as long as the program, NULL when there is none. */
void *strobe_allocate(size_t bytes);
/* Copies from the program's memory. 0, or -1 when not all of it is readable. */
int strobe_read(void *to, uint64_t from, size_t bytes);
/* The same text gives the same number. Texts are kept: 256 MiB of them; 0 when that is full. */
uint64_t strobe_text(const char *text);
/* Appends to a text of `room` bytes in all that is NUL-terminated; what does not fit is cut off. */
void strobe_format_text(char *text, size_t room, const char *more);
void strobe_format_number(char *text, size_t room, uint64_t number);
void strobe_format_hex(char *text, size_t room, uint64_t number);

/* A hash table from 64-bit keys (not 0) to 64-bit values. For one thread, or under strobe_lock. */
typedef struct {
	uint64_t *slots;
	size_t size, used;
} strobe_map;
/* Where the key's value is, which is 0 at first; valid until the next call. NULL: no memory. */
uint64_t *strobe_map_at(strobe_map *m, uint64_t key);
/* Where it is, or NULL. */
uint64_t *strobe_map_find(const strobe_map *m, uint64_t key);
void strobe_map_remove(strobe_map *m, uint64_t key);
/* A lock between the tool's threads. Set it to 0 in `begin`: in a child of fork, it may be held by
 * a thread that exists only in the parent. */
void strobe_lock(uint32_t *lock);
void strobe_unlock(uint32_t *lock);

/* ---- the tool ---- */

typedef struct {
	const char *name, *value, *help; /* value: what it is unless given */
} strobe_option;
enum { STROBE_MOST_OPTIONS = 12 };

/* Of an option whose value is a number: what it may be. Others are refused before the program
 * starts, but for the default, which may be a word. */
typedef struct {
	const char *option;
	uint64_t least, most;
} strobe_limit;

/* Values of the tool's options, as given with -t NAME:option=value,...; an option given without a
 * value is "1". Sizes may end in k, M or G. */
const char *strobe_option_text(const char *name);
uint64_t strobe_option_number(const char *name);

typedef struct {
	uint32_t abi;
	const char *name, *help;
	strobe_option options[STROBE_MOST_OPTIONS];
	strobe_limit limits[STROBE_MOST_OPTIONS];
	/* Events of code. */
	void (*block)(strobe_block *b);
	void (*insn)(strobe_insn *i);
	void (*access)(strobe_access *a);
	void (*branch)(strobe_branch *b);
	void (*call)(strobe_call *c);
	void (*function)(strobe_function *f);
	/* Which functions that is about: shell patterns separated by blanks; NULL: all of them. */
	const char *functions;
	/* Happenings. */
	void (*begin)(
	        void); /* before the program's first instruction, also in each followed process */
	void (*end)(strobe_thread *t); /* the program ends, by itself or by a signal that it does
	                                  not handle */
	void (*image_loaded)(const strobe_image *image);
	void (*image_unloaded)(const strobe_image *image);
	void (*thread_begin)(strobe_thread *t);
	void (*thread_end)(strobe_thread *t);
	/* An execve that succeeds has no after. */
	void (*syscall_before)(strobe_thread *t, const strobe_syscall *s);
	void (*syscall_after)(strobe_thread *t, const strobe_syscall *s);
	void (*signal)(strobe_thread *t, int number);
	/* The thread has run without instrumentation since the ticks `from`. Now it is measured
	 * again, or ends. */
	void (*gap)(strobe_thread *t, uint64_t from);

	uint32_t state;       /* bytes of strobe_state */
	uint32_t sample_hz;   /* samples of the program's PC per second of CPU time and thread that
	                         the tool would like; 0: none */
	uint32_t keep_blocks; /* not 0: the report shows functions, blocks and lines with counts */
	uint32_t unique; /* not 0: each block's instrumentation is dropped once it has been executed
	                  */
} strobe_tool;

#pragma GCC visibility pop

#ifdef STROBE_BUILTIN
#define STROBE_TOOL(identifier, ...)                                                               \
	strobe_tool strobe_tool_##identifier = {.abi = STROBE_ABI, .name = #identifier, __VA_ARGS__}
#else
#define STROBE_TOOL(identifier, ...)                                                               \
	static strobe_tool strobe_tool_##identifier = {                                            \
	        .abi = STROBE_ABI, .name = #identifier, __VA_ARGS__};                              \
	__attribute__((visibility("default"), used)) strobe_tool *const strobe_tool_entry =        \
	        &strobe_tool_##identifier
#endif

#endif
