/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coverage/covered.h"

#include "coverage/contextlog.h"
#include "symbol/symbol.h"

struct reading {
	struct st_covered *covered;
	struct st_covered_image *image;
	ST_VEC(struct numbered {
		int64_t number; /* in the log */
		size_t index;   /* here */
	})
	numbered;
	bool no_memory;
};

struct st_covered_image *
st_covered_image(struct st_covered *c, const char *build_id, const char *path)
{
	for (size_t i = 0; i < c->images.n; i++)
		if (!strcmp(c->images.v[i].build_id, build_id))
			return &c->images.v[i];
	struct st_covered_image *image = ST_PUSH(&c->images);
	if (!image)
		return NULL;
	image->build_id = strdup(build_id);
	image->path = strdup(path);
	return image->build_id && image->path ? image : NULL;
}

static void
take_image(void *arg, int64_t number, const char *build_id, const char *path)
{
	struct reading *r = arg;
	struct st_covered_image *image = st_covered_image(r->covered, build_id, path);
	struct numbered *slot = ST_PUSH(&r->numbered);
	if (slot && image)
		*slot = (struct numbered){number, (size_t)(image - r->covered->images.v)};
	else
		r->no_memory = true;
}

static void
take_block_covered(void *arg, const struct st_codelog_block *b)
{
	struct reading *r = arg;
	struct st_covered_block *block = ST_PUSH(&r->image->blocks);
	if (!block) {
		r->no_memory = true;
		return;
	}
	*block = (struct st_covered_block){b->offset, b->bytes, b->insns};
	uint64_t at = b->offset;
	for (uint32_t i = 0; i < b->insns; at += b->lengths[i++]) {
		struct st_covered_insn *insn = ST_PUSH(&r->image->insns);
		if (!insn) {
			r->no_memory = true;
			return;
		}
		*insn = (struct st_covered_insn){at, b->lengths[i], b->times};
	}
}

static void
take_run(void *arg, const struct st_codelog_run *run)
{
	struct reading *r = arg;
	r->covered->runs++;
	r->covered->unended += !run->ended;
	r->covered->refused += run->refused_instructions;
	r->covered->wrongly_refused += run->wrongly_refused;
}

static st_status
read_log(struct reading *r, struct st_codelog *log, struct st_error *e)
{
	uint64_t contexts;
	if (st_codelog_runs(log, take_run, r, e) || st_contextlog_count(log, &contexts, e))
		return -1;
	r->covered->contexts += contexts;
	if (st_codelog_images(log, take_image, r, e))
		return -1;
	for (size_t i = 0; i < r->numbered.n && !r->no_memory; i++) {
		r->image = &r->covered->images.v[r->numbered.v[i].index];
		if (st_codelog_blocks(log, r->numbered.v[i].number, 0, UINT64_MAX,
		                      take_block_covered, r, e))
			return -1;
	}
	return r->no_memory ? st_fail(e, ST_EXIT_FAILED, "out of memory") : 0;
}

st_status
st_covered_read(struct st_covered *c, const char *path, struct st_error *e)
{
	struct reading r = {.covered = c};
	struct st_codelog *log = st_codelog_open(path, false, e);
	if (!log)
		return -1;
	int status = read_log(&r, log, e);
	free(r.numbered.v);
	st_codelog_close(log);
	return status;
}

static int
insn_order(const void *a, const void *b)
{
	const struct st_covered_insn *x = a, *y = b;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int
block_order(const void *a, const void *b)
{
	const struct st_covered_block *x = a, *y = b;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static void
sort_image(struct st_covered_image *m)
{
	size_t n = 0;
	if (m->insns.n)
		qsort(m->insns.v, m->insns.n, sizeof *m->insns.v, insn_order);
	for (size_t i = 0; i < m->insns.n; i++) {
		if (n && m->insns.v[n - 1].offset == m->insns.v[i].offset)
			m->insns.v[n - 1].times += m->insns.v[i].times;
		else
			m->insns.v[n++] = m->insns.v[i];
	}
	m->insns.n = n;
	if (m->blocks.n)
		qsort(m->blocks.v, m->blocks.n, sizeof *m->blocks.v, block_order);
	n = 0;
	for (size_t i = 0; i < m->blocks.n; i++)
		if (!n || block_order(&m->blocks.v[n - 1], &m->blocks.v[i]))
			m->blocks.v[n++] = m->blocks.v[i];
	m->blocks.n = n;
}

void
st_covered_sort(struct st_covered *c)
{
	for (size_t i = 0; i < c->images.n; i++)
		sort_image(&c->images.v[i]);
}

void
st_covered_free(struct st_covered *c)
{
	for (size_t i = 0; i < c->images.n; i++) {
		struct st_covered_image *m = &c->images.v[i];
		free(m->build_id);
		free(m->path);
		free(m->insns.v);
		free(m->blocks.v);
	}
	free(c->images.v);
	*c = (struct st_covered){0};
}

const struct st_covered_image *
st_covered_find(const struct st_covered *c, const char *build_id)
{
	for (size_t i = 0; i < c->images.n; i++)
		if (!strcmp(c->images.v[i].build_id, build_id))
			return &c->images.v[i];
	return NULL;
}

/* Index of the first instruction at or behind the offset. */
static size_t
first_at(const struct st_covered_image *m, uint64_t offset)
{
	size_t low = 0, high = m->insns.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (m->insns.v[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct st_covered_insn *
st_covered_at(const struct st_covered_image *m, uint64_t offset)
{
	size_t i = m ? first_at(m, offset) : 0;
	return m && i < m->insns.n && m->insns.v[i].offset == offset ? &m->insns.v[i] : NULL;
}

uint32_t
st_covered_have(const struct st_covered_image *m, const struct st_covered_image *blocks_of,
                const struct st_covered_block *b)
{
	uint32_t have = 0;
	uint64_t at = b->offset;
	for (uint32_t i = 0; i < b->insns; i++) {
		const struct st_covered_insn *insn = st_covered_at(blocks_of, at);
		if (!insn)
			break;
		have += st_covered_at(m, at) != NULL;
		at += insn->length;
	}
	return have;
}

void
st_covered_add(struct st_covered_sum *sum, const struct st_covered_image *m,
               const struct st_covered_image *of)
{
	of = of ? of : m;
	for (size_t i = 0; i < of->insns.n; i++) {
		const struct st_covered_insn *insn = st_covered_at(m, of->insns.v[i].offset);
		if (!insn)
			continue;
		sum->instructions++;
		sum->bytes += insn->length;
		sum->raw += insn->times;
	}
	for (size_t i = 0; i < of->blocks.n; i++)
		sum->blocks += st_covered_have(m, of, &of->blocks.v[i]) == of->blocks.v[i].insns;
}

void
st_covered_by_function(struct st_covered_functions *f, const struct st_covered_image *all,
                       const struct st_covered_image *have)
{
	struct st_error e;
	const struct st_function *last = NULL;
	*f = (struct st_covered_functions){.image = st_image_open(all->path, &e)};
	if (!f->image || strcmp(st_image_build_id(f->image), all->build_id))
		return;
	for (size_t i = 0; i < all->insns.n; i++) {
		uint64_t offset = all->insns.v[i].offset;
		const struct st_function *in = st_image_function(f->image, offset);
		if (!f->list.n || in != last) {
			struct st_covered_function *new = ST_PUSH(&f->list);
			if (!new)
				return;
			new->name = in ? in->name : NULL;
			new->offset = in ? in->offset : offset;
			last = in;
		}
		struct st_covered_function *now = &f->list.v[f->list.n - 1];
		now->all++;
		now->have += st_covered_at(have, offset) != NULL;
	}
}

void
st_covered_functions_free(struct st_covered_functions *f)
{
	free(f->list.v);
	st_image_close(f->image);
	*f = (struct st_covered_functions){0};
}
