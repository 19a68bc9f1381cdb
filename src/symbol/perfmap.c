/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/perfmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/internal.h"

enum {
	LONGEST_NAME = 4096,     /* some compilers write whole signatures */
	MOST_ENTRIES = 16 << 20, /* a file may be written for ever, */
	MOST_BYTES = 512 << 20,  /* or be as large as a disk */
};

struct entry {
	uint64_t start, end;
	char *name;
};

struct st_perf_map {
	struct entry *v; /* in the order of the file */
	size_t n, room;
	struct sym_functions functions;
	size_t functions_room;
	bool cut;
};

/* A number in hex as perf reads it, with or without 0x, then blanks. */
static bool
perfmap_take_number(const char **text, uint64_t *number)
{
	char *end;
	errno = 0;
	if (!strchr("0123456789abcdefABCDEF", **text) || !**text)
		return false;
	*number = strtoull(*text, &end, 16);
	size_t blanks = strspn(end, " \t");
	*text = end + blanks;
	return !errno && blanks > 0;
}

/* 0 also for a line that is skipped; -1 when memory is exhausted. */
static int
perfmap_add_line(struct st_perf_map *map, const char *line)
{
	uint64_t start, size;
	const char *name = line;
	if (!perfmap_take_number(&name, &start) || !perfmap_take_number(&name, &size) || !*name ||
	    !size || size > UINT64_MAX - start)
		return 0;
	struct entry *v = sym_grow(map->v, map->n, &map->room, sizeof *v);
	if (!v)
		return -1;
	map->v = v;
	v[map->n] = (struct entry){start, start + size, strndup(name, LONGEST_NAME)};
	return v[map->n].name ? (map->n++, 0) : -1;
}

/* The beginning of a line, of which as much is kept as there is room for. False at the file's end:
 * without its own end a line was cut off while it was written. *left: bytes that may be read. */
static bool
perfmap_read_line(FILE *file, char *line, size_t room, size_t *left)
{
	size_t n = 0;
	int c;
	while (*left && (c = getc_unlocked(file)) != EOF && c != '\n') {
		--*left;
		if (n + 1 < room)
			line[n++] = (char)c;
	}
	if (!*left || c == EOF)
		return false;
	--*left;
	line[n - (n && line[n - 1] == '\r')] = '\0';
	return true;
}

static int
perfmap_read_lines(struct st_perf_map *map, FILE *file)
{
	char line[LONGEST_NAME + 64];
	size_t left = MOST_BYTES;
	int status = 0;
	while (!status && map->n < MOST_ENTRIES &&
	       perfmap_read_line(file, line, sizeof line, &left))
		status = perfmap_add_line(map, line);
	map->cut = map->n == MOST_ENTRIES || !left;
	return status;
}

/* Indices of entries: the addresses where they start and end in order, and a heap of those that
 * hold an address, the latest on top. */
struct sweep {
	struct st_perf_map *map;
	size_t *starts;
	size_t *heap;
	size_t n;
};

static int
perfmap_by_start(const void *a, const void *b, void *context)
{
	const struct entry *v = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	if (v[x].start != v[y].start)
		return v[x].start < v[y].start ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void
perfmap_push(struct sweep *s, size_t entry)
{
	size_t at = s->n++;
	for (; at && s->heap[(at - 1) / 2] < entry; at = (at - 1) / 2)
		s->heap[at] = s->heap[(at - 1) / 2];
	s->heap[at] = entry;
}

static void
perfmap_pop(struct sweep *s)
{
	size_t last = s->heap[--s->n], at = 0;
	for (size_t child; (child = 2 * at + 1) < s->n; at = child) {
		if (child + 1 < s->n && s->heap[child + 1] > s->heap[child])
			child++;
		if (s->heap[child] < last)
			break;
		s->heap[at] = s->heap[child];
	}
	s->heap[at] = last;
}

/* From start to end the entry holds; what it held just before goes on. */
static st_status
perfmap_emit(struct st_perf_map *map, size_t entry, uint64_t start, uint64_t end)
{
	struct sym_functions *f = &map->functions;
	const char *name = map->v[entry].name;
	struct st_function *last = f->n ? &f->v[f->n - 1] : NULL;
	if (last && last->name == name && last->offset + last->size == start) {
		last->size = end - last->offset;
		return 0;
	}
	struct st_function *v = sym_grow(f->v, f->n, &map->functions_room, sizeof *v);
	if (!v)
		return -1;
	f->v = v;
	v[f->n++] = (struct st_function){.offset = start,
	                                 .size = end - start,
	                                 .name = name,
	                                 .raw_name = name,
	                                 .source = ST_SYM_PERFMAP,
	                                 .whole = start};
	return 0;
}

/* Goes through the addresses: between two of them where something starts or ends the latest entry
 * holds. */
static st_status
perfmap_flatten(struct sweep *s)
{
	const struct entry *v = s->map->v;
	uint64_t at = 0;
	for (size_t next = 0; next < s->map->n || s->n;) {
		while (s->n && v[s->heap[0]].end <= at)
			perfmap_pop(s);
		if (!s->n && next < s->map->n)
			at = v[s->starts[next]].start;
		while (next < s->map->n && v[s->starts[next]].start <= at)
			perfmap_push(s, s->starts[next++]);
		if (!s->n)
			continue;
		uint64_t end = v[s->heap[0]].end;
		if (next < s->map->n && v[s->starts[next]].start < end)
			end = v[s->starts[next]].start;
		if (end > at && perfmap_emit(s->map, s->heap[0], at, end) != 0)
			return -1;
		at = end;
	}
	return 0;
}

static st_status
perfmap_settle(struct st_perf_map *map)
{
	struct sweep s = {.map = map};
	size_t n = map->n ? map->n : 1;
	s.starts = calloc(n, sizeof *s.starts);
	s.heap = calloc(n, sizeof *s.heap);
	int status = s.starts && s.heap ? 0 : -1;
	for (size_t i = 0; !status && i < map->n; i++)
		s.starts[i] = i;
	if (!status && map->n) {
		qsort_r(s.starts, map->n, sizeof *s.starts, perfmap_by_start, map->v);
		status = perfmap_flatten(&s);
	}
	free(s.starts);
	free(s.heap);
	return status;
}

struct st_perf_map *
st_perf_map_read(FILE *file)
{
	struct st_perf_map *map = calloc(1, sizeof *map);
	if (map && perfmap_read_lines(map, file) == 0 && perfmap_settle(map) == 0)
		return map;
	st_perf_map_free(map);
	return NULL;
}

void
st_perf_map_free(struct st_perf_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->n; i++)
		free(map->v[i].name);
	free(map->v);
	sym_table_free(&map->functions);
	free(map);
}

const struct st_function *
st_perf_map_function(const struct st_perf_map *map, uint64_t address)
{
	return sym_table_find(&map->functions, address);
}

const struct st_function *
st_perf_map_functions(const struct st_perf_map *map, size_t *n)
{
	*n = map->functions.n;
	return map->functions.v;
}

bool
st_perf_map_is_cut(const struct st_perf_map *map)
{
	return map->cut;
}
