/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/held.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/symbol.h"

/* A line of /proc/PID/maps. */
struct line {
	unsigned long start, end, ino;
	unsigned major, minor;
	char permissions[8];
	char *path;
};

static bool
held_read_line(char *text, struct line *l)
{
	int at = 0;
	if (sscanf(text, "%lx-%lx %7s %*x %x:%x %lu %n", &l->start, &l->end, l->permissions,
	           &l->major, &l->minor, &l->ino, &at) < 6 ||
	    !at)
		return false;
	l->path = text + at;
	l->path[strcspn(l->path, "\n")] = 0;
	return l->ino && l->permissions[2] == 'x' && *l->path == '/';
}

static bool
held_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Opens the file that is mapped there. The kernel allows that only with privileges; the executable
 * of a process may be opened by its owner, too. */
static int
open_mapped(pid_t pid, const struct line *l)
{
	char path[96];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/map_files/%lx-%lx", pid, l->start, l->end);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_ino == l->ino))
		return fd;
	close(fd);
	return -1;
}

static bool
is_elf(int fd)
{
	char magic[4];
	return pread(fd, magic, sizeof magic, 0) == sizeof magic && !memcmp(magic, "\177ELF", 4);
}

/* It was found by this path when it was mapped, if that was before it was deleted. */
static void
hold_by_old_path(char *path, int fd)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(path), end = sizeof mark - 1;
	if (n <= end || strcmp(path + n - end, mark) != 0) {
		close(fd);
		return;
	}
	path[n - end] = 0;
	st_image_hold(path, fd);
}

static void
look_at_line(pid_t pid, struct line *l)
{
	struct stat there, mapped;
	char *path = st_image_path_of(l->path);
	bool found = path && stat(path, &there) == 0;
	bool same = found && there.st_ino == l->ino && there.st_dev == makedev(l->major, l->minor);
	free(path);
	if (same && !st_image_is_held(l->path))
		return;
	int fd = open_mapped(pid, l);
	if (fd < 0)
		return;
	/* Some file systems give files another device's number than mappings of them. */
	if (fstat(fd, &mapped) != 0 || !is_elf(fd) ||
	    (found && !same && held_is_same(&there, &mapped))) {
		close(fd);
		return;
	}
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	st_image_hold(l->path, fd);
	if (copy >= 0)
		hold_by_old_path(l->path, copy);
}

void
st_held_look_at(pid_t pid)
{
	char path[64], *text = NULL;
	size_t size = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && getline(&text, &size, f) > 0) {
		struct line l;
		if (held_read_line(text, &l))
			look_at_line(pid, &l);
	}
	free(text);
	if (f)
		fclose(f);
}

void
st_held_look(struct st_held_look *l, const struct st_process *processes, size_t n)
{
	if (l->n < n) {
		uint32_t *more = reallocarray(l->n_seen, n, sizeof *more);
		if (!more)
			return;
		l->n_seen = more;
		while (l->n < n)
			l->n_seen[l->n++] = 0;
	}
	double now = st_now_raw();
	bool all = now - l->last >= 1;
	if (all)
		l->last = now;
	for (size_t i = 0; i < n; i++) {
		uint32_t maps = __atomic_load_n(&processes[i].results->maps.n, __ATOMIC_ACQUIRE);
		if (processes[i].gone || (l->n_seen[i] == maps && !all))
			continue;
		l->n_seen[i] = maps;
		st_held_look_at((pid_t)processes[i].pid);
	}
}

void
st_held_free(struct st_held_look *l)
{
	free(l->n_seen);
	*l = (struct st_held_look){0};
	st_images_let_go();
}
