/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
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

static st_status
begin_slots(struct st_fuzz_target *t, struct st_error *e)
{
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++) {
		struct st_fuzz_slot *slot = &t->slots[i];
		/* All names have the same length: a program may work more for a longer one. */
		snprintf(slot->input, sizeof slot->input, "%s/input%02zu", t->folder, i);
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
		t->slots[i] = (struct st_fuzz_slot){.answer = -1};
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
		if (t->slots[i].answer >= 0)
			close(t->slots[i].answer);
		if (t->slots[i].input[0])
			unlink(t->slots[i].input);
	}
	rmdir(t->folder);
	st_toolset_free(&t->set);
}

/* ---- inputs ---- */

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
		return st_fuzz_bytes_write(input, slot->input, e);
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
	_exit(st_fuzz_answer_write(slot->answer, ran ? &run : NULL, &e) ? 0 : ST_EXIT_FAILED);
}

st_status
st_fuzz_start(struct st_fuzz_target *t, size_t number, const struct st_fuzz_bytes *input,
              struct st_error *e)
{
	struct st_fuzz_slot *slot = &t->slots[number];
	char *argument;
	if (give_input(t, slot, input, &argument, e))
		return ST_FAILED;
	/* An answer that was not written is found by its size. */
	ST_IGNORE(ftruncate(slot->answer, 0));
	slot->began = st_now_raw();
	pid_t pid = fork();
	if (pid == 0)
		measure_execution(t, slot);
	free(argument);
	if (pid < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot fork: %s", strerror(errno));
	slot->pid = pid;
	fuzz_children[number] = pid;
	if (fuzz_interrupted) /* perhaps before the handler could see it */
		kill(pid, SIGTERM);
	return ST_OK;
}

static size_t
slot_of(const struct st_fuzz_target *t, pid_t pid)
{
	size_t i = 0;
	while (i < ST_FUZZ_SLOTS && t->slots[i].pid != pid)
		i++;
	return i;
}

void
st_fuzz_wait(struct st_fuzz_target *t)
{
	pid_t pid;
	size_t number;
	do {
		pid = waitpid(-1, NULL, 0);
		if (pid < 0 && errno != EINTR)
			return;
		number = pid > 0 ? slot_of(t, pid) : ST_FUZZ_SLOTS;
	} while (number == ST_FUZZ_SLOTS);
	struct st_fuzz_slot *slot = &t->slots[number];
	fuzz_children[number] = 0;
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
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++) {
		if (t->slots[i].pid)
			kill(t->slots[i].pid, SIGALRM); /* which ends the program for certain */
		while (t->slots[i].pid)
			st_fuzz_wait(t);
		t->slots[i].ended = false;
	}
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
