/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting and ending a program that Strobe attaches to. */
#include "blow/live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/program.h"

/* Writes the error number to the pipe, which a successful exec closes. The program ends with
 * Strobe, however that ends. */
static _Noreturn void
execute_live(const char *path, char *const *argv, const char *input, pid_t strobe, int report)
{
	const int in = open(input, O_RDONLY | O_CLOEXEC),
	          out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != strobe)
		_exit(ST_EXIT_FAILED);
	if (in >= 0 && out >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(out, STDERR_FILENO) >= 0)
		execv(path, argv);
	const int error = errno;
	_exit(write(report, &error, sizeof error) == sizeof error ? ST_EXIT_FAILED : 1);
}

pid_t
st_blow_live_start(char *const *argv, const char *input, struct st_error *e)
{
	char path[4096];
	int ends[2], error = 0;
	if (st_program_find(argv[0], path, sizeof path, e))
		return -1;
	if (pipe2(ends, O_CLOEXEC)) {
		ST_IGNORE(st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno)));
		return -1;
	}
	const pid_t strobe = getpid(), pid = fork();
	if (pid == 0)
		execute_live(path, argv, input, strobe, ends[1]);
	error = pid < 0 ? errno : 0;
	close(ends[1]);
	if (pid > 0 && read(ends[0], &error, sizeof error) != sizeof error)
		error = 0; /* it was executed */
	close(ends[0]);
	if (!error)
		return pid;
	if (pid > 0)
		waitpid(pid, NULL, 0);
	ST_IGNORE(st_fail(e, ST_EXIT_FAILED, "cannot start %s with the input %s: %s", argv[0],
	                  input, strerror(error)));
	return -1;
}

void
st_blow_live_stop(pid_t pid)
{
	enum { LOOKS = 500 };
	const struct timespec nap = {0, 10000000};
	kill(-pid, SIGTERM);
	kill(-pid, SIGCONT);
	for (int i = 0; i < LOOKS; i++) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			break;
		nanosleep(&nap, NULL);
	}
	kill(-pid, SIGKILL); /* processes of its group that have not ended */
	waitpid(pid, NULL, 0);
}
