/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Actions of probes besides measuring: they wait, and keep the arguments of a function. */
#include <asm/unistd.h>
#include <errno.h>

#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

/* ---- waiting ---- */

static void
pass_time(uint64_t ticks)
{
	const uint64_t begin = probe_ticks();
	while (probe_ticks() - begin < ticks)
		__asm__ volatile("pause");
}

/* Handlers of signals run meanwhile. */
static void
sleep_for(uint64_t ns)
{
	int64_t left[2] = {(int64_t)(ns / 1000000000u), (int64_t)(ns % 1000000000u)};
	while (SYS(__NR_nanosleep, left, left) == -EINTR)
		;
}

void
probe_wait(struct st_probe_action action)
{
	if (action.kind == ST_PROBE_SLEEP || action.kind == ST_PROBE_SLEEP_AFTER)
		sleep_for(action.amount);
	else
		pass_time(action.amount);
}

/* A yield takes as long as the threads that run meanwhile, so on a busy machine only the clock can
 * limit it. */
static void
yield(uint32_t times, uint64_t begin)
{
	const uint64_t limit = probe_area()->yield_ticks;
	while (times-- && (!limit || probe_ticks() - begin < limit))
		SYS(__NR_sched_yield);
}

/* Returns whether there was noise. */
static bool
make_noise(struct st_probe_cell *c, bool at_end)
{
	const uint64_t word = __atomic_load_n(&probe_area()->noise[c->function], __ATOMIC_RELAXED);
	const struct st_probe_action noise = {.kind = (uint32_t)word & ~(uint32_t)ST_PROBE_AT_END,
	                                      .amount = (uint32_t)(word >> 32)};
	if (!noise.amount || !(word & ST_PROBE_AT_END) == at_end)
		return false;
	const uint64_t begin = probe_ticks(),
	               until = __atomic_load_n(&probe_area()->noise_until, __ATOMIC_RELAXED);
	if (until && begin > until)
		return false;
	if (noise.kind == ST_PROBE_YIELD)
		yield(noise.amount, begin);
	else
		probe_wait(noise);
	c->noise += probe_ticks() - begin;
	c->noises++;
	return true;
}

void
probe_make_noise(struct st_probe_cell *c)
{
	(void)make_noise(c, false);
}

uint64_t
probe_make_noise_at_end(struct st_probe_cell *c, uint64_t end)
{
	return make_noise(c, true) ? probe_now() : end;
}

/* ---- arguments ---- */

/* A place for a row; NULL: there is none. A signal handler may take one at any instruction. */
static struct st_probe_arguments *
take_place_for_arguments(struct st_probe_record *record)
{
	const uint32_t at = __atomic_load_n(&record->rows, __ATOMIC_ACQUIRE);
	struct st_probe_kept *rows = probe_at(at);
	const uint32_t n = at ? __atomic_fetch_add(&rows->n, 1, __ATOMIC_RELAXED) : UINT32_MAX;
	if (n < ST_PROBE_KEPT_AT_ONCE)
		return &rows->rows[n];
	const uint32_t new = probe_allocate(sizeof *rows);
	if (!new)
		return NULL;
	rows = probe_at(new);
	rows->n = 1;
	uint32_t before = at;
	do
		rows->next = before;
	while (!__atomic_compare_exchange_n(&record->rows, &before, new, false, __ATOMIC_RELEASE,
	                                    __ATOMIC_RELAXED));
	return &rows->rows[0];
}

struct part {
	const void *at;
	uint64_t bytes;
};

/* Returns the number of words read. The stack may end with the page of the first one. */
static uint32_t
read_stack_words(uint64_t *to, const uint64_t *from, uint32_t n)
{
	const uint64_t left = (4096 - (uint64_t)from % 4096) / sizeof *from;
	const uint32_t near = (uint64_t)(from - 1) / 4096 != (uint64_t)from / 4096 ? 0
	                      : n < left                                           ? n
	                                                                           : (uint32_t)left;
	for (uint32_t i = 0; i < near; i++)
		to[i] = from[i];
	if (near == n)
		return n;
	const struct part here = {to + near, (n - near) * sizeof *to},
	                  there = {from + near, (n - near) * sizeof *to};
	const int64_t got = SYS(__NR_process_vm_readv, SYS(__NR_getpid), &here, 1, &there, 1, 0);
	return near + (got > 0 ? (uint32_t)got / (uint32_t)sizeof *to : 0);
}

struct st_probe_arguments *
probe_keep_arguments(struct st_probe_thread *t, uint32_t function, const uint64_t *slot,
                     const uint64_t *registers)
{
	struct st_probe_area *a = probe_area();
	const uint32_t amount = a->actions[function].amount,
	               words = amount < ST_PROBE_STACK_WORDS ? amount : ST_PROBE_STACK_WORDS;
	if (__atomic_fetch_add(&a->rows, 1, __ATOMIC_RELAXED) >= ST_PROBE_MOST_KEPT)
		return NULL;
	struct st_probe_arguments *row =
	        take_place_for_arguments((struct st_probe_record *)t->numbers);
	if (!row) {
		__atomic_fetch_add(&a->no_room, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	row->ticks = probe_ticks();
	for (int i = 0; i < ST_PROBE_REGISTERS; i++)
		row->registers[i] = registers[i];
	row->words = read_stack_words(row->stack, slot + 1, words);
	row->back = row->made = 0;
	__atomic_store_n(&row->function, function + 1, __ATOMIC_RELEASE);
	return row;
}

SELDOM static void
read_arguments(uint64_t function, const uint64_t *slot, const uint64_t *registers)
{
	if (!*(volatile uint64_t *)probe_context.note || probe_context.forked)
		return; /* a child of fork */
	struct st_probe_thread *t = probe_thread();
	if (t)
		(void)probe_keep_arguments(t, (uint32_t)function, slot, registers);
}

void
probe_read(uint64_t function, uint64_t *slot, const uint64_t *registers)
{
	if (UNLIKELY(probe_context.sandboxed)) /* a lock of a new thread, too, needs system calls */
		return;
	if (LIKELY(probe_area()->actions[function].kind == ST_PROBE_RECORD)) {
		probe_record_call(function, slot, registers);
		return;
	}
	if (probe_area()->actions[function].kind == ST_PROBE_SANDBOX) {
		probe_sandbox_call(__NR_prctl, registers);
		return;
	}
	if (probe_area()->actions[function].kind == ST_PROBE_SYSCALL) {
		probe_system_call(function, slot, registers);
		return;
	}
	if (probe_area()->actions[function].kind == ST_PROBE_CREATE) {
		probe_create_call(function, slot, registers);
		return;
	}
	if (probe_area()->actions[function].kind == ST_PROBE_LOCK) {
		probe_lock_call(function, slot, registers);
		return;
	}
	read_arguments(function, slot, registers);
	probe_enter(function, slot, registers[2]);
}
