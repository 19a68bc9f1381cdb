/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting a program that waits before its exec until its probes are there. */
#ifndef STROBE_EBPF_START_H
#define STROBE_EBPF_START_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/status.h"

struct st_ebpf_start {
	const char *path; /* of the program */
	char *const *argv;
	bool own_group;
	pid_t pid;
	int go, report; /* descriptors; -1: none */
};

/*
 * Forks. The child maps the files to execute them, because only then does the kernel look at what
 * is probed in them, and waits. n files, by their paths. 0, or -1 with *e.
 */
st_status st_ebpf_start(struct st_ebpf_start *s, char *const *files, size_t n, struct st_error *e);
/* The child becomes the program. 0, or -1 with *e: it could not, and is gone. */
st_status st_ebpf_go(struct st_ebpf_start *s, struct st_error *e);
/* The child ends without becoming the program. */
void st_ebpf_give_up(struct st_ebpf_start *s);

#endif
