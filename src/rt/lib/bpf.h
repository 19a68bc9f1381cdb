/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a seccomp filter says of a system call: classic BPF, as far as the kernel accepts it for
 * seccomp. */
#ifndef STROBE_RT_LIB_BPF_H
#define STROBE_RT_LIB_BPF_H

#include "rt/lib/sys.h"

struct bpf_insn {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

/* The kernel's struct seccomp_data. */
struct seccomp_call {
	int32_t nr;
	uint32_t arch;
	uint64_t ip, args[6];
};

/* The filter's action, a SECCOMP_RET_ value. The program is one that the kernel has accepted. */
uint32_t bpf_run(const struct bpf_insn *program, uint32_t n, const struct seccomp_call *call);

#endif
