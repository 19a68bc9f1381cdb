/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preloaded into strobe: the process that traces the program kills itself before or after the n-th
 * call by which it changes it. KILL_AT says n, negative: after; KILL_COUNT names a file for the
 * number of all such calls. Neither reaches the program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#define MEMORY (1ll << 40)

static long at, calls;
static char *count_file;

__attribute__((constructor)) static void
begin(void)
{
	const char *n = getenv("KILL_AT"), *name = getenv("KILL_COUNT");
	at = n ? atol(n) : 0;
	count_file = name ? realpath(name, NULL) : NULL;
	unsetenv("KILL_AT");
	unsetenv("KILL_COUNT");
	unsetenv("LD_PRELOAD");
}

static void
before(void)
{
	calls++;
	if (count_file) {
		int fd = open(count_file, O_WRONLY | O_TRUNC | O_CLOEXEC);
		if (fd >= 0) {
			dprintf(fd, "%ld\n", calls);
			close(fd);
		}
	}
	if (calls == at)
		kill(getpid(), SIGKILL);
}

static void
after(void)
{
	if (calls == -at)
		kill(getpid(), SIGKILL);
}

long
ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	va_list all;
	va_start(all, request);
	pid_t pid = va_arg(all, pid_t);
	void *address = va_arg(all, void *), *data = va_arg(all, void *);
	va_end(all);
	if (!real)
		real = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
	before();
	long answer = real(request, pid, address, data);
	after();
	return answer;
}

ssize_t
process_vm_writev(pid_t pid, const struct iovec *here, unsigned long n_here,
                  const struct iovec *there, unsigned long n_there, unsigned long flags)
{
	static ssize_t (*real)(pid_t, const struct iovec *, unsigned long, const struct iovec *,
	                       unsigned long, unsigned long);
	if (!real)
		real = (ssize_t(*)(pid_t, const struct iovec *, unsigned long, const struct iovec *,
		                   unsigned long, unsigned long))dlsym(RTLD_NEXT,
		                                                       "process_vm_writev");
	before();
	ssize_t answer = real(pid, here, n_here, there, n_there, flags);
	after();
	return answer;
}

ssize_t
pwrite64(int fd, const void *from, size_t bytes, off64_t offset)
{
	static ssize_t (*real)(int, const void *, size_t, off64_t);
	if (!real)
		real = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
	if (offset < MEMORY) /* not into /proc/PID/mem */
		return real(fd, from, bytes, offset);
	before();
	ssize_t answer = real(fd, from, bytes, offset);
	after();
	return answer;
}

ssize_t
pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
	return pwrite64(fd, from, bytes, offset);
}
