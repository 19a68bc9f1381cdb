/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the processes of a run have counted so far, read from their results while they run: of
 * places (functions, or basic blocks) and of contexts, the same ones of all threads and processes
 * together.
 *
 * Looking costs a pass over all nodes, and no more: a node is looked up once, when it is met first.
 * Contexts are bounded in number. Results are memory that the program may write over, so
 * nothing in them is believed: a number that leads nowhere counts nothing.
 */
#ifndef STROBE_LIVE_COUNTS_H
#define STROBE_LIVE_COUNTS_H

#include "base/hashmap.h"
#include "base/vec.h"
#include "collect/view.h"
#include "control/run.h"

/* The measured quantity beside activations; places and contexts with most of it are hot. */
enum st_live_worth { ST_LIVE_ACTIVATIONS, ST_LIVE_TIME, ST_LIVE_INSTRUCTIONS };

/* Activations, and ticks or instructions. */
enum { ST_LIVE_COUNT, ST_LIVE_WORTH, ST_LIVE_NUMBERS };

/* A place (owner: its image, at: the offset in that file, or an address) or a context (owner: the
 * context of its caller, at: its place). */
struct st_live_item {
	uint64_t at;
	uint32_t owner; /* ST_LIVE_NONE: there is none */
	uint64_t now[ST_LIVE_NUMBERS];
	uint64_t before[ST_LIVE_NUMBERS]; /* at the look before */
	uint64_t ended[ST_LIVE_NUMBERS];  /* of it, of processes that have ended */
};
#define ST_LIVE_NONE UINT32_MAX

struct st_live_items {
	ST_VEC(struct st_live_item) all;
	struct st_hashmap index; /* of all, by owner and at */
};

/* A file that code is of, or the generated code of a process. */
struct st_live_image {
	char *path; /* NULL: generated code */
	struct st_image *opened;
	bool tried; /* to open it */
};

struct st_live_process {
	uint32_t *contexts; /* by node: see counts.c */
	uint32_t *places;   /* by label; ST_LIVE_NONE: none */
	uint32_t *images;   /* by mapping */
	uint32_t n_nodes, n_labels, n_maps;
	uint32_t generated; /* the image of its generated code; ST_LIVE_NONE: there was none yet */
	bool over;          /* it has ended, and was looked at since */
};

/* A node between the one at hand and one that is known, and its place. */
struct st_live_step {
	uint32_t node, place;
};

struct st_live {
	enum st_live_worth worth;
	bool blocks; /* places are basic blocks */
	struct st_live_items places, contexts;
	ST_VEC(struct st_live_image) images;
	/* Opens a file for names, and keeps it; NULL: none can be read. */
	struct st_image *(*open)(void *arg, const char *path);
	void *open_arg;
	ST_VEC(char *) names; /* by place; NULL: not known yet */
	char *unknown;        /* the last one that is not */
	ST_VEC(struct st_live_process) processes;
	size_t n_running, n_threads;     /* at the last look */
	uint64_t now[ST_LIVE_NUMBERS];   /* of all */
	uint64_t since[ST_LIVE_NUMBERS]; /* the look before */
	uint32_t most_contexts;
	ST_VEC(struct st_live_step) way;
	uint32_t nothing;           /* what nodes are in this look that are nothing */
	struct st_live_item others; /* that came when there were so many */
};

enum { ST_LIVE_MOST_CONTEXTS = 2 << 20 };

void st_live_init(struct st_live *l, enum st_live_worth worth, bool blocks);
void st_live_free(struct st_live *l);
/* Reads what has been counted; the processes are those of the look before, and perhaps more. */
void st_live_look(struct st_live *l, const struct st_process *processes, size_t n);

/* The item, made when there is none; ST_LIVE_NONE: out of memory. */
uint32_t st_live_item(struct st_live_items *items, uint32_t owner, uint64_t at);
/* The increase since the previous update. */
static inline uint64_t
st_live_since(const struct st_live_item *i, unsigned number)
{
	return i->now[number] > i->before[number] ? i->now[number] - i->before[number] : 0;
}

/* What a place is called; valid up to the next call. Before a file that has not been read yet is
 * opened for it, *files is decremented; at 0 the place is named by its offset for now. */
const char *st_live_name(struct st_live *l, uint32_t place, unsigned *files);

/* The items with the most, at most n of them, the hottest first: since the look before, or of all
 * that was counted. Returns how many there are; those without any are left out. */
size_t st_live_hottest(const struct st_live *l, const struct st_live_items *items, bool of_all,
                       uint32_t *hottest, size_t n);

#endif
