/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calling contexts of functions, and of basic blocks inside and across functions: what is asked of
 * code, and the rows that it makes. */
#include "tools/contexts.h"

/* What a row is of; its site has the label, too. */
enum row {
	ROW_UNKNOWN,
	ROW_ENTER,  /* stack, ticks */
	ROW_RETURN, /* stack, ticks */
	ROW_LEAVE,  /* stack: about to be moved */
	ROW_MOVED,  /* stack */
	ROW_INTO,   /* stack */
	ROW_BLOCK,
	ROW_LENGTH, /* label: instructions of the block */
	ROW_WRITTEN /* ROW_SIGNAL: all columns are in the row */
};
enum { ROW_SIGNAL = ROW_WRITTEN, ROW_BITS = 4 };

enum { WHAT, LABEL, STACK, TICKS };

static void consume(strobe_thread *t, const strobe_rows *rows);
STROBE_STREAM(steps, "functions entered and left, blocks executed", consume,
              STROBE_COLUMN("what", STROBE_NUMBER), STROBE_COLUMN("label", STROBE_NUMBER),
              STROBE_COLUMN("stack", STROBE_HEX), STROBE_COLUMN("ticks", STROBE_TICKS));

/* By site: its label and enum row, in one number. */
static uint32_t *meaning;
static uint32_t sites_known; /* those behind have no meaning yet */
/* By label of a block: the label of its function. */
static uint32_t *function_of;
enum { MOST_SITES = 4 << 20, MOST_LABELS = 4 << 20 };
enum { NEAR_MOVER = 64 }; /* bytes of code */

/* ---- rows ---- */

static uint32_t
meaning_of(const strobe_rows *rows, uint32_t site)
{
	const strobe_site *s = &rows->sites[site];
	uint32_t m = ROW_WRITTEN;
	if (s->where[WHAT] < 0)
		m = (uint32_t)s->constant[LABEL] << ROW_BITS | (uint32_t)s->constant[WHAT];
	__atomic_store_n(&meaning[site], m, __ATOMIC_RELAXED);
	uint32_t known = sites_known;
	while (known <= site && !__atomic_compare_exchange_n(&sites_known, &known, site + 1, false,
	                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return m;
}

static void
spend(struct contexts_state *s, uint64_t now)
{
	if (s->ticks && now > s->ticks)
		strobe_costs()[contexts_top(s)->node].ticks += now - s->ticks;
	s->ticks = now;
}

static void
execute(strobe_thread *t, struct contexts_state *s, uint32_t label)
{
	struct contexts_frame *f = contexts_top(s);
	if (contexts_options.mode == CONTEXTS_INTER) {
		s->block = contexts_follow(t, s->block ? s->block : s->root, label);
		return;
	}
	if (f->function == function_of[label])
		f->block = contexts_follow(t, f->block ? f->block : s->root, label);
}

static void
consume_row(strobe_thread *t, struct contexts_state *s, uint32_t m, const uint64_t *value)
{
	uint32_t label = m >> ROW_BITS;
	switch ((enum row)(m & ((1u << ROW_BITS) - 1))) {
	case ROW_ENTER:
		if (contexts_options.time)
			spend(s, value[1]);
		contexts_enter(t, s, label, value[0]);
		break;
	case ROW_RETURN:
		if (contexts_options.time)
			spend(s, value[1]);
		contexts_return(s, value[0]);
		break;
	case ROW_LEAVE:
		s->left_at = value[0];
		break;
	case ROW_MOVED:
		contexts_moved(s, value[0]);
		break;
	case ROW_INTO:
		contexts_into(s, label, value[0]);
		break;
	case ROW_BLOCK:
		execute(t, s, label);
		break;
	case ROW_LENGTH:
		strobe_costs()[contexts_top(s)->node].instructions += label;
		break;
	case ROW_SIGNAL:
		contexts_signal(s, value[STACK]);
		break;
	default:
		break;
	}
}

/* The usual: a function calls another, whose context is known. False: it is not so simple. */
static inline bool
enter_known(struct contexts_state *s, strobe_node *nodes, uint32_t label, uint64_t sp)
{
	struct contexts_strand *c = s->strand;
	const struct contexts_frame *top = &c->frames[c->n - 1];
	const strobe_node *from = &nodes[top->node];
	uint32_t to = from->recent[label & 7];
	if (from->label == label && contexts_options.roll)
		to = top->node;
	if (sp >= top->sp || !to || nodes[to].label != label || !from->label || c->n == c->room ||
	    c->n == c->base || s->moved_to)
		return false;
	nodes[to].count++;
	struct contexts_frame *f = &c->frames[c->n];
	f->sp = sp;
	f->node = to;
	f->function = label;
	c->n++;
	return true;
}

/* The usual: of the function that was entered last, which nobody jumped to. */
static inline bool
return_known(struct contexts_state *s, uint64_t sp)
{
	struct contexts_strand *c = s->strand;
	const struct contexts_frame *top = &c->frames[c->n - 1];
	if (top->sp != sp || c->n <= c->base + 1 || top[-1].sp <= sp)
		return false;
	c->n--;
	return true;
}

/* Rows of calls and returns alone. Where it stops there is another, or something unusual. */
static const strobe_row *
consume_calls(struct contexts_state *s, const strobe_rows *rows, const strobe_row *r)
{
	enum { KIND = (1u << ROW_BITS) - 1 };
	strobe_node *nodes = strobe_nodes();
	for (; r < rows->end; r = strobe_next_row(r)) {
		uint32_t m = meaning[r->tag >> 4];
		bool done = (m & KIND) == ROW_RETURN ? return_known(s, r->value[0])
		            : (m & KIND) == ROW_ENTER
		                    ? enter_known(s, nodes, m >> ROW_BITS, r->value[0])
		                    : false;
		if (!done)
			break;
	}
	return r;
}

/* What this takes is nobody's: clocks go on behind it. */
static void
consume(strobe_thread *t, const strobe_rows *rows)
{
	struct contexts_state *s = strobe_state(t);
	uint64_t begin = contexts_options.time ? strobe_ticks() : 0;
	if (!s || !meaning || (!s->strand && !contexts_begin(t, s)))
		return;
	bool calls = contexts_options.mode == CONTEXTS_FUNC && !contexts_options.time &&
	             !contexts_options.cycles;
	for (const strobe_row *r = rows->first; r < rows->end; r = strobe_next_row(r)) {
		if (calls && (r = consume_calls(s, rows, r)) == rows->end)
			break;
		uint32_t site = (uint32_t)(r->tag >> 4), m = meaning[site];
		consume_row(t, s, m ? m : meaning_of(rows, site), r->value);
	}
	if (s->ticks)
		s->ticks += strobe_ticks() - begin;
}

/* ---- code ---- */

static void
ask(strobe_point at, enum row what, uint32_t label, bool timed)
{
	strobe_operand now =
	        timed && contexts_options.time ? strobe_timestamp() : strobe_constant(0);
	strobe_operand stack = what == ROW_BLOCK || what == ROW_LENGTH
	                               ? strobe_constant(0)
	                               : strobe_register_value(STROBE_RSP);
	strobe_record(at, &steps, strobe_constant(what), strobe_constant(label), stack, now);
}

static bool
is_text(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* Stubs of the linker are no functions to who reads a program. */
static bool
is_stub(const strobe_function *f)
{
	const char *name = strobe_function_name(f), *end = name;
	while (*end)
		end++;
	return end - name >= 4 && is_text(end - 4, "@plt");
}

static uint32_t
label_of(uint64_t address)
{
	uint32_t label = strobe_label(address);
	if (contexts_address)
		contexts_address[label] = address;
	return label;
}

static void
on_function(strobe_function *f)
{
	if (contexts_options.root && !strobe_is_chosen(strobe_function_address(f)))
		return;
	if (!is_stub(f))
		ask(strobe_at(f), ROW_ENTER, label_of(strobe_function_address(f)), true);
}

/* The last instruction seen that moves the stack. */
static uint64_t mover;

static void
on_insn(strobe_insn *i)
{
	if (!strobe_insn_moves_stack(i))
		return;
	mover = strobe_insn_address(i);
	ask(strobe_at(i), ROW_LEAVE, 0, false);
	ask(strobe_behind(i), ROW_MOVED, 0, false);
}

static void
on_branch(strobe_branch *b)
{
	enum strobe_branch_kind kind = strobe_branch_kind(b);
	uint64_t to = strobe_branch_to(b), into = to ? strobe_function_at(to) : 0;
	if (kind == STROBE_RETURN)
		ask(strobe_at(b), ROW_RETURN, 0, true);
	/* Unwinders pop where to go on from the stack that they go to. */
	if (kind == STROBE_INDIRECT_JUMP && strobe_branch_address(b) - mover < NEAR_MOVER)
		ask(strobe_at(b), ROW_MOVED, 0, false);
	if (kind == STROBE_CALL || !into || into == to ||
	    into == strobe_function_at(strobe_branch_address(b)))
		return;
	strobe_point at = strobe_at(b);
	if (kind == STROBE_CONDITIONAL)
		at = strobe_when_taken(b);
	ask(at, ROW_INTO, label_of(into), false);
}

static void
on_block(strobe_block *b)
{
	uint64_t address = strobe_block_address(b), function = strobe_function_at(address);
	bool chosen = !contexts_options.root || strobe_is_chosen(address);
	if (contexts_options.mode != CONTEXTS_FUNC && function && chosen) {
		uint32_t label = strobe_label(address);
		function_of[label] = strobe_label(function);
		ask(strobe_at(b), ROW_BLOCK, label, false);
	} else if (contexts_options.instructions) {
		ask(strobe_at(b), ROW_LENGTH, strobe_block_length(b), false);
	}
}

/* ---- happenings ---- */

static void
on_signal(strobe_thread *t, int number)
{
	(void)number;
	const uint64_t row[STROBE_MOST_COLUMNS] = {ROW_SIGNAL, 0, strobe_thread_stack(t)};
	strobe_write(t, &steps, row);
}

static void
on_gap(strobe_thread *t, uint64_t from)
{
	struct contexts_state *s = strobe_state(t);
	(void)from;
	if (s && s->strand)
		contexts_lose(s);
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
	o->physical = strobe_option_number("physical");
	o->time = strobe_option_number("time");
	o->instructions = strobe_option_number("instructions");
	o->root = strobe_option_number("root");
	if (!meaning)
		meaning = strobe_allocate(MOST_SITES * sizeof *meaning);
	while (sites_known) /* a fork's child numbers anew */
		meaning[--sites_known] = 0;
	uint64_t *spare = contexts_address_before;
	contexts_address_before = contexts_address;
	contexts_address = spare ? spare : strobe_allocate(MOST_LABELS * sizeof *spare);
	if (!function_of)
		function_of = strobe_allocate(MOST_LABELS * sizeof *function_of);
}

STROBE_TOOL(contexts, .help = "calling contexts of functions, paths of basic blocks: strobe paths",
            .function = on_function, .insn = on_insn, .branch = on_branch, .block = on_block,
            .signal = on_signal, .gap = on_gap, .begin = begin,
            .state = sizeof(struct contexts_state),
            .options = {{"mode", "func", "func, intra or inter"},
                        {"k", "inf", "labels of context"},
                        {"roll", "1", "roll recursion"},
                        {"cycles", "0", "roll mutual recursion"},
                        {"loops", "0", "roll loops"},
                        {"physical", "0", "who jumps to a function is replaced by it"},
                        {"time", "0", "time of each context"},
                        {"instructions", "0", "instructions of each context"},
                        {"root", "0", "only functions that --funcs names"}},
            .limits = {{"roll", 0, 1},
                       {"cycles", 0, 1},
                       {"loops", 0, 1},
                       {"physical", 0, 1},
                       {"time", 0, 1},
                       {"instructions", 0, 1},
                       {"root", 0, 1}});
