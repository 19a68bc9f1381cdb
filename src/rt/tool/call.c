/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of the tools' functions. One that faults, or does not come back, ends the tool and nothing
 * else. */
#include "rt/tool/tool.h"

enum { SIGNAL_XCPU = 24 };
/* Of CPU time that a function may take, more than any that adds up what it has gathered needs. */
static const uint64_t most_ns = 5000000000;

void
tool_call(unsigned tool, void (*function)(void), const void *a, const void *b)
{
	struct thread *t = rt_self(); /* a may be another thread, whose rows this one consumes */
	if (tools.tool[tool].failed)
		return;
	uint32_t outer = t->tools.running;
	t->tools.running = tool + 1;
	t->tools.running_since = 0;
	rt_call_guarded((void (*)(const void *, const void *))function, a, b);
	t->tools.running = outer;
}

/* A fault in the runtime, or a sample there, while a tool's function is under way. */
bool
tool_failed(struct thread *t, int signo, uint64_t pc)
{
	if (!t->guard || !t->tools.running)
		return false;
	unsigned tool = t->tools.running - 1;
	tools.tool[tool].failed = true;
	rt.results->tools.failed[tool] = (uint32_t)signo;
	rt.results->tools.failed_at[tool] = pc;
	/* The function that it called may have held the lock. */
	if (tools.owner == t) {
		tools.owner = NULL;
		rt_unlock(&tools.lock);
	}
	return true;
}

/* By the clock: how many samples there are in a second is the kernel's matter, too. */
bool
tool_loops(struct thread *t, uint64_t pc)
{
	if (!t->tools.running)
		return false;
	uint64_t now = cpu_time();
	if (!t->tools.running_since)
		t->tools.running_since = now;
	return now - t->tools.running_since > most_ns && tool_failed(t, SIGNAL_XCPU, pc);
}

void
tools_lock(void)
{
	rt_lock(&tools.lock);
	tools.owner = rt_self();
}

void
tools_unlock(void)
{
	tools.owner = NULL;
	rt_unlock(&tools.lock);
}

unsigned
tool_current(void)
{
	const struct thread *t = rt_self();
	return t->tools.running ? t->tools.running - 1 : tools.current;
}

void *
strobe_state(strobe_thread *handle)
{
	struct thread *t = (struct thread *)handle;
	unsigned tool = tool_current();
	if (!t->tools.state[tool])
		t->tools.state[tool] = strobe_allocate(tools.tool[tool].tool->state);
	return t->tools.state[tool];
}

const void *
strobe_state_before_fork(strobe_thread *t)
{
	return ((struct thread *)t)->tools.state_before[tool_current()];
}

uint32_t
strobe_thread_number(const strobe_thread *t)
{
	return ((const struct thread *)t)->record;
}

uint64_t
strobe_thread_stack(const strobe_thread *t)
{
	return ((const struct thread *)t)->regs.r[RSP];
}

uint64_t
strobe_thread_stack_top(const strobe_thread *t)
{
	return ((const struct thread *)t)->first_sp;
}

uint32_t
strobe_thread_id(const strobe_thread *t)
{
	return ((const struct thread *)t)->tid;
}
