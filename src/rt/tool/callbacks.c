/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/tool/callbacks.h"

#include <asm/unistd.h>

#include "rt/world.h"

#define EACH_TOOL(i, event)                                                                        \
	for (unsigned i = 0; i < tools.n; i++)                                                     \
		if (tools.tool[i].tool->event)

typedef void (*plain_function)(void);

void
callback_thread_begin(struct thread *t)
{
	t->number = t->record;
	if (!t->first_sp && !rt.boot->attached)
		t->first_sp = t->regs.r[RSP];
	streams_begin(t);
	walk_begin(t);
	EACH_TOOL(i, thread_begin)
	tool_call(i, (plain_function)tools.tool[i].tool->thread_begin, t, NULL);
}

void
callback_gap(struct thread *t, uint64_t from)
{
	EACH_TOOL(i, gap)
	tool_call(i, (plain_function)tools.tool[i].tool->gap, t, (const void *)from);
}

void
callback_last_gap(struct thread *t)
{
	if (t->budget.gap_from && rt.on && !t->budget.left_out)
		callback_gap(t, t->budget.gap_from);
}

void
callback_thread_end(struct thread *t)
{
	callback_last_gap(t);
	streams_consume(t); /* all its rows before its end */
	EACH_TOOL(i, thread_end)
	tool_call(i, (plain_function)tools.tool[i].tool->thread_end, t, NULL);
	streams_finish(t);
}

/* Another thread may be in a tool's function, which it is given a moment to finish. */
static void
wait_until_out(const struct thread *o)
{
	const int64_t pause[2] = {0, 100000};
	for (int tries = 0; tries < 2000; tries++) {
		if (!__atomic_load_n(&o->tools.running, __ATOMIC_SEQ_CST))
			return;
		SYS(__NR_nanosleep, pause, 0);
	}
}

/* Has anything to be done when threads end? */
static bool
ends_matter(void)
{
	for (unsigned i = 0; i < tools.n; i++)
		if (tools.tool[i].tool->thread_end || tools.tool[i].tool->end)
			return true;
	return rt.results->streams.n != 0;
}

void
callback_end(struct thread *t)
{
	if (!ends_matter())
		return;
	bool alone = rt.target.threaded;
	if (alone)
		os_stop_world(t); /* rt.lock is held from here on: they stay out */
	for (struct thread *o = rt.threads; o; o = o->next_thread) {
		if (o->ended || o->own_process)
			continue;
		if (o != t)
			wait_until_out(o);
		if (!o->parked) /* else it has been to its end */
			callback_thread_end(o);
	}
	EACH_TOOL(i, end)
	tool_call(i, (plain_function)tools.tool[i].tool->end, t, NULL);
	streams_finish(t);
	if (alone)
		rt_unlock(&rt.lock);
}

void
callback_leave(struct thread *t)
{
	EACH_TOOL(i, end)
	tool_call(i, (plain_function)tools.tool[i].tool->end, t, NULL);
	streams_finish(t);
}

void
callback_signal(struct thread *t, int signo)
{
	if (!thread_is_measured(t))
		return;
	EACH_TOOL(i, signal)
	tool_call(i, (plain_function)tools.tool[i].tool->signal, t, (const void *)(intptr_t)signo);
}

void
callback_image(bool loaded, const char *path, uint64_t start, uint64_t end, uint64_t offset)
{
	const strobe_image image = {path, start, end, offset};
	struct thread *t = rt_self();
	for (unsigned i = 0; t && i < tools.n; i++) {
		const strobe_tool *tool = tools.tool[i].tool;
		void (*f)(const strobe_image *) =
		        loaded ? tool->image_loaded : tool->image_unloaded;
		if (f)
			tool_call(i, (plain_function)f, &image, NULL);
	}
}

bool
callback_syscall_before(struct thread *t, strobe_syscall *s)
{
	const uint64_t *r = t->regs.r;
	if (!tools.wants_syscalls || !thread_is_measured(t))
		return false;
	*s = (strobe_syscall){.number = r[RAX],
	                      .argument = {r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9]},
	                      .begin = rt_tsc(),
	                      .caller = t->regs.pc};
	EACH_TOOL(i, syscall_before)
	tool_call(i, (plain_function)tools.tool[i].tool->syscall_before, t, s);
	return true;
}

/* The child of a fork, too, returns from a call; but it made none. */
static bool
is_child(uint64_t number, long result)
{
	return !result && (number == __NR_fork || number == __NR_vfork || number == __NR_clone ||
	                   number == __NR_clone3);
}

void
callback_syscall_after(struct thread *t, strobe_syscall *s, long result)
{
	if (is_child(s->number, result))
		return;
	s->result = result;
	s->end = rt_tsc();
	EACH_TOOL(i, syscall_after)
	tool_call(i, (plain_function)tools.tool[i].tool->syscall_after, t, s);
}
