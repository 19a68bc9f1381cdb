/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "timing/timing.h"

/* From SIGTERM to SIGKILL, s. */
static const double child_grace = 5;

/* The step of the child that failed. */
struct child_problem {
	int error;
	bool found; /* the program is there: something else failed */
	char thing[256];
};

static bool
child_redirect(const char *path, int flags, int to)
{
	int fd = open(path, flags | O_CLOEXEC, 0666);
	return fd >= 0 && dup2(fd, to) >= 0;
}

/* NULL, or what failed with errno. */
static const char *
child_prepare(const struct st_child *c)
{
	const char *input = c->input ? c->input : "/dev/null";
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* strobe may be killed: nobody waits for it then */
	if (!child_redirect(input, O_RDONLY, STDIN_FILENO))
		return input;
	if (c->output && !child_redirect(c->output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO))
		return c->output;
	if (c->errors && !child_redirect(c->errors, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO))
		return c->errors;
	if (c->folder && chdir(c->folder))
		return c->folder;
	if (c->cpus && sched_setaffinity(0, sizeof *c->cpus, c->cpus))
		return "the CPUs of the job";
	if (c->no_aslr && personality(ADDR_NO_RANDOMIZE) < 0)
		return "addresses that are not randomised";
	for (char *const *s = c->settings; s && *s; s++)
		if (putenv(*s))
			return "the environment";
	return NULL;
}

static _Noreturn void
child_become(const struct st_child *c, int report)
{
	struct child_problem p = {0};
	const char *thing = child_prepare(c);
	p.error = thing ? errno : 0;
	if (!thing) {
		execvp(c->argv[0], c->argv);
		p.error = errno;
		p.found = p.error != ENOENT;
		thing = c->argv[0];
	}
	snprintf(p.thing, sizeof p.thing, "%s", thing);
	if (write(report, &p, sizeof p) != sizeof p)
		_exit(ST_EXIT_FAILED);
	_exit(ST_EXIT_NOT_FOUND);
}

/* Whether it ended before the deadline; a signal to strobe ends the waiting, too. */
static bool
child_ends_before(int pidfd, double deadline, bool to_its_end)
{
	enum { SLICE_MS = 100 }; /* a signal may come just before poll */
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	while (to_its_end || !st_timing_interrupted()) {
		double left = deadline > 0 ? deadline - st_now_raw() : 1;
		if (left <= 0)
			return false;
		int ms = left * 1000 < SLICE_MS ? (int)(left * 1000) + 1 : SLICE_MS;
		if (poll(&p, 1, ms) > 0)
			return true;
	}
	return false;
}

/* Its whole group, first so that it can put things in order. */
static void
child_end_group(pid_t pid, int pidfd, int signo)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	double until = st_now_raw() + child_grace;
	kill(-pid, signo);
	while (st_now_raw() < until)
		if (poll(&p, 1, (int)(child_grace * 1000)) > 0)
			break;
	kill(-pid, SIGKILL);
}

static st_status
child_failed(const struct child_problem *p, const char *program, struct st_error *e)
{
	if (strcmp(p->thing, program) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot use %s: %s", p->thing,
		               strerror(p->error));
	return st_fail(e, p->found ? ST_EXIT_NOT_EXECUTABLE : ST_EXIT_NOT_FOUND,
	               "cannot run %s: %s", program, strerror(p->error));
}

static double
child_seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

static void
child_wait(const struct st_child *c, pid_t pid, double begin, struct st_child_end *out)
{
	struct rusage used = {0};
	int status = 0, pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	double deadline = c->timeout > 0 ? begin + c->timeout : 0;
	if (pidfd >= 0 && !child_ends_before(pidfd, deadline, c->to_its_end)) {
		out->interrupted = st_timing_interrupted() != 0;
		out->timed_out = !out->interrupted;
		child_end_group(pid, pidfd, out->interrupted ? SIGINT : SIGTERM);
	}
	while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
	}
	if (pidfd >= 0)
		close(pidfd);
	out->seconds = st_now_raw() - begin;
	out->cpu_seconds = child_seconds_of(&used.ru_utime) + child_seconds_of(&used.ru_stime);
	out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	out->exit = out->signal ? 128 + out->signal : WEXITSTATUS(status);
}

st_status
st_child_run(const struct st_child *c, struct st_child_end *out, struct st_error *e)
{
	int report[2];
	struct child_problem p = {0};
	*out = (struct st_child_end){0};
	if (pipe2(report, O_CLOEXEC))
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	double begin = st_now_raw();
	pid_t pid = fork();
	if (pid == 0)
		child_become(c, report[1]);
	int error = errno;
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return st_fail(e, ST_EXIT_FAILED, "cannot start a process: %s", strerror(error));
	}
	ssize_t got;
	while ((got = read(report[0], &p, sizeof p)) < 0 && errno == EINTR) {
	}
	close(report[0]);
	child_wait(c, pid, begin, out);
	return got == sizeof p ? child_failed(&p, c->argv[0], e) : ST_OK;
}

st_status
st_child_shell(const struct st_child *c, const char *command, struct st_child_end *out,
               struct st_error *e)
{
	char *const argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)command, NULL};
	struct st_child shell = *c;
	shell.argv = argv;
	return st_child_run(&shell, out, e);
}
