/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The entry and the return of a function that has a probe. */
#include <asm/unistd.h>
#include <errno.h>

#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

__attribute__((section(".bss.first"))) struct st_probe_context probe_context;

SELDOM void
probe_notice_fork(void)
{
	const struct st_probe_area *a = probe_area();
	const bool is_measured = probe_context.follows && probe_begin_child();
	probe_context.forked |= !is_measured;
	probe_freeze_clocks();
	*(volatile uint64_t *)probe_context.note =
	        is_measured && !a->only_counts && !a->mixes ? probe_context.usual : ST_PROBE_LOOK;
}

/* The linker has mapped or unmapped something: the controller puts probes into what is new, before
 * any of its code runs. */
SELDOM static void
await_probes(void)
{
	struct st_probe_area *a = probe_area();
	/* Of a child of fork, the controller does not see what it has loaded. */
	if (probe_context.forked || probe_context.pid != a->pid ||
	    !__atomic_load_n(&a->controlled, __ATOMIC_ACQUIRE))
		return;
	const uint32_t mine = __atomic_add_fetch(&a->asked, 1, __ATOMIC_ACQ_REL);
	SYS(__NR_futex, &a->asked, 1 /* FUTEX_WAKE */, 1);
	const int64_t limit[2] = {0, 50000000};
	for (uint32_t tries = 0; tries < 200; tries++) {
		const uint32_t answered = __atomic_load_n(&a->answered, __ATOMIC_ACQUIRE);
		if ((int32_t)(answered - mine) >= 0 || !a->controlled)
			return;
		/* Not kill: the process is there until its parent has waited for it, which may be
		 * never. */
		if (SYS(__NR_futex, &a->answered, 0 /* FUTEX_WAIT */, answered, limit) ==
		            -ETIMEDOUT &&
		    SYS(__NR_tgkill, a->controller, a->attendant, 0) == -ESRCH)
			a->controlled = 0;
	}
}

SELDOM static void
count(struct st_probe_thread *t, uint32_t function)
{
	struct st_probe_cell *c = probe_cell(t, function);
	((struct st_probe_record *)t->numbers)->spent += probe_context.cost_counted;
	if (LIKELY(c))
		c->calls++;
	else
		__atomic_fetch_add(&probe_area()->no_room, 1, __ATOMIC_RELAXED);
}

/* ---- timed activations ---- */

static inline void
add_square(struct st_probe_cell *c, uint64_t ticks)
{
	const unsigned __int128 square = (unsigned __int128)ticks * ticks;
	c->squares[1] += (uint64_t)(square >> 64) +
	                 __builtin_add_overflow(c->squares[0], (uint64_t)square, &c->squares[0]);
}

static inline void
end_timed_frame(struct st_probe_thread *t, const struct st_probe_frame *f, uint64_t end)
{
	const struct st_probe_context *x = &probe_context;
	struct st_probe_cell *c = probe_at(f->cell);
	struct st_probe_frame *around = &t->frames[t->depth - 1];
	struct st_probe_record *r = (struct st_probe_record *)t->numbers;
	/* The cost is an average, so a short call may come out below zero: its sums are exact all
	 * the same. */
	const int64_t cost = (int64_t)((x->cost_within + f->spent) >> 8);
	const int64_t net = (int64_t)(end - f->begin) - cost;
	const uint64_t taken = (uint64_t)net, shown = net > 0 ? taken : 0;
	const uint64_t outermost = --c->active == 0 && !c->counted_active ? taken : 0;
	if (UNLIKELY(f->ends == ST_PROBE_ENDS_SCOPE))
		__atomic_fetch_sub(&probe_context.running, 1, __ATOMIC_RELAXED);
	/* A wait within another one, as of a library that replaces pthread_mutex_lock, is part of
	 * that one. */
	if (UNLIKELY(f->ends == ST_PROBE_ENDS_TALLY && around->ends != ST_PROBE_ENDS_TALLY))
		t->tallies.v[probe_tally(probe_area()->actions[f->function - 1])] += taken;
	if (UNLIKELY(f->row))
		probe_finish_row(t, f, taken, end);
	if (UNLIKELY(around->row))
		probe_end_callee(t, f, taken);
	r->spent += x->cost;
	r->last = end;
	around->spent += f->spent + x->cost;
	around->callees += taken;
	c->calls++;
	c->inclusive += taken;
	c->outermost += outermost;
	c->exclusive += taken - f->callees;
	if (UNLIKELY(shown < c->shortest))
		c->shortest = shown;
	if (UNLIKELY(shown > c->longest))
		c->longest = shown;
	struct st_probe_pair *p = probe_at(f->pair);
	if (LIKELY(f->pair)) {
		p->active--;
		p->calls++;
		p->inclusive += taken;
		p->outermost += outermost;
	}
	probe_count_duration(c, shown);
	if (UNLIKELY(x->samples))
		add_square(c, shown);
	if (UNLIKELY(f->ends == ST_PROBE_ENDS_WAITING))
		probe_wait(probe_area()->actions[f->function - 1]);
}

/* The frame has been on top. */
static inline void
end_frame_on_top(struct st_probe_thread *t, const struct st_probe_frame *f, uint64_t end)
{
	if (UNLIKELY(probe_context.noisy))
		end = probe_make_noise_at_end(probe_at(f->cell), end);
	end_timed_frame(t, f, end);
	probe_record_event(t, ST_PROBE_RETURN, t->depth, f->function - 1, end);
}

/* The function is entered, and its return awaited. */
static inline void
begin_frame(struct st_probe_thread *t, uint32_t function, uint64_t *slot, uint32_t cell,
            enum st_probe_kind kind)
{
	struct st_probe_cell *c = probe_at(cell);
	struct st_probe_frame *f = &t->frames[t->depth];
	const uint32_t caller = f[-1].function; /* plus 1; that of the lowest frame is 0 */
	const uint32_t depth = (uint32_t)(f - t->frames) + 1;
	f->slot = 0;
	t->depth = depth;
	__asm__ volatile("" : : : "memory"); /* a signal handler may come from here on */
	f->original = *slot;
	f->function = function + 1;
	f->cell = cell;
	f->callees = f->spent = 0;
	f->counted = f->row = 0;
	f->ends = kind == ST_PROBE_SCOPE    ? ST_PROBE_ENDS_SCOPE
	          : probe_waits_after(kind) ? ST_PROBE_ENDS_WAITING
	          : probe_has_tally(kind)   ? ST_PROBE_ENDS_TALLY
	                                    : ST_PROBE_ENDS;
	f->is_patched = kind == ST_PROBE_PATCHED;
	f->pair = LIKELY(c->last_caller == caller && c->last_pair) ? c->last_pair
	                                                           : probe_find_pair(t, caller, c);
	if (LIKELY(f->pair))
		((struct st_probe_pair *)probe_at(f->pair))->active++;
	if (LIKELY(kind != ST_PROBE_PATCHED))
		*slot = probe_context.trampoline;
	__asm__ volatile("" : : : "memory");
	f->slot = (uint64_t)slot;
	t->depth = depth; /* it may have left frames of calls that are only counted */
	f->begin = probe_ticks();
	if (c->active++ == 0) {
		c->since = f->begin;
		c->since_spent = ((struct st_probe_record *)t->numbers)->spent;
	}
	probe_record_event(t, ST_PROBE_ENTRY, (uint64_t)(f - t->frames), function, f->begin);
}

/* Of `every` calls one is timed: the first one of all, and then one at a random place, so that
 * the sample is not biased by a program whose calls repeat with a period of `every`. */
static inline bool
is_timed(struct st_probe_cell *c, uint32_t every)
{
	const uint64_t n = c->entries++;
	if (n < c->next)
		return false;
	const uint64_t round = n / every + 1;
	c->next = round * every + (((round ^ c->function) * 0x9e3779b97f4a7c15u >> 32) % every);
	return true;
}

/* The call is not timed, but it is the caller of the calls that it makes. */
static inline void
count_call(struct st_probe_thread *t, struct st_probe_cell *c, uint64_t slot)
{
	const uint32_t cost = probe_context.cost_counted;
	struct st_probe_frame *f = &t->frames[t->depth];
	const uint32_t caller = f[-1].function;
	const uint32_t at = LIKELY(c->last_caller == caller && c->last_pair)
	                            ? c->last_pair
	                            : probe_find_pair(t, caller, c);
	if (LIKELY(at))
		((struct st_probe_pair *)probe_at(at))->counted++;
	c->counted++;
	c->counted_active++;
	((struct st_probe_record *)t->numbers)->spent += cost;
	const uint32_t depth = (uint32_t)(f - t->frames) + 1;
	f->slot = 0;
	t->depth = depth;
	__asm__ volatile("" : : : "memory"); /* a signal handler may come from here on */
	f->function = c->function + 1;
	f->cell = f->pair = f->row = 0;
	f->ends = ST_PROBE_ENDS;
	f->callees = 0;
	f->spent = cost;
	f->is_patched = 1;
	f->counted = (uint32_t)((uint64_t *)c - (uint64_t *)probe_context.area);
	__asm__ volatile("" : : : "memory");
	f->slot = slot;
	t->depth = depth; /* it may have left frames of calls that are only counted */
}

/* With all that may be in the way of it. */
SELDOM static void
time_call(struct st_probe_thread *t, uint32_t function, uint64_t *slot,
          struct st_probe_action action)
{
	const enum st_probe_kind kind = action.kind;
	const bool is_scope = kind == ST_PROBE_SCOPE;
	const struct st_probe_context *x = &probe_context;
	struct st_probe_frame *around = &t->frames[t->depth - 1];
	if (probe_is_left(around, (uint64_t)slot)) {
		/* A function that jumps to another one returns when that one does. A jump to its
		 * own first instruction is no call; and a return address of the program at the
		 * place of a replaced one is another call's. */
		const bool jumped = *slot == x->trampoline;
		probe_leave_frames(t, (uint64_t)slot + !jumped);
		around = &t->frames[t->depth - 1];
		if (jumped && around->slot == (uint64_t)slot && around->function == function + 1)
			return;
	}
	if ((x->scoped && !is_scope &&
	     !__atomic_load_n(&probe_context.running, __ATOMIC_RELAXED)) ||
	    t->depth > x->most_depth)
		return;
	struct st_probe_cell *c = probe_cell(t, function);
	if (!c || t->depth == ST_PROBE_FRAMES) {
		__atomic_fetch_add(c ? &probe_area()->too_deep : &probe_area()->no_room, 1,
		                   __ATOMIC_RELAXED);
		if (c)
			c->lost++;
		return;
	}
	const bool samples =
	        kind == ST_PROBE_TIME || kind == ST_PROBE_SCOPE || kind == ST_PROBE_PATCHED;
	if (action.amount > 1 && samples && !is_timed(c, action.amount)) {
		count_call(t, c, (uint64_t)slot);
		return;
	}
	if (is_scope)
		__atomic_fetch_add(&probe_context.running, 1, __ATOMIC_RELAXED);
	begin_frame(t, function, slot, (uint32_t)((uint64_t *)c - (uint64_t *)x->area), kind);
	if (x->uses_cpu) {
		struct st_probe_frame *f = &t->frames[t->depth - 1];
		f->begin = probe_cpu_time();
		c->since = c->active == 1 ? f->begin : c->since;
	}
	if (x->both_clocks)
		probe_begin_cpu(c);
	if (x->noisy)
		probe_make_noise(c);
}

/* ---- all kinds ---- */

/* A thread that gets no thread pointer of its own, and runs beside the one that makes it: the two
 * are taken for the same, and no frame can be told to be that of one of them. The frames that there
 * are lie on the stack of the one that goes on with them. */
static void
watch_clone(uint64_t flags)
{
	enum { VM = 0x100, VFORK = 0x4000, SETTLS = 0x80000 };
	if (flags >> 32 || (flags & (VM | VFORK | SETTLS)) != VM)
		return;
	__atomic_store_n(&probe_area()->mixes, 1, __ATOMIC_RELEASE);
	*(volatile uint64_t *)probe_context.note = ST_PROBE_LOOK;
}

static void
act(struct st_probe_thread *t, uint32_t function, uint64_t *slot, struct st_probe_action action,
    uint64_t third)
{
	switch (action.kind) {
	case ST_PROBE_COUNT:
		count(t, function);
		break;
	case ST_PROBE_UNWIND:
		probe_put_back(t, (uint64_t)slot);
		break;
	case ST_PROBE_WAIT:
	case ST_PROBE_SLEEP:
		count(t, function);
		probe_wait(action);
		break;
	case ST_PROBE_READ:
		count(t, function);
		break;
	case ST_PROBE_LIBRARY:
		await_probes();
		break;
	case ST_PROBE_EXEC:
		probe_announce_exec();
		if (action.amount)
			count(t, function);
		break;
	case ST_PROBE_CLONE:
		watch_clone(third);
		if (action.amount)
			count(t, function);
		break;
	default:
		break;
	}
}

SELDOM static void
enter_looking(uint32_t function, uint64_t *slot, uint64_t third)
{
	if (!*(volatile uint64_t *)probe_context.note)
		probe_notice_fork();
	struct st_probe_thread *t = probe_thread();
	if (!t) {
		__atomic_fetch_add(&probe_area()->no_room, 1, __ATOMIC_RELAXED);
		return;
	}
	const struct st_probe_action action = probe_area()->actions[function];
	if (t->put_back && action.kind != ST_PROBE_UNWIND)
		probe_replace_again(t, (uint64_t)slot);
	if (probe_context.forked) {
		if (action.kind == ST_PROBE_UNWIND)
			probe_put_back(t, (uint64_t)slot);
		return;
	}
	const bool replaces = action.kind == ST_PROBE_TIME || action.kind == ST_PROBE_SCOPE ||
	                      action.kind == ST_PROBE_RECORD || action.kind == ST_PROBE_CREATE ||
	                      probe_has_tally(action.kind) || probe_waits_after(action.kind);
	const bool times = replaces || action.kind == ST_PROBE_PATCHED;
	if (times &&
	    (probe_area()->mixes || (replaces && (t->put_back || probe_area()->only_counts))))
		count(t, function); /* what the unwinder calls keeps its return address */
	else if (times)
		time_call(t, function, slot, action);
	else
		act(t, function, slot, action, third);
}

/* Calls that are only counted, and have been left: their frames are of no more use. */
static inline void
drop_counted(struct st_probe_thread *t, uint64_t slot)
{
	for (;;) {
		struct st_probe_frame *f = &t->frames[t->depth - 1];
		if (!probe_is_left(f, slot) || !f->counted)
			break;
		probe_drop_counted(t, f);
	}
}

/* The note comes first: in a child of fork a thread does not find itself before that is known. */
void
probe_enter(uint64_t function, uint64_t *slot, uint64_t third)
{
	const bool as_usual = *(volatile uint64_t *)probe_context.note == ST_PROBE_AS_USUAL;
	struct st_probe_thread *t = LIKELY(as_usual) ? probe_thread() : NULL;
	const uint32_t at =
	        LIKELY(t && function < t->room) ? ((const uint32_t *)t->cells)[function] : 0;
	struct st_probe_cell *c = probe_at(at / 2);
	if (LIKELY(at) && probe_context.samples)
		drop_counted(t, (uint64_t)slot);
	const bool is_usual = LIKELY(at) &&
	                      !probe_is_left(&t->frames[t->depth - 1], (uint64_t)slot) &&
	                      t->depth < ST_PROBE_FRAMES && !t->put_back;
	if (LIKELY(is_usual && (at & 1))) {
		begin_frame(t, (uint32_t)function, slot, at / 2, ST_PROBE_TIME);
		if (UNLIKELY(probe_context.noisy))
			probe_make_noise(c);
	} else if (is_usual && c->entries < c->next) {
		c->entries++;
		count_call(t, c, (uint64_t)slot);
	} else {
		enter_looking((uint32_t)function, slot, third);
	}
}

/* Nothing can be done for a program that returns to where nobody knows: it was not harmed so far.
 */
SELDOM static uint64_t
abort_program(void)
{
	__atomic_fetch_add(&probe_area()->strays, 1, __ATOMIC_RELAXED);
	for (;;)
		SYS(__NR_kill, SYS(__NR_getpid), 6 /* SIGABRT */);
	return 0;
}

/* The frame of the return is not the one on top, or there is more to look at. */
SELDOM static uint64_t
return_looking(uint64_t slot)
{
	if (!*(volatile uint64_t *)probe_context.note)
		probe_notice_fork();
	const uint64_t end = probe_now();
	struct st_probe_thread *t = probe_thread();
	struct st_probe_frame elsewhere;
	const struct st_probe_frame *f = probe_find_frame(t, slot, &elsewhere);
	if (!f)
		return abort_program();
	const struct st_probe_frame ended = *f;
	__asm__ volatile("" : : : "memory"); /* a signal handler may have the frame from here on */
	if (f != &elsewhere) {
		struct st_probe_frame *top = (struct st_probe_frame *)f;
		top->slot = 0;
		t->depth = (uint32_t)(top - t->frames);
	}
	if (!t || probe_context.forked)
		return ended.original;
	if (!ended.cell) {
		if (ended.ends ==
		    ST_PROBE_ENDS_SCOPE) /* of the parent, around what the child does */
			__atomic_fetch_sub(&probe_context.running, 1, __ATOMIC_RELAXED);
		return ended.original;
	}
	if (probe_context.both_clocks)
		probe_end_cpu(&ended);
	if (f != &elsewhere)
		end_frame_on_top(t, &ended, end);
	else
		end_timed_frame(t, &ended, end); /* a call without an entry, in this thread */
	return ended.original;
}

uint64_t
probe_return(uint64_t slot)
{
	const uint64_t end = probe_ticks();
	const bool as_usual = *(volatile uint64_t *)probe_context.note == ST_PROBE_AS_USUAL;
	struct st_probe_thread *t = LIKELY(as_usual) ? probe_thread() : NULL;
	struct st_probe_frame *f = LIKELY(t) ? &t->frames[t->depth - 1] : NULL;
	if (UNLIKELY(!f || f->slot != slot || !f->cell))
		return return_looking(slot);
	const struct st_probe_frame ended = *f;
	__asm__ volatile("" : : : "memory"); /* a signal handler may have the frame from here on */
	f->slot = 0;
	t->depth = (uint32_t)(f - t->frames);
	end_frame_on_top(t, &ended, end);
	return ended.original;
}

/* The function returns by a patched exit. The frames below it were left before. */
void
probe_exit(uint64_t function, const uint64_t *slot)
{
	const uint64_t end = probe_now();
	if (UNLIKELY(!*(volatile uint64_t *)probe_context.note))
		probe_notice_fork();
	struct st_probe_thread *t = probe_thread();
	if (UNLIKELY(!t || probe_context.forked || probe_area()->mixes))
		return;
	probe_leave_frames(t, (uint64_t)slot);
	struct st_probe_frame *f = &t->frames[t->depth - 1];
	if (UNLIKELY(f->slot != (uint64_t)slot || f->function != function + 1 || f->counted))
		return; /* it was entered before there were probes, or was not timed */
	const struct st_probe_frame ended = *f;
	__asm__ volatile("" : : : "memory");
	f->slot = 0;
	t->depth = (uint32_t)(f - t->frames);
	if (UNLIKELY(!ended.cell)) /* it is the parent's */
		return;
	if (UNLIKELY(probe_context.both_clocks))
		probe_end_cpu(&ended);
	end_frame_on_top(t, &ended, end);
}
