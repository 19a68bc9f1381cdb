/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The load by other processes during a measurement. */
#ifndef STROBE_JOB_ENVIRONMENT_H
#define STROBE_JOB_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A moment, by /proc/stat below root. */
struct st_load_moment {
	bool known;
	uint64_t busy, stolen; /* of all CPUs, in ticks */
	double seconds;
};

/* CPUs that others kept busy, on average; it is known up to +- error, because the kernel counts in
 * ticks. NAN: unknown. */
struct st_load {
	double others, stolen, error;
};

struct st_load_moment st_load_now(const char *root);
/* Between then and now; own: CPU time of what was measured, s. */
struct st_load st_load_since(const char *root, const struct st_load_moment *then, double own);

/* The frequency governors of all CPUs, "performance" or "performance, powersave"; "" where the
 * kernel has none. */
void st_governors(const char *root, char *text, size_t size);
/* 1: the clock may rise above its nominal frequency, 0: it may not, -1: unknown. */
int st_turbo(const char *root);
/* "governor performance, turbo on", or what of it is unknown. */
void st_frequency_text(const char *root, char *text, size_t size);

#endif
