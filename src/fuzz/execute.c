/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/execute.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "fuzz/answer.h"

st_status
st_fuzz_target_begin(struct st_fuzz_target *t, struct st_error *e)
{
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++)
		t->slots[i] = (struct st_fuzz_slot){.answer = -1};
	if (st_fuzz_workers_begin(t, e) || st_toolset_add(&t->set, "edges", e) ||
	    (t->paths && st_toolset_add(&t->set, "contexts:cycles=1,instructions=1", e)))
		return ST_FAILED;
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++)
		if (st_fuzz_memory_file(&t->slots[i].answer, e))
			return ST_FAILED;
	return ST_OK;
}

void
st_fuzz_target_end(struct st_fuzz_target *t)
{
	if (!t->folder[0])
		return;
	st_fuzz_drop_all(t);
	st_fuzz_workers_end(t);
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++)
		if (t->slots[i].answer >= 0)
			close(t->slots[i].answer);
	st_toolset_free(&t->set);
}

/* ---- under the engine ---- */

st_status
st_fuzz_start(struct st_fuzz_target *t, size_t number, const struct st_fuzz_bytes *input,
              struct st_error *e)
{
	struct st_fuzz_worker *w = t->workers;
	while (w->busy) /* a slot that does not run has one */
		w++;
	w->slot = number;
	t->slots[number].began = st_now_raw();
	return st_fuzz_worker_start(t, w, input, e);
}

/* The worker writes over its answer in the next execution. */
static void
keep_answer(struct st_fuzz_slot *slot, int answer)
{
	off_t at = 0;
	struct stat st;
	ST_IGNORE(ftruncate(slot->answer, 0));
	lseek(slot->answer, 0, SEEK_SET);
	if (fstat(answer, &st))
		return;
	while (at < st.st_size &&
	       sendfile(slot->answer, answer, &at, (size_t)(st.st_size - at)) > 0)
		;
}

bool
st_fuzz_wait(struct st_fuzz_target *t, double until)
{
	struct st_fuzz_worker *w = st_fuzz_worker_wait(t, until);
	if (!w)
		return false;
	struct st_fuzz_slot *slot = &t->slots[w->slot];
	keep_answer(slot, w->answer);
	slot->ended = true;
	slot->cut = st_fuzz_interrupted() != 0;
	slot->seconds = st_now_raw() - slot->began;
	return true;
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
	st_fuzz_workers_stop(t);
	for (size_t i = 0; i < ST_FUZZ_SLOTS; i++)
		t->slots[i].ended = false;
}

st_status
st_fuzz_execute(struct st_fuzz_target *t, const struct st_fuzz_bytes *input,
                struct st_fuzz_places *places, struct st_fuzz_execution *out, struct st_error *e)
{
	if (st_fuzz_start(t, 0, input, e))
		return ST_FAILED;
	while (!t->slots[0].ended)
		st_fuzz_wait(t, INFINITY);
	return st_fuzz_finish(t, 0, places, out, e);
}

void
st_fuzz_execution_free(struct st_fuzz_execution *x)
{
	free(x->counts.v);
	free(x->edges.v);
	free(x->paths.v);
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

static bool
is_same_fuzz_place(struct st_fuzz_place a, struct st_fuzz_place b)
{
	return a.image == b.image && a.offset == b.offset;
}

static uint32_t
edge_hash(struct st_fuzz_edge edge)
{
	return st_hash_numbers(edge.from.offset * 64 + edge.from.image,
	                       edge.to.offset * 64 + edge.to.image);
}

uint32_t
st_fuzz_edge_find(const struct st_fuzz_places *places, struct st_fuzz_edge edge)
{
	return ST_HASHMAP_FIND(&places->by_edge, edge_hash(edge), at,
	                       is_same_fuzz_place(places->edges.v[at].from, edge.from) &&
	                               is_same_fuzz_place(places->edges.v[at].to, edge.to));
}

uint32_t
st_fuzz_edge_number(struct st_fuzz_places *places, struct st_fuzz_edge edge)
{
	uint32_t number = st_fuzz_edge_find(places, edge);
	if (number != ST_HASHMAP_NONE)
		return number;
	struct st_fuzz_edge *new = ST_PUSH(&places->edges);
	if (!new)
		return ST_HASHMAP_NONE;
	*new = edge;
	number = (uint32_t)(places->edges.n - 1);
	return st_hashmap_add(&places->by_edge, edge_hash(edge), number) ? ST_HASHMAP_NONE : number;
}

uint32_t
st_fuzz_path_number(struct st_fuzz_places *places, struct st_fuzz_path path)
{
	const uint32_t hash =
	        st_hash_numbers(path.function.offset * 64 + path.function.image, path.parent);
	uint32_t number = ST_HASHMAP_FIND(
	        &places->by_path, hash, at,
	        places->paths.v[at].parent == path.parent &&
	                places->paths.v[at].function.image == path.function.image &&
	                places->paths.v[at].function.offset == path.function.offset);
	if (number != ST_HASHMAP_NONE)
		return number;
	struct st_fuzz_path *new = ST_PUSH(&places->paths);
	if (!new)
		return ST_HASHMAP_NONE;
	*new = path;
	number = (uint32_t)(places->paths.n - 1);
	return st_hashmap_add(&places->by_path, hash, number) ? ST_HASHMAP_NONE : number;
}

void
st_fuzz_places_free(struct st_fuzz_places *places)
{
	for (size_t i = 0; i < places->images.n; i++)
		free(places->images.v[i]);
	free(places->images.v);
	free(places->list.v);
	free(places->paths.v);
	free(places->edges.v);
	free(places->marks.v);
	st_hashmap_free(&places->by_place);
	st_hashmap_free(&places->by_edge);
	st_hashmap_free(&places->by_path);
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
		if (st_now_raw() - begin < seconds && !st_fuzz_interrupted()) {
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
	char *argument;
	if (st_fuzz_give_input(t, &t->workers[0], input, &argument, e))
		return ST_FAILED;
	double begin = st_now_raw();
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		st_fuzz_prepare_program(t, &t->workers[0]);
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
