/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's side of the engine `ebpf`: programs that record each hit of a probe, loaded by
 * libbpf. What needs libbpf is in kernel.c only; a build without it has no engine (missing.c).
 *
 * Everything ends with the last descriptor: if strobe is killed, no probe is left behind.
 */
#ifndef STROBE_EBPF_KERNEL_H
#define STROBE_EBPF_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "ebpf/record.h"

struct st_ebpf;

/* Where a probe is in a file. */
struct st_ebpf_point {
	uint64_t offset; /* in the file */
	uint64_t
	        semaphore; /* of a static probe: offset in the file of what counts who listens; 0 */
	uint32_t number;   /* that the records have */
};

/* Loads the programs for a process, or for all that descend from it. NULL with *e: this build, this
 * machine or this user cannot do that. */
struct st_ebpf *st_ebpf_open(pid_t pid, bool follow, struct st_error *e);
void st_ebpf_close(struct st_ebpf *k);

/* Kinds of probes. */
enum st_ebpf_place {
	ST_EBPF_AT_ENTRY,        /* at the first instruction; static probes */
	ST_EBPF_AT_BOTH,         /* the same, and when it returns, by a replaced return address */
	ST_EBPF_AT_INSTRUCTIONS, /* at an instruction that leaves the function */
};

/* Probes of one file. 0, or a positive errno: none of them is there. */
int st_ebpf_attach(struct st_ebpf *k, const char *path, const struct st_ebpf_point *points,
                   size_t n, enum st_ebpf_place place);
/* Removes all probes. */
void st_ebpf_detach(struct st_ebpf *k);

/* Calls take for each record that waits, until it fails; how many there were, or -1: it failed. */
int st_ebpf_read(struct st_ebpf *k, int (*take)(void *arg, const struct st_ebpf_record *r),
                 void *arg);
/* Records that were lost so far. */
uint64_t st_ebpf_lost(const struct st_ebpf *k);
/* The processes that are traced, as numbers: up to `room`. */
size_t st_ebpf_processes(const struct st_ebpf *k, uint32_t *pids, size_t room);

#endif
