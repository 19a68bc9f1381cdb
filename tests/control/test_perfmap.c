/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a process writes the names of generated code, seen from outside its namespaces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/supervisor.h"

static void
write_map(void)
{
	char path[64];
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	FILE *f = fopen(path, "w");
	if (f) {
		fputs("1000 10 name\n", f);
		fclose(f);
	}
}

/* A child in namespaces of its own (CLONE_NEW*), with a /tmp of its own if it can have one; it
 * waits to be killed. 0: not allowed here. */
static pid_t
start(int namespaces)
{
	int ready[2];
	char ok = 0;
	assert_int_equal(pipe(ready), 0);
	pid_t middle = fork();
	if (middle == 0) {
		if (namespaces && unshare(namespaces) != 0)
			_exit(1);
		pid_t inner = fork();
		if (inner == 0) {
			bool good = !namespaces ||
			            (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
			             mount("none", "/tmp", "tmpfs", 0, NULL) == 0);
			write_map();
			if (good && write(ready[1], "y", 1) == 1)
				pause();
			_exit(1);
		}
		/* Its number out here, for the test. */
		if (write(ready[1], &inner, sizeof inner) == sizeof inner)
			waitpid(inner, NULL, 0);
		_exit(0);
	}
	close(ready[1]);
	pid_t inner = 0;
	unsigned char bytes[1 + sizeof inner];
	size_t n = 0;
	for (ssize_t got;
	     n < sizeof bytes && (got = read(ready[0], bytes + n, sizeof bytes - n)) > 0;)
		n += (size_t)got;
	close(ready[0]);
	/* The two writes come in either order. */
	if (n == sizeof bytes) {
		size_t at = bytes[0] == 'y' ? 1 : 0;
		memcpy(&inner, bytes + at, sizeof inner);
		ok = (char)(at ? bytes[0] : bytes[sizeof inner]);
	}
	return ok == 'y' ? inner : 0;
}

static void
own_namespaces(void **state)
{
	(void)state;
	pid_t pid = start(CLONE_NEWNS | CLONE_NEWPID);
	if (!pid)
		skip();
	struct st_supervisor s = {0};
	struct st_process p = {.pid = (uint32_t)pid}, q = p;
	st_perf_map_prepare(&s, &p);
	st_perf_map_prepare(&s, &q);
	kill(pid, SIGKILL);
	wait(NULL);
	assert_int_equal(p.inner_pid, 1);
	assert_int_equal(p.uid, geteuid());
	assert_non_null(p.tmp);
	assert_ptr_equal(p.tmp, q.tmp);
	/* The process and its namespaces are gone, the file is still to be had. */
	int fd = openat(p.tmp->fd, "perf-1.map", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	st_perf_map_close(s.tmps);
}

static void
our_namespaces(void **state)
{
	(void)state;
	char path[64];
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	pid_t pid = start(0);
	assert_true(pid > 0);
	struct st_supervisor s = {0};
	struct st_process p = {.pid = (uint32_t)pid};
	st_perf_map_prepare(&s, &p);
	assert_int_equal(p.inner_pid, pid);
	assert_null(p.tmp);
	assert_int_equal(p.old_map.tv_sec, 0);
	/* Written before the process began: another one's. */
	snprintf(path, sizeof path, "/tmp/perf-%d.map", pid);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	st_perf_map_prepare(&s, &p);
	assert_int_equal(p.old_map.tv_sec, 1000);
	kill(pid, SIGKILL);
	wait(NULL);
	unlink(path);
	st_perf_map_close(s.tmps);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(own_namespaces),
	        cmocka_unit_test(our_namespaces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
