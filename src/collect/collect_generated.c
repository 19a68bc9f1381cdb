/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that belongs to no file. Its names, if there are any, are in a file that the process wrote
 * and hold for that process alone: then it has an image of its own for such code. Processes without
 * names share one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/collect.h"
#include "control/run.h"

/* Anyone can put a file into /tmp: it must be the process' own or root's, and written since the
 * process began. */
static bool
collect_generated_is_of(const struct st_process *p, int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == p->uid || !st.st_uid) &&
	       (st.st_mtim.tv_sec != p->old_map.tv_sec || st.st_mtim.tv_nsec != p->old_map.tv_nsec);
}

/* Another program took its place, and its number with it: the file is that one's. */
static bool
collect_generated_is_replaced(const struct st_run *run, const struct st_process *p)
{
	for (const struct st_process *q = p + 1; q < run->processes + run->n_processes; q++)
		if (q->pid == p->pid)
			return true;
	return false;
}

static struct st_perf_map *
read_map(struct st_collect *c, const struct st_process *p)
{
	char path[64];
	if (!p->inner_pid || collect_generated_is_replaced(c->run, p))
		return NULL;
	snprintf(path, sizeof path, "/tmp/perf-%u.map", p->inner_pid);
	int fd = openat(p->tmp ? p->tmp->fd : AT_FDCWD, p->tmp ? path + 5 : path,
	                O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	FILE *file = collect_generated_is_of(p, fd) ? fdopen(fd, "r") : NULL;
	struct st_perf_map *map = file ? st_perf_map_read(file) : NULL;
	if (map && st_perf_map_is_cut(map))
		st_profile_note(c->profile,
		                "%s is too large: names of generated code are taken only from its "
		                "first 512 MiB or 16 million lines",
		                path);
	if (file)
		fclose(file);
	else
		close(fd);
	return map;
}

/* The process that forked this one, which goes on with the same code; NULL: none is known. */
static const struct st_process *
collect_generated_parent_of(const struct st_run *run, const struct st_process *p)
{
	if (p->executed)
		return NULL;
	for (const struct st_process *q = p; q-- > run->processes;)
		if (q->pid == p->ppid)
			return q->command && p->command && !strcmp(q->command, p->command) ? q
			                                                                   : NULL;
	return NULL;
}

st_status
st_collect_generated(struct st_collect *c)
{
	struct st_perf_map *map = NULL;
	for (const struct st_process *p = c->process; p && !map;
	     p = collect_generated_parent_of(c->run, p))
		map = read_map(c, p);
	if (!map && c->nameless != UINT32_MAX) {
		c->anon = c->nameless;
		return 0;
	}
	if (st_collect_add_image(c, ST_ANON_IMAGE, &c->anon) != 0) {
		st_perf_map_free(map);
		return -1;
	}
	c->maps.v[c->anon] = map;
	if (map)
		c->profile->images.v[c->anon].symbols = "symbols";
	else
		c->nameless = c->anon;
	return 0;
}
