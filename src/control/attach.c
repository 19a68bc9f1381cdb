/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaching: all threads are stopped, the first one maps the engine by remote calls, all of them
 * are sent into the runtime with a note of where they were, and are let go. Nothing of ptrace
 * remains.
 */
#include "control/attach.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "control/injection.h"
#include "control/supervisor.h"
#include "control/threads.h"

static const double patience = 5.0; /* seconds, for all threads to stop */
enum { MOST_THREADS = ST_MAX_SLOTS - 64, MAPS_PER_THREAD = 6 };

static st_status
check_threads(const struct st_threads *ts, struct st_error *e)
{
	size_t n = 0;
	for (size_t i = 0; i < ts->n; i++) {
		const struct user_regs_struct *r = &ts->v[i].regs;
		if (ts->v[i].gone)
			continue;
		n++;
		if (r->cs != 0x33)
			return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
			               "cannot attach process %d: it is a 32-bit program; strobe "
			               "knows 64-bit x86 only",
			               ts->pid);
		if (r->gs_base != 0)
			return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
			               "cannot attach process %d: its thread %d uses the GS base, "
			               "which strobe's engine needs",
			               ts->pid, ts->v[i].tid);
	}
	if (n > MOST_THREADS)
		return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
		               "cannot attach process %d: it has %s threads, and strobe can "
		               "attach at most %d",
		               ts->pid, ST_NUMBER(n), MOST_THREADS);
	return 0;
}

/* The kernel limits the number of mappings of a process; the engine adds some for each thread. */
static st_status
check_room(struct st_threads *ts, struct st_error *e)
{
	char path[64], line[512];
	unsigned long most = 65530, now = 0;
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	if (f && fscanf(f, "%lu", &most) != 1)
		most = 65530;
	if (f)
		fclose(f);
	snprintf(path, sizeof path, "/proc/%d/maps", st_threads_any(ts)->tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		now += strchr(line, '\n') != NULL;
	if (f)
		fclose(f);
	if (now + MAPS_PER_THREAD * ts->n + 64 > most)
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot attach process %d: it has %lu memory mappings of the %lu "
		               "that vm.max_map_count allows, and too few are left for strobe",
		               ts->pid, now, most);
	return 0;
}

/* A thread that was stopped within a restartable sequence is sent to its abort handler, as the
 * kernel would send it; and what it has registered is noted. */
static void
take_rseq(struct st_traced *t, struct st_attached *to)
{
	struct __ptrace_rseq_configuration c = {0};
	struct {
		uint32_t version, flags;
		uint64_t start, length, abort;
	} section;
	uint64_t at = 0;
	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, sizeof c, &c) <= 0 || !c.rseq_abi_pointer)
		return;
	to->rseq = c.rseq_abi_pointer;
	to->rseq_bytes = c.rseq_abi_size;
	to->rseq_signature = c.signature;
	struct iovec here = {&at, 8}, there = {(void *)(c.rseq_abi_pointer + 8), 8};
	if (process_vm_readv(t->tid, &here, 1, &there, 1, 0) != 8 || !at)
		return;
	here = (struct iovec){&section, sizeof section};
	there = (struct iovec){(void *)at, sizeof section};
	if (process_vm_readv(t->tid, &here, 1, &there, 1, 0) == sizeof section &&
	    t->regs.rip - section.start < section.length)
		t->regs.rip = section.abort;
}

/* The table of threads, the first one at its beginning. */
static st_status
write_table(struct st_threads *ts, struct st_traced *first, struct st_injection *in,
            struct st_error *e)
{
	struct st_attached *all = calloc(ts->n + 1, sizeof *all); /* it has one, at least */
	size_t n = 1;
	if (!all)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < ts->n; i++) {
		struct st_traced *t = &ts->v[i];
		if (t->gone)
			continue;
		struct st_attached *to = t == first ? all : &all[n++];
		take_rseq(t, to);
		to->tid = (uint32_t)t->tid;
		st_general_registers(to->regs, &t->regs);
		to->rflags = t->regs.eflags;
		to->pc = t->regs.rip;
		to->mask = t->mask;
		to->restart = t->restart;
	}
	in->boot.attached = (uint32_t)n;
	in->boot.threads = in->undo + ST_UNDO;
	in->remote.saved = first->regs;
	struct iovec here = {all, n * sizeof *all},
	             there = {(void *)in->boot.threads, n * sizeof *all};
	ssize_t wrote = process_vm_writev(first->tid, &here, 1, &there, 1, 0);
	free(all);
	if (wrote != (ssize_t)here.iov_len)
		return st_fail(e, ST_EXIT_FAILED, "cannot write to the process: %s",
		               strerror(errno));
	return 0;
}

/* Room for what calls need, and the table of threads. */
static st_status
map_scratch(struct st_injection *in, size_t n_threads)
{
	st_injection_mmap(in, "mmap", 0,
	                  ST_SCRATCH + ST_UNDO + n_threads * sizeof(struct st_attached),
	                  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (st_injection_do(in) != 0)
		return -1;
	in->scratch = in->mapped[0].at;
	in->undo = in->scratch + ST_SCRATCH;
	st_injection_way_back(in);
	return 0;
}

/* Where the runtime begins, with a place in the table of threads; the first one with the boot
 * block. */
static void
send_thread(struct st_traced *t, uint64_t entry, uint64_t boot, uint64_t place, uint64_t table)
{
	t->regs.rip = entry;
	t->regs.eflags = 0x202;
	t->regs.rdi = boot;
	t->regs.rsi = place;
	t->regs.rdx = table;
	t->mask =
	        ~0ull; /* until the runtime knows the thread: the handlers may be its own by then */
	ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
	ptrace(PTRACE_SETSIGMASK, t->tid, sizeof t->mask, &t->mask);
}

/*
 * All threads are stopped, and get their new registers. Should we be killed meanwhile, those that
 * have theirs find that the others have not, and turn back, the first one taking the engine away:
 * so it goes in first. From the moment on at which the word is written, all go in.
 */
static st_status
send_in(struct st_threads *ts, struct st_traced *first, struct st_injection *in, uint64_t entry)
{
	const uint64_t table = in->boot.threads, boot = st_injection_boot(in);
	const uint64_t all_sent = 1;
	uint64_t next = table + sizeof(struct st_attached);
	send_thread(first, entry, boot, table, table);
	for (size_t i = 0; i < ts->n; i++) {
		struct st_traced *t = &ts->v[i];
		if (t->gone || t == first)
			continue;
		send_thread(t, entry, 0, next, table);
		next += sizeof(struct st_attached);
	}
	if (!st_remote_write(&in->remote, table + offsetof(struct st_attached, all_sent), &all_sent,
	                     sizeof all_sent))
		return st_injection_fail(in, "writing to the process", -errno);
	st_retreat_clear(&in->remote.retreat);
	return 0;
}

/* The thread makes system calls for us from here on. Its other way back is to repeat the
 * system call that it was in: the kernel forgets how to continue it when a handler returns. */
static st_status
borrow(struct st_injection *in, struct st_traced *first)
{
	struct user_regs_struct again = first->regs;
	if (first->restart)
		again.rax = first->restart;
	if (st_remote_borrow(&in->remote, first->tid, &again, first->mask) != 0)
		return -1;
	st_limits_of(first->tid, in->boot.limits);
	memcpy(in->remote.retreat.data.limits, in->boot.limits, sizeof in->boot.limits);
	st_injection_way_back(in);
	st_limits_lift_of(first->tid);
	return 0;
}

/* Into the stopped process. */
static st_status
put_in(struct st_threads *ts, struct st_injection *in, struct st_error *e)
{
	struct st_traced *first = st_threads_any(ts);
	uint64_t entry;
	for (size_t i = 0; i < ts->n; i++) /* the main thread if it is there */
		if (ts->v[i].tid == ts->pid && !ts->v[i].gone)
			first = &ts->v[i];
	if (borrow(in, first) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot attach process %d: it has no vDSO",
		               ts->pid);
	if (map_scratch(in, ts->n) != 0 || st_injection_map(in, &entry) != 0 ||
	    write_table(ts, first, in, e) != 0 || send_in(ts, first, in, entry) != 0) {
		st_injection_undo(in);
		return -1;
	}
	return 0;
}

/* Threads that a runtime without its controller is just letting go have its GS base for a moment.
 */
static bool
is_being_left(const struct st_threads *ts)
{
	for (size_t i = 0; i < ts->n; i++)
		if (!ts->v[i].gone && ts->v[i].regs.gs_base != 0)
			return st_has_leftovers(ts->pid);
	return false;
}

static st_status
stop_all(struct st_threads *ts, pid_t pid, struct st_error *e)
{
	for (int tries = 0; tries < 50; tries++) {
		if (st_threads_stop(ts, pid, patience, e) != 0)
			return -1;
		if (!is_being_left(ts))
			return 0;
		st_threads_release(ts);
		st_threads_free(ts);
		nanosleep(&(struct timespec){0, 20000000}, NULL);
	}
	return st_threads_stop(ts, pid, patience, e);
}

st_status
st_attach(pid_t pid, const struct st_run_options *o, struct st_attachment *a, struct st_error *e)
{
	struct st_threads ts;
	struct st_injection in = {
	        .pid = pid, .options = o, .e = e, .running = true, .channel = -1, .ends = {-1, -1}};
	double begin = st_now_raw();
	if (st_attach_check(pid, e) != 0 || stop_all(&ts, pid, e) != 0)
		return -1;
	int bad = check_threads(&ts, e) != 0 || check_room(&ts, e) != 0 || put_in(&ts, &in, e) != 0;
	st_threads_release(&ts);
	st_threads_free(&ts);
	if (bad)
		return -1;
	*a = (struct st_attachment){.pid = pid,
	                            .results = in.results,
	                            .boot = st_boot_of(in.results),
	                            .threads = in.boot.attached,
	                            .begin = begin,
	                            .results_fd = in.here[ST_PARCEL_RESULTS],
	                            .channel = in.channel,
	                            .n_mapped = in.n_mapped};
	for (unsigned i = 0; i < in.n_mapped; i++) {
		a->mapped[i].at = in.mapped[i].at;
		a->mapped[i].bytes = in.mapped[i].bytes;
	}
	in.here[ST_PARCEL_RESULTS] = -1;
	st_injection_end(&in);
	return 0;
}
