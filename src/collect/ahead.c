/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/ahead.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/vec.h"
#include "collect/view.h"
#include "control/run.h"
#include "symbol/symbol.h"

static const double patience = 0.1; /* seconds: what ends before needs its symbols at once */

#define MOST_BYTES (512ull << 20)

enum state { WAITS, IS_READ, IS_DONE };

struct ahead_image {
	char *path;
	struct st_image *image; /* NULL: it is not read yet, could not be, or has been taken */
	enum state state;
};

struct st_ahead {
	bool functions, lines;
	double begin;            /* of the first look; 0: there was none */
	ST_VEC(uint32_t) n_seen; /* mappings, of each process of the run */
	pthread_mutex_t lock;    /* what follows */
	pthread_cond_t changed;
	ST_VEC(struct ahead_image) images; /* in the order in which they were seen */
	size_t next;                       /* to be read */
	uint64_t bytes;                    /* of files that were read; the thread's */
	pthread_t thread;
	bool runs, stop;
};

struct st_ahead *
st_ahead_new(bool functions, bool lines)
{
	struct st_ahead *a = calloc(1, sizeof *a);
	if (!a)
		return NULL;
	a->functions = functions;
	a->lines = lines;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	return a;
}

/* The program, or a build of which it is a part, may write over its files while they are kept, so
 * they are copied, as far as there is room. What is installed is replaced, not written over. */
static struct st_image *
ahead_read_image(struct st_ahead *a, const char *path, bool lines)
{
	static const char installed[] = "/usr/";
	struct stat st;
	bool copies = strncmp(path, installed, sizeof installed - 1) != 0;
	if (copies && (stat(path, &st) != 0 || (uint64_t)st.st_size > MOST_BYTES - a->bytes))
		return NULL;
	struct st_image *image = copies ? st_image_copy(path, NULL) : st_image_open(path, NULL);
	if (copies)
		a->bytes += (uint64_t)st.st_size;
	if (image)
		st_image_prepare(image, lines);
	return image;
}

static void *
ahead_read_all(void *arg)
{
	struct st_ahead *a = arg;
	pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		if (a->next == a->images.n) {
			pthread_cond_wait(&a->changed, &a->lock);
			continue;
		}
		size_t at = a->next++;
		const char *path = a->images.v[at].path;
		a->images.v[at].state = IS_READ;
		pthread_mutex_unlock(&a->lock);
		struct st_image *image = ahead_read_image(a, path, a->lines);
		pthread_mutex_lock(&a->lock);
		a->images.v[at].image = image;
		a->images.v[at].state = IS_DONE;
		pthread_cond_broadcast(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Signals are for the thread that waits for the program. */
static void
begin_thread(struct st_ahead *a)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	a->runs = pthread_create(&a->thread, NULL, ahead_read_all, a) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static struct ahead_image *
ahead_find(struct st_ahead *a, const char *path)
{
	for (size_t i = 0; i < a->images.n; i++)
		if (!strcmp(a->images.v[i].path, path))
			return &a->images.v[i];
	return NULL;
}

static void
want(struct st_ahead *a, const char *path)
{
	pthread_mutex_lock(&a->lock);
	char *copy = ahead_find(a, path) ? NULL : strdup(path);
	struct ahead_image *new = copy ? ST_PUSH(&a->images) : NULL;
	if (new)
		*new = (struct ahead_image){.path = copy};
	else
		free(copy);
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	if (new && !a->runs)
		begin_thread(a);
}

static void
ahead_look_at(struct st_ahead *a, const struct st_process *p, uint32_t *n_seen)
{
	struct st_view v;
	if (*n_seen == __atomic_load_n(&p->results->maps.n, __ATOMIC_ACQUIRE) ||
	    st_view_open(&v, p->results, p->results_size, NULL))
		return;
	/* Contexts are of functions; the first may come later. */
	if (!a->functions && !v.n_labels)
		return;
	for (; *n_seen < v.n_maps; ++*n_seen) {
		const char *path = st_view_string(&v, v.maps[*n_seen].path);
		if (*path == '/' && strncmp(path, "/memfd:", 7) != 0)
			want(a, path);
	}
}

void
st_ahead_look(void *arg, const struct st_process *processes, size_t n)
{
	struct st_ahead *a = arg;
	double now = st_now_raw();
	if (!a)
		return;
	if (!a->begin)
		a->begin = now;
	while (a->n_seen.n < n) {
		uint32_t *none = ST_PUSH(&a->n_seen);
		if (!none)
			return;
		*none = 0;
	}
	for (size_t i = 0; i < n && now - a->begin >= patience; i++)
		if (!processes[i].gone)
			ahead_look_at(a, &processes[i], &a->n_seen.v[i]);
}

struct st_image *
st_ahead_take(struct st_ahead *a, const char *path)
{
	struct st_image *image = NULL;
	if (!a)
		return NULL;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	struct ahead_image *found = ahead_find(a, path);
	while (found && found->state == IS_READ)
		pthread_cond_wait(&a->changed, &a->lock);
	if (found) {
		image = found->image;
		found->image = NULL;
	}
	pthread_mutex_unlock(&a->lock);
	return image;
}

void
st_ahead_free(struct st_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	if (a->runs)
		pthread_join(a->thread, NULL);
	for (size_t i = 0; i < a->images.n; i++) {
		st_image_close(a->images.v[i].image);
		free(a->images.v[i].path);
	}
	free(a->images.v);
	free(a->n_seen.v);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
