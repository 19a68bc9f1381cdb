/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removes the probes that a killed strobe has left in a process, as that strobe would have removed
 * them. The area has the addresses of all mappings (struct st_probe_home), and the arenas end with
 * the lists of patches. The program can have changed all of this, so it is used only to change that
 * program.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control/attach.h"
#include "control/probe.h"

/* ---- finding ---- */

bool
st_probe_area_of(const char *pid, uint64_t *at, uint64_t *inode)
{
	char path[300], line[512];
	bool found = false;
	snprintf(path, sizeof path, "/proc/%s/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, "/memfd:strobe-probes") &&
		        sscanf(line, "%" SCNx64 "%*s %*s %*s %*s %" SCNu64, at, inode) == 2;
	if (f)
		fclose(f);
	return found;
}

/* The process ID may have been reused, so the owner must also have mapped the area. */
static bool
is_owner_alive(pid_t owner, uint64_t inode)
{
	char pid[16];
	uint64_t at, its;
	snprintf(pid, sizeof pid, "%d", owner);
	return owner > 0 && st_probe_area_of(pid, &at, &its) && its == inode;
}

static bool
read_home(const struct st_probing *p, uint64_t area, struct st_probe_home *home, uint32_t *version,
          uint32_t *owner)
{
	return st_probing_read(p, area + offsetof(struct st_probe_area, version), version,
	                       sizeof *version) &&
	       st_probing_read(p, area + offsetof(struct st_probe_area, controller), owner,
	                       sizeof *owner) &&
	       st_probing_read(p, area + offsetof(struct st_probe_area, home), home, sizeof *home);
}

/* The area has no version yet: nothing else was mapped, and no code was patched. */
static void
home_of_new(struct st_probe_home *home, uint64_t area, uint32_t *owner)
{
	*home = (struct st_probe_home){.shared = area, .shared_bytes = ST_PROBE_AREA_BYTES};
	*owner = 0;
}

static void
move_in(struct st_probing *p, const struct st_probe_home *home)
{
	p->image = home->image;
	p->image_bytes = home->image_bytes;
	p->context = home->context;
	p->note = home->note;
	p->threads = home->threads;
	p->trampoline = home->trampoline;
	p->shared = home->shared;
	p->shared_bytes = home->shared_bytes;
	for (int i = 0; i < ST_ARENAS; i++)
		p->arenas[i].at = home->arenas[i];
}

/* False: memory is exhausted. */
static bool
read_patches(struct st_probing *p, uint64_t arena)
{
	const uint64_t most = ST_ARENA_BYTES / sizeof(struct st_arena_patch);
	uint64_t n = 0;
	struct st_arena_patch listed;
	if (!st_probing_read(p, arena + ST_ARENA_PATCHED, &n, sizeof n))
		return true;
	for (uint64_t i = 0; i < n && i < most; i++) {
		if (!st_probing_read(p, arena + st_arena_patch_at(i), &listed, sizeof listed) ||
		    listed.n > ST_PATCH_BYTES)
			continue;
		struct st_patch *patch = ST_PUSH(&p->patches);
		if (!patch)
			return false;
		*patch = (struct st_patch){.at = listed.at, .n = (uint8_t)listed.n};
		memcpy(patch->is, listed.is, sizeof patch->is);
		memcpy(patch->was, listed.was, sizeof patch->was);
	}
	return true;
}

/* ---- removal ---- */

/* The number of patches that are still in the code. */
static size_t
count_patched(const struct st_probing *p)
{
	uint8_t now[ST_PATCH_BYTES];
	size_t n = 0;
	for (size_t i = 0; i < p->patches.n; i++) {
		const struct st_patch *patch = &p->patches.v[i];
		n += st_probing_read(p, patch->at, now, patch->n) &&
		     !memcmp(now, patch->is, patch->n);
	}
	return n;
}

static st_status
leave_left_probes(struct st_probing *p, struct st_error *e)
{
	enum { MOST_TRIES = 400 };
	bool stopped = true;
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		if (st_probing_leave(p, &stopped))
			return ST_OK;
		if (kill(p->pid, 0) != 0 && errno == ESRCH)
			return ST_OK;
		nanosleep(&(struct timespec){0, 5000000}, NULL);
	}
	return st_fail(
	        e, ST_EXIT_FAILED,
	        stopped ? "the code of process %d is restored, but a thread does not leave the "
	                  "probes of a killed strobe: their memory stays mapped"
	                : "cannot stop process %d to remove the probes that a strobe that was "
	                  "killed has left in it",
	        p->pid);
}

static st_status
remove_leftovers(struct st_probing *p, uint64_t area, uint64_t inode,
                 struct st_probe_leftovers *found, struct st_error *e)
{
	struct st_probe_home home;
	uint32_t version = 0, owner = 0;
	if (st_probing_open(p, e))
		return ST_FAILED;
	if (!read_home(p, area, &home, &version, &owner))
		version = UINT32_MAX;
	if (!version)
		home_of_new(&home, area, &owner);
	else if (version != ST_PROBE_VERSION || home.shared != area)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "process %d has probes of another version of strobe: use that version, "
		        "or restart the program",
		        p->pid);
	if (is_owner_alive((pid_t)owner, inode))
		return st_fail(e, ST_EXIT_FAILED,
		               "process %d has probes of a running strobe, process %u: end that "
		               "one first",
		               p->pid, owner);
	move_in(p, &home);
	for (int i = 0; i < ST_ARENAS && home.context; i++)
		if (!read_patches(p, p->arenas[i].at))
			return st_fail(e, ST_EXIT_FAILED, "out of memory");
	*found = (struct st_probe_leftovers){(pid_t)owner, count_patched(p)};
	return leave_left_probes(p, e);
}

st_status
st_probing_clear(pid_t pid, struct st_probe_leftovers *found, struct st_error *e)
{
	char name[16];
	uint64_t area, inode;
	struct st_probing p = {.pid = pid, .memory = -1, .attached = true, .is_leftover = true};
	snprintf(name, sizeof name, "%d", pid);
	*found = (struct st_probe_leftovers){0};
	if (!st_probe_area_of(name, &area, &inode))
		return ST_OK;
	const st_status status = remove_leftovers(&p, area, inode, found, e);
	if (p.memory >= 0)
		close(p.memory);
	free(p.patches.v);
	return status;
}
