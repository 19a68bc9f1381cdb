/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts the calls of functions that are built with -finstrument-functions, and writes "NAME CALLS"
 * for each to standard error at the end. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256 };

static struct {
	void *function;
	unsigned long calls;
} counts[MOST];

void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from);

void
__cyg_profile_func_enter(void *function, void *from)
{
	(void)from;
	for (int i = 0; i < MOST; i++) {
		void *none = NULL;
		if (__atomic_load_n(&counts[i].function, __ATOMIC_ACQUIRE) == function ||
		    __atomic_compare_exchange_n(&counts[i].function, &none, function, 0,
		                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    none == function) {
			__atomic_fetch_add(&counts[i].calls, 1, __ATOMIC_RELAXED);
			return;
		}
	}
	abort();
}

void
__cyg_profile_func_exit(void *function, void *from)
{
	(void)function;
	(void)from;
}

__attribute__((destructor)) static void
print_counts(void)
{
	Dl_info info;
	for (int i = 0; i < MOST && counts[i].function; i++)
		if (dladdr(counts[i].function, &info) && info.dli_sname)
			fprintf(stderr, "%s %lu\n", info.dli_sname, counts[i].calls);
}
