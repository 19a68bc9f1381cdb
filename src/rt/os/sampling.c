/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/os/sampling.h"

#include <asm/unistd.h>
#include <linux/perf_event.h>

#include "rt/budget/budget.h"
#include "rt/os/os.h"

enum {
	THREAD_CPU_CLOCK = 3, /* CLOCK_THREAD_CPUTIME_ID */
	/* A timer, which needs neither permission nor a descriptor, gives this many samples per
	 * second, because kernels of most configurations tick at least as often. */
	TIMER_HZ = 250,
	SECOND_NS = 1000000000,
	NOFILE = 7,
	GET_SECCOMP = 21,
	DUPFD_CLOEXEC = 1030,
	SET_FLAGS = 4,
	SET_SIGNAL = 10,
	SET_OWNER = 15, /* F_SETOWN_EX */
	O_ASYNC_BIT = 0x2000,
	POLL_FIRST = 1, /* POLL_IN */
	POLL_LAST = 6,  /* POLL_HUP */
	CODE_KERNEL = 0x80,
	SIGNAL_IO = 29,
	E_MFILE = 24,
	WORD = 64,
	MOST_FD = ST_SAMPLING_EVENTS,
};

void
sampling_reset(struct thread *t)
{
	t->sampling.timer = t->sampling.event = -1;
	t->sampling.armed = false;
}

/* ---- descriptors ---- */

static uint64_t *
event_word(uint64_t *bits, uint32_t fd)
{
	return &bits[(fd - rt.sampling.first_fd) / WORD];
}

static uint64_t
event_bit(uint32_t fd)
{
	return 1ull << (fd - rt.sampling.first_fd) % WORD;
}

static bool
is_event_number(uint32_t fd)
{
	return fd >= rt.sampling.first_fd && fd - rt.sampling.first_fd < MOST_FD;
}

static bool
event_bit_is_set(uint64_t *bits, uint32_t fd)
{
	return rt.sampling.first_fd && is_event_number(fd) &&
	       (__atomic_load_n(event_word(bits, fd), __ATOMIC_RELAXED) & event_bit(fd));
}

static void
enlist_event(uint32_t fd)
{
	__atomic_fetch_or(event_word(rt.sampling.ever, fd), event_bit(fd), __ATOMIC_SEQ_CST);
	__atomic_fetch_or(event_word(rt.sampling.open, fd), event_bit(fd), __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&rt.sampling.n_events, 1, __ATOMIC_SEQ_CST);
}

static void
strike_event(uint32_t fd)
{
	__atomic_fetch_and(event_word(rt.sampling.open, fd), ~event_bit(fd), __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&rt.sampling.n_events, 1, __ATOMIC_SEQ_CST);
}

uint32_t
sampling_next_descriptor(uint32_t first, uint32_t last)
{
	const uint32_t begin = rt.sampling.first_fd;
	if (!rt.sampling.n_events || last < begin)
		return UINT32_MAX;
	for (uint32_t fd = first > begin ? first : begin; fd <= last && is_event_number(fd); fd++)
		if (event_bit_is_set(rt.sampling.open, fd))
			return fd;
	return UINT32_MAX;
}

/* Numbers that programs seldom use, and no higher than needed: a fork copies the table of
 * descriptors up to the highest. */
static uint32_t
choose_first_descriptor(void)
{
	enum { HIGH = 1024, ENOUGH = 4 * HIGH };
	uint64_t limit[2] = {0, 0};
	SYS(__NR_prlimit64, 0, NOFILE, 0, limit);
	const uint64_t first = limit[0] >= ENOUGH ? HIGH : limit[0] - limit[0] / 4;
	return first > 3 ? (uint32_t)first : 3;
}

/* Gives the event's descriptor a number that programs seldom use. Returns it, or a negative error.
 */
static long
put_away(long fd)
{
	const long high = SYS(__NR_fcntl, fd, DUPFD_CLOEXEC, rt.sampling.first_fd);
	SYS(__NR_close, fd);
	if (sys_failed(high))
		return -E_MFILE;
	if (is_event_number((uint32_t)high))
		return high;
	SYS(__NR_close, high);
	return -E_MFILE;
}

/* ---- events ---- */

/* A seccomp filter that was in force before the runtime began, and that it therefore does not know,
 * could kill the process for its system calls. */
static bool
may_open_events(const struct thread *t)
{
	if (!rt.sampling.asked) {
		rt.sampling.first_fd = choose_first_descriptor();
		rt.sampling.filtered = SYS(__NR_prctl, GET_SECCOMP) != 0;
		rt.sampling.asked = true;
	}
	if (rt.sampling.filtered)
		rt.results->samples.refused = ST_SAMPLES_FILTERED;
	return !rt.sampling.filtered && !rt.serves && !t->own_process;
}

static long
open_event(uint32_t hz)
{
	const struct perf_event_attr about = {.type = PERF_TYPE_SOFTWARE,
	                                      .size = sizeof about,
	                                      .config = PERF_COUNT_SW_CPU_CLOCK,
	                                      .sample_period = SECOND_NS / hz,
	                                      .disabled = 1,
	                                      .wakeup_events = 1};
	/* No child may be forked while the event has a number that is not in the list. */
	rt_lock(&rt.lock);
	long fd = SYS(__NR_perf_event_open, &about, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (!sys_failed(fd))
		fd = put_away(fd);
	if (!sys_failed(fd))
		enlist_event((uint32_t)fd);
	rt_unlock(&rt.lock);
	return fd;
}

/* The event sends one tick, and the next one only after the thread has handled the first. So at
 * most one signal is pending, and the thread makes progress however long it handles a tick. */
void
sampling_rearm(struct thread *t)
{
	if (t->sampling.event < 0 || t->sampling.armed)
		return;
	t->sampling.armed = true;
	SYS(__NR_ioctl, t->sampling.event, PERF_EVENT_IOC_REFRESH, 1);
}

static bool
start_event(struct thread *t, uint32_t hz)
{
	const struct {
		int32_t type, tid;
	} owner = {0 /* F_OWNER_TID */, (int32_t)t->tid};
	if (!may_open_events(t))
		return false;
	const long fd = open_event(hz);
	if (sys_failed(fd)) {
		rt.results->samples.refused = (int32_t)-fd;
		return false;
	}
	SYS(__NR_fcntl, fd, SET_SIGNAL, SIGNAL_OWN);
	SYS(__NR_fcntl, fd, SET_OWNER, &owner);
	SYS(__NR_fcntl, fd, SET_FLAGS, O_ASYNC_BIT);
	t->sampling.event = (int)fd;
	sampling_rearm(t);
	return true;
}

static void
start_timer(struct thread *t, uint32_t hz)
{
	struct {
		uint64_t value;
		int signo, notify, tid, pad[11];
	} event = {OWN_SAMPLE, SIGNAL_OWN, 4 /* SIGEV_THREAD_ID */, (int)t->tid, {0}};
	int id;
	if (SYS(__NR_timer_create, THREAD_CPU_CLOCK, &event, &id) != 0)
		return;
	t->sampling.timer = id;
	const long ns = SECOND_NS / (long)hz;
	long spec[4] = {ns / SECOND_NS, ns % SECOND_NS, ns / SECOND_NS, ns % SECOND_NS};
	SYS(__NR_timer_settime, id, 0, spec, 0);
}

void
sampling_start(struct thread *t)
{
	uint32_t hz = rt.sampling.hz;
	if (budget_exists() && hz < ST_BUDGET_HZ)
		hz = ST_BUDGET_HZ;
	if (!hz)
		return;
	if (hz > TIMER_HZ && start_event(t, hz)) {
		__atomic_fetch_add(&rt.results->stats[ST_STAT_by_event], 1, __ATOMIC_RELAXED);
		return;
	}
	start_timer(t, hz);
	__atomic_fetch_add(&rt.results->stats[ST_STAT_by_timer], 1, __ATOMIC_RELAXED);
}

void
sampling_stop(struct thread *t)
{
	const int fd = t->sampling.event;
	if (t->sampling.timer >= 0)
		SYS(__NR_timer_delete, t->sampling.timer);
	t->sampling.event = -1;
	if (fd < 0)
		return;
	SYS(__NR_ioctl, fd, PERF_EVENT_IOC_DISABLE, 0);
	SYS(__NR_close, fd);
	strike_event((uint32_t)fd);
}

static void
suspend_event(struct thread *t)
{
	if (t->sampling.event >= 0 && !t->own_process)
		SYS(__NR_ioctl, t->sampling.event, PERF_EVENT_IOC_DISABLE, 0);
}

static void
resume_event(struct thread *t)
{
	if (t->sampling.event < 0 || t->own_process)
		return;
	if (t->sampling.armed)
		SYS(__NR_ioctl, t->sampling.event, PERF_EVENT_IOC_ENABLE, 0);
	else
		sampling_rearm(t);
}

void
sampling_suspend(struct thread *t)
{
	static const long never[4];
	if (t->sampling.timer >= 0)
		SYS(__NR_timer_settime, t->sampling.timer, 0, never, t->sampling.rest);
	suspend_event(t);
}

void
sampling_resume(struct thread *t)
{
	long *rest = t->sampling.rest;
	resume_event(t);
	if (t->sampling.timer < 0)
		return;
	if (!rest[2] && !rest[3]) { /* it had just run out: the next one is a whole interval away */
		rest[2] = rest[0];
		rest[3] = rest[1];
	}
	SYS(__NR_timer_settime, t->sampling.timer, 0, rest, 0);
}

/* ---- ticks ---- */

bool
sampling_is_tick(int signo, const struct siginfo *info)
{
	return signo == SIGNAL_OWN && info->code >= POLL_FIRST && info->code <= POLL_LAST &&
	       event_bit_is_set(rt.sampling.ever, (uint32_t)info->value);
}

void
sampling_take_tick(struct thread *t)
{
	t->sampling.armed = false;
}

/* An event that runs counts CPU time; one that has run out does not. */
static bool
event_runs(const struct thread *t)
{
	uint64_t count[2] = {0, 0};
	SYS(__NR_read, t->sampling.event, &count[0], 8);
	SYS(__NR_read, t->sampling.event, &count[1], 8);
	return count[0] != count[1];
}

bool
sampling_is_lost_tick(struct thread *t, int signo, const struct siginfo *info)
{
	if (signo != SIGNAL_IO || info->code != CODE_KERNEL || t->sampling.event < 0 ||
	    !t->sampling.armed || t->own_process || event_runs(t))
		return false;
	sampling_take_tick(t);
	return true;
}

/* Drops a pending tick, which would kill the new program. Other pending signals stay pending. */
static void
drop_tick(struct thread *t)
{
	enum { MOST = 16 };
	struct siginfo info, others[MOST];
	uint64_t set = SIGNAL_BIT(SIGNAL_OWN), now[2] = {0, 0};
	unsigned n = 0;
	while (n < MOST && SYS(__NR_rt_sigtimedwait, &set, &info, now, 8) == SIGNAL_OWN) {
		if (sampling_is_tick(info.signo, &info))
			sampling_take_tick(t);
		else
			others[n++] = info;
	}
	for (unsigned i = 0; i < n; i++)
		SYS(__NR_rt_tgsigqueueinfo, rt.pid, t->tid, SIGNAL_OWN, &others[i]);
}

void
sampling_exec_begin(struct thread *t)
{
	if (t->sampling.event < 0 || t->own_process)
		return;
	suspend_event(t);
	drop_tick(t);
}

void
sampling_exec_failed(struct thread *t)
{
	resume_event(t);
}

/* ---- descriptors and the program ---- */

void
sampling_leave_parent(struct thread *t, bool shared)
{
	uint32_t fd = sampling_next_descriptor(0, UINT32_MAX - 1);
	for (; fd != UINT32_MAX; fd = sampling_next_descriptor(fd + 1, UINT32_MAX - 1)) {
		if (!shared)
			SYS(__NR_close, fd);
		*event_word(rt.sampling.open, fd) &= ~event_bit(fd);
	}
	rt.sampling.n_events = 0;
	sampling_reset(t);
}

/* The signal names the number that the descriptor had when signals were asked for. */
static long
move_event(struct thread *t)
{
	const uint32_t old = (uint32_t)t->sampling.event;
	const long fd = SYS(__NR_fcntl, old, DUPFD_CLOEXEC, old + 1);
	if (sys_failed(fd))
		return fd;
	if (!is_event_number((uint32_t)fd)) {
		SYS(__NR_close, fd);
		return -E_MFILE;
	}
	enlist_event((uint32_t)fd);
	suspend_event(t); /* a tick in between would be sent to nobody */
	SYS(__NR_fcntl, fd, SET_FLAGS, 0);
	SYS(__NR_fcntl, fd, SET_FLAGS, O_ASYNC_BIT);
	t->sampling.event = (int)fd;
	resume_event(t);
	strike_event(old);
	return fd;
}

long
sampling_move_descriptor(uint32_t fd)
{
	long moved = -E_MFILE;
	rt_lock(&rt.thread_lock);
	for (struct thread *t = rt.threads; t; t = t->next_thread)
		if (!t->ended && t->sampling.event == (int)fd)
			moved = move_event(t);
	rt_unlock(&rt.thread_lock);
	return moved;
}
