/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An injection under way: inject.c's, for a program at its first instruction (inject.c) and for one
 * that is running (attach.c). */
#ifndef STROBE_CONTROL_INJECTION_H
#define STROBE_CONTROL_INJECTION_H

#include "control/internal.h"

struct st_injection {
	struct st_remote remote;
	const struct st_run_options *options;
	const struct st_pool *pool; /* NULL: none is shared with other processes */
	struct st_error *e;
	struct st_boot boot;
	struct st_results_header *results;
	bool running;   /* not at its first instruction: it gets a socket in any case */
	int results_fd; /* of a running process: their file; else -1 */
	int channel;    /* our end of the socket, or -1 */
	uint64_t name;  /* address of a string in the target's stack */
	/* What there is in the target that was not there before, should it have to be undone. */
	struct {
		uint64_t at, bytes;
	} mapped[8];
	unsigned n_mapped;
	int opened[8];
	unsigned n_opened;
};

long st_injection_mmap(struct st_injection *in, uint64_t at, uint64_t bytes, int prot, int flags,
                       int fd, uint64_t offset);
/* Maps all that the engine needs; *entry: the address of the runtime's first instruction. */
int st_injection_map(struct st_injection *in, uint64_t *entry);
/* Completes the boot block, for the registers of in->remote.saved. Its address in the target. */
uint64_t st_injection_boot(struct st_injection *in);
/* The target is as it was, and stopped, for it to go on without the engine. */
void st_injection_undo(struct st_injection *in);
/* In hardware order. */
void st_general_registers(uint64_t regs[16], const struct user_regs_struct *r);
/* The boot block as it lies in the results. */
static inline struct st_boot *
st_boot_of(struct st_results_header *results)
{
	return (struct st_boot *)((char *)results +
	                          ((sizeof(struct st_results_header) + 4095) & ~4095ull));
}

#endif
