/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Descriptors as natively: the first free number is 3, close_range and closing all of them end at
 * once and hurt nobody, high numbers can be taken by dup2, /proc/self/fd shows the program's own
 * only, a child finds what its parent had.
 */
/* strobe-test: follow=1 stress=blocks,lookup */
#include "check.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static int
next_free(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static void
in_proc(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int seen = 0;

	CHECK(d, "opendir");
	while ((e = readdir(d)))
		if (*e->d_name != '.') {
			int fd = atoi(e->d_name);
			CHECK(fd <= 2 || fd == dirfd(d), "descriptor %d is not the program's own",
			      fd);
			seen++;
		}
	closedir(d);
	CHECK_EQ(seen, 4);
}

/* No number but 0, 1 and 2 is open, whatever it is asked with. */
static void
nothing_else(void)
{
	struct rlimit limit;
	struct stat st;
	char c;

	CHECK(!getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	int most = limit.rlim_cur > 1 << 20 ? 1 << 20 : (int)limit.rlim_cur;
	for (int fd = 3; fd < most; fd++) {
		CHECK(fstat(fd, &st) == -1 && errno == EBADF, "fstat(%d)", fd);
		CHECK(lseek(fd, 0, SEEK_CUR) == -1 && errno == EBADF, "lseek(%d)", fd);
		CHECK(syscall(SYS_fstat, fd, &st) == -1 && errno == EBADF, "old fstat(%d)", fd);
	}
	CHECK(read(most - 32, &c, 1) == -1 && errno == EBADF, "read");
	CHECK(fcntl(most - 32, F_GETFD) == -1 && errno == EBADF, "fcntl");
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Still able to do everything. */
static void
alive(const char *after)
{
	int ends[2], status;
	char c;

	CHECK(!pipe(ends) && ends[0] == 3 && ends[1] == 4, "%s: pipe gave %d, %d", after, ends[0],
	      ends[1]);
	pid_t pid = fork();
	CHECK(pid >= 0, "%s: fork", after);
	if (!pid)
		_exit(write(ends[1], "x", 1) == 1 ? 12 : 13);
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 12, "%s: child", after);
	CHECK(read(ends[0], &c, 1) == 1 && c == 'x', "%s: read", after);
	close(ends[0]), close(ends[1]);
	void *p = malloc(1 << 22);
	CHECK(p, "%s: malloc", after);
	free(p);
}

static void
close_all(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	for (int fd = 3; fd < 65536; fd++)
		CHECK(close(fd) == -1 && errno == EBADF, "descriptor %d was open", fd);
	alive("closing all");
	double start = now();
	for (int i = 0; i < 20; i++)
		CHECK(!syscall(SYS_close_range, 3, ~0u, 0), "close_range");
	closefrom(3);
	CHECK(!syscall(SYS_close_range, 100, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */), "close_range");
	CHECK(syscall(SYS_close_range, 10, 5, 0) == -1 && errno == EINVAL, "close_range backwards");
	CHECK(now() - start < 20, "close_range takes forever");
	alive("close_range");
}

static void
high_numbers(void)
{
	struct rlimit limit;
	int top;

	getrlimit(RLIMIT_NOFILE, &limit);
	top = limit.rlim_cur > 4096 ? 4096 : (int)limit.rlim_cur;
	for (int fd = 3; fd < top; fd++)
		CHECK(dup2(1, fd) == fd, "dup2 to %d", fd);
	for (int fd = (int)limit.rlim_cur - 200; fd < (int)limit.rlim_cur; fd++)
		CHECK(dup2(1, fd) == fd, "dup2 to %d", fd);
	CHECK(dup2(1, (int)limit.rlim_cur) == -1 && errno == EBADF, "dup2 beyond the limit");
	CHECK_EQ(fcntl(1, F_DUPFD, 4000), top == 4096 ? 4096 : 4000);
	for (int fd = 3; fd < (int)limit.rlim_cur; fd++)
		close(fd);
	alive("dup2");
	/* All numbers taken: open fails as it should. */
	limit.rlim_cur = 64;
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
	int n = 0;
	while (open("/dev/null", O_RDONLY) >= 0)
		n++;
	CHECK(n == 61 && errno == EMFILE, "%d files could be opened", n);
	syscall(SYS_close_range, 3, ~0u, 0);
	alive("EMFILE");
}

int
main(void)
{
	CHECK_EQ(next_free(), 3);
	nothing_else();
	in_proc();
	close_all();
	high_numbers();
	puts("descriptors are the program's own");
	fflush(stdout);
	close(0), close(1), close(2);
	CHECK_EQ(next_free(), 0);
	return 0;
}
