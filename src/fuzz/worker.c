/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/served.h"
#include "fuzz/answer.h"
#include "fuzz/execute.h"
#include "fuzz/scratch.h"

/* The kernel's limit of an argument, MAX_ARG_STRLEN, with its zero byte. */
enum { LONGEST_ARGUMENT = 128 * 1024 - 1 };

static volatile sig_atomic_t fuzz_interrupted;
static volatile sig_atomic_t fuzz_children[ST_FUZZ_SLOTS]; /* 0: none */

static void
fuzz_on_signal(int signo)
{
	fuzz_interrupted = signo;
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++)
		if (fuzz_children[i])
			kill((pid_t)fuzz_children[i], SIGTERM);
}

void
st_fuzz_watch_signals(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction watch = {.sa_handler = fuzz_on_signal, .sa_flags = SA_RESTART};
	struct sigaction old;
	signal(SIGCHLD, SIG_DFL); /* else the ends of executions could not be waited for */
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (!sigaction(ending[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(ending[i], &watch, NULL);
}

int
st_fuzz_interrupted(void)
{
	return fuzz_interrupted;
}

/* Ends the worker's process, if it has not ended. */
static void
end_worker_process(struct st_fuzz_worker *w)
{
	if (w->go >= 0) /* the processes of other workers have the descriptor, too */
		shutdown(w->go, SHUT_RDWR);
	while (w->pid && waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (w->done >= 0)
		close(w->done);
	if (w->go >= 0)
		close(w->go);
	w->done = w->go = -1;
	w->pid = 0;
}

st_status
st_fuzz_memory_file(int *fd, struct st_error *e)
{
	*fd = memfd_create("strobe-fuzz", MFD_CLOEXEC);
	return *fd >= 0 ? ST_OK
	                : st_fail(e, ST_EXIT_FAILED,
	                          "cannot make a file in memory: %s; strobe fuzz needs 200 file "
	                          "descriptors (ulimit -n)",
	                          strerror(errno));
}

st_status
st_fuzz_workers_begin(struct st_fuzz_target *t, struct st_error *e)
{
	/* Arguments cannot change after the entry point. */
	const bool served = !t->fresh && t->channel != ST_CHANNEL_ARGUMENT;
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++)
		t->workers[i] = (struct st_fuzz_worker){
		        .answer = -1, .done = -1, .go = -1, .unserved = !served};
	if (st_fuzz_scratch_begin(t->folder, sizeof t->folder, &t->lock, e))
		return ST_FAILED;
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++) {
		struct st_fuzz_worker *w = &t->workers[i];
		/* All names have the same length: a program may work more for a longer one. */
		snprintf(w->input, sizeof w->input, "%s/input%02zu", t->folder, i);
		if (st_fuzz_memory_file(&w->answer, e))
			return ST_FAILED;
	}
	return ST_OK;
}

void
st_fuzz_workers_end(struct st_fuzz_target *t)
{
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++) {
		struct st_fuzz_worker *w = &t->workers[i];
		end_worker_process(w);
		if (w->answer >= 0)
			close(w->answer);
	}
	st_fuzz_scratch_end(t->folder, t->lock);
}

/* ---- inputs ---- */

/* A fork server has the file open, so it remains the same file. It is not truncated before it is
 * written: ext4 would write such a file to the disk when it is closed. */
static st_status
write_input(const struct st_fuzz_bytes *input, const char *path, struct st_error *e)
{
	const uint8_t *at = input->v, *end = at + input->n;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ssize_t n = fd < 0 ? -1 : 0;
	while (n >= 0 && at < end)
		if ((n = write(fd, at, (size_t)(end - at))) > 0)
			at += n;
	if (n >= 0 && ftruncate(fd, (off_t)input->n))
		n = -1;
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot write %s: %s", path, strerror(error));
	return ST_OK;
}

st_status
st_fuzz_give_input(struct st_fuzz_target *t, const struct st_fuzz_worker *w,
                   const struct st_fuzz_bytes *input, char **argument, struct st_error *e)
{
	*argument = NULL;
	if (t->channel != ST_CHANNEL_ARGUMENT) {
		if (t->channel == ST_CHANNEL_FILE)
			t->argv[t->at] = (char *)w->input;
		return write_input(input, w->input, e);
	}
	size_t n = input->n;
	const uint8_t *zero = n ? memchr(input->v, 0, n) : NULL;
	n = zero ? (size_t)(zero - input->v) : n;
	n = n > LONGEST_ARGUMENT - 1 ? LONGEST_ARGUMENT - 1 : n;
	*argument = malloc(n + 1);
	if (!*argument)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for an argument");
	if (n)
		memcpy(*argument, input->v, n);
	(*argument)[n] = '\0';
	t->argv[t->at] = *argument;
	return ST_OK;
}

void
st_fuzz_prepare_program(const struct st_fuzz_target *t, const struct st_fuzz_worker *w)
{
	int in =
	        open(t->channel == ST_CHANNEL_STDIN ? w->input : "/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	(void)personality(ADDR_NO_RANDOMIZE);
}

/* ---- under the engine ---- */

static void
wait_for_start(int signo)
{
	(void)signo;
}

/* The alarm ends the program's group, once it has been started: control/run.h. */
static void
limit_time(double seconds)
{
	const struct itimerval in = {
	        .it_value = {(time_t)seconds,
	                     (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6) + 1},
	        .it_interval = {0, 500000}};
	signal(SIGALRM, wait_for_start);
	setitimer(ITIMER_REAL, &in, NULL);
}

/* Makes the process end with the campaign, also when that is killed. */
static void
end_with_campaign(pid_t campaign, int signo)
{
	prctl(PR_SET_PDEATHSIG, signo);
	if (getppid() != campaign) /* it had ended before */
		_exit(ST_EXIT_FAILED);
}

static struct st_run_options
fuzz_run_options(struct st_fuzz_target *t)
{
	struct st_run_options o = {
	        .argv = t->argv, .tools = t->set.tools, .n_tools = t->set.n, .own_group = true};
	st_region_apply(&t->region, &t->set, &o);
	return o;
}

static _Noreturn void
measure_execution(struct st_fuzz_target *t, const struct st_fuzz_worker *w, pid_t campaign)
{
	const struct st_run_options options = fuzz_run_options(t);
	struct st_run run;
	struct st_error e = {0};
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	st_fuzz_prepare_program(t, w);
	limit_time(t->hang_seconds);
	end_with_campaign(campaign, SIGALRM);
	bool ran = !st_run_program(&options, &run, &e);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	struct st_fuzz_measured m = {0};
	if (ran) {
		const struct st_process *p = &run.processes[0];
		m = (struct st_fuzz_measured){p->results, p->results_size, !p->exited,
		                              p->exited ? p->exit_code : p->signal, run.seconds};
	}
	_exit(st_fuzz_answer_write(w->answer, ran ? &m : NULL, &e) ? 0 : ST_EXIT_FAILED);
}

/* Executes the program each time that a time limit comes: while a witness is minimised it is
 * shorter than at the beginning. The end without an answer says that there is no fork server. */
static _Noreturn void
serve_executions_of(struct st_fuzz_target *t, const struct st_fuzz_worker *w, pid_t campaign,
                    int go, int done)
{
	const struct st_run_options options = fuzz_run_options(t);
	struct st_served_outcome end;
	struct st_error e = {0};
	double limit; /* seconds */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	end_with_campaign(campaign, SIGKILL);
	st_fuzz_prepare_program(t, w);
	struct st_served *s = st_served_begin(&options, t->hang_seconds, &e);
	while (s && read(go, &limit, sizeof limit) == sizeof limit &&
	       !st_served_execute(s, limit, &end, &e)) {
		struct st_fuzz_measured m = {
		        .by_signal = end.by_signal, .code = end.code, .seconds = end.seconds};
		m.results = st_served_results(s, &m.results_size);
		if (!st_fuzz_answer_write(w->answer, &m, &e) || write(done, "d", 1) != 1)
			break;
	}
	st_served_end(s);
	_exit(ST_EXIT_FAILED);
}

/* Begins a process: with a fork server, or for one execution. */
static st_status
begin_worker_process(struct st_fuzz_target *t, struct st_fuzz_worker *w, struct st_error *e)
{
	int go[2] = {-1, -1}, done[2];
	if (pipe2(done, O_CLOEXEC))
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	if (!w->unserved && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		go[0] = go[1] = -1;
	const pid_t campaign = getpid();
	pid_t pid = fork();
	if (pid == 0) {
		if (go[0] < 0)
			measure_execution(t, w, campaign);
		serve_executions_of(t, w, campaign, go[0], done[1]);
	}
	int error = errno;
	close(done[1]);
	if (go[0] >= 0)
		close(go[0]);
	w->done = done[0];
	w->go = go[1];
	w->pid = pid > 0 ? pid : 0;
	if (pid < 0) {
		end_worker_process(w);
		return st_fail(e, ST_EXIT_FAILED, "cannot fork: %s", strerror(error));
	}
	return ST_OK;
}

/* The input has been written. */
static st_status
start_execution(struct st_fuzz_target *t, struct st_fuzz_worker *w, struct st_error *e)
{
	/* An answer that was not written is found by its size. */
	ST_IGNORE(ftruncate(w->answer, 0));
	if (!w->pid && begin_worker_process(t, w, e))
		return ST_FAILED;
	w->busy = true;
	fuzz_children[w - t->workers] = w->pid;
	/* A server that has ended is found by its end of the pipe. */
	if (w->go >= 0)
		ST_IGNORE(send(w->go, &t->hang_seconds, sizeof t->hang_seconds, MSG_NOSIGNAL));
	if (fuzz_interrupted) /* perhaps before the handler could see it */
		kill(w->pid, SIGTERM);
	return ST_OK;
}

st_status
st_fuzz_worker_start(struct st_fuzz_target *t, struct st_fuzz_worker *w,
                     const struct st_fuzz_bytes *input, struct st_error *e)
{
	char *argument;
	if (st_fuzz_give_input(t, w, input, &argument, e))
		return ST_FAILED;
	st_status status = start_execution(t, w, e);
	free(argument);
	return status;
}

/* The time of poll(2) until that moment, rounded up. */
static int
poll_time(double until)
{
	const double left = ceil((until - st_now_raw()) * 1000);
	return left > INT_MAX ? -1 : left > 0 ? (int)left : 0;
}

/* A worker whose execution has ended; NULL: none is busy, or the time is over. *served: by its fork
 * server, which waits for the next one. */
static struct st_fuzz_worker *
wait_for_worker(struct st_fuzz_target *t, double until, bool *served)
{
	struct pollfd fds[ST_FUZZ_SLOTS];
	size_t n = 0;
	int ready = 0;
	char byte;
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++) {
		/* poll(2) leaves out descriptors below 0. */
		fds[i] = (struct pollfd){.fd = t->workers[i].busy ? t->workers[i].done : -1,
		                         .events = POLLIN};
		n += t->workers[i].busy;
	}
	while (n && (ready = poll(fds, ST_FUZZ_SLOTS, poll_time(until))) <= 0)
		if (st_now_raw() >= until)
			return NULL;
	for (size_t i = 0; i < ST_FUZZ_SLOTS && ready > 0; i++) {
		if (!fds[i].revents)
			continue;
		*served = read(fds[i].fd, &byte, 1) == 1;
		return &t->workers[i];
	}
	return NULL;
}

/* The fork server has ended: starts the program again for this execution and all later ones. */
static bool
start_without_server(struct st_fuzz_target *t, struct st_fuzz_worker *w)
{
	struct st_error e;
	if (fuzz_interrupted || t->dropping)
		return false;
	w->unserved = true;
	if (t->channel == ST_CHANNEL_FILE)
		t->argv[t->at] = w->input;
	return !start_execution(t, w, &e);
}

struct st_fuzz_worker *
st_fuzz_worker_wait(struct st_fuzz_target *t, double until)
{
	bool served = false, was_server;
	struct st_fuzz_worker *w;
	do {
		w = wait_for_worker(t, until, &served);
		if (!w)
			return NULL;
		was_server = w->go >= 0;
		w->busy = false;
		fuzz_children[w - t->workers] = 0;
		if (!served)
			end_worker_process(w);
	} while (!served && was_server && start_without_server(t, w));
	return w;
}

void
st_fuzz_workers_stop(struct st_fuzz_target *t)
{
	t->dropping = true;
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++)
		if (t->workers[i].busy)
			kill(t->workers[i].pid, SIGALRM); /* which ends the program for certain */
	while (st_fuzz_worker_wait(t, INFINITY))
		;
	t->dropping = false;
}
