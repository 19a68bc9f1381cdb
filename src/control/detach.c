/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Detaching. All threads are stopped; those that sleep in a system call are sent to the runtime's
 * parking place as they are, the others are asked to come there by themselves. When all are parked,
 * one of them gives back what belongs to the process, the memory is unmapped, and each goes on with
 * the program's registers, as far as the program can tell from where it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "control/attach.h"
#include "control/injection.h"
#include "control/supervisor.h"
#include "control/threads.h"

static const double patience = 3.0;

enum where { OUT, ASLEEP, PARKED, PARKS, NATIVE, BUSY };

struct leaving {
	struct st_attachment *a;
	struct st_threads ts;
};

/* Returns whether the GS base is the address of a thread's structure. It may be the program's own:
 * a thread that sets one leaves the engine by itself, also after the controller has looked for it.
 */
static bool
read_head(const struct st_traced *t, struct st_thread_head *head)
{
	uint64_t at = t->regs.gs_base;
	struct iovec here = {head, sizeof *head}, there = {(void *)at, sizeof *head};
	if (at && process_vm_readv(t->tid, &here, 1, &there, 1, 0) == sizeof *head &&
	    head->self == at)
		return true;
	*head = (struct st_thread_head){0};
	return false;
}

/* The child of a vfork uses its parent's structure. */
static bool
owns_head(const struct st_traced *t, const struct st_thread_head *head)
{
	return head->tid == (uint32_t)t->tid;
}

static bool
in_region(const struct leaving *l, uint64_t address)
{
	return address - l->a->boot->area < ST_AREA_SIZE;
}

static bool
in_code_cache(const struct leaving *l, uint64_t address)
{
	return address - l->a->boot->area < ST_CACHE_SIZE;
}

static enum where
where_is(const struct leaving *l, const struct st_traced *t, struct st_thread_head *head)
{
	const struct st_detach *detach = &l->a->results->control.detach;
	uint64_t rip = t->regs.rip;
	if (!read_head(t, head))
		return in_region(l, rip) ? BUSY : OUT;
	if (!owns_head(t, head))
		return BUSY;
	if (head->parked)
		return head->parked == ST_PARKED ? PARKED : PARKS;
	if (t->interrupted && rip == detach->sys_insn && head->state == ST_HEAD_SYSCALL)
		return ASLEEP;
	return in_region(l, rip) || head->state != ST_HEAD_NATIVE ? BUSY : NATIVE;
}

static void
write_at(const struct st_traced *t, uint64_t at, const void *from, size_t bytes)
{
	struct iovec here = {(void *)from, bytes}, there = {(void *)at, bytes};
	process_vm_writev(t->tid, &here, 1, &there, 1, 0);
}

/* To the parking place, where the program goes on as the head says, or, outside of the engine, as
 * the registers say. */
static void
send_to_park(const struct leaving *l, struct st_traced *t, const struct st_thread_head *head,
             enum where where)
{
	struct st_thread_head h = *head;
	if (where == ASLEEP)
		h.regs[0] = t->regs.rax; /* perhaps restart_syscall */
	if (where == NATIVE) {
		st_general_registers(h.regs, &t->regs);
		h.rflags = t->regs.eflags;
		h.pc = t->regs.rip;
	}
	write_at(t, t->regs.gs_base + offsetof(struct st_thread_head, regs), h.regs,
	         offsetof(struct st_thread_head, guard) - offsetof(struct st_thread_head, regs));
	t->regs.rip = l->a->results->control.detach.park;
	t->regs.eflags = 0x202;
	t->regs.rsi = t->mask;
	/* First where it goes: asleep with every signal blocked, nothing would ever reach it if we
	 * died now. */
	uint64_t every = ~0ull;
	ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
	ptrace(PTRACE_SETSIGMASK, t->tid, sizeof every, &every);
}

/* By the signal that the runtime knows: it kills a thread that is out of the engine. Not one whose
 * call is still to go on by restart_syscall: the kernel forgets what to restart when a handler
 * returns, and which call that was when it was restarted before. */
static void
ask_to_leave(const struct leaving *l, struct st_traced *t)
{
	siginfo_t info = {.si_signo = ST_SIGNAL_OWN, .si_code = SI_QUEUE};
	info.si_value.sival_ptr = (void *)ST_LEAVE;
	/* Again after a while: it may have been where it could not come out. */
	if (t->told++ % 4 == 0)
		syscall(SYS_rt_tgsigqueueinfo, l->a->pid, t->tid, ST_SIGNAL_OWN, &info);
}

/* Sends those on their way that are not parked. How many. At first the runtime's work is only let
 * go on: it may be about to sleep. */
static size_t
send_all(struct leaving *l, bool first)
{
	size_t n = 0;
	for (size_t i = 0; i < l->ts.n; i++) {
		struct st_traced *t = &l->ts.v[i];
		struct st_thread_head head = {0};
		if (t->gone)
			continue;
		enum where where = where_is(l, t, &head);
		if (where == OUT || where == PARKED)
			continue;
		n++;
		if (where == ASLEEP || where == NATIVE)
			send_to_park(l, t, &head, where);
		else if (where == BUSY && head.self && !head.restart &&
		         (!first || in_code_cache(l, t->regs.rip)))
			ask_to_leave(l, t);
		ST_IGNORE(st_thread_continue(t));
	}
	return n;
}

static bool
all_parked(const struct leaving *l)
{
	for (size_t i = 0; i < l->ts.n; i++) {
		const struct st_traced *t = &l->ts.v[i];
		struct st_thread_head head;
		if (!t->gone && !t->stopped && t->regs.gs_base &&
		    (!read_head(t, &head) || !owns_head(t, &head) || head.parked != ST_PARKED))
			return false;
	}
	return true;
}

/* A thread does what the engine cannot bear, so that the runtime hands the process back by itself.
 */
static bool
leaves_by_itself(const struct leaving *l)
{
	return __atomic_load_n(&l->a->results->control.detach.leaves, __ATOMIC_ACQUIRE) != 0;
}

/* Brings every thread to the parking place, stopped there. */
static bool
park_all(struct leaving *l)
{
	struct st_error ignored;
	double end = st_now_raw() + patience;
	for (bool first = true; send_all(l, first); first = false) {
		double soon = st_now_raw() + (first ? 0.003 : 0.05);
		do {
			st_threads_attend(&l->ts);
			if (l->ts.group_stopped || l->ts.execed || leaves_by_itself(l))
				return false;
			nanosleep(&(struct timespec){0, 50000}, NULL);
		} while (!all_parked(l) && st_now_raw() < soon);
		if (st_now_raw() > end || st_threads_stop_again(&l->ts, patience, &ignored) != 0)
			return false;
	}
	return true;
}

/* The program's registers and mask for a parked thread. */
static bool
take_final(const struct leaving *l, struct st_traced *t)
{
	struct st_thread_head head;
	if (where_is(l, t, &head) != PARKED)
		return false;
	struct user_regs_struct *r = &t->final;
	*r = t->regs;
	const uint64_t *g = head.regs;
	r->rax = g[0], r->rcx = g[1], r->rdx = g[2], r->rbx = g[3];
	r->rsp = g[4], r->rbp = g[5], r->rsi = g[6], r->rdi = g[7];
	r->r8 = g[8], r->r9 = g[9], r->r10 = g[10], r->r11 = g[11];
	r->r12 = g[12], r->r13 = g[13], r->r14 = g[14], r->r15 = g[15];
	r->rip = head.pc;
	r->eflags = head.rflags;
	r->gs_base = 0;
	r->orig_rax = ~0ull;
	t->final_mask = head.mask;
	return true;
}

/* Sends a parked thread to work of the runtime's; it is stopped again when it has come so far. */
static bool
send_to_work(struct leaving *l, struct st_traced *t, uint64_t entry, uint32_t finished)
{
	struct st_error ignored;
	double end = st_now_raw() + patience;
	t->regs.rip = entry;
	t->regs.eflags = 0x202;
	if (st_thread_continue(t) != 0)
		return false;
	while (__atomic_load_n(&l->a->results->control.detach.finished, __ATOMIC_ACQUIRE) <
	       finished) {
		st_threads_attend(&l->ts);
		if (t->gone || st_now_raw() > end)
			return false;
		nanosleep(&(struct timespec){0, 20000}, NULL);
	}
	return st_threads_stop_again(&l->ts, patience, &ignored) == 0;
}

enum { MOST_UNMAPPED = 11 };
_Static_assert(sizeof(struct st_boot) + MOST_UNMAPPED * sizeof(struct st_remote_call) <= 4096,
               "the list lies behind the boot block");

/* What is to be taken out of the process: the list lies in the results, which go last. */
static unsigned
list_memory(const struct leaving *l, const struct st_traced *t, struct st_remote_call *calls)
{
	const struct st_attachment *a = l->a;
	unsigned n = 0, results = 0;
	calls[n++] = (struct st_remote_call){__NR_close, {a->boot->channel}};
	calls[n++] = (struct st_remote_call){
	        __NR_munmap,
	        {t->regs.gs_base, ST_THREAD_PRIVATE + ST_MAX_BLOCKS * sizeof(uint64_t)}};
	for (unsigned i = 0; i < a->n_mapped; i++)
		if (a->mapped[i].at == a->results->layout.at)
			results = i;
		else
			calls[n++] = (struct st_remote_call){__NR_munmap,
			                                     {a->mapped[i].at, a->mapped[i].bytes}};
	calls[n++] = (struct st_remote_call){__NR_munmap,
	                                     {a->mapped[results].at, a->mapped[results].bytes}};
	return n;
}

/* The last thread takes our memory out of the process by itself, and goes on with the program, also
 * if we are killed meanwhile. A filter that the process has by now would meet these calls too: then
 * the memory stays. False: the thread is where it was. */
static bool
unmap_detach(struct leaving *l, struct st_traced *t)
{
	struct st_remote_call *calls = (void *)(l->a->boot + 1);
	struct st_remote r = {.pid = t->tid, .saved = t->final};
	if (st_is_filtered(t->tid) || !st_retreat_put(&r.retreat, t->tid, &t->final, t->final_mask))
		return false;
	const uint64_t undo =
	        l->a->results->layout.at + (uint64_t)((char *)calls - (char *)l->a->results);
	unsigned n = list_memory(l, t, calls);
	r.retreat.data.undo = undo;
	r.retreat.data.undo_end = undo + n * sizeof *calls;
	return st_retreat_update(&r.retreat) && st_remote_run_back(&r, n + 1);
}

/* The thread is the program's, from the next moment on if we should die now. */
static void
put_final(struct st_traced *t)
{
	t->regs = t->final;
	t->mask = t->final_mask;
	st_thread_put(t);
}

/* Of the parked threads, the one that does the last work: the main thread, when it is there. */
static struct st_traced *
choose_detach(struct leaving *l)
{
	struct st_traced *one = NULL;
	for (size_t i = 0; i < l->ts.n; i++) {
		struct st_traced *t = &l->ts.v[i];
		t->was_parked = !t->gone && take_final(l, t);
		if (t->was_parked && (!one || in_region(l, t->regs.gs_base)))
			one = t;
	}
	return one;
}

/* All threads are stopped, and parked or out. Whenever we fail or die, none runs natively with the
 * engine's dispositions, or waits in memory that is gone. */
static bool
leave(struct leaving *l)
{
	const struct st_detach *detach = &l->a->results->control.detach;
	struct st_traced *one = choose_detach(l);
	if (leaves_by_itself(l))
		return false;
	if (!one)
		return true;
	if (!send_to_work(l, one, detach->finish, ST_FINISHED_PROCESS))
		return false;
	for (size_t i = 0; i < l->ts.n; i++)
		if (l->ts.v[i].was_parked && !l->ts.v[i].gone && &l->ts.v[i] != one)
			put_final(&l->ts.v[i]);
	if (!send_to_work(l, one, detach->forget, ST_FINISHED_MEMORY))
		return false;
	if (detach->finished == ST_FINISHED_MEMORY && unmap_detach(l, one))
		one->gone = true;
	else
		put_final(one);
	return true;
}

/* The runtime hangs up when the process has its dispositions back. */
static void
await_hangup(const struct st_attachment *a)
{
	struct pollfd end = {.fd = a->channel};
	poll(&end, 1, (int)(patience * 1000));
}

bool
st_detach(struct st_attachment *a)
{
	struct leaving l = {.a = a};
	struct st_error ignored;
	bool done = false;
	if (!leaves_by_itself(&l) && st_threads_stop(&l.ts, a->pid, patience, &ignored) == 0) {
		done = park_all(&l) && leave(&l);
		st_threads_release(&l.ts);
		st_threads_free(&l.ts);
	}
	if (!done && leaves_by_itself(&l))
		await_hangup(a);
	/* The signal for the runtime, where it is still there; strobe has the socket open, too. */
	shutdown(a->channel, SHUT_RDWR);
	close(a->channel);
	a->channel = -1;
	return done || st_clear_leftovers(a);
}
