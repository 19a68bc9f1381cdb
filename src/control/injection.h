/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An injection under way: inject.c's, for a program at its first instruction (inject.c) and for one
 * that is running (attach.c). */
#ifndef STROBE_CONTROL_INJECTION_H
#define STROBE_CONTROL_INJECTION_H

#include "base/status.h"
#include "control/internal.h"

/* Descriptors that go to the target: the code cache, the results, what is shared, the pool, what is
 * known of code, tools. */
enum {
	ST_PARCEL_CACHE,
	ST_PARCEL_RESULTS,
	ST_PARCEL_SHARED,
	ST_PARCEL_FIRST = 3,
	ST_PARCEL_MOST = ST_PARCEL_FIRST + 2 + ST_MAX_TOOLS
};

struct st_injection {
	pid_t pid;
	struct st_remote remote;
	const struct st_run_options *options;
	const struct st_pool *pool; /* NULL: none is shared with other processes */
	struct st_error *e;
	struct st_boot boot;
	const struct st_shared *shared;
	uint64_t region_hint; /* where the region should be; 0: no wish */
	struct st_results_header *results;
	bool running;     /* not at its first instruction: it gets a socket in any case */
	int channel;      /* our end of the socket, or -1: there is none yet */
	int ends[2];      /* both, in the target; -1: it does not have ours */
	uint64_t scratch; /* address of ST_SCRATCH bytes in the target */
	/* Descriptors of the parcel, here and in the target. */
	int here[ST_PARCEL_MOST], there[ST_PARCEL_MOST];
	unsigned n_parcel;
	/* System calls that are to be made together, and what for. */
	struct st_remote_call calls[ST_REMOTE_MOST];
	const char *what[ST_REMOTE_MOST];
	unsigned n_calls;
	/* The changes to the target, for undoing them. */
	struct {
		uint64_t at, bytes;
	} mapped[8];
	unsigned n_mapped;
	int opened[ST_PARCEL_MOST + 3];
	unsigned n_opened;
	uint64_t undo; /* address of ST_UNDO bytes in the target: calls that undo all that */
	/* And of numbers of descriptors that are to be closed then, but are not known here. */
	uint64_t fds, fds_end;
};
enum {
	ST_SCRATCH = 512,
	ST_UNDO_MOST = ST_PARCEL_MOST + 3 + 8,
	ST_UNDO = ST_UNDO_MOST * (int)sizeof(struct st_remote_call)
};

/* Puts a call into the list. */
void st_injection_call(struct st_injection *in, const char *what, struct st_remote_call call);
void st_injection_mmap(struct st_injection *in, const char *what, uint64_t at, uint64_t bytes,
                       int prot, int flags, int fd, uint64_t offset);
void st_injection_close(struct st_injection *in, int fd);
/* Makes the calls of the list. */
st_status st_injection_do(struct st_injection *in);
st_status st_injection_fail(struct st_injection *in, const char *what, long error);
void st_injection_opened(struct st_injection *in, int fd);
/* Tells the process what it is to undo, should we be killed. */
void st_injection_way_back(struct st_injection *in);

/* control/parcel.c: a socket between the target and us, which is made with the next calls unless
 * there is one, and through which it then gets the parcel; it stays when `stays`. */
void st_parcel_prepare(struct st_injection *in);
st_status st_parcel_send(struct st_injection *in, bool stays);

/* Maps all that the engine needs; *entry: the address of the runtime's first instruction. */
st_status st_injection_map(struct st_injection *in, uint64_t *entry);
/* Completes the boot block, for the registers of in->remote.saved. Its address in the target. */
uint64_t st_injection_boot(struct st_injection *in);
/* Closes what is not needed any more. */
void st_injection_end(struct st_injection *in);
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
