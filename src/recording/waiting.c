/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions that take or release locks, or wait: from them records have waiting times and the
 * time during which locks were held. */
#include <string.h>

#include "recording/targets.h"

/* Waits of Rust's library for a condition variable, which call `syscall`. */
static const char rust_waits[] = "*std::sys::*Condvar*::wait*";

static const struct waiting_function {
	const char *name;
	enum st_record_metric metric;
	enum st_held_role role;
} waiting_functions[] = {
        {"pthread_mutex_lock", ST_RECORD_LOCK_WAIT, ST_HELD_TAKES},
        {"pthread_mutex_timedlock", ST_RECORD_LOCK_WAIT, ST_HELD_TAKES},
        {"pthread_mutex_clocklock", ST_RECORD_LOCK_WAIT, ST_HELD_TAKES},
        {"pthread_mutex_trylock", ST_RECORD_TIME, ST_HELD_TAKES},
        {"pthread_mutex_unlock", ST_RECORD_TIME, ST_HELD_RELEASES},
        {"pthread_rwlock_rdlock", ST_RECORD_LOCK_WAIT, ST_HELD_SHARES},
        {"pthread_rwlock_wrlock", ST_RECORD_LOCK_WAIT, ST_HELD_SHARES},
        {"pthread_rwlock_timedrdlock", ST_RECORD_LOCK_WAIT, ST_HELD_SHARES},
        {"pthread_rwlock_timedwrlock", ST_RECORD_LOCK_WAIT, ST_HELD_SHARES},
        {"pthread_rwlock_clockrdlock", ST_RECORD_LOCK_WAIT, ST_HELD_SHARES},
        {"pthread_rwlock_clockwrlock", ST_RECORD_LOCK_WAIT, ST_HELD_SHARES},
        {"pthread_rwlock_tryrdlock", ST_RECORD_TIME, ST_HELD_SHARES},
        {"pthread_rwlock_trywrlock", ST_RECORD_TIME, ST_HELD_SHARES},
        {"pthread_rwlock_unlock", ST_RECORD_TIME, ST_HELD_LEAVES},
        {"pthread_spin_lock", ST_RECORD_LOCK_WAIT, ST_HELD_TAKES},
        {"pthread_spin_trylock", ST_RECORD_TIME, ST_HELD_TAKES},
        {"pthread_spin_unlock", ST_RECORD_TIME, ST_HELD_RELEASES},
        {"sem_wait", ST_RECORD_LOCK_WAIT, ST_HELD_NOTHING},
        {"sem_timedwait", ST_RECORD_LOCK_WAIT, ST_HELD_NOTHING},
        {"sem_clockwait", ST_RECORD_LOCK_WAIT, ST_HELD_NOTHING},
        {"pthread_cond_wait", ST_RECORD_CONDITION_WAIT, ST_HELD_WAITS},
        {"pthread_cond_timedwait", ST_RECORD_CONDITION_WAIT, ST_HELD_WAITS},
        {"pthread_cond_clockwait", ST_RECORD_CONDITION_WAIT, ST_HELD_WAITS},
        /* Only the time of calls that wait for a futex: rt/probe/waits.c. */
        {"syscall", ST_RECORD_LOCK_WAIT, ST_HELD_NOTHING},
        {rust_waits, ST_RECORD_CONDITION_WAIT, ST_HELD_NOTHING},
};

/* Returns the metric and the role of the function that the chosen metrics need. */
static struct st_recording_waiting
wanted_of(const struct st_recording_request *r, const struct waiting_function *f)
{
	struct st_recording_waiting w = {.metric = ST_RECORD_TIME,
	                                 .role = ST_HELD_NOTHING,
	                                 .is_general = !strcmp(f->name, "syscall")};
	if (f->metric != ST_RECORD_TIME && r->metrics >> f->metric & 1)
		w.metric = f->metric;
	/* Otherwise their time would be part of the other metric. */
	if (f->name == rust_waits && r->metrics >> ST_RECORD_LOCK_WAIT & 1)
		w.metric = f->metric;
	if (r->metrics >> ST_RECORD_LOCK_HELD & 1)
		w.role = f->role;
	return w;
}

void
st_recording_find_waiting(struct st_recording_targets *t, struct st_image *image)
{
	t->waiting.n = 0;
	for (size_t i = 0; i < sizeof waiting_functions / sizeof *waiting_functions; i++) {
		struct st_targets found = {0};
		const struct waiting_function *f = &waiting_functions[i];
		struct st_recording_waiting wanted = wanted_of(t->request, f);
		if ((wanted.metric == ST_RECORD_TIME && wanted.role == ST_HELD_NOTHING) ||
		    !st_image_defines(image,
		                      f->name == rust_waits ? "rust_eh_personality" : f->name))
			continue;
		t->no_memory |= st_targets_find(&found, image, f->name) != ST_OK;
		for (size_t j = 0; j < found.entries.n; j++) {
			struct st_recording_waiting *w = ST_PUSH(&t->waiting);
			t->no_memory |= !w;
			wanted.entry = found.entries.v[j];
			if (w)
				*w = wanted;
		}
		st_targets_free(&found);
	}
}

struct st_probe_action
st_recording_choose_waiting(const struct st_recording_targets *t, uint64_t entry)
{
	for (size_t i = 0; i < t->waiting.n; i++) {
		const struct st_recording_waiting *w = &t->waiting.v[i];
		if (w->entry != entry)
			continue;
		if (w->is_general)
			return (struct st_probe_action){ST_PROBE_SYSCALL, w->metric};
		if (w->role == ST_HELD_NOTHING)
			return (struct st_probe_action){ST_PROBE_TALLY, w->metric};
		return (struct st_probe_action){
		        ST_PROBE_LOCK, (uint32_t)w->role << ST_HELD_METRIC_BITS | w->metric};
	}
	return (struct st_probe_action){0};
}

/* ---- functions of locks that were not observed ---- */

static bool
is_lock_function(const char *name)
{
	for (size_t i = 0; i < sizeof waiting_functions / sizeof *waiting_functions; i++)
		if (waiting_functions[i].role != ST_HELD_NOTHING &&
		    !strcmp(waiting_functions[i].name, name))
			return true;
	return false;
}

const char *
st_recording_unseen_lock(const struct st_recording_targets *t, const char **why)
{
	const struct st_probes *p = t->probes;
	for (size_t i = 0; i < t->list.n; i++) {
		*why = "it is itself recorded";
		if (is_lock_function(t->list.v[i].table.name))
			return t->list.v[i].table.name;
	}
	for (size_t i = 0; i < p->refused.n + p->functions.n; i++) {
		const struct st_probed_function *f =
		        i < p->refused.n ? &p->refused.v[i] : &p->functions.v[i - p->refused.n];
		*why = f->refused;
		if (*why && is_lock_function(f->name))
			return f->name;
	}
	return NULL;
}
