/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a study: natively, and under the engine in a child process, which reports the
 * result through a pipe. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tune/run.h"

/* ---- signals ---- */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDING = sizeof ending / sizeof *ending };
static volatile sig_atomic_t interrupted, under_way; /* the process; of a group, less than 0 */
static volatile sig_atomic_t alarms;                 /* of the run */
static const double grace = 5;                       /* seconds from SIGTERM to SIGKILL */

/* Signals of the terminal reach the run too, if it is in our process group. */
static void
on_signal(int signo, siginfo_t *info, void *context)
{
	(void)context;
	if (!interrupted)
		interrupted = signo;
	if (under_way < 0 || (under_way && info->si_code != SI_KERNEL))
		kill((pid_t)under_way, signo);
}

/* The run has lasted for long enough. What measures one ends the program's group itself. */
static void
run_on_alarm(int signo)
{
	(void)signo;
	if (under_way)
		kill((pid_t)under_way, !alarms++ ? SIGTERM : under_way < 0 ? SIGKILL : SIGALRM);
}

static bool
is_ignored(int signo)
{
	struct sigaction old;
	return sigaction(signo, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

void
st_tune_watch_signals(const struct st_tune_how *how)
{
	struct sigaction watch = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction wake = {.sa_handler = run_on_alarm, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &wake, NULL);
	if (how->length > 0) /* what a program leaves behind is waited for: end_rest */
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < N_ENDING; i++)
		if (!is_ignored(ending[i])) /* as nohup has it */
			sigaction(ending[i], &watch, NULL);
}

int
st_tune_interrupted(void)
{
	return interrupted;
}

/* ---- processes ---- */

/* In a child: the program's streams. 0, or an errno. */
static int
take_streams(const struct st_tune_how *how)
{
	int in = open(how->input, O_RDONLY | O_CLOEXEC);
	int out = open(how->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		return errno;
	return 0;
}

static st_status
streams_failed(const struct st_tune_how *how, int error, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "cannot open %s or %s: %s", how->input, how->output,
	               strerror(error));
}

static struct timeval
time_of(double seconds)
{
	time_t whole = (time_t)seconds;
	return (struct timeval){whole, (suseconds_t)((seconds - (double)whole) * 1e6)};
}

static void
set_alarm(double seconds)
{
	struct itimerval in = {.it_value = time_of(seconds), .it_interval = time_of(grace)};
	alarms = 0;
	setitimer(ITIMER_REAL, &in, NULL);
}

/* The time of a run may be over before the tool has started the program. A later alarm ends it. */
static void
wait_for_program(int signo)
{
	(void)signo;
}

/* A signal that comes meanwhile waits: none gets lost between the two processes. */
static pid_t
fork_with_signals(const struct st_tune_how *how, bool own_group)
{
	sigset_t ours, before;
	sigemptyset(&ours);
	sigaddset(&ours, SIGALRM);
	for (int i = 0; i < N_ENDING; i++)
		sigaddset(&ours, ending[i]);
	sigprocmask(SIG_BLOCK, &ours, &before);
	pid_t pid = fork();
	for (int i = 0; pid == 0 && i < N_ENDING; i++)
		if (!is_ignored(ending[i]))
			signal(ending[i], SIG_DFL);
	if (pid == 0)
		signal(SIGALRM, SIG_DFL);
	if (pid == 0 && !own_group && how->length > 0) {
		signal(SIGTERM, wait_for_program);
		signal(SIGALRM, wait_for_program);
	}
	if (own_group && pid >= 0) /* by both, so that it is done for both */
		setpgid(pid, pid);
	under_way = pid <= 0 ? 0 : own_group ? -pid : pid;
	if (pid > 0)
		set_alarm(how->length);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* Forks; the child has the signals as they were, and the end of a pipe that it writes to. */
static pid_t
fork_run(const struct st_tune_how *how, bool own_group, int *pipe_end, struct st_error *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	pid_t pid = fork_with_signals(how, own_group);
	close(ends[pid == 0 ? 0 : 1]);
	*pipe_end = ends[pid == 0 ? 1 : 0];
	if (pid < 0) {
		close(ends[0]);
		return st_fail(e, ST_EXIT_FAILED, "cannot fork: %s", strerror(errno));
	}
	return pid;
}

/* Reads up to n bytes; how many there were before the other end was closed. */
static size_t
run_read_all(int fd, void *out, size_t n)
{
	size_t have = 0;
	while (have < n) {
		ssize_t got = read(fd, (char *)out + have, n - have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	return have;
}

static int
wait_for(pid_t pid, struct rusage *usage)
{
	int status = 0;
	while (wait4(pid, &status, 0, usage) < 0 && errno == EINTR)
		;
	under_way = 0;
	set_alarm(0);
	return status;
}

/* Ends the processes that are left in the group of a run, and waits for them. */
static void
end_rest(pid_t group)
{
	const struct timespec nap = {0, 10000000};
	double until = st_now_raw() + grace;
	kill(-group, SIGTERM);
	while (waitpid(-group, NULL, WNOHANG) >= 0)
		if (st_now_raw() > until)
			kill(-group, SIGKILL);
		else
			nanosleep(&nap, NULL);
}

/* As a shell has it, and strobe run. */
static int
exit_code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- native ---- */

/* The message of the child: the times at which it became the program, or the error. */
struct start {
	double wall, cpu;
	int error;
};

static double
seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static double
run_cpu_of(const struct rusage *usage)
{
	return seconds(&usage->ru_utime) + seconds(&usage->ru_stime);
}

static _Noreturn void
run_become_program(const struct st_tune_how *how, char *const *argv, int report)
{
	struct start start = {.error = take_streams(how)};
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	start.cpu = run_cpu_of(&usage);
	start.wall = st_now_raw();
	if (write(report, &start, sizeof start) != sizeof start)
		_exit(ST_EXIT_FAILED);
	if (!start.error)
		execvp(argv[0], argv);
	_exit(write(report, &errno, sizeof errno) == sizeof errno ? 0 : ST_EXIT_FAILED);
}

/* Waits for the program that the child becomes. 0, or -1 with *e. */
static st_status
await(const struct st_tune_how *how, pid_t pid, int report, const char *name,
      struct st_tune_run *out, struct st_error *e)
{
	int error = 0;
	struct start start = {.wall = st_now_raw()}; /* if it is ended before it says so */
	struct rusage usage;
	bool failed = run_read_all(report, &start, sizeof start) != sizeof start ||
	              run_read_all(report, &error, sizeof error) == sizeof error;
	int status = wait_for(pid, &usage);
	*out = (struct st_tune_run){
	        .exit_code = exit_code_of(status),
	        .time = {st_now_raw() - start.wall, run_cpu_of(&usage) - start.cpu}};
	if (start.error)
		return streams_failed(how, start.error, e);
	bool ended = !error && WIFSIGNALED(status); /* before it was the program */
	if (failed && !ended)
		return st_fail(e, error == ENOENT ? ST_EXIT_NOT_FOUND : ST_EXIT_NOT_EXECUTABLE,
		               "cannot run %s: %s", name, strerror(error));
	if (!(out->time.wall > 0 && out->time.cpu > 0))
		return st_fail(e, ST_EXIT_FAILED, "%s uses too little CPU time to be compared",
		               name);
	return 0;
}

st_status
st_tune_native(const struct st_tune_how *how, const struct st_tune_asked *asked, char *const *argv,
               struct st_tune_run *out, struct st_error *e)
{
	int report;
	struct st_qos *q = NULL;
	if (asked->qos && st_tune_watch(&q, asked, e))
		return -1;
	pid_t pid = fork_run(how, how->length > 0, &report, e);
	if (pid == 0)
		run_become_program(how, argv, report);
	if (pid > 0 && q)
		st_qos_start(q);
	int status = pid < 0 ? -1 : await(how, pid, report, argv[0], out, e);
	if (pid > 0)
		close(report);
	if (pid > 0 && how->length > 0)
		end_rest(pid);
	if (q)
		st_qos_stop(q);
	if (q && !status && !interrupted)
		status = st_tune_quality(q, &out->quality, e);
	st_qos_free(q);
	return status;
}

/* ---- measured ---- */

/* Removes what a run has left behind. */
static void
empty(const char *folder)
{
	DIR *d = opendir(folder);
	for (struct dirent *entry; d && (entry = readdir(d));)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
}

/* The message of the child. */
struct answer {
	int status; /* 0, or -1 with the error */
	struct st_error error;
	struct st_tune_run run;
};

/* Of the instructions that the reference has, how many `have` has, which is sorted for it. */
static uint64_t
count_common(const struct st_covered *reference, struct st_covered *have)
{
	uint64_t n = 0;
	st_covered_sort(have);
	for (size_t i = 0; i < reference->images.n; i++) {
		const struct st_covered_image *of = &reference->images.v[i];
		const struct st_covered_image *m = st_covered_find(have, of->build_id);
		struct st_covered_sum sum = {0};
		if (m)
			st_covered_add(&sum, m, of);
		n += sum.instructions;
	}
	return n;
}

static st_status
run_compare(const struct st_tune_asked *asked, const struct st_run *run, struct st_tune_run *out,
            struct st_error *e)
{
	struct st_covered have = {0};
	int status = st_covered_take_run(&have, run, &out->raw, e);
	if (!status && asked->reference)
		out->instructions = count_common(asked->reference, &have);
	st_covered_free(&have);
	return status;
}

/* With --unique-log the log says all; else the blocks' counters do. */
static st_status
run_take_result(struct st_session_run *r, const struct st_tune_asked *asked,
                struct st_tune_run *out, struct st_error *e)
{
	out->exit_code = r->run.exit_code;
	out->time.wall = r->run.seconds;
	out->time.cpu = r->run.cpu_user + r->run.cpu_system + r->run.cpu_controller;
	if (!asked->log)
		return run_compare(asked, &r->run, out, e);
	struct st_profile *notes = st_profile_new();
	if (!notes)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	st_unique_report(&r->unique, &r->run, notes);
	st_profile_free(notes);
	return 0;
}

/* The common options of all runs, with those of this one. */
static void
fill_session(struct st_tune_how *how, const struct st_tune_asked *asked, char *const *argv)
{
	struct st_session *s = &how->session;
	s->program = argv;
	s->own_group = how->length > 0;
	s->output.name = argv[0];
	s->unique = (struct st_unique_choice){.chosen = asked->log != NULL, .log = asked->log};
	s->qos = asked->qos ? *asked->qos : (struct st_qos_choice){0};
	s->budget.chosen = asked->budget > 0;
	s->budget.amount.share = asked->budget;
	s->budget.period = asked->period;
	s->budget.policy_chosen &= s->budget.chosen;
}

static st_status
run_measure(struct st_tune_how *how, const struct st_tune_asked *asked, char *const *argv,
            struct st_tune_run *out, struct st_error *e)
{
	struct st_session_run r;
	fill_session(how, asked, argv);
	int error = take_streams(how);
	if (error)
		return streams_failed(how, error, e);
	if (st_session_begin(&r, &how->session, e))
		return -1;
	int status = st_session_execute(&r, e);
	if (!status && how->length > 0)
		out->group = (pid_t)st_session_pid(&r);
	if (!status)
		status = run_take_result(&r, asked, out, e);
	if (!status && asked->qos)
		status = st_tune_quality(r.options.qos, &out->quality, e);
	st_session_end(&r);
	return status;
}

int
st_tune_measured(struct st_tune_how *how, const struct st_tune_asked *asked, char *const *argv,
                 struct st_tune_run *out, struct st_error *e)
{
	struct answer answer = {0};
	struct rusage usage;
	int report;
	pid_t pid = fork_run(how, false, &report, e);
	if (pid < 0)
		return -1;
	if (pid == 0) {
		answer.status = run_measure(how, asked, argv, &answer.run, &answer.error);
		_exit(write(report, &answer, sizeof answer) == sizeof answer ? 0 : ST_EXIT_FAILED);
	}
	size_t n = run_read_all(report, &answer, sizeof answer);
	close(report);
	int status = wait_for(pid, &usage);
	if (n == sizeof answer && answer.run.group)
		end_rest(answer.run.group);
	if (!asked->log) /* which somebody reads */
		empty(how->folder);
	if (n != sizeof answer)
		return st_fail(e, ST_EXIT_FAILED,
		               "the run of %s ended without a result (exit code %d)", argv[0],
		               exit_code_of(status));
	if (answer.status)
		*e = answer.error;
	*out = answer.run;
	return answer.status;
}

st_status
st_tune_refer(struct st_tune_how *how, char *const *argv, struct st_covered *reference,
              uint64_t *instructions, struct st_tune_run *out, struct st_error *e)
{
	char log[sizeof how->folder + 16];
	snprintf(log, sizeof log, "%s/log", how->folder);
	int status = st_tune_measured(how, &(struct st_tune_asked){.log = log}, argv, out, e) ||
	                             st_covered_read(reference, log, e)
	                     ? -1
	                     : 0;
	empty(how->folder);
	st_covered_sort(reference);
	for (size_t i = 0; i < reference->images.n; i++)
		*instructions += reference->images.v[i].insns.n;
	return status;
}

st_status
st_tune_covered(const struct st_covered *reference, const char *log, uint64_t *instructions,
                struct st_error *e)
{
	struct st_covered have = {0};
	int status = st_covered_read(&have, log, e);
	if (!status)
		*instructions = count_common(reference, &have);
	st_covered_free(&have);
	return status;
}

void
st_tune_clear(const struct st_tune_how *how)
{
	empty(how->folder);
}
