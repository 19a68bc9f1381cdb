/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: threads. */
#ifndef STROBE_WIRE_RESULTS_THREADS_H
#define STROBE_WIRE_RESULTS_THREADS_H

#include <stdint.h>

enum {
	ST_MAX_THREADS = 65536, /* thread records ever made */
	ST_MAX_SLOTS = 4096,    /* counter slots: threads alive at once; slot 0 holds what ended
	                           threads counted */
};

enum { ST_THREAD_LIVE = 1, ST_THREAD_ENDED = 2, ST_THREAD_NATIVE = 3 };
struct st_thread {
	uint32_t tid;
	uint32_t state; /* ST_THREAD_* */
	uint32_t slot; /* counter slot while live; 0 after it ended (its counts are merged into slot
	                  0) */
	uint32_t pad;
	uint64_t tsc_begin, tsc_end;
	uint64_t samples; /* samples taken on this thread */
	char name[16];
};

struct st_thread_results {
	uint32_t n;
	uint32_t n_slots;    /* highest slot used + 1 */
	uint32_t n_measured; /* that plan.threads has chosen */
};

#endif
