/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ebpf/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void
map_code_of(const char *path)
{
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	/* A file that cannot be mapped here is examined when the program maps it. */
	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
		(void)mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
}

static _Noreturn void
become(const struct st_ebpf_start *s, char *const *files, size_t n, int ready, int go, int report)
{
	extern char **environ;
	char byte;
	for (size_t i = 0; i < n; i++)
		map_code_of(files[i]);
	if (write(ready, "r", 1) != 1 || read(go, &byte, 1) != 1)
		_exit(ST_EXIT_FAILED);
	if (s->own_group)
		setpgid(0, 0);
	execve(s->path, s->argv, environ);
	const int error = errno;
	_exit(write(report, &error, sizeof error) == sizeof error ? ST_EXIT_NOT_EXECUTABLE
	                                                          : ST_EXIT_FAILED);
}

st_status
st_ebpf_start(struct st_ebpf_start *s, char *const *files, size_t n, struct st_error *e)
{
	int ready[2] = {-1, -1}, go[2] = {-1, -1}, report[2] = {-1, -1};
	char byte;
	s->pid = -1;
	if (!pipe2(ready, O_CLOEXEC) && !pipe2(go, O_CLOEXEC) && !pipe2(report, O_CLOEXEC))
		s->pid = fork();
	const int error = errno;
	if (s->pid == 0) {
		close(ready[0]);
		close(go[1]);
		close(report[0]);
		become(s, files, n, ready[1], go[0], report[1]);
	}
	close(ready[1]);
	close(go[0]);
	close(report[1]);
	s->go = go[1];
	s->report = report[0];
	const bool is_ready = s->pid > 0 && read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	if (is_ready)
		return ST_OK;
	st_ebpf_give_up(s);
	return st_fail(e, ST_EXIT_FAILED, "cannot start a process: %s", strerror(error));
}

static void
close_both(struct st_ebpf_start *s)
{
	if (s->go >= 0)
		close(s->go);
	if (s->report >= 0)
		close(s->report);
	s->go = s->report = -1;
}

void
st_ebpf_give_up(struct st_ebpf_start *s)
{
	close_both(s);
	if (s->pid <= 0)
		return;
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	s->pid = -1;
}

st_status
st_ebpf_go(struct st_ebpf_start *s, struct st_error *e)
{
	int error = 0;
	if (write(s->go, "g", 1) != 1) {
		st_ebpf_give_up(s);
		return st_fail(e, ST_EXIT_FAILED, "the program ended before it began");
	}
	const bool has_failed = read(s->report, &error, sizeof error) == sizeof error;
	close_both(s);
	if (!has_failed)
		return ST_OK;
	st_ebpf_give_up(s);
	return st_fail(e, error == ENOENT ? ST_EXIT_NOT_FOUND : ST_EXIT_NOT_EXECUTABLE,
	               error == ENOENT ? "cannot run %s: its interpreter is missing (%s)"
	                               : "cannot run %s: %s",
	               s->path, strerror(error));
}
