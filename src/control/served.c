/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/served.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/internal.h"
#include "control/supervisor.h"

struct st_served {
	pid_t pid;
	struct st_results_header *results;
	uint32_t asked;
	int channel; /* -1: it asks for no functions */
	struct st_run_options options;
};

/* Tells the runtime of the functions of images that it has mapped, if it has asked. The message
 * says nothing else: which images there are is read from the results. */
static void
answer_images(struct st_served *s)
{
	char message[sizeof(struct st_message)];
	struct st_supervisor asked = {.options = &s->options};
	bool any = false;
	while (s->channel >= 0 &&
	       recv(s->channel, message, sizeof message, MSG_DONTWAIT) == sizeof message)
		any = true;
	if (any)
		st_region_images(&asked, s->results);
}

/* How long to wait for an event of the runtime before its questions are looked at. */
static double
served_nap(const struct st_served *s, double nap)
{
	return s->channel >= 0 ? 0.001 : nap;
}

/* Waits for at most that long while the word has the value. */
static void
wait_while(uint32_t *word, uint32_t value, double seconds)
{
	const struct timespec most = {(time_t)seconds,
	                              (long)((seconds - (double)(time_t)seconds) * 1e9)};
	syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

/* Has the server ended? It is no zombie then. */
static bool
served_has_ended(struct st_served *s)
{
	int status;
	if (s->pid > 0 && waitpid(s->pid, &status, WNOHANG | __WALL) == s->pid)
		s->pid = 0;
	return s->pid == 0;
}

/* Up to the entry point. */
static st_status
wait_until_ready(struct st_served *s, const char *name, double seconds, struct st_error *e)
{
	const double end = st_now_raw() + seconds;
	uint32_t *state = &s->results->control.serve.state, now;
	while (!(now = __atomic_load_n(state, __ATOMIC_SEQ_CST))) {
		if (served_has_ended(s) || st_now_raw() > end)
			return st_fail(e, ST_EXIT_FAILED, "%s did not come to its entry point",
			               name);
		answer_images(s);
		wait_while(state, 0, served_nap(s, 0.02));
	}
	return now == ST_SERVE_READY
	               ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED,
	                         "%s cannot be copied at its entry point: no memory that is both "
	                         "writable and executable, or more than one thread",
	                         name);
}

struct st_served *
st_served_begin(const struct st_run_options *options, double seconds, struct st_error *e)
{
	char path[PATH_MAX];
	struct st_run_options o = *options;
	struct st_injected in;
	int channel[2];
	o.serves = true;
	struct st_served *s = calloc(1, sizeof *s);
	if (!s) {
		st_cause(e, ST_EXIT_FAILED, "no memory left");
		return NULL;
	}
	s->channel = -1;
	s->options = o;
	st_limits_lift();
	if (!st_program_find(o.argv[0], path, sizeof path, e))
		s->pid = st_start_traced(path, &o, channel, e);
	if (s->pid <= 0) {
		free(s);
		return NULL;
	}
	struct st_pool no_pool = {.fd = -1};
	if (st_inject(s->pid, &o, &no_pool, channel, &in, e)) {
		st_served_end(s);
		return NULL;
	}
	if (in.channel >= 0 && !o.on_image)
		close(in.channel);
	else
		s->channel = in.channel;
	s->results = in.results;
	if (wait_until_ready(s, o.argv[0], seconds, e)) {
		st_served_end(s);
		return NULL;
	}
	return s;
}

/* Ends the execution under way with everything that it has started. */
static void
end_execution(const struct st_served *s)
{
	uint32_t child = __atomic_load_n(&s->results->control.serve.child, __ATOMIC_SEQ_CST);
	if (child > 1 && child <= INT_MAX)
		kill(-(pid_t)child, SIGKILL);
}

st_status
st_served_execute(struct st_served *s, double seconds, struct st_served_outcome *end,
                  struct st_error *e)
{
	struct st_serve *serve = &s->results->control.serve;
	const double begin = st_now_raw();
	*end = (struct st_served_outcome){0};
	__atomic_store_n(&serve->asked, ++s->asked, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &serve->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (__atomic_load_n(&serve->ended, __ATOMIC_SEQ_CST) != s->asked) {
		const double left = begin + seconds - st_now_raw();
		if (served_has_ended(s))
			return st_fail(e, ST_EXIT_FAILED, "the fork server has ended");
		if (left <= 0) {
			end->hung = true;
			end_execution(s);
		}
		answer_images(s);
		wait_while(&serve->ended, s->asked - 1,
		           served_nap(s, left > 0 && left < 0.05 ? left : 0.05));
	}
	end->seconds = st_now_raw() - begin;
	if (serve->status == -1)
		return st_fail(e, ST_EXIT_FAILED, "the fork server can make no more processes");
	end->by_signal = WIFSIGNALED(serve->status);
	end->code = end->by_signal ? WTERMSIG(serve->status) : WEXITSTATUS(serve->status);
	end->hung &= end->by_signal && end->code == SIGKILL;
	return ST_OK;
}

const struct st_results_header *
st_served_results(const struct st_served *s, size_t *size)
{
	*size = s->results->layout.file_size;
	return s->results;
}

void
st_served_end(struct st_served *s)
{
	if (!s)
		return;
	if (s->pid > 0) {
		if (s->results)
			end_execution(s);
		kill(-s->pid, SIGKILL);
		kill(s->pid, SIGKILL);
		while (waitpid(s->pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	if (s->results)
		munmap(s->results, s->results->layout.file_size);
	if (s->channel >= 0)
		close(s->channel);
	free(s);
}
