/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/native/breakpoint_sampling.h"

#include "rt/arch/x86_64/apart.h"
#include "rt/budget/budget.h"
#include "rt/budget/credit.h"
#include "rt/budget/share.h"
#include "rt/budget/unique.h"
#include "rt/maps.h"
#include "rt/native/breakpoints.h"
#include "rt/native/native_run.h"
#include "rt/native/syspatch.h"
#include "rt/program.h"
#include "rt/tool/tool.h"

enum {
	/* New blocks in a tick: with fewer than this, coming back for each by a signal costs less
	   than to execute everything in the cache to find them, with more it costs more. */
	FEW = 256,
	MANY = 256,        /* to look for what follows them */
	TRAP_TICKS = 6000, /* a signal and its return */
};

static bool
may_sample(const struct thread *t)
{
	return rt.native.has_breakpoints && !rt.budget.unique_last && !share_exists() &&
	       !rt.native.no_breakpoints && !rt.writes_memory_file && rt.on &&
	       !t->budget.left_out && native_run_may(t);
}

/* The block's successors may be new as well. Those of a return or of an indirect jump are unknown.
 */
static void
follow_block(const struct st_block *block)
{
	struct st_insn in = {0};
	uint64_t pc = block->pc, end = block->pc + block->bytes;
	const uint8_t *last = NULL;
	for (; pc < end && st_decode(last = program_code(pc), end - pc, &in); pc += in.len)
		;
	if (pc != end)
		return;
	bool goes_on = in.cls != ST_C_JMP && in.cls != ST_C_IJMP && in.cls != ST_C_RET &&
	               in.cls != ST_C_FAR && in.cls != ST_C_INT3,
	     jumps = (in.cls == ST_C_JMP || in.cls == ST_C_JCC || in.cls == ST_C_LOOP ||
	              in.cls == ST_C_CALL) &&
	             st_jumps_apart(last, in.len, in.rel);
	const uint64_t next[] = {goes_on ? pc : 0, jumps ? pc + (uint64_t)(int64_t)in.rel : 0};
	breakpoints_move(block->pc, next);
}

void
bp_sampling_found(struct thread *t, const struct st_block *block)
{
	t->budget.breakpoints.found++;
	if (t->budget.breakpoints.on)
		follow_block(block);
	else
		rt.budget.breakpoints.found++;
}

static bool
samples_at_once(void)
{
	return budget_plan()->first_ns == ST_WATCHES_AT_ONCE;
}

/* CPU time of a process, without what was charged, before it is sampled so. */
static uint64_t
samples_from(void)
{
	return samples_at_once() ? 0 : budget_plan()->period_ns / ST_WATCHED_AFTER;
}

/* Have files been mapped that the controller was not asked about, and none since the last tick? A
 * program that loads libraries loads several. Each answer is about all that is mapped: where files
 * keep coming it is asked less and less often. */
static bool
has_new_files(void)
{
	uint64_t n = __atomic_load_n(&rt.results->control.coverage_bits, __ATOMIC_RELAXED),
	         before = rt.budget.breakpoints.bits_at_tick;
	rt.budget.breakpoints.bits_at_tick = n;
	return n == before && n != rt.budget.breakpoints.bits_asked &&
	       rt.budget.breakpoints.ticks_asked++ >= rt.budget.breakpoints.ticks_wait;
}

/* The controller is asked when the process has been there for some time, and again when there is
 * new code, or much has been found in windows, of which nobody has looked where it leads. False: it
 * has never been. */
static bool
ask_for_leaders(uint64_t net)
{
	uint32_t times = rt.results->control.leaders_asked;
	bool new_files = has_new_files();
	if (times ? rt.budget.breakpoints.found < MANY && !new_files : net < samples_from())
		return times;
	if (breakpoints_ask()) {
		if (times && new_files)
			rt.budget.breakpoints.ticks_wait = 2 * rt.budget.breakpoints.ticks_wait + 1;
		rt.budget.breakpoints.found = rt.budget.breakpoints.ticks_asked = 0;
		rt.budget.breakpoints.bits_asked = rt.budget.breakpoints.bits_at_tick;
	}
	return rt.results->control.leaders_asked;
}

/* How much has been found since the last tick? A window that begins is like the last one. */
static void
keep_rate(struct thread *t)
{
	if (t->budget.spent && !t->budget.breakpoints.on)
		return;
	t->budget.breakpoints.rate = t->budget.breakpoints.found;
	t->budget.breakpoints.found = 0;
}

static bool
is_quiet(const struct thread *t)
{
	return t->budget.breakpoints.rate < FEW;
}

/* Has the controller ever answered? Of hundreds of libraries it takes as long as they take to
 * start, and without its answer all of that would be missed. Where a log has much of it, the window
 * would be wasted. */
static bool
leaders_are_known(void)
{
	return samples_at_once() ||
	       __atomic_load_n(&rt.results->control.leaders_done, __ATOMIC_ACQUIRE);
}

static void
try_sampling(struct thread *t, uint64_t net)
{
	if (!ask_for_leaders(net) || !is_quiet(t) || !leaders_are_known())
		return;
	t->budget.breakpoints.on = true;
	budget_pause(t);
}

static void
reopen(struct thread *t)
{
	t->budget.breakpoints.on = false;
	if (t->budget.spent && credit_of(t) > 0)
		budget_resume(t);
}

/* Returns whether a thread that runs natively is to come to the dispatcher. */
static bool
follow_tick(struct thread *t, const struct budget_tick *tick)
{
	bool late = tick->now - t->budget.period_from >= budget_plan()->period_ns / 8 * 7;
	if (!tick->begins)
		keep_rate(t);
	if (!t->budget.breakpoints.on) {
		if (!t->budget.spent && !late && may_sample(t))
			try_sampling(t, tick->net);
		return false;
	}
	ask_for_leaders(tick->net);
	if (late || !may_sample(t) || !is_quiet(t))
		reopen(t);
	else if (!t->budget.spent)
		budget_pause(t);
	return t->budget.breakpoints.on && breakpoints_stale();
}

bool
bp_sampling_tick(struct thread *t)
{
	bool spent = t->budget.spent;
	struct budget_tick tick = budget_tick(t);
	bool comes = follow_tick(t, &tick);
	if (tick.ends_suppression)
		return true;
	return budget_plan()->policy == ST_BUDGET_NATIVE &&
	       (comes || tick.begins || t->budget.spent != spent);
}

/* Is it known what is there? Code that no log has is not looked for. */
static bool
is_measured(uint64_t pc)
{
	const struct map *m = maps_find(pc);
	struct unique_bits bits = m ? unique_bits(m) : (struct unique_bits){0};
	return !bits.bytes || unique_is_seen(&bits, pc);
}

/* For tests. */
static void
stress_sampling(struct thread *t)
{
	if (!(rt.stress & ST_STRESS_watch) || t->budget.breakpoints.on || t->budget.spent ||
	    !may_sample(t))
		return;
	if (!rt.results->control.leaders_asked || rt.budget.breakpoints.found >= FEW)
		breakpoints_ask();
	rt.budget.breakpoints.found = 0;
	t->budget.breakpoints.on = true;
}

bool
bp_sampling_waits(const struct thread *t)
{
	if (!t->budget.breakpoints.on)
		return (rt.stress & ST_STRESS_watch) && !t->budget.spent;
	return !t->budget.spent || breakpoints_stale();
}

void
bp_sampling_pass(struct thread *t)
{
	stress_sampling(t);
	if (t->budget.breakpoints.on && !t->budget.spent && is_measured(t->regs.pc))
		budget_pause(t);
}

void
bp_sampling_go(struct thread *t)
{
	if (!t->budget.breakpoints.on || !breakpoints_stale())
		return;
	uint64_t begin = rt_tsc();
	breakpoints_set();
	uint64_t ns = (rt_tsc() - begin) * 1000 / (budget_plan()->ticks_per_second / 1000000);
	__atomic_fetch_add(&rt.results->control.debt_ns, ns, __ATOMIC_RELAXED);
}

void
bp_sampling_hit(struct thread *t)
{
	uint64_t pc = t->regs.pc;
	rt_lock(&rt.lock);
	rt_stat(ST_STAT_traps, 1);
	credit_take(t, (int64_t)TRAP_TICKS * ST_BUDGET_UNITS);
	/* The measurement removes the breakpoint. */
	if (is_measured(pc))
		breakpoints_take(pc);
	else if (t->budget.breakpoints.on && credit_of(t) > 0)
		budget_resume(t);
	else
		breakpoints_take_page(pc);
	rt_unlock(&rt.lock);
}
