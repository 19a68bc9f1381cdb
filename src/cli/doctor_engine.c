/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of what the engine itself needs. What can be tried is tried: settings alone do not tell.
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <linux/memfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/doctor.h"

void
st_check_architecture(const char *root, struct st_finding *f)
{
	struct utsname names = {0};
	(void)root;
	uname(&names);
	if (!strcmp(names.machine, "x86_64")) {
		st_found(f, ST_HEALTH_OK, "x86_64");
		return;
	}
	st_found(f, ST_HEALTH_NO, "%.60s", names.machine);
	f->follows = "the engine translates x86-64 code only";
}

void
st_check_kernel(const char *root, struct st_finding *f)
{
	char release[128] = "";
	int major = 0, minor = 0;
	st_read_file(root, "/proc/sys/kernel/osrelease", release, sizeof release);
	bool known = sscanf(release, "%d.%d", &major, &minor) == 2;
	if (known && (major > 5 || (major == 5 && minor >= 9))) {
		st_found(f, ST_HEALTH_OK, "Linux %s", release);
		return;
	}
	st_found(f, known ? ST_HEALTH_NO : ST_HEALTH_LIMITED, "Linux %s",
	         known ? release : "of unknown version");
	f->follows = "the engine needs the FS and GS base instructions, which Linux allows since "
	             "version 5.9";
	f->fix = "run Linux 5.9 or later";
}

/* Whether a child lets itself be traced, as strobe run starts a program. 0, or an errno. */
static int
try_traceme(void)
{
	int status, error = 0;
	pid_t child = fork();
	if (child < 0)
		return errno;
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(errno & 0xff);
		raise(SIGSTOP);
		_exit(0);
	}
	while (waitpid(child, &status, WUNTRACED) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? WEXITSTATUS(status) : EPERM;
	if (ptrace(PTRACE_DETACH, child, NULL, NULL))
		error = errno;
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return error;
}

/* The same from the tracer's side, as children are taken along. 0, or an errno. */
static int
try_seize(void)
{
	int status, error = 0;
	pid_t child = fork();
	if (child < 0)
		return errno;
	if (child == 0) {
		pause();
		_exit(0);
	}
	if (ptrace(PTRACE_SEIZE, child, NULL, NULL))
		error = errno;
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return error;
}

void
st_check_ptrace(const char *root, struct st_finding *f)
{
	int64_t scope = -1;
	char yama[64] = "no yama";
	if (st_read_number(root, "/proc/sys/kernel/yama/ptrace_scope", &scope))
		snprintf(yama, sizeof yama, "yama ptrace_scope %d", (int)scope);
	int error = try_traceme();
	if (!error)
		error = try_seize();
	if (!error) {
		st_found(f, ST_HEALTH_OK, "a child can be traced (%s)", yama);
		return;
	}
	st_found(f, ST_HEALTH_NO, "a child cannot be traced: %s (%s)", strerror(error), yama);
	f->follows = "no program can be started under the engine";
	f->fix = scope >= 2 ? "sysctl kernel.yama.ptrace_scope=1 (a scope of 3 lasts until reboot)"
	                    : "in a container: docker run --cap-add=SYS_PTRACE, or a seccomp "
	                      "profile that "
	                      "allows ptrace";
}

/* Whether memory of a memfd can be mapped executable, which vm.memfd_noexec may forbid. 0, or an
 * errno. */
static int
try_memfd(void)
{
	int error = 0, fd = memfd_create("strobe-doctor", MFD_CLOEXEC);
	if (fd < 0)
		return errno;
	if (ftruncate(fd, 4096))
		error = errno;
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	if (code == MAP_FAILED)
		error = errno;
	else
		munmap(code, 4096);
	close(fd);
	return error;
}

void
st_check_memfd(const char *root, struct st_finding *f)
{
	int64_t noexec = 0;
	int error = try_memfd();
	if (!error) {
		st_found(f, ST_HEALTH_OK, "memory files can be made and hold code");
		return;
	}
	st_found(f, ST_HEALTH_NO, "cannot create a memory file that holds code: %s",
	         strerror(error));
	f->follows = "the engine has no memory for translated code";
	f->fix = st_read_number(root, "/proc/sys/vm/memfd_noexec", &noexec) && noexec
	                 ? "sysctl vm.memfd_noexec=0"
	                 : "allow memfd_create and executable mappings in the security policy";
}

void
st_check_fsgsbase(const char *root, struct st_finding *f)
{
	(void)root;
	enum { FSGSBASE = 1 << 1 }; /* of AT_HWCAP2, <asm/hwcap2.h> */
	if (getauxval(AT_HWCAP2) & FSGSBASE) {
		st_found(f, ST_HEALTH_OK, "programs may use the FS and GS base instructions");
		return;
	}
	st_found(f, ST_HEALTH_LIMITED, "the FS and GS base instructions are disabled");
	f->follows =
	        "under a time budget, a system call of a thread that runs natively takes a signal, "
	        "because it cannot be patched";
	f->fix = "boot without nofsgsbase, on a CPU of 2012 or later";
}

void
st_check_tsc(const char *root, struct st_finding *f)
{
	unsigned int a, b, c, d = 0;
	char source[64] = "unknown";
	bool invariant = __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
	st_read_file(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	             source, sizeof source);
	bool trusted = !strcmp(source, "tsc") || !strcmp(source, "kvm-clock") ||
	               !strcmp(source, "hyperv_clocksource_tsc_page");
	st_found(f, invariant && trusted ? ST_HEALTH_OK : ST_HEALTH_LIMITED,
	         "%s; the clock of the kernel is %s",
	         invariant ? "invariant" : "not known to be invariant", source);
	if (f->health == ST_HEALTH_OK)
		return;
	f->follows = "times that the engine takes itself may drift; samples and counts do not";
	f->fix = "on a virtual machine, let the host offer the invariant TSC";
}
