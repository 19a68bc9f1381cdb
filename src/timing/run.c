/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of a command. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "timing/signals.h"
#include "timing/timing.h"

/* More than the child's memory grows between what it says and its execve, and more than the kernel,
 * which counts pages for each CPU apart, is wrong by. */
enum { EXECVE_KB = 512 };

/* The message of the child before its execve, and a second one if that fails. */
struct ready {
	int error;
	const char *thing; /* what the error is of, in the memory that fork has copied */
	struct timespec at;
	struct rusage used;
};

static double
ns_of(const struct timeval *t)
{
	return (double)t->tv_sec * 1e9 + (double)t->tv_usec * 1e3;
}

/* Keeps a descriptor of strobe away from those of the command, which may be closed. */
static int
above_standard(int fd)
{
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int error = errno;
	close(fd);
	errno = error;
	return moved;
}

/* NULL, or what failed with errno. */
static const char *
take_places(const struct st_timing_command *c)
{
	int in = above_standard(open(c->input, O_RDONLY | O_CLOEXEC));
	if (in < 0 || dup2(in, STDIN_FILENO) < 0)
		return c->input;
	int out = above_standard(open(c->streams, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
	if (out < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		return c->streams;
	if (c->errors) {
		out = above_standard(
		        open(c->errors, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
		if (out < 0 || dup2(out, STDERR_FILENO) < 0)
			return c->errors;
	}
	if (c->cpus && sched_setaffinity(0, sizeof *c->cpus, c->cpus))
		return "the CPUs of --cpu";
	if (c->folder && chdir(c->folder))
		return c->folder;
	for (char *const *s = c->settings; s && *s; s++)
		if (putenv(*s))
			return "the environment";
	return NULL;
}

/* Lets the other run begin; a byte too many has no effect. */
static void
release_other(const struct st_timing_meeting *m)
{
	while (m && write(m->other, "", 1) < 0 && errno == EINTR) {
	}
}

static void
meet_other(const struct st_timing_meeting *m)
{
	char byte;
	release_other(m);
	while (m && read(m->own, &byte, 1) < 0 && errno == EINTR) {
	}
}

static _Noreturn void
become_command(const struct st_timing_command *c, pid_t parent, int report)
{
	if (c->orphan && (prctl(PR_SET_PDEATHSIG, c->orphan) || getppid() != parent))
		_exit(ST_EXIT_FAILED);
	struct ready r = {.thing = take_places(c)};
	if (r.thing)
		r.error = errno;
	meet_other(c->meeting);
	getrusage(RUSAGE_SELF, &r.used);
	clock_gettime(CLOCK_MONOTONIC_RAW, &r.at);
	if (write(report, &r, sizeof r) == sizeof r && !r.error) {
		execvp(c->argv[0], c->argv);
		r.thing = c->argv[0];
		r.error = errno;
		if (write(report, &r, sizeof r) != sizeof r)
			_exit(ST_EXIT_FAILED);
	}
	_exit(ST_EXIT_FAILED);
}

/* Whole, or there is none. */
static bool
read_ready(int report, struct ready *r)
{
	size_t got = 0;
	for (ssize_t n; got < sizeof *r; got += (size_t)n) {
		n = read(report, (char *)r + got, sizeof *r - got);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

static int
wait_status(pid_t pid, struct rusage *used, struct timespec *end)
{
	int status = 0;
	while (wait4(pid, &status, 0, used) < 0 && errno == EINTR) {
	}
	clock_gettime(CLOCK_MONOTONIC_RAW, end);
	return status;
}

/* What the command used after its execve. The kernel keeps the peak memory of the process across
 * it. */
static void
timing_fill_run(struct st_timing_run *out, const struct ready *r, const struct rusage *used,
                const struct timespec *end)
{
	const struct rusage *b = &r->used;
	double *v = out->v;
	v[ST_TIMING_WALL] = (double)((end->tv_sec - r->at.tv_sec) * 1000000000 +
	                             (end->tv_nsec - r->at.tv_nsec));
	v[ST_TIMING_USER] = ns_of(&used->ru_utime) - ns_of(&b->ru_utime);
	v[ST_TIMING_SYSTEM] = ns_of(&used->ru_stime) - ns_of(&b->ru_stime);
	v[ST_TIMING_MEMORY] = (double)used->ru_maxrss * 1024;
	v[ST_TIMING_MINOR_FAULTS] = (double)(used->ru_minflt - b->ru_minflt);
	v[ST_TIMING_MAJOR_FAULTS] = (double)(used->ru_majflt - b->ru_majflt);
	v[ST_TIMING_VOLUNTARY] = (double)(used->ru_nvcsw - b->ru_nvcsw);
	v[ST_TIMING_INVOLUNTARY] = (double)(used->ru_nivcsw - b->ru_nivcsw);
	/* The kernel divides CPU time between user and system by estimates that may go down. */
	for (int i = 0; i < ST_TIMING_COUNT; i++)
		v[i] = v[i] < 0 ? 0 : v[i];
	out->memory_hidden = used->ru_maxrss <= b->ru_maxrss + EXECVE_KB;
}

static st_status
no_command(const struct ready *r, const char *name, struct st_error *e)
{
	if (r->thing != name)
		return st_fail(e, ST_EXIT_FAILED, "cannot use %s: %s", r->thing,
		               strerror(r->error));
	return st_fail(e, r->error == ENOENT ? ST_EXIT_NOT_FOUND : ST_EXIT_NOT_EXECUTABLE,
	               "cannot run %s: %s", name, strerror(r->error));
}

static st_status
timing_run_once(const struct st_timing_command *c, struct st_timing_run *out, struct st_error *e)
{
	int report[2];
	struct ready r = {0};
	struct rusage used = {0};
	struct timespec end;
	if (pipe2(report, O_CLOEXEC) || (report[1] = above_standard(report[1])) < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		become_command(c, parent, report[1]);
	int error = errno;
	st_timing_child_begin(pid);
	close(report[1]);
	bool ready = pid > 0 && read_ready(report[0], &r);
	while (ready && read_ready(report[0], &r)) { /* again only if execve fails */
	}
	close(report[0]);
	int status = pid > 0 ? wait_status(pid, &used, &end) : 0;
	st_timing_child_end(pid);
	if (pid < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot start a process: %s", strerror(error));
	if (r.error)
		return no_command(&r, c->argv[0], e);
	if (!ready)
		return st_fail(e, ST_EXIT_FAILED, "the process was ended before it was %s",
		               c->argv[0]);
	timing_fill_run(out, &r, &used, &end);
	out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	out->exit = out->signal ? 128 + out->signal : WEXITSTATUS(status);
	return 0;
}

st_status
st_timing_run(const struct st_timing_command *c, struct st_timing_run *out, struct st_error *e)
{
	const st_status status = timing_run_once(c, out, e);
	release_other(c->meeting); /* the child may have ended before it came to the meeting */
	return status;
}
