/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dispatcher: from leaving the cache to entering it again. */
#include "rt/budget/adaptive.h"
#include "rt/budget/budget.h"
#include "rt/budget/region.h"
#include "rt/budget/suppress.h"
#include "rt/budget/unique.h"
#include "rt/forkserver.h"
#include "rt/jit/jit.h"
#include "rt/jit/vsyscall.h"
#include "rt/maps.h"
#include "rt/native/breakpoint_sampling.h"
#include "rt/native/native_run.h"
#include "rt/tool/tool.h"
#include "rt/world.h"

enum { TIMED_ONE_IN = 8 };

/* Ticks: a first guess. */
static uint64_t ticks_of_block = 8000;

uint64_t
jit_ticks_of_block(void)
{
	return budget_at_most(ticks_of_block);
}

/* That many blocks have been translated. */
static void
add_ticks(uint64_t begin, uint64_t end, uint32_t blocks)
{
	uint64_t ticks = end > begin ? end - begin : 0;
	rt_stat(ST_STAT_translate_ticks, ticks * TIMED_ONE_IN);
	if (blocks)
		budget_learn(&ticks_of_block, ticks / blocks);
}

/* The block at pc, translated if need be; 0 when nothing executable is there. rt.lock held. */
static uint32_t
find_or_translate(struct thread *t, uint64_t pc, uint32_t join, bool indirect)
{
	enum version version = thread_version(t);
	uint32_t b = jit_find(pc, version);
	if (b)
		return b;
	if (!jit_has_space()) {
		os_flush(t);
		join = NO_EXIT;
	}
	/* Reading the clock twice costs a tenth of a short translation: one in eight is timed. */
	static uint32_t n;
	bool timed = n++ % TIMED_ONE_IN == 0;
	uint64_t begin = timed || rt.times_engine ? rt_tsc() : 0;
	uint32_t blocks = jit.n_blocks;
	b = jit_translate(pc, version, join, indirect);
	uint64_t end = begin ? rt_tsc() : 0;
	if (timed)
		add_ticks(begin, end, jit.n_blocks - blocks);
	t->tools.engine_ticks += end - begin;
	jit_report_sizes();
	return b;
}

/* Plain code does not say which branch is under way. */
static void
forget_site(struct thread *t, uint32_t block)
{
	if (jit.blocks[block].version == VERSION_PLAIN)
		t->slot_site = 0;
}

static void
enter_block(struct thread *t, uint32_t block)
{
	forget_site(t, block);
	t->regs.pc = jit.blocks[block].pc;
	t->next = cache_addr(jit.blocks[block].body);
}

/* Nothing executable at regs.pc: let the processor say so, natively. Does not return. */
static _Noreturn void
probe_natively(struct thread *t)
{
	rt_unlock(&rt.lock);
	if (budget_works(t))
		budget_work_end(t);
	os_native_probe(t);
}

static void
stress_flush(struct thread *t)
{
	static uint32_t n;
	if ((rt.stress & ST_STRESS_flush) && ++n % 1000 == 0)
		os_flush(t);
}

/* For tests: the tools see the thread, and then they do not. */
static void
stress_version(struct thread *t)
{
	static uint32_t n;
	if ((rt.stress & ST_STRESS_versions) && ++n % 3 == 0)
		t->budget.left_out = !t->budget.left_out;
}

/* The thread is about to go on at pc. If that has to be translated, and there is no budget left for
 * that, it is measured no longer. */
static void
foresee(struct thread *t, uint64_t pc)
{
	if (budget_is_short(t, jit_ticks_of_block()) && !jit_find(pc, VERSION_TOOLS))
		budget_stop(t);
}

static void
go_by(struct thread *t, uint64_t pc, bool indirect)
{
	t->regs.pc = pc;
	while (vsyscall_is(pc)) {
		if (!vsyscall_make(t))
			probe_natively(t);
		pc = t->regs.pc;
		indirect = false;
	}
	foresee(t, pc);
	if (native_run_go(t))
		return;
	uint32_t b = find_or_translate(t, pc, NO_EXIT, indirect);
	if (!b && maps_refresh()) {
		entries_ask();
		b = find_or_translate(t, pc, NO_EXIT, indirect);
	}
	if (!b)
		probe_natively(t);
	enter_block(t, b);
}

static void
go_to(struct thread *t, uint64_t pc)
{
	go_by(t, pc, false);
}

/* A checked block is about to run: has its code changed? */
static void
check_block(struct thread *t, uint32_t exit, const struct exit *x)
{
	(void)exit;
	const struct block *b = &jit.blocks[x->block];
	if ((b->flags & BLOCK_VALID) && maps_find(b->pc) && jit_same_source(x->block)) {
		t->next = cache_addr(x->next);
		return;
	}
	/* A later fragment: the basic block ends here for the counts, and another one begins. */
	if (t->resume.state)
		jit_end_partial(t);
	jit_invalidate(b->pc, b->pc + 1);
	go_to(t, t->regs.pc);
}

/* The program is at a border of the region of interest, which is crossed; then it goes on after
 * it. */
static void
cross_border(struct thread *t, uint32_t exit, const struct exit *x)
{
	(void)exit;
	unsigned what = x->cause;
	bool both = what == (ST_ENTRY_BEGIN | ST_ENTRY_END);
	region_set(t, both ? !rt.on : what == ST_ENTRY_BEGIN);
	gap_follow(t);
	uint64_t pc = t->regs.pc;
	go_to(t, pc);
	uint32_t b = in_cache(t->next) ? jit_block_at((uint32_t)(t->next - rt.target.area)) : 0;
	if (b && region_border(pc, jit.blocks[b].version))
		t->next += jit_stub_len();
}

/* Is it the edge of a branch that is counted? If it is the other one it becomes an exit like any.
 */
static bool
is_counted_edge(uint32_t exit)
{
	struct exit *x = &jit.exits[exit];
	if (x->cause && !edge_counts(jit.edge_of[x->block], exit_direction(x)))
		x->cause = 0;
	return x->cause;
}

/* Follows an exit of the present generation, of a block of the thread's version, and links it. */
static void
follow_exit(struct thread *t, uint32_t exit, const struct exit *x)
{
	(void)x; /* it may be changed here, in its place */
	uint32_t generation = jit.generation;
	uint64_t target = t->regs.pc;
	if (native_run_go(t))
		return;
	stress_flush(t);
	bool apart = jit.generation == generation && is_counted_edge(exit);
	uint32_t join = jit.generation == generation && !apart ? exit : NO_EXIT;
	uint32_t b = find_or_translate(t, target, join, false);
	if (!b) {
		go_to(t, target);
		return;
	}
	if (jit.generation == generation && !(rt.stress & ST_STRESS_links) &&
	    (jit.blocks[jit.exits[exit].block].flags & BLOCK_VALID)) {
		if (apart)
			jit_link_edge(exit, b);
		else
			jit_link(exit, b);
	}
	enter_block(t, b);
}

/* Resume fragments of basic blocks that threads have been stopped in, by where that was. */
static struct {
	struct resume at;
	uint32_t block, generation;
	enum version next;
	bool alone;
} resume_fragments[256];

static uint32_t
find_resume_fragment(const struct resume *at, enum version next)
{
	bool alone = rt_self()->budget.breakpoints.on;
	unsigned h = (unsigned)(at->pc ^ at->id ^ at->actions) % 256;
	const struct resume *k = &resume_fragments[h].at;
	uint32_t b = resume_fragments[h].block;
	bool same = resume_fragments[h].generation == jit.generation &&
	            resume_fragments[h].next == next && resume_fragments[h].alone == alone &&
	            k->pc == at->pc && k->id == at->id && k->insns == at->insns &&
	            k->actions == at->actions && k->back == at->back;
	if (same && (jit.blocks[b].flags & BLOCK_VALID))
		return b;
	b = jit_translate_resume(at, next);
	resume_fragments[h].at = *at;
	resume_fragments[h].block = b;
	resume_fragments[h].generation = jit.generation;
	resume_fragments[h].next = next;
	resume_fragments[h].alone = alone;
	return b;
}

/* The program goes on where it was stopped in a basic block. False when that has changed. */
static bool
go_on(struct thread *t)
{
	struct resume at = t->resume;
	if (at.state == RESUME_NONE || at.pc != t->regs.pc)
		return false;
	if (!jit_has_space())
		os_flush(t);
	uint32_t b = find_resume_fragment(&at, thread_version(t));
	if (b && !unique_resume(t)) {
		t->resume.id = at.id = 0;
		b = find_resume_fragment(&at, thread_version(t));
	}
	if (!b)
		return false;
	forget_site(t, b);
	jit_resume_counts(t); /* it stays armed: the thread may have to come here again first */
	t->next = cache_addr(jit.blocks[b].body);
	return true;
}

/* The program goes on at regs.pc, within a basic block if it was stopped in it. */
static void
go_on_or_to(struct thread *t)
{
	if (go_on(t))
		return;
	unique_suspend(t);
	jit_suspend_resume(t);
	t->resume.state = RESUME_NONE;
	go_to(t, t->regs.pc);
}

/*
 * Where the exit leads. At the beginning of a later part of a basic block the program is within
 * that block: it has been counted, and the part's first instruction may have been executed. So
 * t->resume says where it goes on, be it that the part is translated again. While the state says
 * CACHE: until then nobody flushes the cache.
 */
static void
follow_to(struct thread *t, const struct exit *x)
{
	t->regs.pc = jit_exit_target(x);
	if (x->to != TO_SELF || !(jit.blocks[x->block].flags & (BLOCK_CONT | BLOCK_RESUME)))
		return;
	jit_stop_at(t, x->block);
	t->regs.pc = t->resume.pc;
}

/* A block that its tools want to see once is about to be executed: they see it now, in a
 * translation of its own. */
static void
dispatch_first(struct thread *t, uint32_t exit, const struct exit *x)
{
	const struct block *b = &jit.blocks[x->block];
	uint32_t id = jit.id_of[x->block];
	struct st_block *seen =
	        (struct st_block *)((char *)rt.results + rt.results->layout.off_blocks) + id;
	uint64_t pc = b->pc;
	uint16_t armed;
	switch (unique_take(seen)) {
	case UNIQUE_MIXED:
		jit_invalidate(pc, pc + 1);
		go_to(t, pc);
		return;
	case UNIQUE_SEEN: /* another thread has been faster, or it is a part of another block */
		armed = jit_skip_first(exit);
		if (armed)
			unique_note(id, exit, armed);
		t->next = cache_addr(x->next);
		return;
	case UNIQUE_NEW:
		break;
	}
	bp_sampling_found(t, seen);
	unique_note(id, exit, jit_skip_first(exit));
	*thread_counter(t, id) += 1;
	t->resume = (struct resume){.pc = pc, .id = id, .state = RESUME_ARMED};
	go_on_or_to(t);
}

/* A block has been executed often enough: it is translated again, without what the tools asked for.
 */
static void
dispatch_often(struct thread *t, uint32_t exit, const struct exit *x)
{
	(void)exit;
	adaptive_back_off(jit.id_of[x->block]);
	jit_drop(x->block);
	go_to(t, t->regs.pc);
}

/* The thread goes on with plain code, unless suppression ends here. */
static void
end_suppression(struct thread *t, uint32_t exit, const struct exit *x)
{
	(void)exit;
	if (!suppress_pass(t, (enum suppress_stop)x->cause)) {
		t->next = cache_addr(x->next);
		return;
	}
	gap_follow(t);
	go_on_or_to(t);
}

/* There is to be space for rows. */
static void
dispatch_space(struct thread *t, const struct exit *x, uint32_t generation)
{
	const struct block *b = &jit.blocks[x->block];
	uint32_t body = b->body, block = x->block;
	__atomic_store_n(&t->state, THREAD_RUNTIME, __ATOMIC_SEQ_CST);
	bool space = streams_try_space(t, 1u << x->cause);
	rt_lock(&rt.lock);
	if (!space)
		budget_stop(t);
	if (space && jit.generation == generation && (jit.blocks[block].flags & BLOCK_VALID))
		t->next = cache_addr(body);
	else
		go_on_or_to(t);
	rt_unlock(&rt.lock);
}

/* The first branch whose targets are to be counted is about to be executed: what was translated up
 * to now does not count them. */
static void
dispatch_targets(struct thread *t, uint32_t exit, const struct exit *x)
{
	(void)exit;
	(void)x;
	if (!jit.targets) {
		jit.targets = true;
		os_flush(t);
	}
	go_on_or_to(t);
}

/* The thread goes on with plain code, unless there is credit left, or it has been granted more
 * meanwhile. */
static void
stop_measuring(struct thread *t, uint32_t exit, const struct exit *x)
{
	(void)exit;
	audit_sample(&rt.budget.rate, x->next);
	budget_renew(t);
	adaptive_wake(t);
	go_to(t, t->regs.pc);
}

/* Is it an edge of a branch that may have to be counted? */
static bool
is_branch_edge(const struct exit *x)
{
	return (x->kind == EXIT_JUMP || x->kind == EXIT_BRANCH) && x->cause;
}

/* An instruction that the cache cannot execute: it is executed where it stands, and if that is not
 * enough the process is handed to native execution. */
static void
dispatch_native(struct thread *t, const struct exit *x, uint32_t generation)
{
	(void)generation;
	uint64_t target = t->regs.pc;
	__atomic_store_n(&t->state, THREAD_RUNTIME, __ATOMIC_SEQ_CST);
	rt_lock(&rt.lock);
	rt_stat(ST_STAT_dispatches, 1);
	if (x->cause != ST_FALLBACK_NONE)
		rt_note_fallback(target, x->cause);
	rt_unlock(&rt.lock);
	if (x->cause != ST_FALLBACK_NONE)
		os_native_forever(t);
	os_step(t);
}

/* The translation that follows an exit: it needs budget that is left. */
enum foreseen { FORESEES_NOTHING, FORESEES_TARGET, FORESEES_BLOCK };

/* The action of the dispatcher at an exit, by its kind. */
static const struct exit_handler {
	/* Called without rt.lock, in place of everything below. The exit is a copy, of the cache
	   generation `generation`. */
	void (*alone)(struct thread *t, const struct exit *x, uint32_t generation);
	/* With rt.lock held, after the thread has followed region, gap and budget. x: a copy. */
	void (*handle)(struct thread *t, uint32_t exit, const struct exit *x);
	/* Only as long as the exit is one of the present generation, and its block is of the
	   thread's version; else the thread goes on at regs.pc. */
	bool of_block;
	enum foreseen foresees;
} exit_handlers[] = {
        [EXIT_JUMP] = {.handle = follow_exit, .of_block = true, .foresees = FORESEES_TARGET},
        [EXIT_BRANCH] = {.handle = follow_exit, .of_block = true, .foresees = FORESEES_TARGET},
        [EXIT_SYSCALL] = {.handle = follow_exit, .of_block = true},
        [EXIT_NATIVE] = {.alone = dispatch_native},
        [EXIT_CHECK] = {.handle = check_block, .of_block = true},
        [EXIT_SPACE] = {.alone = dispatch_space},
        [EXIT_FIRST] = {.handle = dispatch_first, .of_block = true, .foresees = FORESEES_BLOCK},
        [EXIT_REGION] = {.handle = cross_border},
        [EXIT_SPENT] = {.handle = stop_measuring},
        [EXIT_TARGETS] = {.handle = dispatch_targets},
        [EXIT_OFTEN] = {.handle = dispatch_often, .of_block = true},
        [EXIT_SUPPRESSED] = {.handle = end_suppression, .of_block = true},
};

/* Of the present generation, and of a block of the thread's version? */
static bool
exit_is_current(const struct thread *t, const struct exit *x, uint32_t generation)
{
	return jit.generation == generation && jit.blocks[x->block].version == thread_version(t);
}

static void
dispatch_exit(struct thread *t)
{
	t->resume.state = RESUME_NONE;
	/* The exit is read before the state says RUNTIME: until then nobody flushes the cache under
	 * this thread. */
	uint32_t exit = (uint32_t)t->exit_id, generation = jit.generation;
	struct exit x = jit.exits[exit];
	const struct exit_handler *h = &exit_handlers[x.kind];
	follow_to(t, &x);
	if (h->alone) {
		h->alone(t, &x, generation);
		return;
	}
	uint64_t target = t->regs.pc;
	if (is_branch_edge(&x))
		edge_pass(t, jit.edge_of[x.block], exit_direction(&x));
	__atomic_store_n(&t->state, THREAD_RUNTIME, __ATOMIC_SEQ_CST);
	rt_lock(&rt.lock);
	rt_stat(ST_STAT_dispatches, 1);
	region_obey(t);
	stress_version(t);
	gap_follow(t);
	if (h->foresees == FORESEES_TARGET)
		foresee(t, target);
	else if (h->foresees == FORESEES_BLOCK && budget_is_short(t, jit_ticks_of_block()))
		budget_stop(t);
	if (!h->of_block || exit_is_current(t, &x, generation))
		h->handle(t, exit, &x);
	else
		go_on_or_to(t);
	rt_unlock(&rt.lock);
}

void
rt_dispatch_exit(struct thread *t)
{
	budget_work_begin(t);
	dispatch_exit(t);
	budget_work_end(t);
}

static void
dispatch_miss(struct thread *t)
{
	uint64_t pc = t->regs.r[RDX];
	uint32_t site = (uint32_t)t->slot_site;
	t->resume.state = RESUME_NONE;
	if (!SEEDED(2))
		t->regs.r[RCX] = t->slot_rcx;
	t->regs.r[RDX] = t->slot_rdx;
	t->regs.pc = pc;
	__atomic_store_n(&t->state, THREAD_RUNTIME, __ATOMIC_SEQ_CST);
	if (pc == rt.serve_entry)
		forkserver_run(t);
	rt_lock(&rt.lock);
	rt_stat(ST_STAT_lookup_misses, 1);
	if (rt.served)
		forkserver_missed(pc, site);
	region_obey(t);
	stress_version(t);
	gap_follow(t);
	stress_flush(t);
	if (site)
		target_count(t, site, pc);
	go_by(t, pc, true);
	uint32_t b = jit_find(pc, thread_version(t));
	if (b && !(rt.stress & ST_STRESS_lookup) && jit_has_space()) {
		jit_make_pad(b);
		jit_lookup_set(jit.blocks[b].version, pc, jit.blocks[b].pad);
		if (jit.targets && jit.blocks[b].version == VERSION_TOOLS)
			jit_learn_target(t, b, site);
	}
	rt_unlock(&rt.lock);
}

void
rt_dispatch_miss(struct thread *t)
{
	budget_work_begin(t);
	dispatch_miss(t);
	budget_work_end(t);
}

void
rt_dispatch_pc(struct thread *t)
{
	if (t->native.call_reported) {
		rt_dispatch_trapped(t);
		return;
	}
	if (t->regs.pc == rt.serve_entry)
		forkserver_run(t);
	rt_lock(&rt.lock);
	region_obey(t);
	stress_version(t);
	/* Unless who calls has begun to count. */
	bool pays = t->budget.gap_from && !budget_works(t);
	if (pays)
		budget_work_begin(t);
	gap_follow(t);
	adaptive_wake(t);
	if (pays && !t->budget.breakpoints.on) {
		budget_work_end(t);
		pays = false;
	}
	go_on_or_to(t);
	rt_unlock(&rt.lock);
	if (pays)
		budget_work_end(t);
}
