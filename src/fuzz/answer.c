/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/answer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/view.h"
#include "fuzz/answer_edges.h"
#include "fuzz/answer_paths.h"

/* The file: a head, then for each mapping the text of its path with its NUL, padded to 8 bytes as a
 * whole; then the counts, the edges, and the paths of the call graph. */
struct head {
	uint32_t failed; /* else there is a run */
	struct st_error error;
	double seconds;
	int32_t code;
	uint32_t by_signal, executes, unused;
	uint64_t path_bytes, paths, counts, edges, call_paths;
};

struct count {
	uint64_t offset; /* in the file */
	uint64_t times;
	uint64_t path; /* number of the mapping's */
};

/* ---- writing ---- */

/* The dynamic linker does the same work in each execution. In a small program this would be most
 * of the work. */
static bool
is_dynamic_linker(const char *path)
{
	const char *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-musl", 7) ||
	       !strcmp(name, "ld.so") || !strncmp(name, "ld-2.", 5);
}

static const char *
path_of(const struct st_view *view, uint32_t map)
{
	const struct st_map *m = &view->maps[map];
	const char *path = m->path ? st_view_string(view, m->path) : "";
	return *path == '/' && !is_dynamic_linker(path) ? path : "";
}

/* By mapping, whether it has none of the program's code; malloc'ed, NULL: no memory. */
static bool *
find_left_out(const struct st_view *view)
{
	bool *left_out = malloc(view->n_maps + 1);
	for (uint32_t i = 0; i < view->n_maps && left_out; i++)
		left_out[i] = !*path_of(view, i);
	return left_out;
}

static void
write_paths(const struct st_view *view, FILE *out, struct head *head)
{
	static const char padding[8];
	for (uint32_t i = 0; i < view->n_maps; i++) {
		const char *path = path_of(view, i);
		head->path_bytes += fwrite(path, 1, strlen(path) + 1, out);
	}
	head->paths = view->n_maps;
	head->path_bytes += fwrite(padding, 1, -head->path_bytes & 7, out);
}

static void
write_counts(const struct st_view *view, FILE *out, struct head *head,
             const struct st_view_counts *counts, const bool *left_out)
{
	for (uint32_t id = ST_FIRST_ID; id < view->n_blocks; id++) {
		const struct st_block *b = &view->blocks[id];
		if (!st_view_is_block(view, id) || !counts->executions[id] ||
		    b->map >= view->n_maps || left_out[b->map])
			continue;
		const struct st_map *m = &view->maps[b->map];
		if (b->pc < m->start || b->pc >= m->end)
			continue;
		const struct count count = {m->pgoff + (b->pc - m->start), counts->executions[id],
		                            b->map};
		head->counts += fwrite_unlocked(&count, sizeof count, 1, out);
	}
}

static st_status
write_measured(const struct st_fuzz_measured *m, FILE *out, struct head *head, struct st_error *e)
{
	struct st_view view;
	struct st_view_counts counts = {0};
	if (st_view_open(&view, m->results, m->results_size, e))
		return ST_FAILED;
	bool *left_out = find_left_out(&view);
	st_status status = left_out ? st_view_count(&view, &counts) : ST_FAILED;
	if (!status) {
		write_paths(&view, out, head);
		write_counts(&view, out, head, &counts, left_out);
		head->edges = st_answer_write_edges(&view, counts.executions, left_out, out);
		status = st_answer_write_paths(&view, left_out, out, &head->call_paths);
	}
	free(left_out);
	if (status)
		st_cause(e, ST_EXIT_FAILED, "no memory left for the counts of an execution");
	st_view_counts_free(&counts);
	return status;
}

bool
st_fuzz_answer_write(int fd, const struct st_fuzz_measured *m, const struct st_error *e)
{
	struct head head = {.failed = !m};
	FILE *out = fdopen(dup(fd), "w+");
	if (!out || ftruncate(fd, 0) || fseek(out, sizeof head, SEEK_SET))
		return false;
	if (m) {
		head.seconds = m->seconds;
		head.by_signal = m->by_signal;
		head.code = m->code;
		head.executes = m->results->run.state == ST_RUN_EXECED;
		head.failed = write_measured(m, out, &head, &head.error) != ST_OK;
	} else {
		head.error = *e;
	}
	bool good = !fseek(out, 0, SEEK_SET) && fwrite(&head, sizeof head, 1, out) == 1;
	return !fclose(out) && good;
}

/* ---- reading ---- */

static uint32_t
number_of_image(struct st_fuzz_places *places, const char *path)
{
	for (uint32_t i = 0; i < places->images.n; i++)
		if (!strcmp(places->images.v[i], path))
			return i;
	char **new = ST_PUSH(&places->images);
	char *copy = new ? strdup(path) : NULL;
	if (!copy) {
		places->images.n -= new != NULL;
		return UINT32_MAX;
	}
	*new = copy;
	return (uint32_t)(places->images.n - 1);
}

static int
by_count_place(const void *x, const void *y)
{
	const struct st_fuzz_count *a = x, *b = y;
	return (a->place > b->place) - (a->place < b->place);
}

static bool
are_sorted(const struct st_fuzz_execution *x)
{
	size_t i = 1;
	while (i < x->counts.n && x->counts.v[i - 1].place < x->counts.v[i].place)
		i++;
	return i >= x->counts.n;
}

/* A block that was translated twice has two numbers in the results, but one place. */
static void
merge_places(struct st_fuzz_execution *x)
{
	size_t n = 0;
	if (are_sorted(x))
		return;
	qsort(x->counts.v, x->counts.n, sizeof *x->counts.v, by_count_place);
	for (size_t i = 0; i < x->counts.n; i++)
		if (n && x->counts.v[n - 1].place == x->counts.v[i].place)
			x->counts.v[n - 1].times += x->counts.v[i].times;
		else
			x->counts.v[n++] = x->counts.v[i];
	x->counts.n = n;
}

static st_status
take_counts(const struct head *head, struct st_fuzz_places *places, struct st_fuzz_execution *out)
{
	const char *path = (const char *)(head + 1);
	const struct count *counts = (const struct count *)(path + head->path_bytes);
	uint32_t *images = calloc(head->paths + 1, sizeof *images);
	st_status status = images ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < head->paths && !status; path += strlen(path) + 1, i++) {
		images[i] = *path ? number_of_image(places, path) : 0;
		status = images[i] == UINT32_MAX ? ST_FAILED : ST_OK;
	}
	for (size_t i = 0; i < head->counts && !status; i++) {
		uint32_t place =
		        st_fuzz_place_number(places, images[counts[i].path], counts[i].offset);
		struct st_fuzz_count *new = place == ST_HASHMAP_NONE ? NULL : ST_PUSH(&out->counts);
		if (!new)
			status = ST_FAILED;
		else
			*new = (struct st_fuzz_count){place, counts[i].times};
		out->work += counts[i].times;
	}
	const struct st_answer_edge *edges = (const void *)(counts + head->counts);
	if (!status)
		status = st_answer_take_edges(edges, head->edges, images, head->paths, places, out);
	if (!status)
		status = st_answer_take_paths((const void *)(edges + head->edges), head->call_paths,
		                              images, head->paths, places, &out->paths);
	free(images);
	merge_places(out);
	return status;
}

st_status
st_fuzz_answer_read(int fd, struct st_fuzz_places *places, struct st_fuzz_execution *out,
                    struct st_error *e)
{
	struct stat st;
	if (fstat(fd, &st) || (size_t)st.st_size < sizeof(struct head))
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the strobe process that ran the program was ended before it wrote a "
		        "result: use a program that sends no signals to its parent process, and "
		        "check that enough memory is free");
	void *all = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (all == MAP_FAILED)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the counts of an execution");
	const struct head *head = all;
	st_status status = head->failed ? ST_FAILED : ST_OK;
	out->counts.n = 0;
	out->work = 0;
	out->seconds = head->seconds;
	out->end = head->by_signal ? ST_END_SIGNAL : ST_END_EXIT;
	out->code = head->code;
	out->executes = head->executes;
	if (status)
		*e = head->error;
	else if (take_counts(head, places, out))
		status =
		        st_fail(e, ST_EXIT_FAILED, "no memory left for the counts of an execution");
	munmap(all, (size_t)st.st_size);
	return status;
}
