/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fuzz/answer.h"

/* The kernel's limit of an argument, MAX_ARG_STRLEN, with its zero byte. */
enum { LONGEST_ARGUMENT = 128 * 1024 - 1 };

static volatile sig_atomic_t fuzz_interrupted;
static volatile sig_atomic_t fuzz_child;

static void
fuzz_on_signal(int signo)
{
	fuzz_interrupted = signo;
	if (fuzz_child)
		kill((pid_t)fuzz_child, SIGTERM);
}

void
st_fuzz_watch_signals(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction watch = {.sa_handler = fuzz_on_signal, .sa_flags = SA_RESTART};
	struct sigaction old;
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (!sigaction(ending[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(ending[i], &watch, NULL);
}

int
st_fuzz_interrupted(void)
{
	return fuzz_interrupted;
}

st_status
st_fuzz_target_begin(struct st_fuzz_target *t, struct st_error *e)
{
	const char *tmp = getenv("TMPDIR");
	t->answer = -1;
	t->folder[0] = '\0';
	if (!tmp || !*tmp || strlen(tmp) > sizeof t->folder - 24)
		tmp = "/tmp";
	snprintf(t->folder, sizeof t->folder, "%s/strobe-fuzz-XXXXXX", tmp);
	if (!mkdtemp(t->folder)) {
		t->folder[0] = '\0';
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot write to %s: %s; set TMPDIR to another folder", tmp,
		               strerror(errno));
	}
	snprintf(t->input, sizeof t->input, "%s/input", t->folder);
	t->answer = memfd_create("strobe-fuzz", MFD_CLOEXEC);
	if (t->answer < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot make a file in memory: %s",
		               strerror(errno));
	return st_toolset_add(&t->set, "bbcount", e);
}

void
st_fuzz_target_end(struct st_fuzz_target *t)
{
	if (t->answer >= 0)
		close(t->answer);
	if (t->folder[0]) {
		unlink(t->input);
		rmdir(t->folder);
	}
	st_toolset_free(&t->set);
}

/* ---- inputs ---- */

/* Puts the input where the program reads it. *argument: the one that replaces @@, malloc'ed or
 * NULL. */
static st_status
give_input(struct st_fuzz_target *t, const struct st_fuzz_bytes *input, char **argument,
           struct st_error *e)
{
	*argument = NULL;
	if (t->channel != ST_CHANNEL_ARGUMENT) {
		if (t->channel == ST_CHANNEL_FILE)
			t->argv[t->at] = t->input;
		return st_fuzz_bytes_write(input, t->input, e);
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

/* In a child: the program's streams. */
static void
take_fuzz_streams(const struct st_fuzz_target *t)
{
	int in =
	        open(t->channel == ST_CHANNEL_STDIN ? t->input : "/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
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

static _Noreturn void
measure_execution(struct st_fuzz_target *t)
{
	const struct st_run_options options = {
	        .argv = t->argv, .tools = t->set.tools, .n_tools = t->set.n, .own_group = true};
	struct st_run run;
	struct st_error e = {0};
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	take_fuzz_streams(t);
	limit_time(t->hang_seconds);
	bool ran = !st_run_program(&options, &run, &e);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	_exit(st_fuzz_answer_write(t->answer, ran ? &run : NULL, &e) ? 0 : ST_EXIT_FAILED);
}

static int
wait_for_execution(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	fuzz_child = 0;
	return status;
}

st_status
st_fuzz_execute(struct st_fuzz_target *t, const struct st_fuzz_bytes *input,
                struct st_fuzz_places *places, struct st_fuzz_execution *out, struct st_error *e)
{
	char *argument;
	if (give_input(t, input, &argument, e))
		return ST_FAILED;
	ST_IGNORE(
	        ftruncate(t->answer, 0)); /* an answer that was not written is found by its size */
	double begin = st_now_raw();
	pid_t pid = fork();
	if (pid == 0)
		measure_execution(t);
	fuzz_child = pid > 0 ? pid : 0;
	if (pid > 0)
		wait_for_execution(pid);
	free(argument);
	if (pid < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot fork: %s", strerror(errno));
	if (st_fuzz_answer_read(t->answer, places, out, e))
		return fuzz_interrupted ? ST_OK
		                        : ST_FAILED; /* the signal may have ended it early */
	if (out->end == ST_END_SIGNAL && out->code == SIGKILL &&
	    st_now_raw() - begin >= t->hang_seconds)
		out->end = ST_END_HANG;
	return ST_OK;
}

void
st_fuzz_execution_free(struct st_fuzz_execution *x)
{
	free(x->counts.v);
	*x = (struct st_fuzz_execution){0};
}

void
st_fuzz_places_free(struct st_fuzz_places *places)
{
	for (size_t i = 0; i < places->images.n; i++)
		free(places->images.v[i]);
	free(places->images.v);
	free(places->list.v);
	st_hashmap_free(&places->by_place);
	*places = (struct st_fuzz_places){0};
}

/* ---- natively ---- */

/* Waits until the process has ended, at most `seconds`; then ends its group. */
static void
wait_at_most(pid_t pid, double begin, double seconds)
{
	const struct timespec nap = {0, 500000};
	int status;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (st_now_raw() - begin < seconds && !fuzz_interrupted) {
			nanosleep(&nap, NULL);
			continue;
		}
		kill(-pid, SIGKILL);
		wait_for_execution(pid);
		return;
	}
}

st_status
st_fuzz_time(struct st_fuzz_target *t, const struct st_fuzz_bytes *input, double *seconds,
             struct st_error *e)
{
	char *argument;
	if (give_input(t, input, &argument, e))
		return ST_FAILED;
	double begin = st_now_raw();
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		take_fuzz_streams(t);
		execvp(t->argv[0], t->argv);
		_exit(ST_EXIT_NOT_FOUND);
	}
	if (pid > 0) {
		setpgid(pid, pid);
		wait_at_most(pid, begin, t->hang_seconds);
	}
	*seconds = st_now_raw() - begin;
	free(argument);
	return pid < 0 ? st_fail(e, ST_EXIT_FAILED, "cannot fork: %s", strerror(errno)) : ST_OK;
}
