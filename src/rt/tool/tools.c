/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools of the run, and the events of a fragment. */
#include <asm/unistd.h>

#include "rt/program.h"
#include "rt/tool/events.h"
#include "tools/cells.h"
#include "tools/tools.h"

struct tools tools;
struct asked asked;

/* Bit 1 of AT_HWCAP2. */
static bool
has_rdfsbase(void)
{
	enum { HWCAP2 = 26 };
	uint64_t pairs[64][2] = {{0}};
	int fd = (int)SYS(__NR_openat, -100 /* AT_FDCWD */, "/proc/thread-self/auxv",
	                  0x80000 /* CLOEXEC */);
	if (fd < 0)
		return false;
	SYS(__NR_read, fd, pairs, sizeof pairs - sizeof *pairs);
	SYS(__NR_close, fd);
	unsigned i = 0;
	while (pairs[i][0] && pairs[i][0] != HWCAP2)
		i++;
	return pairs[i][0] && (pairs[i][1] & 2);
}

void
tools_init(void)
{
	const struct st_results_header *r = rt.results;
	tools.n = r->plan.n_tools < ST_MAX_TOOLS ? r->plan.n_tools : ST_MAX_TOOLS;
	for (unsigned i = 0; i < tools.n; i++) {
		uint32_t index = r->plan.tools[i];
		strobe_tool *t = index == ST_TOOL_LOADED ? (strobe_tool *)r->plan.tool_entry[i]
		                                         : st_tools[index];
		tools.tool[i] = (struct active_tool){.tool = t, .options = r->plan.tool_options[i]};
		rt.code.counting |=
		        t->block || t->insn || t->access || t->branch || t->call || t->function;
		tools.wants_functions |= t->function != NULL;
		tools.wants_syscalls |= t->syscall_before || t->syscall_after;
	}
	rt.code.counting |= r->plan.unique != 0; /* which code is executed is to be known */
	tools.has_rdfsbase = has_rdfsbase();
	rt.results->blocks.counting = rt.code.counting;
}

void
tools_begin(void)
{
	for (unsigned i = 0; i < tools.n; i++)
		if (tools.tool[i].tool->begin)
			tool_call(i, tools.tool[i].tool->begin, NULL, NULL);
	/* Which may have read it from its options. */
	rt.budget.unique = tools.n > 0;
	for (unsigned i = 0; i < tools.n; i++)
		rt.budget.unique &= tools.tool[i].tool->unique != 0;
	rt.budget.unique |= rt.results->plan.unique != 0;
	rt.budget.unique_last =
	        rt.results->plan.unique_last <= ST_MOST_LAST ? rt.results->plan.unique_last : 0;
}

void
tools_restart(struct thread *t)
{
	/* Another thread of the parent may have held it. */
	tools.lock = 0;
	tools.owner = NULL;
	counters_forget();
	tables_forget();
	edges_forget();
	targets_forget();
	texts_forget();
	streams_forget(t);
	entries_forget();
	leaders_forget();
	forests_forget(t);
	walk_forget(t);
	elements_forget();
	t->tools.returns = NULL;
	t->returns_at = 0;
	memcpy(t->tools.state_before, t->tools.state, sizeof t->tools.state_before);
	memset(t->tools.state, 0, sizeof t->tools.state);
	tools_init();
	tools_begin();
}

static void
begin_insn(uint32_t index)
{
	asked.from = index;
	asked.serial = 0;
}

static void
see_accesses(const strobe_tool *t, const struct build *b, uint32_t index)
{
	const struct st_insn *in = &b->insn[index];
	if (!(in->flags & (ST_I_READS_MEM | ST_I_WRITES_MEM)))
		return;
	struct st_access found[ST_MAX_ACCESSES];
	unsigned n = st_accesses(in, program_code(event_address(b, index)), found);
	for (unsigned i = 0; i < n; i++) {
		struct strobe_access a = {b, index, i, found[i]};
		asked.elements = elements_begin(&a, asked.tool);
		t->access(&a);
		uint32_t plan = asked.elements ? elements_plan() : 0;
		asked.elements = false;
		if (plan) {
			const strobe_operand operand = strobe_constant(plan);
			ask_invoke(index, elements_access, 1, &operand, false);
		}
	}
}

static bool
is_branch(const struct st_insn *in)
{
	return in->cls != ST_C_NORMAL && in->cls <= ST_C_RET;
}

static void
see_insn(const strobe_tool *t, const struct build *b, uint32_t index)
{
	const struct st_insn *in = &b->insn[index];
	if (t->insn) {
		struct strobe_insn i = {b, index};
		t->insn(&i);
	}
	if (t->access)
		see_accesses(t, b, index);
	if (!is_branch(in))
		return;
	if (t->branch) {
		struct strobe_branch branch = {b, index};
		t->branch(&branch);
	}
	if (t->call && (in->cls == ST_C_CALL || in->cls == ST_C_ICALL)) {
		struct strobe_call call = {b, index};
		t->call(&call);
	}
}

/* Instructions of the fragment that will be executed as the program's own. */
static uint32_t
seen_insns(const struct build *b)
{
	uint32_t n = b->n;
	if (n && (b->insn[n - 1].cls == ST_C_INVALID ||
	          (b->end == ST_END_NONE && !b->more && b->at[n - 1] == b->bytes)))
		n--;
	return n;
}

/* Actions in the order of their instructions; those of one in the order in which they were asked.
 */
static void
sort_actions(const struct build *b)
{
	for (unsigned i = 1; i < asked.n_actions; i++) {
		struct action a = asked.actions[i];
		unsigned k = i;
		for (; k > 0 && asked.actions[k - 1].insn > a.insn; k--)
			asked.actions[k] = asked.actions[k - 1];
		asked.actions[k] = a;
	}
	for (uint32_t i = 0, k = 0; i <= b->n; i++) {
		while (k < asked.n_actions && asked.actions[k].insn < i)
			k++;
		asked.first[i] = (uint8_t)k;
	}
}

struct seeing {
	const struct build *b;
	bool with_block;
	const struct st_entry *entry; /* the function that begins here, if a tool asked for it */
};

static void
tools_see_fragment(const struct seeing *s, const uint32_t *tool)
{
	const strobe_tool *t = tools.tool[*tool].tool;
	const struct build *b = s->b;
	uint32_t n = seen_insns(b);
	begin_insn(0);
	if (s->entry && t->function) {
		struct strobe_function f = {b, b->pc, s->entry};
		t->function(&f);
	}
	if (s->with_block && t->block) {
		struct strobe_block block = {b};
		t->block(&block);
	}
	if (!t->insn && !t->access && !t->branch && !t->call)
		return;
	/* Only the last instruction is a branch. */
	bool all = t->insn || t->access;
	for (uint32_t i = all || !n ? 0 : n - 1; i < n; i++) {
		if (i)
			begin_insn(i);
		see_insn(t, b, i);
	}
}

/* Functions whose return is waited for may be left by a new stack pointer. */
static void
see_landings(const struct build *b, uint32_t n)
{
	const strobe_operand sp = strobe_register_value(STROBE_RSP);
	for (uint32_t i = 0; i < n; i++) {
		strobe_insn insn = {b, i};
		if (!strobe_insn_lands(&insn))
			continue;
		begin_insn(i);
		strobe_invoke_with(strobe_behind(&insn), returns_landed, 1, &sp);
	}
}

/* Functions whose return is waited for are entered, and perhaps return. */
static void
see_returns(const struct build *b, const struct st_entry *entry)
{
	uint32_t plan = entry ? returns_plan() : 0, n = seen_insns(b);
	const strobe_operand operands[2] = {strobe_constant(plan),
	                                    strobe_register_value(STROBE_RSP)};
	begin_insn(0);
	if (plan)
		ask_invoke(0, returns_entered, 2, operands, false);
	see_landings(b, n);
	if (n && b->insn[n - 1].cls == ST_C_RET)
		ask_invoke(n - 1, returns_left, 0, operands, true);
}

void
tools_see(const struct build *b, uint32_t id, uint32_t base, bool fresh, bool with_block)
{
	const struct st_entry *e = with_block && tools.wants_functions ? entry_at(b->pc) : NULL;
	struct seeing s = {b, with_block, e && (e->what & ST_ENTRY_TOOL) ? e : NULL};
	asked.b = b;
	asked.id = id;
	asked.base = base;
	asked.fresh = fresh;
	asked.n_actions = asked.n_conditions = asked.n_edge_amounts = 0;
	asked.n_target_counts = 0;
	asked.streams = 0;
	asked.overflow = asked.elements = false;
	if (s.entry)
		returns_begin(b->pc);
	for (uint32_t k = 0; id && k < tools.n; k++) {
		asked.tool = k;
		tool_call(k, (void (*)(void))tools_see_fragment, &s, &k);
	}
	if (id && tools.wants_functions)
		see_returns(b, s.entry);
	if (asked.n_actions)
		sort_actions(b);
}
