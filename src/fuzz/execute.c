/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/served.h"
#include "fuzz/answer.h"

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

/* Ends the slot's process of strobe, if it has not ended. */
static void
end_slot_process(struct st_fuzz_slot *slot)
{
	const pid_t pid = slot->server ? slot->server : slot->pid;
	if (slot->server) /* other processes of strobe may have the descriptor, too */
		shutdown(slot->go, SHUT_RDWR);
	while (pid && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (slot->done >= 0)
		close(slot->done);
	if (slot->go >= 0)
		close(slot->go);
	slot->done = slot->go = -1;
	slot->pid = slot->server = 0;
}

static st_status
begin_slots(struct st_fuzz_target *t, struct st_error *e)
{
	const bool served = !t->fresh && t->channel != ST_CHANNEL_ARGUMENT;
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++) {
		struct st_fuzz_slot *slot = &t->slots[i];
		/* All names have the same length: a program may work more for a longer one. */
		snprintf(slot->input, sizeof slot->input, "%s/input%02zu", t->folder, i);
		slot->unserved = !served; /* arguments are there at the entry point */
		slot->answer = memfd_create("strobe-fuzz", MFD_CLOEXEC);
		if (slot->answer < 0)
			return st_fail(e, ST_EXIT_FAILED, "cannot make a file in memory: %s",
			               strerror(errno));
	}
	return ST_OK;
}

st_status
st_fuzz_target_begin(struct st_fuzz_target *t, struct st_error *e)
{
	const char *tmp = getenv("TMPDIR");
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++)
		t->slots[i] = (struct st_fuzz_slot){.answer = -1, .done = -1, .go = -1};
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
	return begin_slots(t, e) ? ST_FAILED : st_toolset_add(&t->set, "bbcount", e);
}

void
st_fuzz_target_end(struct st_fuzz_target *t)
{
	if (!t->folder[0])
		return;
	st_fuzz_drop_all(t);
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++) {
		if (t->slots[i].server)
			end_slot_process(&t->slots[i]);
		if (t->slots[i].answer >= 0)
			close(t->slots[i].answer);
		if (t->slots[i].input[0])
			unlink(t->slots[i].input);
	}
	rmdir(t->folder);
	st_toolset_free(&t->set);
}

/* ---- inputs ---- */

/* A fork server has the file open: it stays the same one. */
static st_status
write_input(const struct st_fuzz_bytes *input, const char *path, struct st_error *e)
{
	const uint8_t *at = input->v, *end = at + input->n;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t n = fd < 0 ? -1 : 0;
	while (n >= 0 && at < end)
		if ((n = write(fd, at, (size_t)(end - at))) > 0)
			at += n;
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot write %s: %s", path, strerror(error));
	return ST_OK;
}

/* Puts the input where the program reads it. *argument: the one that replaces @@, malloc'ed or
 * NULL. */
static st_status
give_input(struct st_fuzz_target *t, const struct st_fuzz_slot *slot,
           const struct st_fuzz_bytes *input, char **argument, struct st_error *e)
{
	*argument = NULL;
	if (t->channel != ST_CHANNEL_ARGUMENT) {
		if (t->channel == ST_CHANNEL_FILE)
			t->argv[t->at] = (char *)slot->input;
		return write_input(input, slot->input, e);
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
take_fuzz_streams(const struct st_fuzz_target *t, const struct st_fuzz_slot *slot)
{
	int in = open(t->channel == ST_CHANNEL_STDIN ? slot->input : "/dev/null",
	              O_RDONLY | O_CLOEXEC);
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
measure_execution(struct st_fuzz_target *t, const struct st_fuzz_slot *slot)
{
	const struct st_run_options options = {
	        .argv = t->argv, .tools = t->set.tools, .n_tools = t->set.n, .own_group = true};
	struct st_run run;
	struct st_error e = {0};
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	take_fuzz_streams(t, slot);
	limit_time(t->hang_seconds);
	prctl(PR_SET_PDEATHSIG, SIGALRM); /* a campaign that is killed leaves nothing running */
	bool ran = !st_run_program(&options, &run, &e);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	struct st_fuzz_measured m = {0};
	if (ran) {
		const struct st_process *p = &run.processes[0];
		m = (struct st_fuzz_measured){p->results, p->results_size, !p->exited,
		                              p->exited ? p->exit_code : p->signal, run.seconds};
	}
	_exit(st_fuzz_answer_write(slot->answer, ran ? &m : NULL, &e) ? 0 : ST_EXIT_FAILED);
}

/* Executes the program each time that a byte comes. The end without an answer says that there is no
 * fork server. */
static _Noreturn void
serve_slot(struct st_fuzz_target *t, const struct st_fuzz_slot *slot, int go, int done)
{
	const struct st_run_options options = {
	        .argv = t->argv, .tools = t->set.tools, .n_tools = t->set.n, .own_group = true};
	struct st_served_outcome end;
	struct st_error e = {0};
	char byte;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	take_fuzz_streams(t, slot);
	struct st_served *s = st_served_begin(&options, t->hang_seconds, &e);
	while (s && read(go, &byte, 1) == 1 && !st_served_execute(s, t->hang_seconds, &end, &e)) {
		struct st_fuzz_measured m = {
		        .by_signal = end.by_signal, .code = end.code, .seconds = end.seconds};
		m.results = st_served_results(s, &m.results_size);
		if (!st_fuzz_answer_write(slot->answer, &m, &e) || write(done, &byte, 1) != 1)
			break;
	}
	st_served_end(s);
	_exit(ST_EXIT_FAILED);
}

/* Begins a process of strobe for the slot: with a fork server, or for one execution. */
static st_status
begin_slot_process(struct st_fuzz_target *t, size_t number, struct st_error *e)
{
	struct st_fuzz_slot *slot = &t->slots[number];
	int go[2] = {-1, -1}, done[2];
	if (pipe2(done, O_CLOEXEC))
		return st_fail(e, ST_EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	if (!slot->unserved && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		go[0] = go[1] = -1;
	pid_t pid = fork();
	if (pid == 0) {
		if (go[0] < 0)
			measure_execution(t, slot);
		serve_slot(t, slot, go[0], done[1]);
	}
	int error = errno;
	close(done[1]);
	if (go[0] >= 0)
		close(go[0]);
	slot->done = done[0];
	slot->go = go[1];
	if (pid < 0) {
		end_slot_process(slot);
		return st_fail(e, ST_EXIT_FAILED, "cannot fork: %s", strerror(error));
	}
	slot->pid = pid;
	slot->server = slot->go >= 0 ? pid : 0;
	return ST_OK;
}

/* The input has been written. */
static st_status
start_in_slot(struct st_fuzz_target *t, size_t number, struct st_error *e)
{
	struct st_fuzz_slot *slot = &t->slots[number];
	/* An answer that was not written is found by its size. */
	ST_IGNORE(ftruncate(slot->answer, 0));
	slot->began = st_now_raw();
	slot->pid = slot->server;
	if (!slot->server && begin_slot_process(t, number, e))
		return ST_FAILED;
	fuzz_children[number] = slot->pid;
	/* A server that has ended is found by its end of the pipe. */
	if (slot->server)
		ST_IGNORE(send(slot->go, "g", 1, MSG_NOSIGNAL));
	if (fuzz_interrupted) /* perhaps before the handler could see it */
		kill(slot->pid, SIGTERM);
	return ST_OK;
}

st_status
st_fuzz_start(struct st_fuzz_target *t, size_t number, const struct st_fuzz_bytes *input,
              struct st_error *e)
{
	char *argument;
	if (give_input(t, &t->slots[number], input, &argument, e))
		return ST_FAILED;
	st_status status = start_in_slot(t, number, e);
	free(argument);
	return status;
}

/* The number of a slot whose execution has ended; ST_FUZZ_SLOTS: none is running. *served: by its
 * fork server, which waits for the next one. */
static size_t
wait_for_slot(struct st_fuzz_target *t, bool *served)
{
	struct pollfd fds[ST_FUZZ_SLOTS];
	size_t numbers[ST_FUZZ_SLOTS], n = 0;
	char byte;
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++) {
		if (!t->slots[i].pid)
			continue;
		numbers[n] = i;
		fds[n++] = (struct pollfd){.fd = t->slots[i].done, .events = POLLIN};
	}
	int ready = 0;
	while (n && ready <= 0)
		ready = poll(fds, n, -1);
	for (size_t i = 0; i < n; i++) {
		if (!fds[i].revents)
			continue;
		*served = read(fds[i].fd, &byte, 1) == 1;
		return numbers[i];
	}
	return ST_FUZZ_SLOTS;
}

/* The fork server has ended: the program is started anew, now and from now on. */
static bool
start_anew(struct st_fuzz_target *t, size_t number)
{
	struct st_fuzz_slot *slot = &t->slots[number];
	struct st_error e;
	if (fuzz_interrupted || t->dropping)
		return false;
	slot->unserved = true;
	if (t->channel == ST_CHANNEL_FILE)
		t->argv[t->at] = slot->input;
	return !start_in_slot(t, number, &e);
}

void
st_fuzz_wait(struct st_fuzz_target *t)
{
	bool served = false, was_server;
	size_t number;
	do {
		number = wait_for_slot(t, &served);
		if (number == ST_FUZZ_SLOTS)
			return;
		was_server = t->slots[number].server != 0;
		fuzz_children[number] = 0;
		if (!served)
			end_slot_process(&t->slots[number]);
	} while (!served && was_server && start_anew(t, number));
	struct st_fuzz_slot *slot = &t->slots[number];
	slot->pid = 0;
	slot->ended = true;
	slot->cut = fuzz_interrupted != 0;
	slot->seconds = st_now_raw() - slot->began;
}

st_status
st_fuzz_finish(struct st_fuzz_target *t, size_t number, struct st_fuzz_places *places,
               struct st_fuzz_execution *out, struct st_error *e)
{
	struct st_fuzz_slot *slot = &t->slots[number];
	slot->ended = false;
	if (st_fuzz_answer_read(slot->answer, places, out, e))
		return slot->cut ? ST_OK : ST_FAILED; /* the signal may have ended it early */
	if (out->end == ST_END_SIGNAL && out->code == SIGKILL && slot->seconds >= t->hang_seconds)
		out->end = ST_END_HANG;
	return ST_OK;
}

void
st_fuzz_drop_all(struct st_fuzz_target *t)
{
	t->dropping = true;
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++) {
		if (t->slots[i].pid)
			kill(t->slots[i].pid, SIGALRM); /* which ends the program for certain */
		while (t->slots[i].pid)
			st_fuzz_wait(t);
		t->slots[i].ended = false;
	}
	t->dropping = false;
}

st_status
st_fuzz_execute(struct st_fuzz_target *t, const struct st_fuzz_bytes *input,
                struct st_fuzz_places *places, struct st_fuzz_execution *out, struct st_error *e)
{
	if (st_fuzz_start(t, 0, input, e))
		return ST_FAILED;
	while (!t->slots[0].ended)
		st_fuzz_wait(t);
	return st_fuzz_finish(t, 0, places, out, e);
}

void
st_fuzz_execution_free(struct st_fuzz_execution *x)
{
	free(x->counts.v);
	*x = (struct st_fuzz_execution){0};
}

uint32_t
st_fuzz_place_number(struct st_fuzz_places *places, uint32_t image, uint64_t offset)
{
	const uint32_t hash = st_hash_number(offset * 64 + image);
	uint32_t number = ST_HASHMAP_FIND(&places->by_place, hash, at,
	                                  places->list.v[at].image == image &&
	                                          places->list.v[at].offset == offset);
	if (number != ST_HASHMAP_NONE)
		return number;
	struct st_fuzz_place *new = ST_PUSH(&places->list);
	if (!new)
		return ST_HASHMAP_NONE;
	*new = (struct st_fuzz_place){image, offset};
	number = (uint32_t)(places->list.n - 1);
	return st_hashmap_add(&places->by_place, hash, number) ? ST_HASHMAP_NONE : number;
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
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		return;
	}
}

st_status
st_fuzz_time(struct st_fuzz_target *t, const struct st_fuzz_bytes *input, double *seconds,
             struct st_error *e)
{
	const struct st_fuzz_slot *slot = &t->slots[0];
	char *argument;
	if (give_input(t, slot, input, &argument, e))
		return ST_FAILED;
	double begin = st_now_raw();
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		take_fuzz_streams(t, slot);
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
