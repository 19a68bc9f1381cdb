/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calling contexts of functions, and of basic blocks inside and across functions: what is asked of
 * code, and what is done where the walk (tools/forest.h) is not enough. */
#include "tools/contexts.h"
#include "wire/results/header.h"

enum { MOST_LABELS = 4 << 20 };
enum { NEAR_MOVER = 64 }; /* bytes of code */

/* ---- what happens, when it is not simple enough for the walk ---- */

/* The thread's state, as it is; NULL: there is no memory. What is done from here on is nobody's:
 * the clock goes on behind it. */
static struct contexts_state *
take(strobe_thread *t)
{
	struct contexts_state *s = strobe_state(t);
	if (!s || (!s->strand && !contexts_begin(t, s)))
		return NULL;
	contexts_take(t, s);
	contexts_make_room(t);
	return s;
}

static void
give(strobe_thread *t, struct contexts_state *s)
{
	strobe_walk *w = strobe_walk_of(t);
	contexts_give(t, s);
	if (contexts_options.time)
		w->ticks = strobe_ticks();
}

/* As frames have it. */
static uint64_t
stack_of(const strobe_thread *t)
{
	return contexts_rounded(strobe_thread_stack(t));
}

static void
on_enter(strobe_thread *t, const uint64_t *values)
{
	struct contexts_state *s = take(t);
	if (!s)
		return;
	contexts_find_again(t, s);
	contexts_enter(t, s, (uint32_t)values[0], strobe_thread_stack(t));
	give(t, s);
}

static void
on_return(strobe_thread *t, const uint64_t *values)
{
	struct contexts_state *s = take(t);
	(void)values;
	if (!s)
		return;
	contexts_find_again(t, s);
	contexts_return(s, stack_of(t));
	contexts_find_again(t, s);
	give(t, s);
}

/* The stack pointer is about to be moved; what that means is seen behind it. */
static void
on_leave(strobe_thread *t, const uint64_t *values)
{
	struct contexts_state *s = take(t);
	(void)values;
	if (s)
		s->left_at = stack_of(t);
}

static void
on_moved(strobe_thread *t, const uint64_t *values)
{
	struct contexts_state *s = take(t);
	(void)values;
	if (!s)
		return;
	strobe_end_suppression(t);
	contexts_moved(s, stack_of(t));
	give(t, s);
}

static void
on_into(strobe_thread *t, const uint64_t *values)
{
	struct contexts_state *s = take(t);
	if (!s)
		return;
	contexts_into(s, (uint32_t)values[0], stack_of(t));
	give(t, s);
}

/* A block of a function that is under way. Of others, whose blocks were jumped to, nothing is
 * known.
 */
static void
on_step(strobe_thread *t, const uint64_t *values)
{
	struct contexts_state *s = take(t);
	if (!s)
		return;
	contexts_frame *f = contexts_top(s);
	uint32_t label = (uint32_t)values[0];
	if (f->label == values[1])
		f->inner = f->inner == contexts_unknown(t) ? contexts_find_out(t, &f->more, label)
		           : contexts_options.iterations   ? contexts_iterate(t, s, label)
		                                           : contexts_follow(t, f->inner, label);
	give(t, s);
}

static void
on_step_across(strobe_thread *t, const uint64_t *values)
{
	strobe_walk *w = strobe_walk_of(t);
	struct contexts_state *s = take(t);
	uint32_t label = (uint32_t)values[0];
	if (s)
		w->node = w->node == contexts_unknown(t) ? contexts_find_out(t, &s->passed, label)
		                                         : contexts_follow(t, w->node, label);
}

/* ---- code ---- */

/* The last ones seen: what is no function to who reads a program, an instruction that moves the
 * stack. */
static uint64_t stub, mover;

static bool
is_text(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* Stubs of the linker are no functions to who reads a program. */
static bool
is_stub(const char *name)
{
	const char *end = name;
	while (*end)
		end++;
	return end - name >= 4 && is_text(end - 4, "@plt");
}

/* Is this the code to which the handler of a signal returns: mov $15, %eax or %rax; syscall? */
static bool
is_restorer(uint64_t address)
{
	enum { RT_SIGRETURN = 15, LONGEST = 9 };
	static const uint8_t wide[LONGEST] = {0x48, 0xc7, 0xc0, RT_SIGRETURN, 0, 0, 0, 0x0f, 0x05},
	                     narrow[] = {0xb8, RT_SIGRETURN, 0, 0, 0, 0x0f, 0x05};
	uint8_t code[LONGEST];
	unsigned same_wide = 0, same_narrow = 0;
	if (strobe_read(code, address, sizeof code))
		return false;
	while (same_wide < sizeof wide && code[same_wide] == wide[same_wide])
		same_wide++;
	while (same_narrow < sizeof narrow && code[same_narrow] == narrow[same_narrow])
		same_narrow++;
	return same_wide == sizeof wide || same_narrow == sizeof narrow;
}

/* Functions have labels of their own when contexts are of blocks: those of blocks without code. */
uint32_t
contexts_label(uint64_t function)
{
	uint64_t place =
	        contexts_options.mode == CONTEXTS_FUNC ? function : st_label_of_block(function, 0);
	uint32_t label = strobe_label(place);
	if (contexts_address)
		contexts_address[label] = place;
	return label;
}

bool
contexts_is_shown(uint64_t function)
{
	const char *name = strobe_function_name_at(function);
	return name && !is_stub(name) && !is_restorer(function) &&
	       (!contexts_options.root || strobe_is_chosen(function));
}

static void
on_function(strobe_function *f)
{
	uint64_t address = strobe_function_address(f);
	if (is_stub(strobe_function_name(f)) || is_restorer(address))
		stub = address;
	if (contexts_options.mode == CONTEXTS_INTER || stub == address ||
	    (contexts_options.root && !strobe_is_chosen(address)))
		return;
	strobe_point at = strobe_at(f);
	if (contexts_options.time)
		strobe_spend_time(at);
	strobe_enter(at, contexts_label(address), !contexts_options.physical, on_enter);
}

static void
on_insn(strobe_insn *i)
{
	if (contexts_options.mode == CONTEXTS_INTER || !strobe_insn_moves_stack(i))
		return;
	mover = strobe_insn_address(i);
	strobe_invoke(strobe_at(i), on_leave, strobe_constant(0));
	strobe_invoke(strobe_behind(i), on_moved, strobe_constant(0));
}

static void
on_branch(strobe_branch *b)
{
	enum strobe_branch_kind kind = strobe_branch_kind(b);
	uint64_t to = strobe_branch_to(b), into = to ? strobe_function_at(to) : 0;
	if (contexts_options.mode == CONTEXTS_INTER)
		return;
	if (kind == STROBE_RETURN) {
		if (contexts_options.time)
			strobe_spend_time(strobe_at(b));
		strobe_leave(strobe_at(b), on_return);
	}
	/* Unwinders pop where to go on from the stack that they go to. */
	if (kind == STROBE_INDIRECT_JUMP && strobe_branch_address(b) - mover < NEAR_MOVER)
		strobe_invoke(strobe_at(b), on_moved, strobe_constant(0));
	if (kind == STROBE_CALL || !into || into == to ||
	    into == strobe_function_at(strobe_branch_address(b)))
		return;
	strobe_point at = strobe_at(b);
	if (kind == STROBE_CONDITIONAL)
		at = strobe_when_taken(b);
	strobe_invoke(at, on_into, strobe_constant(contexts_label(into)));
}

static void
on_block(strobe_block *b)
{
	uint64_t address = strobe_block_address(b), function = strobe_function_at(address);
	bool chosen = !contexts_options.root || strobe_is_chosen(address);
	if (contexts_options.mode == CONTEXTS_FUNC) {
		if (contexts_options.instructions)
			strobe_spend_instructions(strobe_at(b), strobe_block_length(b));
		return;
	}
	if (!function || !chosen)
		return;
	strobe_point at = strobe_at(b);
	uint32_t label = strobe_label(st_label_of_block(address, strobe_block_bytes(b)));
	if (contexts_options.mode == CONTEXTS_INTER)
		strobe_step_across(at, label, on_step_across);
	else if (address != stub)
		strobe_step(at, label, contexts_label(function), on_step);
}

/* ---- happenings ---- */

/* Threads are shown that do nothing which is looked at. */
static void
on_thread(strobe_thread *t)
{
	struct contexts_state *s = take(t);
	if (s)
		give(t, s);
}

static void
on_signal(strobe_thread *t, int number)
{
	struct contexts_state *s = take(t);
	(void)number;
	if (!s)
		return;
	contexts_signal(s, stack_of(t));
	give(t, s);
}

static void
on_gap(strobe_thread *t, uint64_t from)
{
	struct contexts_state *s = strobe_state(t);
	(void)from;
	if (!s || !s->strand)
		return;
	contexts_end_suppression(t, s);
	contexts_reroot(t, s);
	s->passed = 0;
	strobe_walk_of(t)->node = contexts_options.loops || contexts_options.cycles
	                                  ? &strobe_nodes()[s->root]
	                                  : contexts_unknown(t);
	give(t, s);
}

static void
begin(void)
{
	const char *mode = strobe_option_text("mode");
	struct contexts_options *o = &contexts_options;
	o->mode = is_text(mode, "intra")   ? CONTEXTS_INTRA
	          : is_text(mode, "inter") ? CONTEXTS_INTER
	                                   : CONTEXTS_FUNC;
	o->k = is_text(strobe_option_text("k"), "inf") ? CONTEXTS_INFINITE
	                                               : (uint32_t)strobe_option_number("k");
	o->roll = strobe_option_number("roll");
	o->cycles = strobe_option_number("cycles");
	o->loops = strobe_option_number("loops");
	/* Contexts of blocks without an end would have none. */
	o->loops |= o->mode != CONTEXTS_FUNC && o->k == CONTEXTS_INFINITE;
	o->iterations = strobe_option_number("iterations") && o->loops &&
	                o->mode == CONTEXTS_INTRA && o->k == CONTEXTS_INFINITE;
	/* A path that goes back to a block does so wherever that is entered: a loop that is entered
	 * at its test would otherwise have two blocks that overlap, and two contexts for each. */
	o->pin = strobe_option_number("pin");
	if (o->iterations || (o->mode != CONTEXTS_FUNC && o->loops && !o->pin))
		strobe_cut_blocks();
	o->physical = strobe_option_number("physical");
	o->time = strobe_option_number("time");
	o->instructions = strobe_option_number("instructions");
	o->root = strobe_option_number("root");
	/* A context that is not followed has no time, nor instructions. */
	o->suppress = o->mode == CONTEXTS_FUNC && o->k == CONTEXTS_INFINITE && !o->root &&
	              !o->time && !o->instructions;
	size_t bytes = sizeof(strobe_node);
	if (o->time || o->instructions)
		bytes += sizeof(strobe_cost);
	strobe_bound_nodes(strobe_option_number("memory") / bytes);
	uint64_t *spare = contexts_address_before;
	contexts_address_before = contexts_address;
	contexts_address = spare ? spare : strobe_allocate(MOST_LABELS * sizeof *spare);
}

STROBE_TOOL(contexts, .help = "record calling contexts or paths of blocks, for strobe paths",
            .function = on_function, .insn = on_insn, .branch = on_branch, .block = on_block,
            .signal = on_signal, .thread_begin = on_thread, .gap = on_gap, .begin = begin,
            .state = sizeof(struct contexts_state),
            .options = {{"mode", "func",
                         "contexts of functions (func), of blocks in functions (intra) or across "
                         "them (inter)"},
                        {"k", "inf", "callers or earlier blocks in a context"},
                        {"roll", "1", "count a function that calls itself in one context"},
                        {"cycles", "0", "merge recursion through other functions, too"},
                        {"loops", "0", "merge the repetitions of a loop"},
                        {"iterations", "0", "count iterations of loops, in mode intra"},
                        {"pin", "0", "do not cut rolled blocks where jumps lead"},
                        {"physical", "0", "treat a tail call as the end of its caller"},
                        {"time", "0", "measure the time of each context"},
                        {"instructions", "0", "count the instructions of each context"},
                        {"root", "0", "see only the functions of --funcs and --images"},
                        {"memory", "4G", "bytes for contexts; the rarest are pruned beyond it"}},
            .limits = {{"k", 0, 1000000},
                       {"roll", 0, 1},
                       {"cycles", 0, 1},
                       {"loops", 0, 1},
                       {"iterations", 0, 1},
                       {"pin", 0, 1},
                       {"physical", 0, 1},
                       {"time", 0, 1},
                       {"instructions", 0, 1},
                       {"root", 0, 1},
                       {"memory", 64 << 10, UINT64_MAX}});
