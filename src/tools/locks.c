/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waiting of threads for each other: mutexes, spin locks, read-write locks, condition variables,
 * semaphores, barriers, joins and bare futexes.
 *
 * A lock counts as held from the return of the function that takes it to the entry of the one that
 * releases it. That is a part of the time in which it really is, so a thread that finds it held
 * does have to wait. One that finds it free and has to wait even so is seen at its futex call.
 */
#include "tools/locks.h"

#include <asm/unistd_64.h>

STROBE_TABLE(locks, "what threads waited for", STROBE_KEY("lock", STROBE_HEX),
             STROBE_KEY("kind", STROBE_TEXT), STROBE_KEY("first_used", STROBE_CALLER_LINE),
             STROBE_SUM("wait", STROBE_TICKS), STROBE_SUM("waits", STROBE_NUMBER),
             STROBE_SUM("taken", STROBE_NUMBER), STROBE_SUM("failed", STROBE_NUMBER),
             STROBE_SUM("hold", STROBE_TICKS), STROBE_MAX("longest_wait", STROBE_TICKS),
             STROBE_MAX("longest_hold", STROBE_TICKS));
STROBE_TABLE(lock_sites, "where threads waited", STROBE_KEY("kind", STROBE_TEXT),
             STROBE_KEY("function", STROBE_FUNCTION), STROBE_KEY("line", STROBE_CALLER_LINE),
             STROBE_SUM("wait", STROBE_TICKS), STROBE_SUM("waits", STROBE_NUMBER),
             STROBE_SUM("taken", STROBE_NUMBER), STROBE_MAX("longest_wait", STROBE_TICKS));
STROBE_TABLE(lock_waits, "which thread waited for which", STROBE_KEY("waiter", STROBE_THREAD),
             STROBE_KEY("holder", STROBE_THREAD), STROBE_KEY("kind", STROBE_TEXT),
             STROBE_KEY("waiter_line", STROBE_CALLER_LINE),
             STROBE_KEY("holder_line", STROBE_CALLER_LINE), STROBE_SUM("wait", STROBE_TICKS),
             STROBE_SUM("waits", STROBE_NUMBER), STROBE_MAX("longest_wait", STROBE_TICKS));
STROBE_TABLE(lock_stacks, "call stacks of waiters, and of the threads that released them",
             STROBE_KEY("kind", STROBE_TEXT), STROBE_KEY("waiter", STROBE_TEXT),
             STROBE_KEY("holder", STROBE_TEXT), STROBE_SUM("wait", STROBE_TICKS),
             STROBE_SUM("waits", STROBE_NUMBER), STROBE_MAX("longest_wait", STROBE_TICKS));

/* src/trace/waits.c reads it. */
STROBE_STREAM(lock_times, "waits in the order in which they ended", NULL,
              STROBE_COLUMN("thread", STROBE_THREAD), STROBE_COLUMN("begin", STROBE_TICKS),
              STROBE_COLUMN("time", STROBE_TICKS), STROBE_COLUMN("kind", STROBE_TEXT),
              STROBE_COLUMN("lock", STROBE_HEX), STROBE_COLUMN("holder", STROBE_THREAD),
              STROBE_COLUMN("function", STROBE_FUNCTION),
              STROBE_COLUMN("line", STROBE_CALLER_LINE));

enum { L_WAIT = 3, L_WAITS, L_TAKEN, L_FAILED, L_HOLD, L_LONGEST_WAIT, L_LONGEST_HOLD };
enum { S_WAIT = 3, S_WAITS, S_TAKEN, S_LONGEST };
enum { W_WAIT = 5, W_WAITS, W_LONGEST };
enum { T_WAIT = 3, T_WAITS, T_LONGEST };

enum {
	FUTEX_COMMAND = 127,
	OWNER_DIED = 130, /* the lock was taken even so */
	CHANGED = -11,    /* the word had another value: the thread has not waited */
};

static const char *const kinds[] = {"mutex",      "spin lock", "read lock",
                                    "write lock", "condition", "semaphore",
                                    "barrier",    "join",      "futex"};

static strobe_map lock_of; /* by address: struct lock */
static uint32_t guard;     /* of it, and of what is in it */
static int records_times;

static void
locks_begin(void)
{
	lock_of = (strobe_map){0};
	records_times = strobe_option_number("times") != 0;
	guard = 0; /* in a process that was forked, another thread of the parent may have had it */
}

/* Under the guard. NULL: no memory. */
static struct lock *
lock_at(uint64_t address, uint64_t site)
{
	uint64_t *at = strobe_map_at(&lock_of, address);
	if (at && !*at) {
		struct lock *l = strobe_allocate(sizeof *l);
		if (l)
			*l = (struct lock){.address = address, .first_site = site};
		*at = (uint64_t)(uintptr_t)l;
	}
	return at ? (struct lock *)(uintptr_t)*at : NULL;
}

static void
add_of_lock(const struct lock *l, enum kind kind, unsigned column, uint64_t amount)
{
	strobe_cell_add(
	        strobe_cell_of(&locks, column, l->address, strobe_text(kinds[kind]), l->first_site),
	        amount);
}

static void
raise_of_lock(const struct lock *l, enum kind kind, unsigned column, uint64_t value)
{
	strobe_cell_max(
	        strobe_cell_of(&locks, column, l->address, strobe_text(kinds[kind]), l->first_site),
	        value);
}

/* ---- holding ---- */

static void
count_hold(const struct lock *l, enum kind kind, uint64_t since)
{
	const uint64_t ticks = strobe_ticks() - since;
	add_of_lock(l, kind, L_HOLD, ticks);
	raise_of_lock(l, kind, L_LONGEST_HOLD, ticks);
}

/* The thread has taken the lock for itself alone; a recursive lock perhaps once more. */
static void
hold(struct lock *l, uint64_t self, uint64_t site)
{
	if (l->holder == self) {
		l->depth++;
		return;
	}
	l->holder = self;
	l->depth = 1;
	l->since = strobe_ticks();
	l->holder_site = site;
}

static void
share(struct lock *l, struct state *s, uint64_t self, uint64_t site)
{
	l->readers++;
	l->reader = self;
	l->reader_site = site;
	if (s->n_shared < MOST_SHARED)
		s->shared[s->n_shared++] = (struct shared){l, strobe_ticks()};
}

/* The thread releases the lock. */
static void
let_go(struct lock *l, struct state *s, enum kind kind)
{
	size_t i = s->n_shared;
	if (l->holder) {
		if (--l->depth)
			return;
		count_hold(l, kind == READ_LOCK ? WRITE_LOCK : kind, l->since);
		l->last_site = l->holder_site;
		l->holder = 0;
		return;
	}
	if (l->readers && !--l->readers)
		l->reader = 0;
	l->last_site = l->reader_site;
	while (i && s->shared[i - 1].lock != l)
		i--;
	if (!i)
		return;
	count_hold(l, READ_LOCK, s->shared[i - 1].since);
	s->shared[i - 1] = s->shared[--s->n_shared];
}

/* Returns the thread because of which a call of this kind has to wait: its number + 1; 0: none. */
static uint64_t
holder_of(const struct lock *l, enum kind kind)
{
	return l->holder ? l->holder : kind == WRITE_LOCK ? l->reader : 0;
}

/* ---- waiting ---- */

/* Notes that the call has to wait, or may have to, so that the lock's release takes its call
 * stack. */
static void
begin_waiting(struct pending *p, struct lock *l)
{
	const uint64_t holder = holder_of(l, p->kind);
	if (!p->waits)
		l->waiters++;
	p->waits = 1;
	if (holder) {
		p->holder = holder;
		p->holder_site = l->holder ? l->holder_site : l->reader_site;
	}
}

static void
count_wait(strobe_thread *t, const struct pending *p, const struct lock *l, uint64_t waiter_stack)
{
	const uint64_t ticks = strobe_ticks() - p->begin, kind = strobe_text(kinds[p->kind]);
	/* Whether the latest release can have ended the wait. It need not be that of the holder:
	   other threads may have had the lock since. */
	const int released = l->released_by && l->released_at >= p->begin;
	const uint64_t holder = p->holder ? p->holder : released ? l->released_by : 0;
	const int same = released && l->released_by == holder;
	const uint64_t holder_site = p->holder_site ? p->holder_site : same ? l->last_site : 0;
	const uint64_t keys[] = {strobe_thread_number(t), holder - 1, kind, p->site, holder_site};
	const uint64_t stacks[] = {kind, waiter_stack, same ? l->released_stack : strobe_text("")};
	const uint64_t row[] = {keys[0],    p->begin, ticks,   kind,
	                        l->address, keys[1],  p->site, p->site};
	if (records_times)
		strobe_write(t, &lock_times, row);
	add_of_lock(l, p->kind, L_WAITS, 1);
	add_of_lock(l, p->kind, L_WAIT, ticks);
	raise_of_lock(l, p->kind, L_LONGEST_WAIT, ticks);
	strobe_cell_add(strobe_cell_of(&lock_sites, S_WAITS, kind, p->site, p->site), 1);
	strobe_cell_add(strobe_cell_of(&lock_sites, S_WAIT, kind, p->site, p->site), ticks);
	strobe_cell_max(strobe_cell_of(&lock_sites, S_LONGEST, kind, p->site, p->site), ticks);
	strobe_cell_add(strobe_find_cell(&lock_waits, W_WAITS, keys), 1);
	strobe_cell_add(strobe_find_cell(&lock_waits, W_WAIT, keys), ticks);
	strobe_cell_max(strobe_find_cell(&lock_waits, W_LONGEST, keys), ticks);
	strobe_cell_add(strobe_find_cell(&lock_stacks, T_WAITS, stacks), 1);
	strobe_cell_add(strobe_find_cell(&lock_stacks, T_WAIT, stacks), ticks);
	strobe_cell_max(strobe_find_cell(&lock_stacks, T_LONGEST, stacks), ticks);
}

/* ---- call stacks ---- */

static void
take_name(void *to, const strobe_activation *a)
{
	struct state *s = to;
	if (s->n_names < MOST_NAMES)
		s->names[s->n_names] = a->function ? strobe_function_name_at(a->function) : NULL;
	s->n_names++;
}

/* The functions from the outermost to the one that called the lock's, separated by semicolons. */
static uint64_t
stack_text(strobe_thread *t, struct state *s, unsigned without)
{
	s->n_names = 0;
	s->text[0] = 0;
	(void)strobe_unwind(t, take_name, s);
	unsigned n = s->n_names < MOST_NAMES ? s->n_names : MOST_NAMES;
	if (n < s->n_names)
		strobe_format_text(s->text, sizeof s->text, "...;");
	while (n > without) {
		const char *name = s->names[--n];
		strobe_format_text(s->text, sizeof s->text, name ? name : "[unknown]");
		strobe_format_text(s->text, sizeof s->text, n > without ? ";" : "");
	}
	return strobe_text(s->text);
}

/* ---- the functions ---- */

static void
drop(struct pending *p)
{
	if (p->waits && p->lock->waiters)
		p->lock->waiters--;
}

/* Adds a call. Those that were left by a jump or an exception are dropped, and the outermost one if
 * there are too many. */
static struct pending *
push(struct state *s, uint64_t sp)
{
	while (s->depth && sp >= s->pending[s->depth - 1].sp)
		drop(&s->pending[--s->depth]);
	if (s->depth == MOST_PENDING) {
		drop(&s->pending[0]);
		for (unsigned i = 1; i < MOST_PENDING; i++)
			s->pending[i - 1] = s->pending[i];
		s->depth--;
	}
	return &s->pending[s->depth++];
}

/* Returns the call around the innermost one if it is for the same lock: in some libraries, one of
 * these functions calls another. NULL: there is none. */
static const struct pending *
whole_of(const struct state *s, uint64_t address)
{
	const struct pending *outer = s->depth > 1 ? &s->pending[s->depth - 2] : NULL;
	const int same = outer && outer->lock &&
	                 (outer->lock->address == address ||
	                  (outer->mutex && outer->mutex->address == address));
	return same ? outer : NULL;
}

/* values: the function, its arguments 0 and 1, the return address, the stack pointer */
static void
entered(strobe_thread *t, const uint64_t *values)
{
	const struct lock_function *f = &lock_functions[values[0]];
	struct state *s = strobe_state(t);
	const uint64_t self = strobe_thread_number(t) + 1ull, site = values[3] - 1;
	if (!s)
		return;
	strobe_lock(&guard);
	struct pending *p = push(s, values[4]);
	const struct pending *whole = whole_of(s, values[1]);
	*p = (struct pending){.kind = f->kind, .role = f->role, .sp = values[4], .site = site};
	if (whole) {
		p->role = NOTHING;
		p->lock = whole->lock;
		p->mutex = whole->mutex;
		strobe_unlock(&guard);
		return;
	}
	p->lock = lock_at(values[1], site);
	if (p->lock && f->kind == CONDITION && f->role == TAKES)
		p->mutex = lock_at(values[2], site);
	const int releases = p->lock && (f->role == RELEASES || p->mutex || f->kind == BARRIER);
	const int watched = releases && (p->lock->waiters || (p->mutex && p->mutex->waiters));
	strobe_unlock(&guard);
	const uint64_t stack = watched ? stack_text(t, s, 1) : 0;
	strobe_lock(&guard);
	if (releases) {
		struct lock *l = p->mutex ? p->mutex : p->lock;
		if (l->holder || l->readers)
			let_go(l, s, p->mutex ? MUTEX : f->kind);
		else
			l->last_site = site;
		l->released_by = self;
		l->released_at = strobe_ticks();
		l->released_stack = stack ? stack : strobe_text("");
	}
	if (p->lock && f->role == TAKES &&
	    (p->mutex || (holder_of(p->lock, f->kind) && holder_of(p->lock, f->kind) != self)))
		begin_waiting(p, p->lock);
	strobe_unlock(&guard);
	p->begin = strobe_ticks();
}

static void
take(const struct pending *p, struct state *s, uint64_t self)
{
	struct lock *l = p->mutex ? p->mutex : p->lock;
	if (p->kind == READ_LOCK)
		share(l, s, self, p->site);
	else if (p->kind <= WRITE_LOCK || p->mutex)
		hold(l, self, p->site);
}

/* values: result */
static void
returned(strobe_thread *t, const uint64_t *values)
{
	struct state *s = strobe_state(t);
	const int32_t result = (int32_t)values[0];
	if (!s || !s->depth)
		return;
	const struct pending *p = &s->pending[--s->depth];
	if (!p->lock || p->role == RELEASES || p->role == NOTHING)
		return;
	const int taken = !result || result == OWNER_DIED || p->kind == BARRIER;
	const uint64_t stack = p->waits ? stack_text(t, s, 1) : 0;
	const uint64_t kind = strobe_text(kinds[p->kind]);
	strobe_lock(&guard);
	if (p->waits) {
		count_wait(t, p, p->lock, stack);
		if (p->lock->waiters)
			p->lock->waiters--;
	}
	if (taken || p->mutex)
		take(p, s, strobe_thread_number(t) + 1ull);
	add_of_lock(p->lock, p->kind, taken ? L_TAKEN : L_FAILED, 1);
	if (taken)
		strobe_cell_add(strobe_cell_of(&lock_sites, S_TAKEN, kind, p->site, p->site), 1);
	strobe_unlock(&guard);
}

static void
on_lock_function(strobe_function *f)
{
	unsigned i = 0;
	while (lock_functions[i].name && !strobe_function_is(f, lock_functions[i].name))
		i++;
	if (!lock_functions[i].name)
		return;
	strobe_invoke(strobe_at(f), entered, strobe_constant(i), strobe_function_argument(f, 0),
	              strobe_function_argument(f, 1), strobe_function_caller(f),
	              strobe_register_value(STROBE_RSP));
	strobe_invoke(strobe_at_return(f), returned, strobe_function_result(f));
}

/* ---- futexes ---- */

static int
futex_waits(uint64_t operation)
{
	operation &= FUTEX_COMMAND; /* wait, lock_pi, wait_bitset, wait_requeue_pi, lock_pi2 */
	return operation == 0 || operation == 6 || operation == 9 || operation == 11 ||
	       operation == 13;
}

static int
futex_wakes(uint64_t operation)
{
	operation &=
	        FUTEX_COMMAND; /* wake, requeue, cmp_requeue, wake_op, unlock_pi, wake_bitset */
	return operation == 1 || (operation >= 3 && operation <= 5) || operation == 7 ||
	       operation == 10;
}

static void
futex_before(strobe_thread *t, const strobe_syscall *call)
{
	struct state *s = strobe_state(t);
	if (call->number != __NR_futex || !s)
		return;
	uint64_t i = s->depth;
	while (i > 1 && s->pending[i - 1].role == NOTHING)
		i--;
	struct pending *p = i ? &s->pending[i - 1] : NULL;
	const int waits = futex_waits(call->argument[1]);
	if (p && (!p->lock || p->role != TAKES || !waits))
		return;
	const uint64_t stack = p ? 0 : stack_text(t, s, 1);
	strobe_lock(&guard);
	if (p) {
		begin_waiting(p, p->lock);
	} else {
		struct lock *l = lock_at(call->argument[0], call->caller);
		s->bare = (struct pending){.kind = FUTEX,
		                           .lock = waits ? l : NULL,
		                           .site = call->caller,
		                           .stack = stack};
		if (l && waits)
			begin_waiting(&s->bare, l);
		if (l && futex_wakes(call->argument[1])) {
			l->released_by = strobe_thread_number(t) + 1ull;
			l->released_at = strobe_ticks();
			l->last_site = call->caller;
			l->released_stack = stack;
		}
	}
	strobe_unlock(&guard);
	s->bare.begin = strobe_ticks();
}

static void
futex_after(strobe_thread *t, const strobe_syscall *call)
{
	struct state *s = strobe_state(t);
	if (call->number != __NR_futex || !s || s->depth || !s->bare.lock)
		return;
	const uint64_t kind = strobe_text(kinds[FUTEX]), site = s->bare.site;
	strobe_lock(&guard);
	if (call->result != CHANGED)
		count_wait(t, &s->bare, s->bare.lock, s->bare.stack);
	if (s->bare.lock->waiters)
		s->bare.lock->waiters--;
	add_of_lock(s->bare.lock, FUTEX, call->result ? L_FAILED : L_TAKEN, 1);
	if (!call->result)
		strobe_cell_add(strobe_cell_of(&lock_sites, S_TAKEN, kind, site, site), 1);
	strobe_unlock(&guard);
	s->bare.lock = NULL;
}

/* The thread has run outside the engine, so its calls may have returned. */
static void
locks_on_gap(strobe_thread *t, uint64_t from)
{
	struct state *s = strobe_state(t);
	(void)from;
	if (!s)
		return;
	strobe_lock(&guard);
	while (s->depth)
		drop(&s->pending[--s->depth]);
	strobe_unlock(&guard);
	s->n_shared = 0;
}

STROBE_TOOL(locks, .help = "measure how long threads wait for each other, and where",
            .function = on_lock_function, .syscall_before = futex_before,
            .syscall_after = futex_after, .gap = locks_on_gap, .begin = locks_begin,
            .state = sizeof(struct state),
            .options = {{"times", "0", "record when each wait began, and how long it took"}},
            .limits = {{"times", 0, 1}});
