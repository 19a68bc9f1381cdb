/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/sampled.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/hashmap.h"
#include "base/text.h"
#include "blow/corpus.h"
#include "blow/listed.h"
#include "blow/stacks.h"
#include "symbol/unwind.h"
#include "trace/choose.h"

enum { SAMPLED_FRAMES = 64, PAGE = 4096, PAGES = 8, MOST_STACKS = 64 << 20 };
/* The least share of the samples of a line or block that the user has not named. */
static const double least_share = 0.01;

/* ---- stacks ---- */

/* Finds the vDSO of the process, whose code is that of ours. */
static void
sampled_find_vdso(struct st_sampler *s)
{
	char path[64], line[512];
	struct st_error ignored;
	snprintf(path, sizeof path, "/proc/%d/maps", s->probes->process.pid);
	FILE *maps = fopen(path, "re");
	s->has_looked = true;
	while (maps && !s->vdso && fgets(line, sizeof line, maps))
		if (strstr(line, "[vdso]") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &s->vdso_from, &s->vdso_to) == 2)
			s->vdso = st_image_open("[vdso]", &ignored);
	if (maps)
		fclose(maps);
}

/* Goes to the caller. */
static bool
sampled_unwind(struct st_sampler *s, uint64_t pc, uint64_t registers[ST_DWARF_REGISTERS],
               const struct st_stack_copy *copy, bool *exact)
{
	const struct st_probed_image *image = st_blow_image_at(s->probes, pc);
	if (image)
		return st_image_unwind(image->image, pc - image->bias, registers, copy, exact) ==
		       ST_UNWIND_CALLER;
	if (!s->has_looked)
		sampled_find_vdso(s);
	return s->vdso && pc >= s->vdso_from && pc < s->vdso_to &&
	       st_image_unwind(s->vdso, pc - s->vdso_from, registers, copy, exact) ==
	               ST_UNWIND_CALLER;
}

/* Copies the top of the stack, as far as it is mapped. */
static struct st_stack_copy
sampled_stack(pid_t tid, uint64_t sp, unsigned char *bytes)
{
	const struct iovec here = {bytes, PAGES * PAGE - sp % PAGE};
	struct iovec there[PAGES];
	for (size_t i = 0; i < PAGES; i++) {
		const uint64_t at = i ? (sp / PAGE + i) * PAGE : sp;
		there[i] = (struct iovec){(void *)(uintptr_t)at, PAGE - at % PAGE};
	}
	const ssize_t n = process_vm_readv(tid, &here, 1, there, PAGES, 0);
	return (struct st_stack_copy){bytes, sp, n > 0 ? (size_t)n : 0};
}

/* The program counters of the stack: of callers, within their calls. Returns their number. */
static size_t
sampled_frames(struct st_sampler *s, pid_t tid, const struct user_regs_struct *regs,
               uint64_t pcs[SAMPLED_FRAMES])
{
	unsigned char bytes[PAGES * PAGE];
	const struct st_stack_copy copy = sampled_stack(tid, regs->rsp, bytes);
	uint64_t registers[ST_DWARF_REGISTERS] = {
	        [ST_DWARF_RBX] = regs->rbx, [ST_DWARF_RBP] = regs->rbp, [ST_DWARF_RSP] = regs->rsp,
	        [ST_DWARF_R12] = regs->r12, [ST_DWARF_R13] = regs->r13, [ST_DWARF_R14] = regs->r14,
	        [ST_DWARF_R15] = regs->r15, [ST_DWARF_PC] = regs->rip};
	bool exact = true;
	size_t n = 0;
	while (n < SAMPLED_FRAMES && registers[ST_DWARF_PC]) {
		const uint64_t pc = registers[ST_DWARF_PC] - !exact;
		pcs[n++] = pc;
		if (!sampled_unwind(s, pc, registers, &copy, &exact))
			break;
	}
	return n;
}

/* ---- a run ---- */

static st_status
sampled_push(struct st_sampler *s, uint64_t from, uint64_t to, uint32_t target)
{
	struct st_sampled_range *new = ST_PUSH(&s->ranges);
	if (new)
		*new = (struct st_sampled_range){from, to, target};
	return new ? ST_OK : ST_FAILED;
}

/* The code of the line in the function. */
static st_status
sampled_add_line(struct st_sampler *s, const struct st_blow_function *target, uint32_t index,
                 const struct st_probed_image *image)
{
	const struct st_function *f = st_image_function(image->image, target->offset);
	struct st_blow_locations l = {0};
	struct st_error ignored;
	struct st_line line;
	if (!f || st_blow_locations_add(&l, target->raw_name, &ignored) || l.list.v[0].caller) {
		st_blow_locations_free(&l);
		return ST_OK; /* the file has changed since */
	}
	st_status status = ST_OK;
	for (uint64_t at = f->offset, from = at; at < f->offset + f->size && !status; at++) {
		const bool fits = !st_image_line(image->image, at, &line) && line.file &&
		                  line.line == l.list.v[0].line &&
		                  st_file_fits(&l.list.v[0].file, line.file);
		if (fits && at + 1 < f->offset + f->size)
			continue;
		if (at + fits > from)
			status =
			        sampled_push(s, from + image->bias, at + fits + image->bias, index);
		from = at + 1;
	}
	st_blow_locations_free(&l);
	return status;
}

/* The block around an address, as link-time addresses; *to 0: the blocks of the function are not
 * known. -1: memory is exhausted. */
static st_status
block_around(const struct st_probed_image *image, uint64_t at, uint64_t *from, uint64_t *to)
{
	const struct st_function *f = st_image_function(image->image, at);
	struct st_probe_point_list points = {0};
	*from = *to = 0;
	if (!f || !image->planner)
		return ST_OK;
	const uint8_t refusal = st_probe_list_points(image->planner, f, &points);
	for (size_t i = 0; i < points.list.n && !*to; i++) {
		const struct st_probe_point *p = &points.list.v[i];
		if (p->kind == ST_POINT_BLOCK && p->at <= at)
			*from = p->at;
		else if (p->kind == ST_POINT_BLOCK)
			*to = p->at;
	}
	if (points.list.n && !*to)
		*to = f->offset + f->size;
	free(points.list.v);
	return refusal == ST_REFUSAL_MEMORY ? ST_FAILED : ST_OK;
}

static st_status
sampled_add_block(struct st_sampler *s, const struct st_blow_function *target, uint32_t index,
                  const struct st_probed_image *image)
{
	uint64_t from, to;
	if (block_around(image, target->offset, &from, &to))
		return ST_FAILED;
	return to ? sampled_push(s, from + image->bias, to + image->bias, index) : ST_OK;
}

st_status
st_sampler_add(struct st_sampler *s, const struct st_blow *b, const struct st_probed_image *image)
{
	st_status status = ST_OK;
	while (s->counts.n < b->functions.n) {
		struct st_sampled_count *count = ST_PUSH(&s->counts);
		if (!count)
			return ST_FAILED;
		*count = (struct st_sampled_count){0, 0};
	}
	for (uint32_t i = 0; i < b->functions.n && !status; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		if (!f->chosen || strcmp(f->image, image->path) != 0)
			continue;
		if (f->traits & ST_BLOW_IS_LINE)
			status = sampled_add_line(s, f, i, image);
		else if (f->traits & ST_BLOW_IS_BLOCK)
			status = sampled_add_block(s, f, i, image);
	}
	return status;
}

static bool
is_on_stack(const struct st_sampled_range *r, const uint64_t *pcs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pcs[i] >= r->from && pcs[i] < r->to)
			return true;
	return false;
}

/* Counts the sample for each target once, which may have several ranges, also equal ones if its
 * file was mapped again. */
static bool
sampled_count(struct st_sampler *s, const uint64_t *pcs, size_t n)
{
	bool within = false;
	for (size_t i = 0; i < s->ranges.n; i++) {
		const struct st_sampled_range *r = &s->ranges.v[i];
		struct st_sampled_count *count = &s->counts.v[r->target];
		if (count->last == s->samples || !is_on_stack(r, pcs, n))
			continue;
		count->last = s->samples;
		count->samples++;
		within |= r->target == s->asked;
	}
	return within;
}

static void
sampled_keep(struct st_sampler *s, const uint64_t *pcs, size_t n)
{
	if (s->stacks.n > MOST_STACKS / sizeof *pcs)
		return;
	for (size_t i = 0; i <= n && !s->no_memory; i++) {
		uint64_t *new = ST_PUSH(&s->stacks);
		if (new)
			*new = i < n ? pcs[i] : 0;
		s->no_memory |= !new;
	}
}

bool
st_sampler_look(struct st_sampler *s, pid_t tid, const struct user_regs_struct *regs)
{
	uint64_t pcs[SAMPLED_FRAMES];
	/* Images become more while probes are put into one, for which a thread waits. */
	if (pthread_mutex_trylock(&s->probes->installing))
		return false;
	const size_t n = sampled_frames(s, tid, regs, pcs);
	s->samples++;
	if (s->keeps)
		sampled_keep(s, pcs, n);
	const bool within = sampled_count(s, pcs, n);
	pthread_mutex_unlock(&s->probes->installing);
	return within;
}

st_status
st_sampler_end(const struct st_sampler *s, struct st_blow_run *run)
{
	for (uint32_t i = 0; i < s->counts.n; i++) {
		const uint64_t samples = s->counts.v[i].samples;
		if (!samples || (run->function != ST_BLOW_NONE && run->function != i))
			continue;
		struct st_blow_sample *new = ST_PUSH(&run->samples);
		if (!new)
			return ST_FAILED;
		const double share = (double)samples / (double)s->samples;
		*new = (struct st_blow_sample){.function = i,
		                               .calls = samples,
		                               .ns = (uint64_t)(share * (double)run->cpu_ns)};
	}
	return ST_OK;
}

void
st_sampler_free(struct st_sampler *s)
{
	free(s->ranges.v);
	free(s->counts.v);
	free(s->stacks.v);
	if (s->vdso)
		st_image_close(s->vdso);
	*s = (struct st_sampler){0};
}

/* ---- the selection ---- */

/* What the samples have found. */
struct sampled_found {
	const struct st_probed_image *image;
	uint64_t offset; /* of the function, or the block */
	uint32_t trait;
	const char *text;       /* of a line: the user's, or NULL, and then */
	struct st_line line;    /* this one */
	uint64_t samples, last; /* last: number of the sample that was counted last */
};
struct sampled_listing {
	const struct st_sampler *s;
	const struct st_blow_listing *l;
	ST_VEC(struct sampled_found) list;
	struct st_hashmap index;
	/* Blocks by the program counters for which they were looked up. */
	ST_VEC(uint64_t) pcs;
	ST_VEC(struct st_sampled_range) blocks;
	struct st_hashmap by_pc;
	uint64_t sample; /* number of the present one, from 1 */
};

static bool
is_found_place(const struct sampled_found *a, const struct sampled_found *b)
{
	return a->image == b->image && a->offset == b->offset && a->trait == b->trait &&
	       a->text == b->text && a->line.line == b->line.line &&
	       (a->line.file == b->line.file ||
	        (a->line.file && b->line.file && !strcmp(a->line.file, b->line.file)));
}

static st_status
found_count(struct sampled_listing *w, const struct sampled_found *place)
{
	const uint32_t hash = st_hash_number(place->offset ^ (uint64_t)place->line.line << 40 ^
	                                     (uint64_t)place->trait << 32);
	uint32_t i = ST_HASHMAP_FIND(&w->index, hash, at, is_found_place(&w->list.v[at], place));
	if (i == ST_HASHMAP_NONE) {
		struct sampled_found *new = ST_PUSH(&w->list);
		i = (uint32_t)w->list.n - 1;
		if (!new || st_hashmap_add(&w->index, hash, i))
			return ST_FAILED;
		*new = *place;
	}
	struct sampled_found *f = &w->list.v[i];
	f->samples += f->last != w->sample;
	f->last = w->sample;
	return ST_OK;
}

/* The lines that the user has named, and, if all are to be tried, the others. */
static st_status
found_line(struct sampled_listing *w, const struct st_probed_image *image,
           const struct st_function *f, uint64_t offset, bool wanted)
{
	const struct st_blow_how *how = w->l->how;
	struct sampled_found place = {image, f->offset, ST_BLOW_IS_LINE, NULL, {0}, 0, 0};
	struct st_line line;
	st_status status = ST_OK;
	if (st_image_line(image->image, offset, &line) || !line.file || !line.line)
		return ST_OK;
	for (size_t i = 0; how->lines && i < how->lines->list.n && !status; i++) {
		const struct st_blow_location *one = &how->lines->list.v[i];
		place.text = one->text;
		if (one->line == line.line && st_file_fits(&one->file, line.file))
			status = found_count(w, &place);
	}
	place.text = NULL;
	place.line = (struct st_line){.file = line.file, .line = line.line};
	return status || !wanted || !(how->sampled >> ST_BLOW_TARGET_LINE & 1)
	               ? status
	               : found_count(w, &place);
}

static st_status
found_block(struct sampled_listing *w, const struct st_probed_image *image, uint64_t offset)
{
	const uint64_t pc = offset + image->bias;
	struct sampled_found place = {image, 0, ST_BLOW_IS_BLOCK, NULL, {0}, 0, 0};
	const uint32_t hash = st_hash_number(pc);
	uint32_t i = ST_HASHMAP_FIND(&w->by_pc, hash, at, w->pcs.v[at] == pc);
	if (i == ST_HASHMAP_NONE) {
		uint64_t *new = ST_PUSH(&w->pcs);
		struct st_sampled_range *block = new ? ST_PUSH(&w->blocks) : NULL;
		i = (uint32_t)w->pcs.n - 1;
		if (!block || st_hashmap_add(&w->by_pc, hash, i))
			return ST_FAILED;
		*new = pc;
		*block = (struct st_sampled_range){0};
		if (block_around(image, offset, &block->from, &block->to))
			return ST_FAILED;
	}
	place.offset = w->blocks.v[i].from;
	return w->blocks.v[i].to ? found_count(w, &place) : ST_OK;
}

static st_status
found_frame(struct sampled_listing *w, uint64_t pc)
{
	const struct st_probed_image *image = st_blow_image_at(w->s->probes, pc);
	const uint64_t offset = image ? pc - image->bias : 0;
	const struct st_function *f = image ? st_image_function(image->image, offset) : NULL;
	if (!f)
		return ST_OK;
	const struct st_function *whole = st_image_function(image->image, f->whole);
	const bool wanted =
	        whole && st_trace_chosen(w->l->chooser, image->image, image->path, whole);
	st_status status = found_line(w, image, f, offset, wanted);
	if (!status && wanted && w->l->how->sampled >> ST_BLOW_TARGET_BLOCK & 1)
		status = found_block(w, image, offset);
	return status;
}

/* "file.c:12 in f"; "block at file.c:12 in f" */
static void
found_write(const struct sampled_found *place, FILE *out)
{
	const struct st_function *f = st_image_function(place->image->image, place->offset);
	const char *in = f ? f->name : "?";
	char name[1024], raw[PATH_MAX + 32];
	struct st_line line = place->line;
	if (place->trait == ST_BLOW_IS_BLOCK) {
		const uint64_t at = place->offset - (f ? f->offset : 0);
		snprintf(raw, sizeof raw, "block:%s+0x%" PRIx64, f ? f->raw_name : "?", at);
		if (!st_image_line(place->image->image, place->offset, &line) && line.file)
			snprintf(name, sizeof name, "block %s+0x%" PRIx64 " at %s:%u", in, at,
			         st_base_name(line.file), line.line);
		else
			snprintf(name, sizeof name, "block %s+0x%" PRIx64, in, at);
	} else if (place->text) {
		snprintf(raw, sizeof raw, "%s", place->text);
		snprintf(name, sizeof name, "%s in %s", place->text, in);
	} else {
		snprintf(raw, sizeof raw, "%s:%u", line.file, line.line);
		snprintf(name, sizeof name, "%s:%u in %s", st_base_name(line.file), line.line, in);
	}
	const struct st_blow_function entry = {.name = name,
	                                       .raw_name = raw,
	                                       .image = place->image->path,
	                                       .offset = place->offset,
	                                       .calls = place->samples,
	                                       .traits = place->trait};
	st_blow_write_function(&entry, out);
}

st_status
st_sampler_list(const struct st_sampler *s, const struct st_blow_listing *l, FILE *out)
{
	struct sampled_listing w = {.s = s, .l = l, .sample = 1};
	st_status status = s->no_memory ? ST_FAILED : ST_OK;
	for (size_t i = 0; i < s->stacks.n && !status; i++)
		if (s->stacks.v[i])
			status = found_frame(&w, s->stacks.v[i]);
		else
			w.sample++;
	for (size_t i = 0; i < w.list.n && !status; i++)
		if (w.list.v[i].text ||
		    (double)w.list.v[i].samples >= least_share * (double)(w.sample - 1))
			found_write(&w.list.v[i], out);
	free(w.list.v);
	free(w.pcs.v);
	free(w.blocks.v);
	st_hashmap_free(&w.index);
	st_hashmap_free(&w.by_pc);
	return status;
}
