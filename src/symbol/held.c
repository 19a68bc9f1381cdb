/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that their path does not lead to, or no longer: deleted ones, files in memory, files of
 * another root directory. Whoever runs a program keeps them open for those who read images. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/internal.h"

enum { MOST_HELD = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held {
	char *path;
	int fd; /* -1: several files were called so, nobody knows which is meant */
} held[MOST_HELD];
static size_t n_held;

static bool
held_same_file(int a, int b)
{
	struct stat x, y;
	return a >= 0 && fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static struct held *
held_find(const char *path)
{
	for (size_t i = 0; i < n_held; i++)
		if (!strcmp(held[i].path, path))
			return &held[i];
	return NULL;
}

/* Returns whether fd is kept. */
static bool
hold(const char *path, int fd)
{
	struct held *h = held_find(path);
	if (h && h->fd >= 0 && !held_same_file(h->fd, fd)) {
		close(h->fd);
		h->fd = -1;
	}
	if (h || n_held == MOST_HELD)
		return false;
	h = &held[n_held];
	h->path = strdup(path);
	if (!h->path)
		return false;
	h->fd = fd;
	n_held++;
	return true;
}

void
st_image_hold(const char *path, int fd)
{
	pthread_mutex_lock(&lock);
	if (!hold(path, fd))
		close(fd);
	pthread_mutex_unlock(&lock);
}

bool
sym_held_open(const char *path, int *fd)
{
	pthread_mutex_lock(&lock);
	const struct held *h = n_held ? held_find(path) : NULL;
	if (h)
		*fd = h->fd < 0 ? -1 : fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&lock);
	return h;
}

bool
st_image_is_held(const char *path)
{
	pthread_mutex_lock(&lock);
	bool is = held_find(path) != NULL;
	pthread_mutex_unlock(&lock);
	return is;
}

void
st_images_let_go(void)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n_held; i++) {
		if (held[i].fd >= 0)
			close(held[i].fd);
		free(held[i].path);
	}
	n_held = 0;
	pthread_mutex_unlock(&lock);
}

char *
st_image_path_of(const char *name)
{
	static const char escape[] = "\\012";
	char *path = strdup(name);
	for (char *at = path; at && (at = strstr(at, escape)); at++) {
		*at = '\n';
		memmove(at + 1, at + sizeof escape - 1, strlen(at + sizeof escape - 1) + 1);
	}
	return path;
}
