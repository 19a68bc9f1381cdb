/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Maps the memory of the runtime in steps, each of which doubles it. A program may limit or lock
 * its address space (RLIMIT_AS, mlockall), so little of it is mapped at first; it may also forbid
 * itself system calls, so the steps are few. If several threads take the same step at the same
 * time, one of them succeeds.
 */
#include <asm/unistd.h>
#include <errno.h>

#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

enum {
	LIMIT_OF_DATA = 2, /* RLIMIT_DATA */
	LIMIT_OF_ADDRESSES = 9,
	NORMAL = 0,                  /* MADV_NORMAL */
	READ_AND_WRITE = 3,          /* PROT_READ | PROT_WRITE */
	PRIVATE_AND_FIXED = 0x104022 /* MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
	                                MAP_FIXED_NOREPLACE */
};

/* Adds the runtime's memory to the program's limit, as far as the hard limit permits, or subtracts
 * it again: the limit should apply to the program's own memory. */
static void
move_limit(uint32_t resource, int64_t bytes)
{
	uint64_t limit[2];
	if (SYS(__NR_prlimit64, 0, resource, 0, limit) || limit[0] == UINT64_MAX)
		return;
	const uint64_t wanted = limit[0] + (uint64_t)bytes;
	limit[0] = bytes > 0 && (wanted > limit[1] || wanted < limit[0]) ? limit[1] : wanted;
	SYS(__NR_prlimit64, 0, resource, limit, 0);
}

static bool
is_mapped(uint64_t from, uint64_t to)
{
	return !SYS(__NR_madvise, from, to - from, NORMAL);
}

/* ---- the area ---- */

bool
probe_map_area(uint64_t needed)
{
	struct st_probe_context *x = &probe_context;
	for (;;) {
		uint64_t from = __atomic_load_n(&x->area_bytes, __ATOMIC_ACQUIRE);
		if (needed <= from)
			return true;
		if (needed > ST_PROBE_AREA_BYTES || __atomic_load_n(&x->is_short, __ATOMIC_RELAXED))
			return false;
		const uint64_t to = 2 * from < ST_PROBE_AREA_BYTES ? 2 * from : ST_PROBE_AREA_BYTES;
		move_limit(LIMIT_OF_ADDRESSES, (int64_t)(to - from));
		if (SYS(__NR_mremap, x->area, from, to, 0) != (long)x->area) {
			move_limit(LIMIT_OF_ADDRESSES, -(int64_t)(to - from));
			if (!is_mapped(x->area + from, x->area + to)) {
				__atomic_store_n(&x->is_short, 1, __ATOMIC_RELAXED);
				return false;
			}
		}
		__atomic_compare_exchange_n(&x->area_bytes, &from, to, false, __ATOMIC_ACQ_REL,
		                            __ATOMIC_RELAXED);
	}
}

/* ---- threads ---- */

static uint64_t
end_of_threads(uint32_t n)
{
	return probe_context.threads + ST_PROBE_THREADS_BYTES(n);
}

bool
probe_map_threads(uint32_t needed)
{
	struct st_probe_context *x = &probe_context;
	for (;;) {
		uint32_t n = __atomic_load_n(&x->room_for_threads, __ATOMIC_ACQUIRE);
		if (needed <= n)
			return true;
		const uint32_t more = 2 * n < ST_PROBE_MOST_THREADS ? 2 * n : ST_PROBE_MOST_THREADS;
		const uint64_t from = end_of_threads(n), bytes = end_of_threads(more) - from;
		if (!bytes)
			return false;
		move_limit(LIMIT_OF_ADDRESSES, (int64_t)bytes);
		move_limit(LIMIT_OF_DATA, (int64_t)bytes);
		if (SYS(__NR_mmap, from, bytes, READ_AND_WRITE, PRIVATE_AND_FIXED, -1, 0) !=
		    (long)from) {
			move_limit(LIMIT_OF_ADDRESSES, -(int64_t)bytes);
			move_limit(LIMIT_OF_DATA, -(int64_t)bytes);
			if (!is_mapped(from, from + bytes))
				return false;
		}
		__atomic_compare_exchange_n(&x->room_for_threads, &n, more, false, __ATOMIC_ACQ_REL,
		                            __ATOMIC_RELAXED);
	}
}
