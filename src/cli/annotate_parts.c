/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The debug information of a large program takes seconds to read, and its readers are not made for
 * threads. Forked processes share it, because it is opened before. Each process takes the next part
 * of the functions and prints it into a file in memory. The files are copied in order. The calling
 * process prints a part itself if the process that took it has failed or was killed.
 */
#include "cli/annotate_parts.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Functions for which more processes are worth it, and parts for each process. */
enum {
	PARTS_LEAST = 2000,
	PARTS_EACH = 8,
	PARTS_PROCESSES = 8,
	PARTS = PARTS_EACH * PARTS_PROCESSES
};

struct part {
	struct st_annotate_found found;
	bool done;
};

/* Shared by the processes. */
struct parts_shared {
	size_t next; /* part that is taken next; atomic */
	struct part v[PARTS];
};

struct parts {
	st_annotate_print *print;
	void *arg;
	size_t functions, n;
	struct parts_shared *shared;
	int files[PARTS];
};

static void
part_print(const struct parts *p, size_t i, FILE *out, struct st_annotate_found *found)
{
	const size_t end = p->functions * (i + 1) / p->n;
	for (size_t k = p->functions * i / p->n; k < end && !found->no_memory; k++)
		p->print(p->arg, k, out, found);
}

/* Prints a part into its file. */
static void
part_print_aside(const struct parts *p, size_t i)
{
	struct part *part = &p->shared->v[i];
	struct st_annotate_found found = {0};
	const int fd = dup(p->files[i]);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!out) {
		if (fd >= 0)
			close(fd);
		return;
	}
	part_print(p, i, out, &found);
	part->found = found;
	const bool failed = ferror(out);
	part->done = !fclose(out) && !failed && !found.no_memory;
}

static void
parts_take(const struct parts *p)
{
	for (;;) {
		const size_t i = __atomic_fetch_add(&p->shared->next, 1, __ATOMIC_RELAXED);
		if (i >= p->n)
			break;
		part_print_aside(p, i);
	}
}

static bool
part_copy(const struct parts *p, size_t i, FILE *out)
{
	char bytes[1 << 16];
	off_t at = 0;
	ssize_t n;
	while ((n = pread(p->files[i], bytes, sizeof bytes, at)) > 0) {
		fwrite(bytes, 1, (size_t)n, out);
		at += n;
	}
	return !n;
}

static void
found_add(struct st_annotate_found *to, const struct st_annotate_found *more)
{
	to->described += more->described;
	to->bare |= more->bare;
	to->no_memory |= more->no_memory;
}

static bool
parts_open(struct parts *p, size_t processes)
{
	p->shared = mmap(NULL, sizeof *p->shared, PROT_READ | PROT_WRITE,
	                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->shared == MAP_FAILED)
		return false;
	p->n = processes * PARTS_EACH;
	for (size_t i = 0; i < p->n; i++)
		p->files[i] = memfd_create("strobe-features", MFD_CLOEXEC);
	return true;
}

static void
parts_close(const struct parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->files[i] >= 0)
			close(p->files[i]);
	munmap(p->shared, sizeof *p->shared);
}

static void
parts_run(const struct parts *p, size_t processes)
{
	pid_t children[PARTS_PROCESSES];
	size_t n = 0;
	while (n + 1 < processes && (children[n] = fork()) > 0)
		n++;
	if (n + 1 < processes && !children[n]) {
		parts_take(p);
		_exit(0);
	}
	parts_take(p);
	for (size_t i = 0; i < n; i++)
		waitpid(children[i], NULL, 0);
}

void
st_annotate_print_parts(size_t n, st_annotate_print *print, void *arg, FILE *out,
                        struct st_annotate_found *found)
{
	struct parts p = {.print = print, .arg = arg, .functions = n, .n = 1};
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const size_t processes = cpus < PARTS_PROCESSES ? (size_t)cpus : PARTS_PROCESSES;
	if (n < PARTS_LEAST || cpus < 2 || !parts_open(&p, processes)) {
		part_print(&p, 0, out, found);
		return;
	}
	parts_run(&p, processes);
	for (size_t i = 0; i < p.n; i++) {
		const struct part *part = &p.shared->v[i];
		if (part->done && part_copy(&p, i, out))
			found_add(found, &part->found);
		else
			part_print(&p, i, out, found);
	}
	parts_close(&p);
}
