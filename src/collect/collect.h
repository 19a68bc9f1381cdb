/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside the collection of a profile: what its stages hand to one another. First all processes are
 * read into raw blocks and samples that name places as (image, offset); then everything happens
 * image by image, in the order of offsets.
 */
#ifndef STROBE_COLLECT_COLLECT_H
#define STROBE_COLLECT_COLLECT_H

#include "base/status.h"
#include "collect/rows.h"
#include "collect/stacks.h"
#include "collect/view.h"
#include "profile/profile.h"
#include "symbol/perfmap.h"
#include "symbol/symbol.h"

/* A place that was on a stack, or is a value in a table: beside ST_SAMPLE_* in st_hit.where. */
enum { ST_HIT_FRAME = 16 };

/* Samples at one place, of one kind. */
struct st_hit {
	uint32_t image, where; /* where: ST_SAMPLE_* or ST_HIT_FRAME */
	uint64_t offset, count;
	uint32_t function; /* set by st_collect_functions */
};

/* Hits that follow one another and are of one function. */
struct st_stretch {
	uint64_t offset; /* of the first */
	uint32_t image, function;
};

/* A place on the stacks of one process, resolved. */
struct st_place {
	uint32_t image;
	uint64_t offset;
};

/* The stacks of one process, and the places that their frames are. */
struct st_collect_stacks {
	const struct st_process_stacks *stacks;
	struct st_place *places;
	uint32_t process;
	uint32_t first_thread, n_threads; /* of the profile's threads, those of the process */
};

/* Where the entries of one process end in the lists of all processes. */
struct st_collect_end {
	size_t blocks, hits;
	uint64_t samples_code, samples_kernel, samples_engine; /* of all processes up to this one */
};

/* The number of stacks of a process that the function is on; function UINT32_MAX: of all its
 * stacks. */
struct st_collect_total {
	uint32_t process, function;
	uint64_t stacks;
};

struct st_process;

void st_collect_qos(struct st_profile *p, const struct st_qos *q);

struct st_collect {
	struct st_profile *profile;
	const struct st_profile_origin *origin;
	ST_VEC(struct st_image *) opened; /* parallel to profile->images; NULL: cannot be read */
	ST_VEC(struct st_hit) hits;
	ST_VEC(struct st_stretch) stretches; /* in the order of places */
	ST_VEC(struct st_collect_stacks) stacks;
	/* With several processes: where each ends, copies of their blocks and hits before these are
	 * merged, and the totals of each, ordered by process. */
	ST_VEC(struct st_collect_end) ends;
	struct st_profile_block *unmerged_blocks;
	struct st_hit *unmerged_hits;
	ST_VEC(struct st_collect_total) totals;
	uint32_t
	        *sampled_labels; /* by function: 1 + its label for sampled stacks; NULL: none yet */
	ST_VEC(struct st_rows) rows;   /* parallel to profile->tables, while they are filled */
	struct st_shapes *shapes;      /* made when first needed */
	ST_VEC(const char *) interned; /* texts already in the profile */
	struct st_hashmap interned_index;
	ST_VEC(struct st_perf_map *) maps; /* parallel to them: names of generated code, or NULL */
	const struct st_run *run;
	const struct st_process *process; /* at hand */
	uint32_t anon;         /* its image ST_ANON_IMAGE; UINT32_MAX: none was needed yet */
	uint32_t nameless;     /* that of all processes without names for it, or UINT32_MAX */
	const char *last_path; /* most blocks are of the same image as the one before */
	uint32_t last_image;
};

/* A text of the profile equal to `text`, stored once. */
const char *st_collect_intern(struct st_collect *c, const char *text);

/* The image and offset of a program address in a mapping. 0, or -1 when memory is exhausted. */
st_status st_collect_place(struct st_collect *c, const struct st_view *v, uint32_t map,
                           uint64_t address, uint32_t *image, uint64_t *offset);

st_status st_collect_add_image(struct st_collect *c, const char *path, uint32_t *image);
/* Finds or makes the image of generated code of the process at hand: c->anon. 0, or -1. */
st_status st_collect_generated(struct st_collect *c);

/* Reads blocks and samples of a process. 0, or -1 when memory is exhausted. */
st_status st_collect_blocks(struct st_collect *c, const struct st_view *v,
                            const struct st_view_counts *counts);
st_status st_collect_samples(struct st_collect *c, const struct st_view *v);
/* Makes the places on the stacks of a process known, as hits; its threads begin at an index of the
 * profile's. 0, or -1 when memory is exhausted. */
st_status st_collect_frames(struct st_collect *c, const struct st_view *v,
                            const struct st_process_stacks *stacks, uint32_t process,
                            uint32_t first_thread);
/* Reads the tables of a process: of places, image and offset. 0, or -1. */
st_status st_collect_tables(struct st_collect *c, const struct st_view *v,
                            const struct st_view_totals *totals, double tsc_hz);
/* Makes the entries of the functions in the tables of all processes known, as hits. 0, or -1. */
st_status st_collect_entries(struct st_collect *c);
/* Completes them; functions and hits are complete. 0, or -1. */
st_status st_collect_finish_tables(struct st_collect *c);
/* Gives the call stacks of the tool alloc their functions and lines; the tables are complete. 0, or
 * -1 when memory is exhausted. */
st_status st_collect_alloc(struct st_collect *c);
/* Finds the stretches; functions and hits are complete. 0, or -1. */
st_status st_collect_stretches(struct st_collect *c);
/* The function of a place that is a hit; UINT32_MAX: none. */
uint32_t st_collect_function_at(const struct st_collect *c, uint32_t image, uint64_t offset);
/* Reads the contexts of a process, whose threads begin at an index of the profile's. 0, or -1 when
 * memory is exhausted. */
st_status st_collect_forest(struct st_collect *c, const struct st_view *v, uint32_t first_thread);
/* Cuts basic blocks where others begin; all processes have been read. 0, or -1. */
st_status st_collect_pieces(struct st_collect *c);
/* Gives their labels functions and lines; functions and hits are complete. */
void st_collect_finish_forest(struct st_collect *c);
/* Says which processes executed programs that were not measured, and why. */
void st_collect_note_executed(struct st_profile *p, const struct st_run *run);
/* Notes why fewer samples were taken than --hz asks for, if they were. */
void st_collect_note_rate(struct st_profile *p, const struct st_run *run);
/* Says how many contexts were pruned, if any were. */
void st_collect_note_pruned(struct st_profile *p);
/* Counts for each function the stacks that it is on; functions and hits are complete. 0, or -1. */
st_status st_collect_totals(struct st_collect *c);
/* Adds the table of what threads waited for, if that was recorded, and adds up their times. 0, or
 * -1 when memory is exhausted. */
st_status st_collect_waits(struct st_collect *c);
/* Says that a budget has kept waits from being counted. */
void st_collect_note_waits(struct st_profile *p);
/* Makes the sampled stacks of a process contexts of the profile, each of a function; `functions`:
 * of each frame, UINT32_MAX: none. 0, or -1 when memory is exhausted. */
st_status st_collect_sampled(struct st_collect *c, const struct st_collect_stacks *in,
                             const uint32_t *functions);
/* Orders blocks by place; merging makes one of the blocks that are equal in this order. */
int st_collect_block_order(const void *a, const void *b);
/* Orders blocks and hits by place and merges what is equal. */
void st_collect_merge(struct st_collect *c);
/* Notes where a process ends; copies all of them before they are merged; adds their shares to the
 * profile, when all else is complete. 0, or -1 when memory is exhausted. */
st_status st_collect_end_process(struct st_collect *c);
st_status st_collect_keep_processes(struct st_collect *c);
st_status st_collect_shares(struct st_collect *c);

/* Frees all but the profile. */
void st_collect_release(struct st_collect *c);

/* A range of the profile's arrays that belongs to one image. */
struct st_collect_range {
	uint32_t image;
	size_t block, block_end, hit, hit_end;
	/* Set by st_collect_functions: the image's functions; its blocks and hits, ordered by
	 * function, then offset, except that those outside functions may stand anywhere. */
	size_t function, function_end;
	const struct st_profile_block *blocks;
	size_t n_blocks;
	const struct st_hit *by_function;
	size_t n_hits;
	void *copies[2]; /* where that is not the order of offsets alone */
};

void st_collect_range_release(struct st_collect_range *r);

/* Orders blocks by function, then by offset and size. */
int st_collect_function_order(const void *a, const void *b);
/* The stages, for one image each. 0, or -1 when memory is exhausted. */
st_status st_collect_functions(struct st_collect *c, struct st_collect_range *r);
st_status st_collect_calls(struct st_collect *c, const struct st_collect_range *r);
/* The same for blocks of one image, in the order of st_collect_function_order: sets the calls of
 * `functions`, of which offset and size are set. */
st_status st_collect_count_calls(const struct st_profile_block *blocks, size_t n,
                                 struct st_profile_function *functions);
st_status st_collect_lines(struct st_collect *c, const struct st_collect_range *r);

/* Fills the description of the machine and the environment. */
void st_collect_machine(struct st_profile *p);

#endif
