/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The time during which a thread holds locks (wire/held.h). A lock is held from the return of the
 * function that takes it to the entry of the one that releases it. Several locks at a time count
 * once. Releases of locks that the thread is not known to hold change nothing: it has taken them
 * before there were probes.
 */
#include "rt/probe/probe.h"

enum { OWNER_DIED = 130 /* the lock was taken even so */ };

static bool
holds_any(const struct st_held *h)
{
	return h->n || h->extra;
}

static struct st_held_lock *
held_lock(struct st_held *h, uint64_t lock)
{
	for (uint32_t i = 0; i < ST_HELD_MOST; i++)
		if (h->locks[i].lock == lock)
			return &h->locks[i];
	return NULL;
}

/* The last of the locks is no longer held. */
static void
end_holding(struct st_probe_thread *t, uint64_t net)
{
	if (net > t->held.since) /* costs are averages */
		t->tallies.v[ST_RECORD_LOCK_HELD] += net - t->held.since;
}

/* Removes the locks that other threads have released. */
SELDOM static void
remove_gone(struct st_probe_thread *t)
{
	struct st_held *h = &t->held;
	uint64_t last = 0;
	__atomic_store_n(&h->gone, 0, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < ST_HELD_MOST; i++) {
		struct st_held_lock *l = &h->locks[i];
		const uint64_t released = __atomic_load_n(&l->released, __ATOMIC_ACQUIRE);
		if (!l->lock || !released)
			continue;
		last = released > last ? released : last;
		*l = (struct st_held_lock){0};
		h->n--;
	}
	if (last && !holds_any(h))
		end_holding(t, probe_net(t, last));
}

static inline void
settle_locks(struct st_probe_thread *t)
{
	if (UNLIKELY(__atomic_load_n(&t->held.gone, __ATOMIC_RELAXED)))
		remove_gone(t);
}

uint64_t
probe_lock_held(struct st_probe_thread *t, uint64_t net)
{
	settle_locks(t);
	const bool holds = holds_any(&t->held) && net > t->held.since;
	return t->tallies.v[ST_RECORD_LOCK_HELD] + (holds ? net - t->held.since : 0);
}

void
probe_inherit_locks(struct st_probe_thread *t)
{
	t->held.since = probe_net(t, probe_ticks());
}

/* ---- releasing ---- */

/* A mutex that another thread has taken. */
SELDOM static void
release_of_another(const struct st_probe_thread *own, uint64_t lock, uint64_t now)
{
	struct st_probe_thread *threads = (struct st_probe_thread *)probe_context.threads;
	for (uint32_t i = 0; i < probe_threads(); i++) {
		struct st_held_lock *l = held_lock(&threads[i].held, lock);
		if (&threads[i] == own || !l || l->shared)
			continue;
		__atomic_store_n(&l->released, now, __ATOMIC_RELEASE);
		__atomic_store_n(&threads[i].held.gone, 1, __ATOMIC_RELEASE);
	}
}

/* The lock is not among those of the thread. */
SELDOM static void
release_unknown(struct st_probe_thread *t, uint64_t lock, bool shared, uint64_t now)
{
	struct st_held *h = &t->held;
	if (!h->extra) {
		if (!shared)
			release_of_another(t, lock, now);
		return;
	}
	h->extra--;
	if (!holds_any(h))
		end_holding(t, probe_net(t, now));
}

static void
release_lock(struct st_probe_thread *t, uint64_t lock, bool shared, uint64_t now)
{
	struct st_held *h = &t->held;
	settle_locks(t);
	struct st_held_lock *l = lock ? held_lock(h, lock) : NULL;
	if (UNLIKELY(!l)) {
		if (lock)
			release_unknown(t, lock, shared, now);
		return;
	}
	if (--l->times)
		return;
	l->lock = 0;
	h->n--;
	if (!holds_any(h))
		end_holding(t, probe_net(t, now));
}

/* ---- taking ---- */

/* The number of a place for the call, from 1; 0: there is none. Calls that were left by a jump are
 * at or below the slot of this one. */
static uint32_t
begin_taking(struct st_held *h, uint64_t slot, uint64_t lock)
{
	uint32_t place = 0;
	for (uint32_t i = 0; i < ST_HELD_TAKING && !place; i++)
		place = h->taking[i].slot ? 0 : i + 1;
	for (uint32_t i = 0; i < ST_HELD_TAKING && !place; i++)
		place = h->taking[i].slot <= slot ? i + 1 : 0;
	if (place)
		h->taking[place - 1] = (struct st_held_call){slot, lock};
	return place;
}

/* Half of the cost of the call's probe lies after `end`. */
static void
take_lock(struct st_probe_thread *t, uint64_t lock, bool shared, uint64_t end)
{
	struct st_held *h = &t->held;
	settle_locks(t);
	if (!holds_any(h))
		h->since = probe_net(t, end) - (probe_context.cost >> 9);
	struct st_held_lock *l = held_lock(h, lock);
	if (l) {
		l->times++;
		return;
	}
	l = held_lock(h, 0);
	if (l) {
		*l = (struct st_held_lock){.lock = lock, .times = 1, .shared = shared};
		h->n++;
	} else {
		h->extra++;
	}
}

static uint32_t
lock_role(uint64_t function)
{
	return probe_area()->actions[function].amount >> ST_HELD_METRIC_BITS;
}

void
probe_lock_taken(struct st_probe_thread *t, const struct st_probe_frame *f)
{
	struct st_held_call *call = &t->held.taking[(f->row - 1) % ST_HELD_TAKING];
	const uint64_t begin = probe_ticks(), lock = call->lock;
	const uint32_t role = lock_role(f->function - 1),
	               result = (uint32_t)((const uint64_t *)f->slot)[-1]; /* entry.S: rax */
	if (call->slot != f->slot)
		return;
	call->slot = 0;
	if (role == ST_HELD_WAITS || !result || result == OWNER_DIED)
		take_lock(t, lock, role == ST_HELD_SHARES, begin);
	probe_charge(t, &t->frames[t->depth - 1], begin);
}

/* ---- calls ---- */

static void
begin_lock_call(struct st_probe_thread *t, uint64_t function, uint64_t *slot, uint64_t lock)
{
	struct st_probe_frame *f = &t->frames[t->depth - 1];
	/* A call that is not timed has no frame. */
	if (f->slot == (uint64_t)slot && f->function == function + 1 && !f->counted && !f->row)
		f->row = begin_taking(&t->held, (uint64_t)slot, lock);
}

void
probe_lock_call(uint64_t function, uint64_t *slot, const uint64_t *registers)
{
	const uint64_t begin = probe_ticks();
	if (UNLIKELY(!*(volatile uint64_t *)probe_context.note))
		probe_notice_fork();
	struct st_probe_thread *t = probe_context.forked ? NULL : probe_thread();
	const uint32_t role = lock_role(function);
	const bool releases = role == ST_HELD_RELEASES || role == ST_HELD_LEAVES,
	           waits = role == ST_HELD_WAITS;
	if (t && (releases || waits)) {
		release_lock(t, registers[waits], role == ST_HELD_LEAVES, begin);
		probe_charge(t, &t->frames[t->depth - 1], begin);
	}
	if (releases)
		return;
	probe_enter(function, slot, registers[2]);
	if (t)
		begin_lock_call(t, function, slot, registers[waits]);
}
