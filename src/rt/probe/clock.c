/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's clocks and deadlines, from which the pauses of its threads are hidden:
 * wire/clock.h.
 */
#include <asm/unistd.h>
#include <errno.h>

#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

/* The code of a function after its probe. */
typedef long clock_rest_fn(uint64_t first, uint64_t second);

/* ---- hidden time ---- */

/* Where the hidden time of the thread is; NULL: it has none yet. */
SELDOM static const uint64_t *
find_clock_slot(uint32_t tid)
{
	const struct st_clock_slot *slots = probe_area()->clocks;
	for (uint32_t i = 0; i < ST_CLOCK_SLOTS; i++) {
		const struct st_clock_slot *slot = &slots[(tid + i) % ST_CLOCK_SLOTS];
		const uint32_t there = __atomic_load_n(&slot->tid, __ATOMIC_ACQUIRE);
		if (there == tid)
			return &slot->hidden_ns;
		if (!there)
			break;
	}
	return NULL;
}

static const uint64_t *
clock_slot_or_rest(uint32_t tid)
{
	const uint64_t *slot = find_clock_slot(tid);
	return slot ? slot : &probe_area()->hidden_ns;
}

/* The calling thread, and where its hidden time is. */
struct hidden {
	struct st_probe_thread *thread; /* NULL: it is not known */
	const uint64_t *ns;
};

/* The slot cannot be found by the thread pointer alone. */
SELDOM static struct hidden
hidden_of_number(struct st_probe_thread *t)
{
	return (struct hidden){t, clock_slot_or_rest((uint32_t)SYS(__NR_gettid))};
}

static inline struct hidden
hidden_here(void)
{
	if (UNLIKELY(!*(volatile uint64_t *)probe_context.note))
		probe_notice_fork();
	if (UNLIKELY(probe_area()->mixes) && !probe_context.forked)
		return hidden_of_number(NULL);
	struct st_probe_thread *t = probe_thread();
	if (UNLIKELY(probe_context.forked))
		return (struct hidden){t, &probe_context.frozen_ns};
	if (UNLIKELY(!t || !probe_context.tid_at))
		return hidden_of_number(t);
	if (UNLIKELY(!t->hidden))
		t->hidden = (uint64_t)find_clock_slot(t->tid);
	return (struct hidden){t,
	                       t->hidden ? (const uint64_t *)t->hidden : &probe_area()->hidden_ns};
}

static inline uint64_t
hidden_ns(const struct hidden *h)
{
	return __atomic_load_n(h->ns, __ATOMIC_ACQUIRE);
}

/* Nothing pauses a child of fork: its clocks go on from where those of the thread were that has
 * made it. */
void
probe_freeze_clocks(void)
{
	uint64_t fs;
	__asm__("movq %%fs:0, %0" : "=r"(fs));
	const uint32_t at = probe_hash(fs);
	const struct st_probe_thread *t = (const struct st_probe_thread *)probe_context.thread[at];
	const bool is_known = probe_context.fs[at] == fs && t && t->hidden;
	probe_context.frozen_ns = is_known ? *(const uint64_t *)t->hidden : probe_area()->hidden_ns;
}

void
probe_begin_clocks(struct st_probe_thread *t)
{
	t->hidden = 0;
	t->in_clock = 0;
	for (int i = 0; i < ST_CLOCK_IDS; i++)
		t->clocks[i] = (struct st_clock_seen){0, 0};
}

/* ---- clocks ---- */

/* Memory may be given back when no thread is in here: also while it executes the kernel's code,
 * which returns to here. */
static inline void
count_clock_calls(const struct hidden *h, uint32_t more)
{
	__asm__ volatile("" : : : "memory");
	if (LIKELY(h->thread))
		h->thread->in_clock += more;
	__asm__ volatile("" : : : "memory");
}

/* Reads the clock between two equal numbers for the hidden time: a pause in between is either in
 * both of them or in neither. */
static inline long
read_between(const struct hidden *h, clock_rest_fn *rest, uint64_t first, uint64_t second,
             uint64_t *ns)
{
	long result;
	uint64_t again = hidden_ns(h);
	do {
		*ns = again;
		result = rest(first, second);
		again = hidden_ns(h);
	} while (UNLIKELY(again != *ns));
	return result;
}

static inline int64_t
hide_ns(const struct hidden *h, uint32_t id, int64_t real, uint64_t ns)
{
	return LIKELY(h->thread) ? st_clock_hide(&h->thread->clocks[id], real, (int64_t)ns)
	                         : real - (int64_t)ns;
}

static inline long
get_time(const struct hidden *h, clock_rest_fn *rest, uint64_t id, struct st_clock_time *to)
{
	uint64_t ns;
	const long result = read_between(h, rest, id, (uint64_t)to, &ns);
	if (UNLIKELY(result))
		return result;
	const int64_t time =
	        hide_ns(h, (uint32_t)id, to->seconds * ST_CLOCK_NS + to->nanoseconds, ns);
	to->seconds = time / ST_CLOCK_NS;
	to->nanoseconds = time % ST_CLOCK_NS;
	return 0;
}

static long
get_time_of_day(const struct hidden *h, clock_rest_fn *rest, struct st_clock_time *to,
                uint64_t zone)
{
	enum { US = 1000 };
	uint64_t ns;
	const long result = read_between(h, rest, (uint64_t)to, zone, &ns);
	if (result || !to)
		return result;
	const int64_t time =
	        hide_ns(h, ST_CLOCK_REALTIME, to->seconds * ST_CLOCK_NS + to->nanoseconds * US, ns);
	to->seconds = time / ST_CLOCK_NS;
	to->nanoseconds = time % ST_CLOCK_NS / US;
	return 0;
}

static long
get_seconds(const struct hidden *h, int64_t *to)
{
	struct st_clock_time now = {0, 0};
	/* Seconds alone do not tell when the hidden ones end. */
	clock_rest_fn *rest = (clock_rest_fn *)probe_context.clock_rest;
	if (!rest || get_time(h, rest, ST_CLOCK_REALTIME_COARSE, &now))
		return -ENOSYS;
	if (to)
		*to = now.seconds;
	return now.seconds;
}

long
probe_clock(uint64_t first, uint64_t second, uint64_t which, clock_rest_fn *rest)
{
	long result;
	if (which == ST_CLOCK_GETTIME && !st_clock_is_hidden(first))
		return rest(first, second);
	const struct hidden h = hidden_here();
	count_clock_calls(&h, 1);
	if (LIKELY(which == ST_CLOCK_GETTIME))
		result = get_time(&h, rest, first, (struct st_clock_time *)second);
	else if (which == ST_CLOCK_GETTIMEOFDAY)
		result = get_time_of_day(&h, rest, (struct st_clock_time *)first, second);
	else
		result = get_seconds(&h, (int64_t *)first);
	count_clock_calls(&h, (uint32_t)-1);
	return result;
}

/* ---- deadlines ---- */

enum { ABSOLUTE = 1 }; /* TIMER_ABSTIME, TFD_TIMER_ABSTIME */

/* Which register has the address of a deadline. */
struct deadline {
	int8_t at;     /* below 0: none has */
	uint8_t timer; /* there are two times, of which the second one is the deadline */
};

static const struct deadline no_deadline = {-1, 0};

/* clock_nanosleep, its arguments from the given register on. */
static struct deadline
deadline_of_sleep(const uint64_t *registers, int from)
{
	const bool is_one = registers[from + 1] & ABSOLUTE && st_clock_is_hidden(registers[from]);
	return is_one ? (struct deadline){(int8_t)(from + 2), 0} : no_deadline;
}

static struct deadline
deadline_of_timer(const uint64_t *registers, int from)
{
	return registers[from + 1] & ABSOLUTE ? (struct deadline){(int8_t)(from + 2), 1}
	                                      : no_deadline;
}

/* Operations of futex with a deadline. The others have a duration. */
static bool
has_deadline(uint64_t operation)
{
	enum { LOCK_PI = 6, WAIT_BITSET = 9, WAIT_REQUEUE_PI = 11, LOCK_PI2 = 13, FLAGS = 0x180 };
	const uint64_t what = operation & ~(uint64_t)FLAGS;
	return what == LOCK_PI || what == WAIT_BITSET || what == WAIT_REQUEUE_PI ||
	       what == LOCK_PI2;
}

static struct deadline
deadline_of_syscall(const uint64_t *registers)
{
	switch (registers[0]) {
	case __NR_futex:
		return has_deadline(registers[2]) ? (struct deadline){4, 0} : no_deadline;
	case __NR_futex_waitv:
		return (struct deadline){4, 0};
	case __NR_mq_timedsend:
	case __NR_mq_timedreceive:
		return (struct deadline){5, 0};
	case __NR_clock_nanosleep:
		return deadline_of_sleep(registers, 1);
	case __NR_timerfd_settime:
	case __NR_timer_settime:
		return deadline_of_timer(registers, 1);
	default:
		return no_deadline;
	}
}

static struct deadline
find_deadline(uint32_t amount, const uint64_t *registers)
{
	switch (amount) {
	case ST_DEADLINE_NANOSLEEP:
		return deadline_of_sleep(registers, 0);
	case ST_DEADLINE_TIMER:
		return deadline_of_timer(registers, 0);
	case ST_DEADLINE_SYSCALL:
		return deadline_of_syscall(registers);
	default:
		return (struct deadline){(int8_t)amount, 0};
	}
}

static struct st_clock_copy *
next_copy(struct st_probe_thread *t)
{
	const uint64_t thread = (uint64_t)(t - (struct st_probe_thread *)probe_context.threads);
	return (struct st_clock_copy *)probe_context.deadlines + thread * ST_CLOCK_COPIES +
	       t->copies++ % ST_CLOCK_COPIES;
}

void
probe_deadline(uint64_t function, uint64_t *registers)
{
	const struct deadline d = find_deadline(probe_area()->actions[function].amount, registers);
	if (d.at < 0 || !registers[d.at])
		return;
	const struct hidden h = hidden_here();
	const uint64_t ns = hidden_ns(&h);
	const struct st_clock_time *times = (const struct st_clock_time *)registers[d.at];
	if (!ns || !h.thread || !probe_context.deadlines)
		return;
	struct st_clock_copy *copy = next_copy(h.thread);
	copy->times[0] = times[0];
	if (d.timer)
		copy->times[1] = times[1];
	struct st_clock_time *deadline = &copy->times[d.timer];
	const bool disarms = d.timer && !deadline->seconds && !deadline->nanoseconds;
	if (!disarms && st_clock_later(deadline, ns))
		registers[d.at] = (uint64_t)copy;
}
