/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/stacks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "collect/returns.h"
#include "control/run.h"
#include "symbol/unwind.h"

enum {
	MOST_FRAMES = 16384,
	MOST_NODES = 2 << 20, /* of the trees of all processes: about 60 MiB */
};

/* The images of the mappings, opened when a stack first leads there. */
struct module {
	bool sought;
	struct st_image *image; /* NULL: generated code, or a file that cannot be read */
};

struct path {
	char *name;
	struct st_image *image;
};

struct process {
	struct st_process_stacks seen;
	ST_VEC(struct module) modules; /* by mapping */
	struct st_hashmap index;       /* of frames */
	struct st_returns returns;
	uint32_t last_map;
};

struct st_stacks {
	ST_VEC(struct process *) processes;
	ST_VEC(struct path) paths;
	ST_VEC(uint32_t) stack; /* the one under way: numbers of frames */
	size_t n_nodes;         /* of all processes */
	bool out_of_memory;
};

/* A stack under way. */
struct walk {
	struct st_stacks *all;
	struct process *p;
	struct st_stack_copy copy;
	uint64_t registers[ST_DWARF_REGISTERS];
	uint32_t map;
	bool exact; /* pc is an instruction, not a return address */
};

struct st_stacks *
st_stacks_new(void)
{
	return calloc(1, sizeof(struct st_stacks));
}

void
st_stacks_free(struct st_stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->processes.n; i++) {
		struct process *p = s->processes.v[i];
		free(p->seen.frames.v);
		st_stack_tree_free(&p->seen.tree);
		free(p->modules.v);
		st_hashmap_free(&p->index);
		st_returns_free(&p->returns);
		free(p);
	}
	for (size_t i = 0; i < s->paths.n; i++) {
		st_image_close(s->paths.v[i].image);
		free(s->paths.v[i].name);
	}
	free(s->paths.v);
	free(s->stack.v);
	free(s->processes.v);
	free(s);
}

const struct st_process_stacks *
st_stacks_of(const struct st_stacks *s, const struct st_results_header *results)
{
	for (size_t i = 0; s && i < s->processes.n; i++)
		if (s->processes.v[i]->seen.results == results)
			return &s->processes.v[i]->seen;
	return NULL;
}

static struct process *
stacks_process_of(struct st_stacks *s, const struct st_results_header *results)
{
	for (size_t i = s->processes.n; i-- > 0;)
		if (s->processes.v[i]->seen.results == results)
			return s->processes.v[i];
	struct process *p = calloc(1, sizeof *p), **slot = p ? ST_PUSH(&s->processes) : NULL;
	if (!slot) {
		free(p);
		return NULL;
	}
	p->seen.results = results;
	*slot = p;
	return p;
}

void
st_stacks_moved(void *arg, const struct st_results_header *from, const struct st_results_header *to)
{
	const struct st_stacks *s = arg;
	for (size_t i = 0; i < s->processes.n; i++)
		if (s->processes.v[i]->seen.results == from)
			s->processes.v[i]->seen.results = to;
}

static bool
map_holds(const struct st_map *m, uint64_t pc)
{
	return pc >= m->start && pc < m->end && !(m->flags & ST_MAP_GONE);
}

/* The mapping that holds the address now; false: none. */
static bool
stacks_find_map(struct process *p, uint64_t pc, uint32_t *map)
{
	const struct st_map *maps = st_results_maps(p->seen.results);
	uint32_t n = p->seen.results->maps.n;
	n = n < ST_MAX_MAPS ? n : ST_MAX_MAPS;
	if (p->last_map < n && map_holds(&maps[p->last_map], pc)) {
		*map = p->last_map;
		return true;
	}
	while (n-- > 0)
		if (map_holds(&maps[n], pc)) {
			*map = p->last_map = n;
			return true;
		}
	return false;
}

static struct st_image *
stacks_open_path(struct st_stacks *s, const char *name)
{
	struct st_error e;
	for (size_t i = 0; i < s->paths.n; i++)
		if (!strcmp(s->paths.v[i].name, name))
			return s->paths.v[i].image;
	char *copy = strdup(name);
	struct path *path = copy ? ST_PUSH(&s->paths) : NULL;
	if (!path) {
		free(copy);
		return NULL;
	}
	path->name = copy;
	path->image = st_image_open(name, &e);
	return path->image;
}

static struct st_image *
stacks_image_of(struct walk *w)
{
	struct process *p = w->p;
	while (p->modules.n <= w->map)
		if (!ST_PUSH(&p->modules))
			return NULL;
	struct module *m = &p->modules.v[w->map];
	const struct st_map *map = &st_results_maps(p->seen.results)[w->map];
	if (!m->sought && map->path) {
		char path[PATH_MAX];
		m->image = stacks_open_path(w->all, st_results_copy_text(p->seen.results, map->path,
		                                                         path, sizeof path));
	}
	m->sought = true;
	return m->image;
}

/* The number of a frame, new or not; UINT32_MAX: no memory. */
static uint32_t
stacks_number_of(struct process *p, uint64_t pc, uint32_t map)
{
	const uint32_t hash = st_hash_number(pc ^ map);
	const struct st_frame *v = p->seen.frames.v;
	const uint32_t known =
	        ST_HASHMAP_FIND(&p->index, hash, i, v[i].pc == pc && v[i].map == map);
	if (known != ST_HASHMAP_NONE)
		return known;
	struct st_frame *f = ST_PUSH(&p->seen.frames);
	if (!f)
		return UINT32_MAX;
	*f = (struct st_frame){pc, map};
	const uint32_t new = (uint32_t)p->seen.frames.n - 1;
	return st_hashmap_add(&p->index, hash, new) ? UINT32_MAX : new;
}

/* Adds a place in w->map to the stack under way. */
static bool
add_place(struct walk *w, uint64_t pc)
{
	const uint32_t number = stacks_number_of(w->p, pc, w->map);
	uint32_t *place = number == UINT32_MAX ? NULL : ST_PUSH(&w->all->stack);
	if (place)
		*place = number;
	return place != NULL;
}

/* A caller by the frame pointer, or else the first word on the stack that some call of the program
 * has pushed as its return address: for code without unwind information. */
static bool
step_without_rules(struct walk *w)
{
	uint64_t *r = w->registers, back, outer;
	struct st_returns *returns = &w->p->returns;
	st_returns_update(returns, w->p->seen.results);
	if (r[ST_DWARF_RBP] >= r[ST_DWARF_RSP] &&
	    st_stack_read(&w->copy, r[ST_DWARF_RBP], &outer) &&
	    st_stack_read(&w->copy, r[ST_DWARF_RBP] + 8, &back) && st_returns_has(returns, back)) {
		r[ST_DWARF_RSP] = r[ST_DWARF_RBP] + 16;
		r[ST_DWARF_RBP] = outer;
		r[ST_DWARF_PC] = back;
		return true;
	}
	for (uint64_t at = r[ST_DWARF_RSP]; st_stack_read(&w->copy, at, &back); at += 8)
		if (st_returns_has(returns, back)) {
			r[ST_DWARF_RSP] = at + 8;
			r[ST_DWARF_PC] = back;
			return true;
		}
	return false;
}

/* The caller's registers by the unwind information, for the frame at pc. */
static enum st_unwind
step_by_rules(struct walk *w, uint64_t pc, bool *interrupted)
{
	struct st_image *image = stacks_image_of(w);
	const struct st_map *map = &st_results_maps(w->p->seen.results)[w->map];
	uint64_t offset =
	        image ? st_image_offset_of_file(image, pc - map->start + map->pgoff) : UINT64_MAX;
	*interrupted = false;
	if (offset == UINT64_MAX)
		return ST_UNWIND_UNKNOWN;
	return st_image_unwind(image, offset, w->registers, &w->copy, interrupted);
}

/* One frame outwards. *whole becomes true at the outermost one. */
static bool
stacks_step(struct walk *w, bool *whole)
{
	uint64_t rsp = w->registers[ST_DWARF_RSP], back = w->registers[ST_DWARF_PC];
	uint64_t pc = back - !w->exact;
	bool interrupted;
	enum st_unwind how = step_by_rules(w, pc, &interrupted);
	/* The trampoline to which the handler of a signal returns was never called. */
	if (!add_place(w, interrupted ? back : pc))
		return false;
	w->exact = interrupted;
	*whole = how == ST_UNWIND_OUTERMOST;
	if (how == ST_UNWIND_UNKNOWN)
		return step_without_rules(w);
	/* A signal's frame may lead to another stack, all others go up. */
	return how == ST_UNWIND_CALLER && (interrupted || w->registers[ST_DWARF_RSP] > rsp);
}

static bool
stacks_follow(struct walk *w)
{
	bool whole = false;
	for (unsigned n = 0; n < MOST_FRAMES; n++) {
		uint64_t pc = w->registers[ST_DWARF_PC];
		if (pc == 0)
			return true;
		if (!stacks_find_map(w->p, pc - !w->exact, &w->map) || !stacks_step(w, &whole))
			break;
	}
	return whole;
}

/* Frames were found from the innermost on. */
static void
stacks_turn_round(struct st_stacks *s)
{
	uint32_t *v = s->stack.v;
	for (size_t i = 0, j = s->stack.n; i + 1 < j; i++) {
		const uint32_t inner = v[i];
		v[i] = v[--j];
		v[j] = inner;
	}
}

/* Puts the stack under way into the tree of its process. */
static st_status
stacks_keep(struct st_stacks *s, struct process *p, struct st_stack_about about)
{
	struct st_stack_tree *t = &p->seen.tree;
	const size_t before = t->nodes.n, others = s->n_nodes - before;
	const size_t most = others < MOST_NODES ? MOST_NODES - others : 0;
	stacks_turn_round(s);
	const size_t n = st_stack_tree_condense(t, s->stack.v, s->stack.n);
	if (s->stack.n && !n)
		return ST_FAILED;
	about.whole = about.whole && n;
	const st_status status = st_stack_tree_add(t, &about, s->stack.v, n, most);
	s->n_nodes += t->nodes.n - before;
	return status;
}

void
st_stacks_take(void *arg, const struct st_results_header *results, const struct st_stack *s,
               const unsigned char *bytes)
{
	struct st_stacks *all = arg;
	struct walk w = {.all = all,
	                 .p = stacks_process_of(all, results),
	                 .copy = {bytes, s->rsp, s->bytes},
	                 .exact = true};
	if (!w.p) {
		all->out_of_memory = true;
		return;
	}
	all->stack.n = 0;
	w.registers[ST_DWARF_PC] = s->pc;
	w.registers[ST_DWARF_RSP] = s->rsp;
	w.registers[ST_DWARF_RBP] = s->rbp;
	w.registers[ST_DWARF_RBX] = s->rbx;
	w.registers[ST_DWARF_R12] = s->r12;
	w.registers[ST_DWARF_R13] = s->r13;
	w.registers[ST_DWARF_R14] = s->r14;
	w.registers[ST_DWARF_R15] = s->r15;
	const struct st_stack_about about = {.thread = s->thread,
	                                     .whole = stacks_follow(&w),
	                                     /* The program may have written over it. */
	                                     .kind = s->kind < ST_STACK_KIND_COUNT
	                                                     ? (enum st_stack_kind)s->kind
	                                                     : ST_STACK_OTHER,
	                                     .waited = s->waited};
	all->out_of_memory |= stacks_keep(all, w.p, about) != ST_OK;
}
