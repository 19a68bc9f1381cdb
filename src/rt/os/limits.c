/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RLIMIT_AS and RLIMIT_DATA. The kernel counts the engine's memory too, so a limit that the program
 * sets reaches the kernel raised by what the engine has; the program sees its own number again. A
 * limit that it has not set is left alone.
 */
#include <asm/unistd.h>

#include "rt/os/os.h"
#include "rt/os/process.h"

enum { E_FAULT = 14, E_INVAL = 22, RLIMIT_DATA_NR = 2, RLIMIT_AS_NR = 9 };
#define INFINITE (1ull << 62)

struct rlimit64 {
	uint64_t soft, hard;
};

static struct limit {
	uint32_t resource;
	bool kept;       /* the program has set it */
	uint64_t raised; /* by how much the kernel's is above the program's */
} limits[2] = {{.resource = RLIMIT_AS_NR}, {.resource = RLIMIT_DATA_NR}};
static uint32_t lock;

static struct limit *
find_limit(uint32_t resource)
{
	return resource == RLIMIT_AS_NR     ? &limits[0]
	       : resource == RLIMIT_DATA_NR ? &limits[1]
	                                    : NULL;
}

static uint64_t
own_memory(const struct limit *l)
{
	return __atomic_load_n(l == &limits[0] ? &rt_memory.space : &rt_memory.data,
	                       __ATOMIC_RELAXED);
}

static uint64_t
shift(uint64_t limit, uint64_t from, uint64_t to)
{
	return limit >= INFINITE ? limit : (limit > from ? limit - from : 0) + to;
}

static struct rlimit64
shift_both(struct rlimit64 r, uint64_t from, uint64_t to)
{
	return (struct rlimit64){shift(r.soft, from, to), shift(r.hard, from, to)};
}

static long
prlimit(uint32_t resource, const struct rlimit64 *new, struct rlimit64 *old)
{
	return SYS(__NR_prlimit64, 0, resource, new, old);
}

/* Sets the kernel's limit; where only the privileged may raise the hard limit, as far as that
 * allows. */
static long
put_limit(uint32_t resource, struct rlimit64 want, const struct rlimit64 *old)
{
	long ret = prlimit(resource, &want, NULL);
	if (ret == 0 || want.hard <= old->hard)
		return ret;
	want.hard = old->hard;
	if (want.soft > want.hard)
		want.soft = want.hard;
	return prlimit(resource, &want, NULL);
}

void
limits_adjust(uint64_t spare)
{
	rt_lock(&lock);
	for (struct limit *l = limits; l < limits + 2; l++) {
		struct rlimit64 old;
		uint64_t want = own_memory(l) + spare;
		if (!l->kept || want == l->raised || prlimit(l->resource, NULL, &old) != 0)
			continue;
		put_limit(l->resource, shift_both(old, l->raised, want), &old);
		l->raised = want;
	}
	rt_unlock(&lock);
}

void
limits_begin(const struct st_boot *boot)
{
	for (unsigned i = 0; i < 2; i++) {
		struct rlimit64 old, set = {boot->limits[i][0], boot->limits[i][1]};
		if (!set.soft || prlimit(limits[i].resource, NULL, &old) != 0)
			continue;
		limits[i].kept = true;
		limits[i].raised = own_memory(&limits[i]);
		put_limit(limits[i].resource, shift_both(set, 0, limits[i].raised), &old);
	}
}

void
limits_end(void)
{
	for (struct limit *l = limits; l < limits + 2; l++) {
		struct rlimit64 old;
		if (l->kept && prlimit(l->resource, NULL, &old) == 0)
			put_limit(l->resource, shift_both(old, l->raised, 0), &old);
		l->kept = false;
	}
}

void
limits_restart(void)
{
	lock = 0;
}

void
limits_leave_child(void)
{
	limits_restart();
	rt_count_memory(-(int64_t)rt_memory.space_not_forked, -(int64_t)rt_memory.data_not_forked);
	limits_adjust(0);
}

void
limits_exec(uint64_t soft[2], bool begins)
{
	for (unsigned i = 0; i < 2; i++) {
		struct rlimit64 r;
		if (!limits[i].kept || prlimit(limits[i].resource, NULL, &r) != 0)
			continue;
		if (begins) {
			soft[i] = r.soft;
			r.soft = shift(r.soft, limits[i].raised, 0);
		} else {
			r.soft = soft[i];
		}
		prlimit(limits[i].resource, &r, NULL);
	}
}

/* The program's view of *l before the call, and its new value set. lock held. */
static long
exchange(struct limit *l, const struct rlimit64 *set, struct rlimit64 *view)
{
	struct rlimit64 old;
	long ret = prlimit(l->resource, NULL, &old);
	if (ret)
		return ret;
	*view = shift_both(old, l->kept ? l->raised : 0, 0);
	if (!set)
		return 0;
	uint64_t own = own_memory(l);
	struct rlimit64 want = shift_both(*set, 0, own);
	ret = set->hard > view->hard ? prlimit(l->resource, &want, NULL)
	                             : put_limit(l->resource, want, &old);
	if (ret)
		return ret;
	l->kept = true;
	l->raised = own;
	return 0;
}

long
sys_rlimit(struct thread *t)
{
	const uint64_t *r = t->regs.r;
	bool both = r[RAX] == __NR_prlimit64;
	struct limit *l = find_limit((uint32_t)(both ? r[RSI] : r[RDI]));
	if (!l || (both && r[RDI] != 0 && r[RDI] != (uint64_t)SYS(__NR_getpid)))
		return rt_app_syscall(t);
	uint64_t set_at = both ? r[RDX] : r[RAX] == __NR_setrlimit ? r[RSI] : 0;
	uint64_t get_at = both ? r[R10] : r[RAX] == __NR_getrlimit ? r[RSI] : 0;
	struct rlimit64 set, view;
	if (set_at && rt_copy_guarded(&set, (void *)set_at, sizeof set))
		return -E_FAULT;
	if (set_at && set.soft > set.hard)
		return -E_INVAL;
	rt_lock(&lock);
	long ret = exchange(l, set_at ? &set : NULL, &view);
	rt_unlock(&lock);
	if (ret == 0 && get_at && rt_copy_guarded((void *)get_at, &view, sizeof view))
		return -E_FAULT;
	return ret;
}
