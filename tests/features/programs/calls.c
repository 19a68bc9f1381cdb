/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions whose system calls, and whose bytes read and written, are known. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))

static int in, out;

/* Three system calls in each of n rounds. */
NOINLINE int
copies(int n)
{
	char bytes[100];
	for (int i = 0; i < n; i++) {
		syscall(SYS_getppid);
		if (pread(in, bytes, 100, 0) != 100 || write(out, bytes, 7) != 7)
			abort();
	}
	return n;
}

NOINLINE int
around(int n)
{
	return copies(n) + copies(n + 1);
}

NOINLINE int
quiet(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" : : : "memory");
	return n;
}

int
main(void)
{
	in = open("/proc/self/exe", O_RDONLY);
	out = open("/dev/null", O_WRONLY);
	for (int n = 0; n < 20; n++) {
		around(n);
		quiet(n);
	}
	const pid_t child = fork();
	if (!child) {
		around(20);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}
