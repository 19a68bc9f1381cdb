/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The callers of an allocation, by the images' unwind information. Most of them are those of the
 * thread's last allocation: a caller that is at the same place in the stack, with the same frame
 * pointer, has the same callers when these are still in their places, which is looked up in the
 * stack itself. What remains is found by rules that are kept for each return address.
 */
#include <asm/unistd.h>

#include "rt/lib/sys.h"
#include "rt/probe/alloc.h"
#include "rt/unwind/cfi.h"

enum { STACK_PAGE = 4096, NEAR = 1 << 20, LONGEST_FRAME = 1 << 26 };

/* ---- memory that may not be there ---- */

struct vector {
	void *at;
	uint64_t bytes;
};

static const struct st_alloc_image *
image_with_frames_at(uint64_t address, size_t bytes)
{
	const struct st_alloc_area *a = probe_alloc_area();
	const uint32_t n = __atomic_load_n(&a->n_images, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < n; i++) {
		const struct st_alloc_image *image = &a->images[i];
		if (image->to && address >= image->low && address < image->high &&
		    image->high - address >= bytes)
			return image;
	}
	return NULL;
}

static bool
read_far(void *to, uint64_t from, size_t bytes)
{
	struct vector here = {to, bytes}, there = {(void *)from, bytes};
	return SYS(__NR_process_vm_readv, SYS(__NR_getpid), &here, 1, &there, 1, 0) == (long)bytes;
}

/* The reader of unwind information: cfi_read in this image. */
bool
probe_read_frames(void *to, uint64_t from, size_t bytes)
{
	if (from - probe_context.area >= probe_context.area_bytes &&
	    !image_with_frames_at(from, bytes))
		return read_far(to, from, bytes);
	memcpy(to, (const void *)from, bytes);
	return true;
}

/* Reads a word of the stack. A word that has been read once, and all between it and the stack
 * pointer, are mapped. */
static bool
read_stack(struct st_alloc_thread *own, uint64_t address, uint64_t *word)
{
	if (UNLIKELY(address & 7))
		return false;
	if (UNLIKELY(address < own->low || address >= own->high)) {
		if (!read_far(word, address, sizeof *word))
			return false;
		const uint64_t end = (address | (STACK_PAGE - 1)) + 1;
		if (address >= own->high && address - own->high < STACK_PAGE)
			own->high = end;
		return true;
	}
	*word = *(const uint64_t *)address;
	return true;
}

/* The stack pointer is on a stack: the one that was known, or another. */
static void
find_stack(struct st_alloc_thread *own, uint64_t sp)
{
	const uint64_t page = sp & ~(uint64_t)(STACK_PAGE - 1);
	if (LIKELY(sp >= own->low && sp < own->high))
		return;
	if (sp < own->low && own->low - sp < NEAR) {
		own->low = page;
		return;
	}
	own->low = page;
	own->high = page + STACK_PAGE;
	own->n = 0;
}

/* ---- rules ---- */

static struct st_alloc_image *
image_of_code(struct st_alloc_area *a, uint64_t pc)
{
	const uint32_t n = __atomic_load_n(&a->n_images, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < n; i++)
		if (pc - a->images[i].from < a->images[i].to - a->images[i].from)
			return &a->images[i];
	return NULL;
}

/* Static programs may have no table of their unwind information: one is made, once. When two
 * threads do so, one of the two is not used. */
SELDOM static bool
make_table_of(struct st_alloc_image *image)
{
	struct cfi_table table;
	if (image->lone == image->lone_end)
		return false;
	const uint32_t n = cfi_make(&table, image->lone, image->lone_end, NULL, 0);
	const uint32_t at = n ? probe_allocate((n * sizeof(struct cfi_entry) + 7) & ~7ull) : 0;
	if (at)
		cfi_make(&table, image->lone, image->lone_end, probe_at(at), n);
	image->table = at;
	__atomic_store_n(&image->n_table, at ? n + 1 : 1, __ATOMIC_RELEASE);
	return at != 0;
}

static bool
open_frames(struct st_alloc_image *image, struct cfi_table *table)
{
	if (image->frames) {
		cfi_open(table, image->frames);
		return true;
	}
	const uint32_t n = __atomic_load_n(&image->n_table, __ATOMIC_ACQUIRE);
	if (n ? !image->table : !make_table_of(image))
		return false;
	*table = (struct cfi_table){.header = image->lone,
	                            .entries = (uint64_t)probe_at(image->table),
	                            .n = image->n_table - 1};
	return true;
}

static bool
find_row(struct st_alloc_area *a, uint64_t pc, struct cfi_row *row)
{
	struct st_alloc_image *image = image_of_code(a, pc);
	struct cfi_table table;
	return image && open_frames(image, &table) && cfi_find(&table, pc, row);
}

static bool
fits_rule(int64_t n)
{
	return n == (int32_t)n;
}

/* Most rules are of one kind: everything is relative to the stack or the frame pointer. */
static void
shorten_rule(const struct cfi_row *row, struct st_alloc_rule *rule)
{
	const struct cfi_rule *cfa = &row->cfa, *bp = &row->rules[CFI_RBP],
	                      *pc = &row->rules[CFI_PC];
	const bool by_bp = cfa->reg == CFI_RBP, saves_bp = bp->how == CFI_AT_OFFSET;
	rule->how = ST_ALLOC_ODD;
	if (pc->how == CFI_UNDEFINED || pc->how == CFI_SAME) {
		rule->how = ST_ALLOC_OUTERMOST;
		return;
	}
	if (row->signal || cfa->how != CFI_OFFSET || (!by_bp && cfa->reg != CFI_RSP) ||
	    pc->how != CFI_AT_OFFSET || pc->number != (uint64_t)-8 ||
	    !fits_rule((int64_t)cfa->number) ||
	    (!saves_bp && bp->how != CFI_SAME && bp->how != CFI_UNDEFINED) ||
	    (saves_bp && (!fits_rule((int64_t)bp->number) || !bp->number)))
		return;
	rule->how = ST_ALLOC_SIMPLE;
	rule->by_bp = by_bp;
	rule->cfa = (int32_t)(int64_t)cfa->number;
	rule->bp = saves_bp ? (int32_t)(int64_t)bp->number : 0;
}

static const struct st_alloc_rule *
rule_of(struct st_alloc_area *a, struct st_alloc_thread *own, uint64_t pc)
{
	const uint64_t key = pc ^ (uint64_t)a->version << 48;
	struct st_alloc_rule *rule =
	        &own->rules[(key * 0x9e3779b97f4a7c15u >> 40) % ST_ALLOC_RULES];
	struct cfi_row row;
	if (LIKELY(rule->key == key))
		return rule;
	*rule = (struct st_alloc_rule){.key = key, .how = ST_ALLOC_LOST};
	if (find_row(a, pc - 1, &row))
		shorten_rule(&row, rule);
	return rule;
}

/* ---- steps ---- */

struct walk {
	struct st_alloc_area *a;
	struct st_alloc_thread *own;
	uint64_t sp, bp, pc;
	uint64_t bp_at; /* where bp was read; 0: it has not changed */
	bool is_exact;  /* pc is an instruction that a signal has interrupted */
	bool odd;       /* the step was of no simple rule */
};

static enum st_alloc_how
step_simply(struct walk *w, const struct st_alloc_rule *rule)
{
	const uint64_t cfa = (rule->by_bp ? w->bp : w->sp) + (uint64_t)(int64_t)rule->cfa;
	w->bp_at = rule->bp ? cfa + (uint64_t)(int64_t)rule->bp : 0;
	if (UNLIKELY(cfa - w->sp > LONGEST_FRAME || cfa == w->sp) ||
	    !read_stack(w->own, cfa - 8, &w->pc) ||
	    (w->bp_at && !read_stack(w->own, w->bp_at, &w->bp)))
		return ST_ALLOC_LOST;
	w->sp = cfa;
	return ST_ALLOC_SIMPLE;
}

SELDOM static enum st_alloc_how
step_oddly(struct walk *w)
{
	uint64_t registers[CFI_REGISTERS] = {
	        [CFI_RBP] = w->bp, [CFI_RSP] = w->sp, [CFI_PC] = w->pc};
	uint64_t cfa = 0;
	struct cfi_row row;
	if (!find_row(w->a, w->pc - !w->is_exact, &row))
		return ST_ALLOC_LOST;
	const enum cfi_step step = cfi_apply(&row, registers, &cfa);
	if (step != CFI_CALLER)
		return step == CFI_OUTERMOST ? ST_ALLOC_OUTERMOST : ST_ALLOC_LOST;
	w->is_exact = row.signal;
	w->bp = registers[CFI_RBP];
	w->sp = registers[CFI_RSP];
	w->pc = registers[CFI_PC];
	w->bp_at = 0;
	return ST_ALLOC_ODD;
}

/* From the code at w->pc to its caller. Where nothing is said of code, a frame pointer may lead on.
 */
static enum st_alloc_how
step_out(struct walk *w)
{
	static const struct st_alloc_rule by_frame_pointer = {.cfa = 16, .bp = -16, .by_bp = 1};
	if (UNLIKELY(w->is_exact))
		return step_oddly(w);
	const struct st_alloc_rule *rule = rule_of(w->a, w->own, w->pc);
	if (LIKELY(rule->how == ST_ALLOC_SIMPLE))
		return step_simply(w, rule);
	if (rule->how == ST_ALLOC_LOST && w->bp > w->sp && w->bp - w->sp < NEAR) {
		struct walk to = *w;
		if (step_simply(&to, &by_frame_pointer) == ST_ALLOC_SIMPLE &&
		    image_of_code(w->a, to.pc)) {
			*w = to;
			return ST_ALLOC_SIMPLE;
		}
	}
	return rule->how == ST_ALLOC_ODD ? step_oddly(w) : (enum st_alloc_how)rule->how;
}

/* ---- what is left of the last allocation's callers ---- */

/* Are the callers of the k-th frame where they were? The outermost is the first. */
static bool
still_there(const struct st_alloc_thread *own, uint32_t k)
{
	for (; k > 0; k--) {
		const struct st_alloc_frame *f = &own->frames[k], *caller = f - 1;
		if (f->is_odd || *(const uint64_t *)caller->slot != caller->pc ||
		    (f->bp_at && *(const uint64_t *)f->bp_at != caller->bp))
			return false;
	}
	return true;
}

/* Whether the walk has come to a caller that was there: own->n is then it and its callers. */
static bool
meets_last(struct st_alloc_thread *own, const struct walk *w, uint64_t slot)
{
	while (own->n && own->frames[own->n - 1].slot < slot)
		own->n--;
	if (!own->n)
		return false;
	const struct st_alloc_frame *f = &own->frames[own->n - 1];
	if (f->slot != slot || f->pc != w->pc || f->bp != w->bp)
		return false;
	if (still_there(own, own->n - 1))
		return true;
	own->n = 0;
	return false;
}

uint32_t
probe_stack_walk(struct st_alloc_area *a, struct st_alloc_thread *own, uint64_t slot, uint64_t bp,
                 bool *cut)
{
	struct walk w = {
	        .a = a, .own = own, .sp = slot + 8, .bp = bp, .pc = *(const uint64_t *)slot};
	uint32_t n = 0;
	find_stack(own, slot);
	for (;;) {
		slot = w.sp - 8;
		if (meets_last(own, &w, slot))
			return n;
		if (n == ST_ALLOC_DEPTH) {
			*cut = true;
			break;
		}
		struct st_alloc_frame *f = &own->fresh[n++];
		*f = (struct st_alloc_frame){.slot = slot, .pc = w.pc, .bp = w.bp};
		const enum st_alloc_how how = step_out(&w);
		f->bp_at = w.bp_at;
		f->is_odd = how != ST_ALLOC_SIMPLE;
		*cut = how == ST_ALLOC_LOST;
		if (how == ST_ALLOC_LOST || how == ST_ALLOC_OUTERMOST)
			break;
	}
	own->n = 0;
	return n;
}

/* ---- contexts ---- */

static uint32_t
node_below(struct st_alloc_area *a, uint32_t parent, uint64_t pc)
{
	const uint64_t hash = (pc ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u;
	uint32_t *bucket = &a->buckets[hash >> 46];
	for (uint32_t at = *bucket; at; at = a->nodes[at].next)
		if (LIKELY(a->nodes[at].pc == pc && a->nodes[at].parent == parent))
			return at;
	if (a->n_nodes >= ST_ALLOC_NODES)
		return 0;
	const uint32_t at = a->n_nodes;
	a->nodes[at] = (struct st_alloc_node){.pc = pc, .parent = parent, .next = *bucket};
	*bucket = at;
	__atomic_store_n(&a->n_nodes, at + 1, __ATOMIC_RELEASE);
	return at;
}

uint32_t
probe_stack_context(struct st_alloc_area *a, struct st_alloc_thread *own, uint32_t fresh, bool cut,
                    uint64_t start)
{
	uint32_t node = own->n ? own->frames[own->n - 1].node : cut ? ST_ALLOC_CUT : ST_ALLOC_ROOT;
	uint32_t kept = own->n;
	for (uint32_t i = fresh; i-- > 0;) {
		struct st_alloc_frame *f = &own->fresh[i];
		f->node = node = node_below(a, node, f->pc);
		if (!node) {
			own->n = 0;
			return 0;
		}
		if (kept < ST_ALLOC_DEPTH)
			own->frames[kept++] = *f;
		else
			cut = true;
	}
	/* Callers that are not all known are not relied on. */
	own->n = cut ? 0 : kept;
	node = node_below(a, node, start);
	if (!node)
		return 0;
	struct st_alloc_node *leaf = &a->nodes[node];
	if (!leaf->context && a->n_contexts < ST_ALLOC_CONTEXTS) {
		const uint32_t context = a->n_contexts;
		a->contexts[context].node = node;
		leaf->context = context;
		__atomic_store_n(&a->n_contexts, context + 1, __ATOMIC_RELEASE);
	}
	return leaf->context;
}
