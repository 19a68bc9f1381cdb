/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps a random sample of the calls of a function, with the data that they work on
 * (wire/record.h). Algorithm R decides before any data is read: the first calls are kept, and each
 * later one replaces a kept call with the probability that makes all calls so far equally likely to
 * be kept. A row belongs to the call that has written it last; a call that returns and finds
 * another call in its row has been replaced.
 */
#include <asm/unistd.h>

#include "rt/lib/recordops.h"
#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

static struct st_record_scratch *
record_scratch(struct st_probe_thread *t)
{
	struct st_record_scratch *own = (struct st_record_scratch *)t->scratch;
	if (UNLIKELY(!own)) {
		const uint32_t at = probe_allocate(sizeof *own);
		if (!at)
			return NULL;
		own = probe_at(at);
		t->scratch = (uint64_t)own;
	}
	if (UNLIKELY(own->tid != t->tid)) { /* left by a thread that has ended */
		own->tid = t->tid;
		own->busy = 0;
	}
	return own;
}

static void
set_record_busy(struct st_record_scratch *own, uint32_t busy)
{
	__asm__ volatile("" : : : "memory");
	own->busy = busy;
	__asm__ volatile("" : : : "memory");
}

/* ---- metrics ---- */

struct usage {
	int64_t times[4];
	int64_t numbers[14];
};
enum { USAGE_MINOR = 4, USAGE_MAJOR = 5, USAGE_SWITCHES = 12, USAGE_PREEMPTIONS = 13 };

static void
read_metrics_once(struct st_probe_thread *t, uint32_t wanted, uint64_t net, int64_t *to)
{
	for (uint32_t i = ST_RECORD_ALLOCATED; i < ST_RECORD_METRIC_COUNT; i++)
		to[i] = (int64_t)t->tallies.v[i];
	if (wanted & ST_RECORD_USAGE) {
		struct usage usage = {0};
		SYS(__NR_getrusage, 1 /* RUSAGE_THREAD */, &usage);
		to[ST_RECORD_MINOR] = usage.numbers[USAGE_MINOR];
		to[ST_RECORD_MAJOR] = usage.numbers[USAGE_MAJOR];
		to[ST_RECORD_SWITCHES] = usage.numbers[USAGE_SWITCHES];
		to[ST_RECORD_PREEMPTIONS] = usage.numbers[USAGE_PREEMPTIONS];
	}
	if (wanted & ST_RECORD_IO)
		probe_read_io(t, &to[ST_RECORD_READ], &to[ST_RECORD_WRITTEN]);
	if (wanted & 1u << ST_RECORD_LOCK_HELD)
		to[ST_RECORD_LOCK_HELD] = (int64_t)probe_lock_held(t, net);
}

/* Costs of the thread until `net`, which is its clock (probe_net). */
static void
read_metrics(struct st_probe_thread *t, const struct st_record_function *r, uint64_t net,
             int64_t *to)
{
	for (uint32_t i = 0; i <= r->again; i++)
		read_metrics_once(t, r->metrics, net, to);
}

/* ---- CPU time ---- */

/*
 * A call's CPU time is the difference of two readings of the thread's clock. It includes one whole
 * reading, the end of the first and the beginning of the second, and what probes did in between.
 * The wall-clock time of probes is not their CPU time, because other threads may run meanwhile, so
 * a call that is kept reads the clock at the beginning and at the end of each cost.
 */
static uint64_t
cost_of_reading(void)
{
	enum { READINGS = 15 };
	uint64_t v[READINGS] = {0}, last = probe_cpu_time();
	for (uint32_t i = 0; i < READINGS; i++) {
		const uint64_t now = probe_cpu_time(), cost = now - last;
		uint32_t at = i;
		for (; at && v[at - 1] > cost; at--)
			v[at] = v[at - 1];
		v[at] = cost;
		last = now;
	}
	return v[READINGS / 2] ? v[READINGS / 2] : 1;
}

/* Reads the clock if the function's calls have the metric. */
static uint64_t
read_clock(struct st_probe_thread *t, const struct st_record_function *r)
{
	if (!(r->metrics & 1u << ST_RECORD_CPU))
		return 0;
	const uint64_t now = probe_cpu_time();
	for (uint32_t i = 0; i < r->again; i++)
		probe_cpu_time();
	if (UNLIKELY(!t->clock.cost))
		t->clock.cost = cost_of_reading();
	return now;
}

/* Charges the time since `since`, of which the CPU time is that since `clock`, to the frame.
 * Returns the current ticks; *clock: the thread's CPU time. */
static uint64_t
charge_measured(struct st_probe_thread *t, struct st_probe_frame *around,
                const struct st_record_function *r, uint64_t since, uint64_t *clock)
{
	if (!(r->metrics & 1u << ST_RECORD_CPU))
		return probe_charge(t, around, since);
	const uint64_t cpu = probe_cpu_time(), now = probe_ticks();
	probe_charge_ticks(t, around, since, now);
	t->clock.ticks += now - since;
	t->clock.cpu += cpu - *clock + t->clock.cost;
	*clock = cpu;
	return now;
}

/* ---- rows ---- */

/* A page fault for each page of new rows would cost more than all else of a call that is kept: the
 * kernel maps the pages of many rows at once. They are as many as there are already, up to a limit,
 * so that functions with few calls get few pages. */
SELDOM static void
populate_rows(struct st_record_function *r, uint32_t first)
{
	enum { POPULATE_WRITE = 23, PAGE_MASK = 4095, MOST_AT_ONCE = 1024 };
	uint32_t n = first < MOST_AT_ONCE ? first : MOST_AT_ONCE, known = first;
	n = r->keep - first < n ? r->keep - first : n;
	if (!__atomic_compare_exchange_n(&r->present, &known, first + n, false, __ATOMIC_RELAXED,
	                                 __ATOMIC_RELAXED))
		return;
	const uint64_t words = r->row_words, from = (uint64_t)probe_at(r->rows) + first * words * 8,
	               to = from + n * words * 8, begin = (from + PAGE_MASK) & ~(uint64_t)PAGE_MASK;
	/* Older kernels cannot: then each page has its fault. */
	if (to > begin && to <= probe_context.area + probe_context.area_bytes)
		SYS(__NR_madvise, begin, to - begin, POPULATE_WRITE);
}

/* Takes the row for writing; NULL: another call is writing it. */
static struct st_record_row *
claim_row(const struct st_record_function *r, uint64_t place)
{
	struct st_record_row *row = probe_at(r->rows + (uint32_t)place * r->row_words);
	uint32_t state = __atomic_load_n(&row->state, __ATOMIC_RELAXED);
	if (state == ST_RECORD_BUSY ||
	    !__atomic_compare_exchange_n(&row->state, &state, ST_RECORD_BUSY, false,
	                                 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return NULL;
	return row;
}

static void
release_row(struct st_record_row *row, enum st_record_state state)
{
	__atomic_store_n(&row->state, state, __ATOMIC_RELEASE);
}

static void
keep_values(struct st_record_row *row, const struct st_record_function *r,
            const struct st_record_scratch *own)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < ST_RECORD_MOST_KEPT / 64; i++)
		row->absent[i] = 0;
	for (uint32_t i = 0; i < r->n_ops && n < r->n_kept; i++) {
		if (!r->ops[i].kept)
			continue;
		row->values[n] = own->values[i];
		row->absent[n / 64] |= (uint64_t)own->absent[i] << n % 64;
		n++;
	}
}

static void
clear_callees(struct st_record_row *row, const struct st_record_function *r)
{
	if (r->callee_words)
		for (uint32_t i = r->callees_at; i < r->row_words; i++)
			((uint64_t *)row)[i] = 0;
}

/* Reads the data into a row, before the function is entered. */
static struct st_record_row *
read_into_row(struct st_probe_thread *t, struct st_record_function *r, uint64_t serial,
              uint64_t place, const uint64_t *slot, const uint64_t *registers)
{
	struct st_record_scratch *own = record_scratch(t);
	if (UNLIKELY(place == __atomic_load_n(&r->present, __ATOMIC_RELAXED)))
		populate_rows(r, (uint32_t)place);
	struct st_record_row *row = own && !own->busy ? claim_row(r, place) : NULL;
	if (!row) {
		__atomic_fetch_add(&r->missed, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	set_record_busy(own, 1);
	own->machine = r->machine ? (uint64_t)probe_at(r->machine) : 0;
	for (uint32_t i = 0; i <= r->again; i++) {
		record_run_ops(own, r->ops, r->n_ops, slot, registers);
		keep_values(row, r, own);
	}
	set_record_busy(own, 0);
	clear_callees(row, r);
	row->serial = serial;
	row->tid = t->tid;
	return row;
}

/* The peak of a call is measured from what is live at its beginning; the peak so far belongs to the
 * call around it. f: the frame on top. */
static void
begin_peak(struct st_probe_thread *t, const struct st_record_function *r,
           const struct st_probe_frame *f, struct st_record_row *row)
{
	uint64_t *v = t->tallies.v;
	if (!(r->metrics >> ST_RECORD_HEAP_PEAK & 1))
		return;
	t->peaks[t->depth - 1] = (struct st_record_peak){f->slot, (int64_t)v[ST_RECORD_HEAP_PEAK]};
	v[ST_RECORD_HEAP_PEAK] = v[ST_RECORD_HEAP_NET];
	row->metrics[ST_RECORD_HEAP_PEAK] = (int64_t)v[ST_RECORD_HEAP_NET];
}

void
probe_end_peak(struct st_probe_thread *t, const struct st_probe_frame *f, uint32_t depth)
{
	struct st_record_peak *peak = &t->peaks[depth];
	uint64_t *now = &t->tallies.v[ST_RECORD_HEAP_PEAK];
	if (peak->slot != f->slot) /* it is not measured, or the frame was elsewhere */
		return;
	peak->slot = 0;
	if (peak->around > (int64_t)*now)
		*now = (uint64_t)peak->around;
}

/* Gives the row to the frame of the function, which has been entered. The time since `since` is
 * charged as cost of probes, so that the caller's time does not include it. */
static void
attach_row(struct st_probe_thread *t, const struct st_record_function *r, struct st_record_row *row,
           uint64_t function, const uint64_t *slot, uint64_t since, uint64_t clock)
{
	struct st_probe_frame *f = &t->frames[t->depth - 1];
	/* The call is not timed, or the function has jumped to its own entry. */
	if (f->slot != (uint64_t)slot || f->function != function + 1 || f->counted || f->row) {
		release_row(row, ST_RECORD_FREE);
		charge_measured(t, f, r, since, &clock);
		return;
	}
	row->slot = (uint64_t)slot;
	f->row = (uint32_t)((uint64_t *)row - (uint64_t *)probe_context.area);
	f->spent += r->cost_within; /* of which the CPU time is part of the cost of the clock */
	read_metrics(t, r, probe_net(t, since), row->metrics);
	begin_peak(t, r, f, row);
	f->begin = row->begin = charge_measured(t, f - 1, r, since, &clock);
	row->metrics[ST_RECORD_CPU] = (int64_t)(clock - t->clock.cpu);
	row->spent = (t->clock.ticks << 8) - r->cost_within;
	release_row(row, ST_RECORD_OPEN);
}

/* A call that is not kept has a frame as well if its costs may be part of a caller's row. */
SELDOM static void
time_callee(uint64_t function, uint64_t *slot, const uint64_t *registers)
{
	probe_enter(function, slot, registers[2]);
	struct st_probe_thread *t = probe_thread();
	if (t)
		probe_begin_callee(t, slot);
}

SELDOM static void
keep_call(struct st_record_function *r, uint64_t serial, uint64_t place, uint64_t function,
          uint64_t *slot, const uint64_t *registers)
{
	const uint64_t begin = probe_ticks();
	struct st_probe_thread *t = probe_thread();
	if (!t)
		return;
	uint64_t clock = read_clock(t, r);
	struct st_record_row *row = read_into_row(t, r, serial, place, slot, registers);
	if (!row) {
		charge_measured(t, &t->frames[t->depth - 1], r, begin, &clock);
		if (r->callee_words)
			time_callee(function, slot, registers);
		return;
	}
	probe_enter(function, slot, registers[2]);
	attach_row(t, r, row, function, slot, begin, clock);
	if (r->callee_words)
		probe_begin_callee(t, slot);
}

void
probe_record_call(uint64_t function, uint64_t *slot, const uint64_t *registers)
{
	if (UNLIKELY(!*(volatile uint64_t *)probe_context.note))
		probe_notice_fork(); /* the child records its first call, too */
	if (UNLIKELY(*(volatile uint64_t *)probe_context.note != ST_PROBE_AS_USUAL)) {
		probe_enter(function, slot, registers[2]);
		return;
	}
	struct st_record_function *r = probe_at(probe_area()->actions[function].amount);
	const uint64_t serial = __atomic_add_fetch(&r->calls, 1, __ATOMIC_RELAXED),
	               place = record_choose_row(r->seed, r->keep, serial);
	if (UNLIKELY(place < r->keep)) {
		keep_call(r, serial, place, function, slot, registers);
		return;
	}
	if (UNLIKELY(r->callee_words)) {
		time_callee(function, slot, registers);
		return;
	}
	struct st_probe_thread *t = probe_thread();
	if (UNLIKELY(!t))
		return;
	t->frames[t->depth - 1].spent += probe_context.cost_counted;
	((struct st_probe_record *)t->numbers)->spent += probe_context.cost_counted;
}

/* A lock that is held during the whole call is held for as long as the call takes, without the
 * costs of the probe itself. */
static void
limit_held(struct st_record_row *row)
{
	int64_t *held = &row->metrics[ST_RECORD_LOCK_HELD], taken = row->metrics[ST_RECORD_TIME];
	if (*held > taken)
		*held = taken > 0 ? taken : 0;
}

static int64_t
cost_between(int64_t before, int64_t now)
{
	return before == ST_RECORD_ABSENT || now == ST_RECORD_ABSENT ? ST_RECORD_ABSENT
	                                                             : now - before;
}

/* Times a loop that takes about as long as a tenth of a call's recording, after one kept call in 8.
 * Another thread on the same core, a lower clock or another guest of the host slow it down as they
 * slow down the program. */
static void
sample_pace(struct st_record_function *r, uint64_t serial)
{
	enum { CALLS = 8, TURNS = 512 };
	if (LIKELY(serial % CALLS != 1))
		return;
	const uint64_t begin = probe_ticks();
	for (uint32_t i = 0; i < TURNS; i++)
		__asm__ volatile("" : : "r"(i));
	const uint64_t taken = probe_ticks() - begin;
	const uint32_t n = __atomic_add_fetch(&r->paces, 1, __ATOMIC_RELAXED);
	const uint64_t place = record_choose_row(r->seed, ST_RECORD_PACES, n);
	if (place < ST_RECORD_PACES)
		r->pace[place] = taken < UINT32_MAX ? (uint32_t)taken : UINT32_MAX;
}

void
probe_finish_row(struct st_probe_thread *t, const struct st_probe_frame *f, uint64_t taken,
                 uint64_t end)
{
	if (probe_area()->actions[f->function - 1].kind == ST_PROBE_LOCK) {
		probe_lock_taken(t, f);
		return;
	}
	if (probe_area()->actions[f->function - 1].kind == ST_PROBE_CREATE) {
		probe_created(f);
		return;
	}
	struct st_record_function *r = probe_at(probe_area()->actions[f->function - 1].amount);
	struct st_record_row *row = probe_at(f->row);
	uint32_t state = ST_RECORD_OPEN;
	if (UNLIKELY(probe_context.sandboxed)) /* the row stays open, as of a call that is left */
		return;
	int64_t now[ST_RECORD_METRIC_COUNT];
	uint64_t clock = read_clock(t, r);
	read_metrics(t, r, probe_net(t, end), now);
	now[ST_RECORD_CPU] = (int64_t)(clock - t->clock.cpu - t->clock.cost);
	probe_end_peak(t, f, t->depth);
	if (__atomic_compare_exchange_n(&row->state, &state, ST_RECORD_BUSY, false,
	                                __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (row->slot == f->slot && row->begin == f->begin) {
			for (uint32_t i = ST_RECORD_CPU; i < ST_RECORD_METRIC_COUNT; i++)
				row->metrics[i] = cost_between(row->metrics[i], now[i]);
			row->metrics[ST_RECORD_TIME] = (int64_t)taken;
			limit_held(row);
			row->spent = f->spent - ((t->clock.ticks << 8) - row->spent);
			/* The end of the call may have been without probes. */
			if (!__atomic_load_n(&probe_area()->leaves, __ATOMIC_ACQUIRE))
				state = ST_RECORD_DONE;
			sample_pace(r, row->serial);
		}
		release_row(row, state);
	}
	charge_measured(t, &t->frames[t->depth - 1], r, end, &clock);
}
