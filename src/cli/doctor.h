/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checks of strobe doctor: one function for each line of its output. */
#ifndef STROBE_CLI_DOCTOR_H
#define STROBE_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum st_health { ST_HEALTH_OK, ST_HEALTH_LIMITED, ST_HEALTH_NO };

struct st_finding {
	enum st_health health;
	char found[256];     /* what is there */
	const char *follows; /* what that means for the user; NULL when all is well */
	const char *fix;     /* how to change it; NULL: nothing to be done */
};

/* X(name, required for strobe run) */
#define ST_CHECKS(X)                                                                               \
	X(architecture, true)                                                                      \
	X(kernel, true)                                                                            \
	X(ptrace, true)                                                                            \
	X(memfd, true)                                                                             \
	X(fsgsbase, false)                                                                         \
	X(tsc, false)                                                                              \
	X(perf, false)                                                                             \
	X(bpf, false)                                                                              \
	X(cores, false)                                                                            \
	X(memory, false)                                                                           \
	X(seccomp, false)                                                                          \
	X(container, false)                                                                        \
	X(core_dumps, false)

/* root stands before /proc and /sys, so that tests can show a check another machine; "" is this
 * one. */
#define X(name, required) void st_check_##name(const char *root, struct st_finding *f);
ST_CHECKS(X)
#undef X

/* With --for-benchmarks: X(name), of what was measured, and of files below root. */
#define ST_BENCHMARK_MEASURES(X) X(loop) X(away) X(others) X(stolen)
#define ST_BENCHMARK_CHECKS(X) X(load) X(governor) X(turbo) X(siblings) X(aslr)

struct st_disturbance;
#define X(name) void st_benchmark_##name(const struct st_disturbance *d, struct st_finding *f);
ST_BENCHMARK_MEASURES(X)
#undef X
#define X(name) void st_benchmark_##name(const char *root, struct st_finding *f);
ST_BENCHMARK_CHECKS(X)
#undef X

/* Fills health and found. */
__attribute__((format(printf, 3, 4))) void st_found(struct st_finding *f, enum st_health health,
                                                    const char *format, ...);
/* Reads a file below root without its last newline; false when it cannot be read. */
bool st_read_file(const char *root, const char *path, char *text, size_t size);
/* The number a file holds; false when there is none. */
bool st_read_number(const char *root, const char *path, int64_t *value);
/* CPUs worth of time that the control groups allow; 0: no limit. */
double st_cgroup_cpus(const char *root);
/* Bytes of memory that the control groups allow; 0: no limit. */
uint64_t st_cgroup_memory(const char *root);

#endif
