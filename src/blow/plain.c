/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of the program without probes, from which the overhead of the probes is computed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "blow/run.h"

static _Noreturn void
exec_plainly(char *const *program, pid_t parent, int failed)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(ST_EXIT_FAILED);
	execvp(program[0], program);
	const int why = errno;
	(void)!write(failed, &why, sizeof why);
	_exit(127);
}

/* Returns when the program is about to execute its first instruction, so that both kinds of runs
 * are measured from there. */
static st_status
start_plainly(char *const *program, pid_t *pid, struct st_error *e)
{
	int ends[2], why = 0;
	if (pipe2(ends, O_CLOEXEC))
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	const pid_t parent = getpid();
	*pid = fork();
	if (*pid == 0)
		exec_plainly(program, parent, ends[1]);
	close(ends[1]);
	const bool failed = *pid > 0 && read(ends[0], &why, sizeof why) > 0;
	close(ends[0]);
	if (*pid > 0 && !failed)
		return ST_OK;
	if (*pid > 0)
		waitpid(*pid, NULL, 0);
	return st_fail(e, ST_EXIT_FAILED, "cannot run %s: %s", program[0],
	               strerror(failed ? why : errno));
}

/* Whether the program has ended within the limit (seconds; 0: none). */
static bool
ends_plainly(pid_t pid, double limit)
{
	enum { MOST_MS = 1000000000 };
	const double ms = limit * 1000;
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	if (!(limit > 0) || end.fd < 0)
		return true; /* waitpid waits */
	int ready;
	do
		ready = poll(&end, 1, ms < MOST_MS ? (int)ms : MOST_MS);
	while (ready < 0 && errno == EINTR);
	close(end.fd);
	return ready > 0;
}

static uint64_t
plain_cpu_ns(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

st_status
st_blow_plain(const struct st_blow_how *how, FILE *out, struct st_error *e)
{
	struct st_blow_run run = {.function = ST_BLOW_NONE};
	struct rusage usage = {0};
	int status = 0;
	bool cut = false; /* by end_at: the run is discarded, so its fault does not matter */
	pid_t pid;
	if (start_plainly(how->program, &pid, e))
		return ST_FAILED;
	const double begin = st_now_raw();
	if (!ends_plainly(pid, st_blow_seconds_of(how, how->limit, &cut))) {
		run.fault = ST_BLOW_SLOW;
		kill(-pid, SIGKILL);
	}
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	run.total_ns = (uint64_t)((st_now_raw() - begin) * 1e9);
	run.cpu_ns = plain_cpu_ns(&usage);
	run.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (WIFSIGNALED(status) && !run.fault)
		run.fault = ST_BLOW_CRASH;
	st_blow_write_line(&run, out);
	return ST_OK;
}
