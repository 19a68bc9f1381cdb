/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <asm/unistd.h>

#include "rt/budget/budget.h"
#include "rt/jit/jit.h"
#include "rt/os/held.h"
#include "rt/os/os.h"
#include "rt/os/process.h"
#include "rt/os/sampling.h"
#include "rt/os/waiting.h"
#include "rt/tool/callbacks.h"

enum { E_BADF = 9, DUPFD = 0, DUPFD_CLOEXEC = 1030 };

static void
say_state(const struct thread *t, enum st_run_state state)
{
	if (t->own_process)
		return;
	rt.results->run.state = state;
	rt.results->run.tsc_end = rt_tsc();
}

void
process_leaves(const struct thread *t)
{
	int64_t now[2];
	if (t->own_process || rt.results->run.left_ns ||
	    SYS(__NR_clock_gettime, 2 /* CLOCK_PROCESS_CPUTIME_ID */, now) != 0)
		return;
	rt.results->run.left_ns = (uint64_t)(now[0] * 1000000000 + now[1]);
}

void
process_stays(const struct thread *t)
{
	if (!t->own_process && !rt.results->stats[ST_STAT_native_threads])
		rt.results->run.left_ns = 0;
}

/* The kernel's mask is what the new program inherits. A signal that comes before the call has begun
 * comes first; what the runtime has taken would be lost with it. */
static long
exec_with_mask(struct thread *t, const uint64_t *program, const uint64_t *after)
{
	const struct ksigaction *trap = &t->signals.table->action[SIGNAL_TRAP];
	bool ignores_traps = trap->handler == 1;
	/* An ignored signal is inherited as well. */
	if (ignores_traps)
		SYS(__NR_rt_sigaction, SIGNAL_TRAP, trap, 0, 8);
	SYS(__NR_rt_sigprocmask, 2, program, 0, 8);
	held_give_kernel(t, t->signals.blocked); /* keeps signals pending */
	long ret = rt_app_syscall(t);
	signals_block_all();
	held_take_from_kernel(t, t->signals.blocked);
	if (ignores_traps)
		signals_tell_kernel(SIGNAL_TRAP, trap);
	if (t->pending & 1)
		t->signals.queued_mask = *after;
	else
		SYS(__NR_rt_sigprocmask, 2, after, 0, 8);
	return ret;
}

long
sys_exec(struct thread *t)
{
	uint64_t mask = signals_block_all();
	if (t->pending & 1) {
		SYS(__NR_rt_sigprocmask, 2, &mask, 0, 8);
		return -NOT_BEGUN;
	}
	uint64_t program = (mask & ~NEVER_BLOCKED) | t->signals.blocked;
	if (!t->own_process) {
		waiting_end_all(t);
		callback_end(t);
	}
	budget_end_all(t);
	say_state(t, ST_RUN_EXECED);
	/* After the ends of threads, when rows are handed over: one of this call stays with the
	 * thread, where the tool can take it back if the call fails. */
	if (!t->call.exec_reported)
		t->call.exec_reported = callback_syscall_before(t, &t->call.exec);
	/* A vfork's child is another process, though it runs in the memory of this one. */
	bool follows = rt.follow || (rt.follow_exec && !t->own_process);
	bool followed = follows && follow_exec_begin(t);
	uint64_t limits[2];
	limits_exec(limits, true);
	if (!followed)
		process_leaves(t);
	sampling_exec_begin(t);
	long ret = exec_with_mask(t, &program, &mask);
	sampling_exec_failed(t);
	if (followed)
		follow_exec_failed(t);
	else
		process_stays(t);
	limits_exec(limits, false);
	say_state(t, ST_RUN_CACHE);
	if (!t->own_process)
		rt.results->run.tsc_end = 0;
	return ret;
}

void
sys_exit_group(struct thread *t)
{
	int code = (int)t->regs.r[RDI];
	if (!t->own_process)
		rt.results->run.exit_code = code & 0xff;
	if (!t->own_process) {
		waiting_end_all(t);
		callback_end(t);
	}
	budget_end_all(t);
	say_state(t, ST_RUN_EXITED);
	for (;;)
		SYS(__NR_exit_group, code);
}

/* Descriptors that the program does not see. */
static bool
is_own_descriptor(uint32_t fd)
{
	return (rt.boot->channel && fd == rt.boot->channel) || sampling_has_descriptor(fd);
}

static uint32_t
next_own_descriptor(uint32_t first, uint32_t last)
{
	const uint32_t channel = rt.boot->channel, event = sampling_next_descriptor(first, last);
	return channel && channel >= first && channel <= last && channel < event ? channel : event;
}

/* Returns the number that the text says; UINT32_MAX: it is not a number. */
static uint32_t
number_of_entry(const uint8_t *text)
{
	uint32_t n = 0;
	if (!*text)
		return UINT32_MAX;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || n > 100000000)
			return UINT32_MAX;
		n = n * 10 + *text - '0';
	}
	return n;
}

/* Takes the entries of our own descriptors out of a listing of /proc/PID/fd. */
static long
hide_entries(int fd, uint8_t *list, long bytes)
{
	char link[40] = "/proc/thread-self/fd/", target[64] = "";
	rt_decimal(link + 21, (uint32_t)fd);
	long n = SYS(__NR_readlink, link, target, sizeof target);
	if (n < 10 || memcmp(target, "/proc/", 6) != 0 || memcmp(target + n - 3, "/fd", 3) != 0)
		return bytes;
	for (long at = 0; at < bytes;) {
		uint16_t len;
		memcpy(&len, list + at + 16, 2);
		if (!is_own_descriptor(number_of_entry(list + at + 19))) {
			at += len;
			continue;
		}
		for (long i = at; i + len < bytes; i++)
			list[i] = list[i + len];
		bytes -= len;
	}
	return bytes;
}

/* Reads on where all entries were our own: an empty answer would say that the list ends here. */
static long
sys_list(struct thread *t)
{
	for (;;) {
		const long all = rt_app_syscall(t);
		const long ret =
		        all > 0 ? hide_entries((int)t->regs.r[RDI], (uint8_t *)t->regs.r[RSI], all)
		                : all;
		if (ret || !all)
			return ret;
	}
}

bool
names_own_descriptor(const struct thread *t)
{
	if (!is_own_descriptor((uint32_t)t->regs.r[RDI]))
		return false;
	switch (t->regs.r[RAX]) {
	case __NR_read ... __NR_write:
	case __NR_fstat:
	case __NR_lseek:
	case __NR_ioctl ... __NR_writev:
	case __NR_connect ... __NR_getpeername:
	case __NR_setsockopt:
	case __NR_getsockopt:
	case __NR_flock ... __NR_fdatasync:
	case __NR_ftruncate:
	case __NR_fchdir:
	case __NR_fchmod:
	case __NR_fchown:
	case __NR_fstatfs:
	case __NR_openat:
	case __NR_newfstatat:
	case __NR_accept4:
	case __NR_statx:
		return true;
	default:
		return false;
	}
}

/* The program wants our descriptor's number, and perhaps those that follow: a copy near the limit,
 * else anywhere. */
static long
duplicate_away(uint64_t own)
{
	enum { NOFILE = 7, MOST = 1 << 20, FROM_LIMIT = 32 };
	uint64_t limit[2] = {0, 0};
	SYS(__NR_prlimit64, 0, NOFILE, 0, limit);
	uint64_t high = (limit[0] > MOST ? MOST : limit[0]) - FROM_LIMIT;
	long copy = -E_BADF;
	if (limit[0] > own + FROM_LIMIT)
		copy = SYS(__NR_fcntl, own, DUPFD_CLOEXEC, high);
	return sys_failed(copy) ? SYS(__NR_fcntl, own, DUPFD_CLOEXEC, own / 2) : copy;
}

/* Closes the descriptors from first to last without our own. */
static long
close_program_range(struct thread *t, uint32_t first, uint32_t last)
{
	uint32_t own = next_own_descriptor(first, last);
	if (first > last || own == UINT32_MAX)
		return rt_app_syscall(t);
	for (;;) {
		const uint32_t end = own == UINT32_MAX ? last : own - 1;
		const long ret =
		        own == first ? 0 : SYS(__NR_close_range, first, end, t->regs.r[RDX]);
		if (ret || own == UINT32_MAX || own == last)
			return ret;
		first = own + 1;
		own = next_own_descriptor(first, last);
	}
}

/* dup2 and dup3. */
static long
duplicate_to(struct thread *t)
{
	const uint32_t from = (uint32_t)t->regs.r[RDI], to = (uint32_t)t->regs.r[RSI];
	if (is_own_descriptor(from))
		return -E_BADF;
	long moved = 0;
	if (rt.boot->channel && to == rt.boot->channel) {
		moved = duplicate_away(to);
		if (!sys_failed(moved))
			rt.boot->channel = (uint32_t)moved;
	} else if (!t->own_process && sampling_has_descriptor(to)) {
		moved = sampling_move_descriptor(to);
	}
	return sys_failed(moved) ? moved : rt_app_syscall(t);
}

/* F_DUPFD gives the lowest number, at least `first`, that the program does not use: if an event has
 * this number, the event gets another one. */
static long
duplicate_from(struct thread *t)
{
	const uint32_t first = (uint32_t)t->regs.r[RDX];
	const long ret = rt_app_syscall(t);
	if (ret <= 0 || (uint32_t)ret <= first || t->own_process)
		return ret;
	const uint32_t own = sampling_next_descriptor(first, (uint32_t)ret - 1);
	if (own == UINT32_MAX || sys_failed(sampling_move_descriptor(own)))
		return ret;
	SYS(__NR_close, own);
	SYS(__NR_close, ret);
	return rt_app_syscall(t);
}

long
sys_descriptor(struct thread *t)
{
	const uint64_t *r = t->regs.r;
	if (!rt.boot->channel && !rt.sampling.n_events)
		return rt_app_syscall(t);
	switch (r[RAX]) {
	case __NR_getdents64:
		return sys_list(t);
	case __NR_close:
	case __NR_dup:
		return is_own_descriptor((uint32_t)r[RDI]) ? -E_BADF : rt_app_syscall(t);
	case __NR_fcntl:
		if (is_own_descriptor((uint32_t)r[RDI]))
			return -E_BADF;
		return r[RSI] == DUPFD || r[RSI] == DUPFD_CLOEXEC ? duplicate_from(t)
		                                                  : rt_app_syscall(t);
	case __NR_close_range:
		return close_program_range(t, (uint32_t)r[RDI], (uint32_t)r[RSI]);
	default:
		return duplicate_to(t);
	}
}
