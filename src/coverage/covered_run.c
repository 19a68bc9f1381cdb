/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measured code of a run, from the counts of its blocks. */
#include "collect/lengths.h"
#include "collect/view.h"
#include "control/run.h"
#include "coverage/covered.h"
#include "symbol/symbol.h"

/* A file that the code of a process comes from; by mapping. */
struct file {
	struct st_image *image; /* NULL: it cannot be read */
	size_t index;           /* in the covered images */
	uint64_t linked;        /* link-time address of the mapping's first byte */
	bool looked;
};

struct taking {
	struct st_covered *covered;
	struct st_lengths *lengths;
	const struct st_view *view;
	struct file *files;
	uint32_t *partial; /* by block: the most instructions that an execution completed that
	                      ended early */
	bool no_memory;
};

static void
look_at(struct taking *t, uint32_t map)
{
	const struct st_map *m = &t->view->maps[map];
	const char *path = m->path ? st_view_string(t->view, m->path) : "";
	struct file *f = &t->files[map];
	struct st_error ignored; /* code without a readable file is no part of what is covered */
	f->looked = true;
	f->image = *path ? st_image_open(path, &ignored) : NULL;
	f->linked = f->image ? st_image_offset_of_file(f->image, m->pgoff) : UINT64_MAX;
	if (f->linked == UINT64_MAX)
		return;
	const struct st_covered_image *image =
	        st_covered_image(t->covered, st_image_build_id(f->image), path);
	if (image)
		f->index = (size_t)(image - t->covered->images.v);
	else
		t->no_memory = true;
}

/* NULL: the block lies in no file. */
static const struct file *
covered_run_file_of(struct taking *t, const struct st_block *b)
{
	if (b->map >= t->view->n_maps)
		return NULL;
	const struct st_map *m = &t->view->maps[b->map];
	if (b->pc < m->start || b->pc >= m->end)
		return NULL;
	struct file *f = &t->files[b->map];
	if (!f->looked)
		look_at(t, b->map);
	return f->image && f->linked != UINT64_MAX && !t->no_memory ? f : NULL;
}

static void
take_block_covered_run(struct taking *t, const struct st_block *b, uint32_t insns, uint64_t times)
{
	const struct file *f =
	        b->bytes <= ST_LENGTHS_MOST && insns <= b->bytes ? covered_run_file_of(t, b) : NULL;
	if (!f)
		return;
	uint64_t offset = f->linked + (b->pc - t->view->maps[b->map].start);
	uint32_t bytes;
	const uint8_t *lengths =
	        st_lengths_of(t->lengths, f->image, offset, b->bytes, insns, &bytes);
	struct st_covered_image *image = &t->covered->images.v[f->index];
	for (uint32_t i = 0; lengths && i < insns; offset += lengths[i++]) {
		struct st_covered_insn *insn = ST_PUSH(&image->insns);
		if (!insn) {
			t->no_memory = true;
			return;
		}
		*insn = (struct st_covered_insn){offset, lengths[i], times};
	}
}

static void
find_partials(struct taking *t)
{
	for (uint32_t i = 0; i < t->view->n_partials; i++) {
		const struct st_partial *p = &t->view->partials[i];
		uint32_t insns = p->insns & ~ST_PARTIAL_GOES_ON;
		if (p->block < t->view->n_blocks && p->times > 0 && insns > t->partial[p->block])
			t->partial[p->block] = insns;
	}
}

static void
take_blocks(struct taking *t, const struct st_view_counts *counts, uint64_t *raw)
{
	find_partials(t);
	for (uint32_t id = ST_FIRST_ID; id < t->view->n_blocks && !t->no_memory; id++) {
		const struct st_block *b = &t->view->blocks[id];
		uint64_t times = counts->executions[id];
		if (!st_view_is_block(t->view, id))
			continue;
		*raw += times * b->n_insns + counts->partial[id];
		if (times)
			take_block_covered_run(t, b, b->n_insns, times);
		else if (t->partial[id] && t->partial[id] <= b->n_insns)
			take_block_covered_run(t, b, t->partial[id], 1);
	}
}

static st_status
take_process(struct st_covered *c, struct st_lengths *lengths, const struct st_process *p,
             uint64_t *raw, struct st_error *e)
{
	struct st_view view;
	struct st_view_counts counts = {0};
	if (st_view_open(&view, p->results, p->results_size, e))
		return -1;
	struct taking t = {.covered = c,
	                   .lengths = lengths,
	                   .view = &view,
	                   .files = calloc(view.n_maps + 1, sizeof *t.files),
	                   .partial = calloc(view.n_blocks + 1, sizeof *t.partial)};
	t.no_memory = !lengths || !t.files || !t.partial || st_view_count(&view, &counts);
	if (!t.no_memory)
		take_blocks(&t, &counts, raw);
	for (uint32_t i = 0; t.files && i < view.n_maps; i++)
		st_image_close(t.files[i].image);
	free(t.files);
	free(t.partial);
	st_view_counts_free(&counts);
	return t.no_memory ? st_fail(e, ST_EXIT_FAILED, "out of memory") : 0;
}

st_status
st_covered_take_run(struct st_covered *c, const struct st_run *run, uint64_t *raw,
                    struct st_error *e)
{
	struct st_lengths *lengths = st_lengths_new();
	int status = 0;
	for (size_t i = 0; i < run->n_processes && !status; i++)
		status = take_process(c, lengths, &run->processes[i], raw, e);
	st_lengths_free(lengths);
	return status;
}
