/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts the calls of a program compiled with -finstrument-functions and prints `calls NAME N` for
 * each function at the end. */
#include "check.h"
#include <dlfcn.h>
#include <stdatomic.h>

#define MAX 256

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static struct {
	void *_Atomic function;
	atomic_ulong calls;
} table[MAX];

__attribute__((destructor, no_instrument_function)) static void
print_calls(void)
{
	for (int i = 0; i < MAX && table[i].function; i++) {
		Dl_info info;
		CHECK(dladdr(table[i].function, &info) && info.dli_sname, "no name for %p",
		      table[i].function);
		printf("calls %s %lu\n", info.dli_sname, table[i].calls);
	}
}

__attribute__((no_instrument_function)) void
__cyg_profile_func_enter(void *function, void *site)
{
	(void)site;
	for (int i = 0; i < MAX; i++) {
		void *expected = NULL;
		if (atomic_compare_exchange_strong(&table[i].function, &expected, function) ||
		    expected == function) {
			table[i].calls++;
			return;
		}
	}
	CHECK(0, "more than %d functions", MAX);
}

__attribute__((no_instrument_function)) void
__cyg_profile_func_exit(void *function, void *site)
{
	(void)function, (void)site;
}
