/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program may forbid itself system calls (seccomp). Those that recording makes in it would then
 * kill it, so the filter is asked about them before it is installed. If it forbids one, no further
 * calls are recorded.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>

#include "rt/lib/bpf.h"
#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

struct sandbox_span {
	const void *at;
	uint64_t bytes;
};

/* The kernel's struct sock_fprog. */
struct sandbox_filter {
	uint16_t n;
	const struct bpf_insn *code;
};

enum sandbox_memory { SANDBOX_READ, SANDBOX_NOT_MAPPED, SANDBOX_UNKNOWN };

/* SANDBOX_UNKNOWN: a filter that is in force already forbids it. */
static enum sandbox_memory
sandbox_read(void *to, const void *from, uint64_t bytes)
{
	const struct sandbox_span here = {to, bytes}, there = {from, bytes};
	const int64_t got = SYS(__NR_process_vm_readv, SYS(__NR_getpid), &here, 1, &there, 1, 0);
	if (got == (int64_t)bytes)
		return SANDBOX_READ;
	return got >= 0 || got == -EFAULT ? SANDBOX_NOT_MAPPED : SANDBOX_UNKNOWN;
}

static bool
sandbox_permits(const struct sandbox_filter *f, int32_t number)
{
	const struct seccomp_call call = {.nr = number, .arch = AUDIT_ARCH_X86_64};
	switch (bpf_run(f->code, f->n, &call) & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_ERRNO:
		return true;
	default:
		return false;
	}
}

/* Returns whether the filter permits the system calls of recording. It is no filter if it is not
 * mapped: the kernel refuses it then. */
static bool
sandbox_permits_recording(const void *filter)
{
	static const int32_t numbers[] = {__NR_process_vm_readv,
	                                  __NR_getpid,
	                                  __NR_madvise,
	                                  __NR_getrusage,
	                                  __NR_clock_gettime,
	                                  __NR_open,
	                                  __NR_read,
	                                  __NR_close,
	                                  __NR_stat,
	                                  __NR_getcpu};
	struct sandbox_filter f;
	enum sandbox_memory memory = sandbox_read(&f, filter, sizeof f);
	for (uint32_t i = 0; memory == SANDBOX_READ && i < f.n; i++) {
		struct bpf_insn in;
		memory = sandbox_read(&in, &f.code[i], sizeof in);
	}
	if (memory != SANDBOX_READ)
		return memory == SANDBOX_NOT_MAPPED;
	for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!sandbox_permits(&f, numbers[i]))
			return false;
	return true;
}

void
probe_sandbox_call(uint64_t number, const uint64_t *args)
{
	bool strict, filters;
	if (!*(volatile uint64_t *)probe_context.note)
		probe_notice_fork();
	if (number == __NR_prctl) {
		strict = args[0] == PR_SET_SECCOMP && args[1] == SECCOMP_MODE_STRICT;
		filters = args[0] == PR_SET_SECCOMP && args[1] == SECCOMP_MODE_FILTER;
	} else {
		strict = number == __NR_seccomp && args[0] == SECCOMP_SET_MODE_STRICT;
		filters = number == __NR_seccomp && args[0] == SECCOMP_SET_MODE_FILTER;
	}
	if (strict || (filters && !sandbox_permits_recording((const void *)args[2]))) {
		probe_context.sandboxed = 1;
		if (probe_context.forked) /* nothing of this process is recorded */
			return;
		__atomic_store_n(&probe_area()->sandboxed, 1, __ATOMIC_RELEASE);
	}
}
