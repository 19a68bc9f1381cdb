/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runtime's first steps in a process. */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "rt/budget/region.h"
#include "rt/forkserver.h"
#include "rt/jit/jit.h"
#include "rt/os/os.h"
#include "rt/os/process.h"
#include "rt/os/sampling.h"
#include "rt/os/waiting.h"
#include "rt/tool/callbacks.h"

struct rt rt;
struct rt_memory rt_memory;

void
rt_note_fallback(uint64_t pc, enum st_fallback_cause cause)
{
	struct st_results_header *r = rt.results;
	for (uint32_t i = 0; i < r->fallbacks.n; i++)
		if (r->fallbacks.v[i].pc == pc && r->fallbacks.v[i].cause == cause) {
			r->fallbacks.v[i].count++;
			return;
		}
	if (r->fallbacks.n < ST_MAX_FALLBACKS)
		r->fallbacks.v[r->fallbacks.n++] = (struct st_fallback){pc, cause, 1};
}

/* None of our memory belongs into a child, unless children are followed. data: it counts for
 * RLIMIT_DATA. */
static void
keep_from_children(uint64_t start, uint64_t bytes, bool data)
{
	if (rt.follow || rt.serves || SYS(__NR_madvise, start, bytes, 10 /* MADV_DONTFORK */) != 0)
		return;
	rt_memory.space_not_forked += bytes;
	if (data)
		rt_memory.data_not_forked += bytes;
}

/* Nor into a core dump. */
static void
set_apart(uint64_t start, uint64_t bytes, bool data)
{
	SYS(__NR_madvise, start, bytes, 16 /* MADV_DONTDUMP */);
	keep_from_children(start, bytes, data);
}

void *
rt_map_table(size_t bytes)
{
	void *p = rt_map_memory(bytes);
	if (p)
		keep_from_children((uint64_t)p, (bytes + 4095) & ~4095ull, true);
	return p;
}

/* A child that goes on natively needs our code, and its thread's stacks, for its last steps. */
static void
set_tables_apart(void)
{
	uint64_t counters = rt.target.area + ST_AREA_MAIN + ST_THREAD_PRIVATE;
	uint64_t gap = (rt.boot->runtime_end + 4095) & ~4095ull;
	set_apart(rt.target.area, ST_CACHE_SIZE, false);
	set_apart(rt.alias, ST_CACHE_SIZE, false);
	set_apart(rt.lookup, ST_LOOKUP_BYTES, true);
	set_apart(rt.lookup + ST_LOOKUP_BYTES, ST_LOOKUP_MAPPED - ST_LOOKUP_BYTES, false);
	set_apart((uint64_t)rt.results, rt.results->layout.file_size, false);
	set_apart(gap, rt.target.area + ST_AREA_MAIN - gap, false);
	set_apart(counters, rt.target.area + ST_AREA_SIZE - counters, false);
	SYS(__NR_madvise, rt.target.area + ST_AREA_MAIN, ST_THREAD_PRIVATE, 16 /* MADV_DONTDUMP */);
}

/* Where the controller finds what it needs for detaching. */
static void
say_where(void)
{
	struct st_detach *detach = &rt.results->control.detach;
	detach->park = (uint64_t)rt_park_entry;
	detach->finish = (uint64_t)rt_finish_entry;
	detach->forget = (uint64_t)rt_forget_entry;
	detach->sys_insn = (uint64_t)rt_sys_insn;
	detach->memory = (uint64_t)rt_memory_list();
}

/* The other threads of a process that was running. */
static void
adopt_others(struct st_boot *boot)
{
	struct st_attached *all = (struct st_attached *)boot->threads;
	for (uint32_t i = 1; i < boot->attached; i++)
		all[i].thread = (uint64_t)thread_adopt(&all[i]);
}

/* Everything is in place: lets them go. */
static void
begin_attached(const struct st_boot *boot)
{
	struct st_attached *all = (struct st_attached *)boot->threads;
	say_where();
	leave_begin();
	for (uint32_t i = 1; i < boot->attached; i++) {
		__atomic_store_n(&all[i].ready, 1, __ATOMIC_SEQ_CST);
		SYS(__NR_futex, &all[i].ready, 1 /* FUTEX_WAKE */, 1);
	}
}

void
clock_find(void)
{
	enum { GET_TSC = 25, TSC_SIGSEGV = 2 };
	int setting = 0;
	if (SYS(__NR_prctl, GET_TSC, &setting) == 0 && setting == TSC_SIGSEGV)
		rt_tsc_forbidden = true;
}

void rt_start(struct st_boot *boot);

/* Called by rt_entry on the boot stack; returns to enter the program at boot->pc. */
void
rt_start(struct st_boot *boot)
{
	clock_find();
	rt.boot_copy = *boot;
	rt.boot = &rt.boot_copy;
	rt_memory = (struct rt_memory){.space = boot->own_space, .data = boot->own_data};
	rt.results = (struct st_results_header *)boot->results;
	rt.budget.pool =
	        boot->pool ? (struct st_budget_pool *)boot->pool : &rt.results->budget.pool;
	rt.target.area = boot->area;
	rt.alias = boot->cache_alias;
	rt.lookup = boot->lookup;
	rt.stress = rt.results->plan.stress;
	rt.follow = rt.results->plan.follow;
	rt.follow_exec = rt.results->plan.follow_exec;
	forkserver_init();
	rt.target.threaded = (rt.stress & ST_STRESS_threads) || boot->attached > 1;
	rt.pid = (uint32_t)SYS(__NR_getpid);
	rt.results->layout.pid = rt.pid;
	rt.results->layout.ppid = (uint32_t)SYS(__NR_getppid);
	rt.results->run.tsc_begin = rt_tsc();
	rt.main = (struct thread *)(rt.target.area + ST_AREA_MAIN);
	rt.target.thread = (uint64_t)rt.main;
	rt.target.far = rt.stress & ST_STRESS_far;
	SYS(__NR_mmap, rt.main, ST_THREAD_PRIVATE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	rt_count_memory(0, ST_THREAD_PRIVATE); /* the region's address space is counted */
	rt.sampling.hz = rt.results->plan.sample_hz;
	waiting_init(rt.results->plan.take_waits);
	rt.budget.exists = rt.results->plan.budget.period_ns != 0;
	rt.native.has_breakpoints = rt.budget.exists && rt.results->plan.unique;
	rt.sampling.every = 1;
	if (rt.budget.exists && rt.sampling.hz && rt.sampling.hz < ST_BUDGET_HZ)
		rt.sampling.every = ST_BUDGET_HZ / rt.sampling.hz;
	rt.sampling.ticks_of_budget =
	        rt.sampling.hz > ST_BUDGET_HZ ? rt.sampling.hz / ST_BUDGET_HZ : 1;
	tools_init();
	region_init();
	const struct st_attached *attached =
	        boot->attached ? (const struct st_attached *)boot->threads : NULL;
	thread_adopt_main(rt.main, attached);
	if (jit_init() != 0 || maps_init() != 0) {
		rt_complain("the runtime has no memory", rt_memory.space);
		SYS(__NR_exit_group, 125);
	}
	set_tables_apart();
	struct thread *t = rt.main;
	for (int i = 0; i < 16; i++)
		t->regs.r[i] = boot->regs[i];
	t->regs.rflags = boot->rflags;
	t->regs.pc = boot->pc;
	if (attached)
		adopt_others(boot);
	limits_begin(boot);
	entries_ask();
	signals_init();
	if (attached)
		signals_block_all(); /* but those of faults, which tools may have */
	else
		signals_begin(t, signals_block_all());
	/* Not before: the timer's signal would be the program's end. Not later: samples tell that a
	 * tool does not come back. */
	sampling_start(t);
	tools_begin();
	callback_thread_begin(t);
	if (attached)
		gap_begin(t); /* what it has done before is a gap */
	rt.results->run.state = ST_RUN_CACHE;
	if (!attached)
		return;
	begin_attached(boot);
	signals_begin(t, attached->mask);
	thread_continue_call(t);
}
