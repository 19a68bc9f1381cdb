/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executions of source lines. Counts belong to blocks, lines to instructions, and blocks overlap (a
 * jump into the middle of one starts another): so the blocks of a function are swept in the order
 * of their offsets, each instruction is decoded once, and its executions are those of all blocks
 * over it.
 */
#include "collect/collect.h"

#include <Zydis/Zydis.h>

#include "wire/results/header.h"

/* Adds the counts of instructions to a line. */
struct entry {
	const char *file;
	uint32_t line;
	uint64_t executions, instructions, samples;
};

struct sweep {
	struct st_collect *c;
	struct st_image *image;
	ZydisDecoder decoder;
	ST_VEC(struct entry) entries; /* of the function at hand */
	const char *last_file, *last_interned;
	unsigned char *bytes; /* code of the cluster at hand */
	size_t bytes_size;
	uint64_t *deltas; /* per byte of the cluster: how the number of executions changes there */
	uint64_t *starts; /* per byte: partial instructions of blocks that start there */
};

static const char *
intern_file(struct sweep *s, const char *file)
{
	if (file != s->last_file) {
		s->last_interned = st_collect_intern(s->c, file);
		s->last_file = file;
	}
	return s->last_interned;
}

/* Adds to the line of an offset; code without a line is left out. */
static st_status
collect_lines_add(struct sweep *s, uint64_t offset, struct entry what)
{
	struct st_line line;
	if (st_image_line(s->image, offset, &line) || !line.file || !line.line)
		return 0;
	const char *file = intern_file(s, line.file);
	struct entry *last = s->entries.n ? &s->entries.v[s->entries.n - 1] : NULL;
	if (last && last->file == file && last->line == line.line) {
		if (what.executions > last->executions)
			last->executions = what.executions;
		last->instructions += what.instructions;
		last->samples += what.samples;
		return 0;
	}
	struct entry *new = ST_PUSH(&s->entries);
	if (!new)
		return -1;
	*new = what;
	new->file = file;
	new->line = line.line;
	return 0;
}

static bool
room_for(struct sweep *s, size_t n)
{
	if (n < s->bytes_size)
		return true;
	size_t size = n * 2 + 256;
	unsigned char *bytes = realloc(s->bytes, size);
	if (bytes)
		s->bytes = bytes;
	uint64_t *deltas = reallocarray(s->deltas, size, sizeof *deltas);
	if (deltas)
		s->deltas = deltas;
	uint64_t *starts = reallocarray(s->starts, size, sizeof *starts);
	if (starts)
		s->starts = starts;
	if (!bytes || !deltas || !starts)
		return false;
	s->bytes_size = size;
	return true;
}

static size_t
instruction_length(const struct sweep *s, size_t at, size_t end)
{
	ZydisDecodedInstruction insn;
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&s->decoder, NULL, s->bytes + at, end - at,
	                                              &insn)))
		return 0;
	return insn.length;
}

/* Whether every block of the cluster starts where the instructions decoded from `low` on start. */
static bool
aligned(const struct sweep *s, const struct st_profile_block *b, size_t n, size_t length)
{
	uint64_t low = b->offset;
	size_t at = 0, i = 0;
	while (at < length) {
		while (i < n && b[i].offset - low == at)
			i++;
		if (i < n && b[i].offset - low < at)
			return false;
		size_t step = instruction_length(s, at, length);
		if (!step)
			return false;
		at += step;
	}
	return i == n;
}

/* Blocks that overlap and agree on where instructions start, or a single block: each instruction
 * once. */
static st_status
add_cluster(struct sweep *s, const struct st_profile_block *b, size_t n, size_t length)
{
	uint64_t low = b->offset, executions = 0;
	memset(s->deltas, 0, (length + 1) * sizeof *s->deltas);
	memset(s->starts, 0, (length + 1) * sizeof *s->starts);
	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)(b[i].offset - low);
		s->deltas[at] += b[i].executions;
		s->deltas[at + b[i].bytes] -= b[i].executions;
		s->starts[at] += b[i].instructions - b[i].executions * b[i].insns;
	}
	for (size_t at = 0, step; at < length; at += step) {
		step = instruction_length(s, at, length);
		if (!step)
			step = length - at;
		executions += s->deltas[at];
		uint64_t instructions = executions + s->starts[at];
		for (size_t k = 1; k < step; k++)
			executions += s->deltas[at + k];
		if (collect_lines_add(s, low + at,
		                      (struct entry){.executions = instructions - s->starts[at],
		                                     .instructions = instructions}))
			return -1;
	}
	return 0;
}

static st_status
load_bytes(struct sweep *s, uint64_t offset, size_t *length)
{
	if (!room_for(s, *length + 1))
		return -1;
	*length = st_image_bytes(s->image, offset, s->bytes, *length);
	return 0;
}

/* Blocks v[0..n) overlap one another and span `length` bytes. */
static st_status
sweep_cluster(struct sweep *s, const struct st_profile_block *b, size_t n, size_t length)
{
	size_t have = length;
	if (load_bytes(s, b->offset, &have))
		return -1;
	if (have == length && (n == 1 || aligned(s, b, n, length)))
		return add_cluster(s, b, n, length);
	/* Overlapping code that reads differently from different starts: block by block. */
	for (size_t i = 0; i < n; i++) {
		have = b[i].bytes;
		if (load_bytes(s, b[i].offset, &have))
			return -1;
		if (have == b[i].bytes && add_cluster(s, &b[i], 1, have))
			return -1;
	}
	return 0;
}

static int
entry_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int files = x->file == y->file ? 0 : strcmp(x->file, y->file);
	if (files)
		return files;
	return x->line < y->line ? -1 : x->line > y->line;
}

static st_status
flush_function(struct sweep *s, uint32_t function)
{
	struct st_profile *p = s->c->profile;
	struct st_profile_line *last = NULL;
	if (s->entries.n)
		qsort(s->entries.v, s->entries.n, sizeof *s->entries.v, entry_order);
	for (size_t i = 0; i < s->entries.n; i++) {
		const struct entry *e = &s->entries.v[i];
		if (!last || last->line != e->line || last->file != e->file) {
			last = ST_PUSH(&p->lines);
			if (!last)
				return -1;
			last->function = function;
			last->file = e->file;
			last->line = e->line;
		}
		if (e->executions > last->executions)
			last->executions = e->executions;
		last->instructions += e->instructions;
		last->samples += e->samples;
	}
	s->entries.n = 0;
	return 0;
}

static st_status
add_hits(struct sweep *s, const struct st_hit *hits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (hits[i].where == ST_SAMPLE_CODE &&
		    collect_lines_add(s, hits[i].offset, (struct entry){.samples = hits[i].count}))
			return -1;
	return 0;
}

/* The blocks of one function. */
static st_status
sweep_blocks(struct sweep *s, const struct st_profile_block *b, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		uint64_t reach = b[i].offset + b[i].bytes;
		for (end = i + 1; end < n && b[end].offset < reach; end++)
			if (b[end].offset + b[end].bytes > reach)
				reach = b[end].offset + b[end].bytes;
		if (sweep_cluster(s, &b[i], end - i, (size_t)(reach - b[i].offset)))
			return -1;
	}
	return 0;
}

/* Whether what belongs to function `of` stands before what belongs to f, or to no function. */
static bool
before(const struct st_profile *p, uint32_t of, uint32_t f)
{
	return of < f || !p->functions.v[of].size;
}

static st_status
sweep_image(struct sweep *s, const struct st_collect_range *r)
{
	const struct st_profile *p = s->c->profile;
	size_t i = 0, j = 0;
	for (uint32_t f = (uint32_t)r->function; f < r->function_end; f++) {
		if (!p->functions.v[f].size)
			continue;
		while (i < r->n_blocks && before(p, r->blocks[i].function, f))
			i++;
		while (j < r->n_hits && before(p, r->by_function[j].function, f))
			j++;
		size_t block = i, hit = j;
		while (i < r->n_blocks && r->blocks[i].function == f)
			i++;
		while (j < r->n_hits && r->by_function[j].function == f)
			j++;
		if (sweep_blocks(s, r->blocks + block, i - block) ||
		    add_hits(s, r->by_function + hit, j - hit) || flush_function(s, f))
			return -1;
	}
	return 0;
}

st_status
st_collect_lines(struct st_collect *c, const struct st_collect_range *r)
{
	struct sweep s = {.c = c, .image = c->opened.v[r->image]};
	if (!s.image || strcmp(c->profile->images.v[r->image].symbols, "full"))
		return 0;
	ZydisDecoderInit(&s.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	int status = sweep_image(&s, r);
	free(s.entries.v);
	free(s.bytes);
	free(s.deltas);
	free(s.starts);
	return status;
}
