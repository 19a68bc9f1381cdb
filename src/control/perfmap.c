/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a process will write the names of the code that it generates: /tmp/perf-PID.map. Both the
 * folder and the number are those of the process' own namespaces, which are gone when it is, so
 * they are looked at while it lives; the file is read at the end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "control/supervisor.h"

static bool
same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The last one of "NSpid:	4711	1". */
uint32_t
st_innermost_pid(uint32_t pid)
{
	char path[64], line[512];
	uint32_t inner = 0;
	snprintf(path, sizeof path, "/proc/%u/status", pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "NSpid:", 6)) {
			char *last = strrchr(line, '\t');
			inner = last ? (uint32_t)strtoul(last + 1, NULL, 10) : 0;
			break;
		}
	if (f)
		fclose(f);
	return inner;
}

/* What is known of a file of ours, which is asked for once; a builder's thousands of processes are
 * compared with it. False: nothing. */
struct own {
	const char *path;
	struct stat st;
	bool asked, there;
};

static bool
is_own(struct own *own, const struct stat *its)
{
	if (!own->asked)
		own->there = stat(own->path, &own->st) == 0;
	own->asked = true;
	return own->there && same(&own->st, its);
}

static uint32_t
inner_pid(uint32_t pid)
{
	static struct own own = {.path = "/proc/self/ns/pid"};
	char path[64];
	struct stat its;
	snprintf(path, sizeof path, "/proc/%u/ns/pid", pid);
	if (stat(path, &its) != 0 || is_own(&own, &its) || !own.there)
		return pid;
	return st_innermost_pid(pid);
}

/* The folder of a process whose /tmp is not ours; several processes share it. */
static struct st_tmp *
find_tmp(struct st_supervisor *s, const char *path, const struct stat *its)
{
	for (struct st_tmp *t = s->tmps; t; t = t->next)
		if (t->device == its->st_dev && t->inode == its->st_ino)
			return t;
	struct st_tmp *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	*t = (struct st_tmp){.fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC),
	                     .device = its->st_dev,
	                     .inode = its->st_ino,
	                     .next = s->tmps};
	s->tmps = t;
	return t;
}

/* When the process began, on CLOCK_REALTIME in seconds; 0: unknown. */
static int64_t
started(uint32_t pid)
{
	char path[64], text[1024];
	struct timespec real, boot;
	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* The 22nd field; the second one is in brackets and may hold anything. */
	char *field = strrchr(text, ')');
	for (int i = 2; field && i < 22; i++)
		field = strchr(field + 1, ' ');
	if (!field)
		return 0;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return real.tv_sec - boot.tv_sec + strtoll(field, NULL, 10) / sysconf(_SC_CLK_TCK);
}

static bool
find_map(const struct st_process *p, struct stat *st)
{
	char name[64];
	snprintf(name, sizeof name, "/tmp/perf-%u.map", p->inner_pid);
	return fstatat(p->tmp ? p->tmp->fd : AT_FDCWD, p->tmp ? name + 5 : name, st, 0) == 0;
}

void
st_perf_map_prepare(struct st_supervisor *s, struct st_process *p)
{
	static struct own own = {.path = "/tmp"};
	char path[64];
	struct stat its;
	p->inner_pid = inner_pid(p->pid);
	snprintf(path, sizeof path, "/proc/%u", p->pid);
	p->uid = stat(path, &its) == 0 ? its.st_uid : geteuid();
	snprintf(path, sizeof path, "/proc/%u/root/tmp", p->pid);
	if (stat(path, &its) == 0) {
		if (!is_own(&own, &its))
			p->tmp = find_tmp(s, path, &its);
	} else if (p->inner_pid != p->pid) {
		p->inner_pid = 0; /* the number is another process' here */
	}
	const int64_t slack = 2; /* seconds: clocks are adjusted */
	if (p->inner_pid && find_map(p, &its) && its.st_mtim.tv_sec + slack < started(p->pid))
		p->old_map = its.st_mtim;
}

void
st_perf_map_forget(struct st_process *p)
{
	struct stat st;
	if (p->inner_pid && find_map(p, &st))
		p->old_map = st.st_mtim;
}

void
st_perf_map_close(struct st_tmp *tmps)
{
	while (tmps) {
		struct st_tmp *next = tmps->next;
		if (tmps->fd >= 0)
			close(tmps->fd);
		free(tmps);
		tmps = next;
	}
}
