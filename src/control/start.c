/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A child that is to become a program, stopped at its exec. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/supervisor.h"

/* The child: waits until it is traced, then becomes the program, with the channel. errno of a
 * failed exec goes into the pipe. */
static _Noreturn void
become_program(const char *path, const struct st_run_options *o, int go, int report, int channel)
{
	char byte;
	extern char **environ;
	const pid_t strobe = getppid();
	if (read(go, &byte, 1) != 1)
		_exit(ST_EXIT_FAILED);
	fcntl(channel, F_SETFD, 0);
	st_limits_restore();
	if (o->own_group)
		setpgid(0, 0);
	if (o->serves || o->dies) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != strobe) /* it had ended before */
			_exit(ST_EXIT_FAILED);
	}
	execve(path, o->argv, environ);
	int error = errno;
	ssize_t n = write(report, &error, sizeof error);
	_exit(n == sizeof error ? ST_EXIT_NOT_EXECUTABLE : ST_EXIT_FAILED);
}

/* Lets the seized child go up to its exec. */
static st_status
wait_for_exec(pid_t pid, int report, const char *path, struct st_error *e)
{
	int status, error = 0;
	for (;;) {
		if (waitpid(pid, &status, __WALL) != pid)
			return st_fail(e, ST_EXIT_FAILED, "lost the program before it started: %s",
			               strerror(errno));
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (read(report, &error, sizeof error) == sizeof error)
				return st_fail(
				        e,
				        error == ENOENT ? ST_EXIT_NOT_FOUND
				                        : ST_EXIT_NOT_EXECUTABLE,
				        error == ENOENT
				                ? "cannot run %s: its interpreter is missing (%s)"
				                : "cannot run %s: %s",
				        path, strerror(error));
			return st_fail(e, ST_EXIT_NOT_EXECUTABLE,
			               "cannot run %s: the kernel ended it before its first "
			               "instruction; the file is damaged, copy or build it again, "
			               "or a memory limit is too low: raise it (ulimit -v)",
			               path);
		}
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			return 0;
		ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
	}
}

static st_status
no_pipe(int error, struct st_error *e)
{
	if (error == EMFILE)
		return st_fail(e, ST_EXIT_FAILED,
		               "strobe needs about ten more file descriptors than it may open: "
		               "raise the limit (ulimit -n), or start it with fewer open files");
	return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(error));
}

pid_t
st_start_traced(const char *path, const struct st_run_options *o, int channel[2],
                struct st_error *e)
{
	int go[2], report[2];
	if (pipe2(go, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0)
		return no_pipe(errno, e);
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(report[0]);
		become_program(path, o, go[0], report[1], channel[1]);
	}
	close(go[0]);
	close(report[1]);
	close(channel[1]);
	int bad = pid < 0 ? st_fail(e, ST_EXIT_FAILED, "cannot fork: %s", strerror(errno)) : 0;
	if (!bad && ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) != 0)
		bad = st_fail(e, ST_EXIT_FAILED,
		              "this machine does not let strobe trace a program (ptrace: %s); "
		              "strobe doctor says how to fix it",
		              strerror(errno));
	if (!bad && write(go[1], "g", 1) != 1)
		bad = st_fail(e, ST_EXIT_FAILED, "cannot start the program: %s", strerror(errno));
	close(go[1]);
	if (!bad)
		bad = wait_for_exec(pid, report[0], path, e);
	close(report[0]);
	if (bad && pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, __WALL);
	}
	return bad ? -1 : pid;
}
