/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The records of the programs in the kernel: included by both sides. */
#ifndef STROBE_EBPF_RECORD_H
#define STROBE_EBPF_RECORD_H

#include <linux/types.h>

enum st_ebpf_kind {
	ST_EBPF_ENTRY,  /* a probe is hit: the first instruction of a function, or a static probe */
	ST_EBPF_RETURN, /* a function is left */
	ST_EBPF_END,    /* the thread ends */
	ST_EBPF_EXEC,   /* the thread, and with it the process, becomes another program */
};

struct st_ebpf_record {
	__u64 ns;   /* CLOCK_MONOTONIC */
	__u64 sp;   /* where the return address lies, or did */
	__u64 back; /* of an entry, the return address; 0: a jump led there */
	__u32 tid, pid;
	__u32 point; /* of an entry, the number that the probe was given */
	__u32 kind;
};

#endif
