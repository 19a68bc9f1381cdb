/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking a running process under the engine, and letting it go. */
#ifndef STROBE_CONTROL_ATTACH_H
#define STROBE_CONTROL_ATTACH_H

#include "base/status.h"
#include "control/internal.h"

/* A process that was attached: what there is of the engine in it. */
struct st_attachment {
	pid_t pid;
	struct st_results_header *results; /* mapped */
	struct st_boot *boot;              /* in them */
	int results_fd;                    /* their file */
	size_t threads;
	double begin; /* when it was first stopped */
	int channel;  /* whose end makes the runtime leave */
	struct {
		uint64_t at, bytes;
	} mapped[8];
	unsigned n_mapped;
};

/* control/attachable.c: 0, or -1 with the sentence that says why it cannot be. */
st_status st_attach_check(pid_t pid, struct st_error *e);
/* Is there memory of a runtime that had to leave without its controller? */
bool st_has_leftovers(pid_t pid);
/* The number by which the process's memory and files are known: its own, or, when its first thread
 * has ended, that of another. 0: all have ended. */
pid_t st_live_thread(pid_t pid);
/* Returns whether the process has more seccomp filters than strobe itself, as far as the kernel
 * tells: they may kill it for the system calls that strobe lets it make. */
bool st_has_further_filters(pid_t pid);
/* Does the process run under a seccomp filter? It would meet our calls, too. */
bool st_is_filtered(pid_t pid);
void st_process_name(pid_t pid, char *name, size_t size);

/* control/attach.c: every thread is on its way into the engine. -1 with *e, the process as it was.
 */
st_status st_attach(pid_t pid, const struct st_run_options *o, struct st_attachment *a,
                    struct st_error *e);

/* control/detach.c: every thread goes on natively, and nothing of the engine stays. When that
 * cannot be done now it is left to the runtime: false. */
bool st_detach(struct st_attachment *a);

/* control/attached_signals.c: from here on signals end the watching, not us; have they? */
void st_attached_catch(const struct st_run_options *o);
bool st_attached_interrupted(void);
/* Stops us if the terminal has asked for it, once it has been given back. */
void st_attached_stop(const struct st_run_options *o);

/* control/leftovers.c: the runtime leaves by itself. When it has, what it could not give back is
 * taken away; false: that cannot be. */
bool st_clear_leftovers(const struct st_attachment *a);

#endif
