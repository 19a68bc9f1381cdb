/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coverage/codelogger.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "collect/lengths.h"
#include "coverage/codeleaders.h"
#include "symbol/symbol.h"

/* A file may be replaced, or written over, between one process and the next. */
struct identity {
	uint64_t dev, ino, size;
	int64_t mtime, mtime_ns;
};

/* A file that code comes from. */
struct image {
	char *path;
	struct identity identity;
	struct st_image *image;        /* NULL: it cannot be read */
	int64_t id;                    /* in the log; 0: it is not there */
	bool made;                     /* the id is of the transaction under way */
	bool unread;                   /* the log could not be asked for it: it was locked */
	uint64_t first, bits;          /* of the section `seen`, for its bytes */
	uint64_t known_from, known_to; /* link-time addresses that all processes know of the log */
	bool has_code;                 /* the log has some of it */
	uint8_t *logged; /* a bit for each address of an instruction that the log has */
	uint64_t n_logged;
};

/* The state of a block. LOGGING: in the transaction under way. */
enum { UNKNOWN, EXECUTED, LOGGING, LOGGED };

/* The progress of the log of a process. */
struct progress {
	uint8_t *blocks; /* by id */
	uint32_t n;
};

struct st_codelogger {
	struct st_codelog *log;
	ST_VEC(struct image) images;
	ST_VEC(struct progress) progress; /* by process */
	struct st_error error;
	struct st_error failure; /* of the transaction under way; code 0: none */
	uint64_t blocks, instructions, generated;
	struct st_lengths *lengths;
	struct st_codeleaders *leaders;
	size_t last;                  /* index of the image that was found last */
	uint64_t n_bits;              /* that images have */
	uint64_t without_room;        /* images that have none */
	const struct st_known *known; /* to all processes; NULL: each has its own */
};

struct st_codelogger *
st_codelogger_new(struct st_codelog *log, const struct st_known *known)
{
	struct st_codelogger *l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	l->log = log;
	l->known = known;
	if (log)
		st_codelog_hurry(log, true);
	l->lengths = st_lengths_new();
	l->leaders = st_codeleaders_new();
	if (l->lengths && l->leaders)
		return l;
	st_codelogger_free(l);
	return NULL;
}

void
st_codelogger_free(struct st_codelogger *l)
{
	if (!l)
		return;
	st_codeleaders_free(l->leaders); /* before the images that it reads */
	for (size_t i = 0; i < l->images.n; i++) {
		free(l->images.v[i].path);
		free(l->images.v[i].logged);
		st_image_close(l->images.v[i].image);
	}
	for (size_t i = 0; i < l->progress.n; i++)
		free(l->progress.v[i].blocks);
	free(l->images.v);
	free(l->progress.v);
	st_lengths_free(l->lengths);
	free(l);
}

static struct st_known
known_of(const struct st_codelogger *l, struct st_results_header *h)
{
	if (l->known)
		return *l->known;
	return (struct st_known){-1, (uint8_t *)h + h->layout.off_coverage,
	                         (uint8_t *)h + h->layout.off_leaders};
}

/* The first failure is kept. */
static void
keep(struct st_codelogger *l, const struct st_error *e)
{
	if (!l->error.code)
		l->error = *e;
}

/* Whether a failure is that the log is locked; others are kept. */
static bool
is_locked(struct st_codelogger *l, const struct st_error *e)
{
	bool locked = st_codelog_was_busy(l->log);
	if (!locked)
		keep(l, e);
	return locked;
}

/* ---- images ---- */

/* Of the file that a process has just mapped; by what the process says if nobody else sees it. */
static struct identity
identity_of(const char *path, const struct st_map *map)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return (struct identity){.dev = map->dev, .ino = map->ino};
	return (struct identity){.dev = st.st_dev,
	                         .ino = st.st_ino,
	                         .size = (uint64_t)st.st_size,
	                         .mtime = st.st_mtim.tv_sec,
	                         .mtime_ns = st.st_mtim.tv_nsec};
}

static bool
is_same(const struct identity *a, const struct identity *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime == b->mtime &&
	       a->mtime_ns == b->mtime_ns;
}

/* The image whose bits the mapping has; NULL: it has none. Blocks of one image follow one another,
 * so the image that was found last is looked at first. */
static struct image *
find_image(struct st_codelogger *l, const struct st_map *map)
{
	for (size_t i = l->last, n = 0; map->coverage && n <= l->images.n; i = n++) {
		struct image *m = i < l->images.n ? &l->images.v[i] : NULL;
		if (!m || map->coverage - 1 - m->first >= m->bits)
			continue;
		l->last = i;
		return m;
	}
	return NULL;
}

/* Bits for the file's pages up to the end of its code. */
static void
give_bits(struct st_codelogger *l, struct image *m, uint64_t least)
{
	uint64_t end = st_image_code_end(m->image), room = 8ull * ST_COVERAGE_BYTES - l->n_bits;
	end = end > least ? end : least;
	m->first = l->n_bits;
	uint64_t pages = end <= room ? (end + 4095) & ~4095ull : UINT64_MAX;
	m->bits = pages <= room ? pages : 0;
	l->n_bits += m->bits;
	l->without_room += !m->bits;
}

static struct image *
add_image_codelogger(struct st_codelogger *l, const char *path, const struct identity *identity,
                     uint64_t least)
{
	struct st_error e;
	struct image *m = ST_PUSH(&l->images);
	if (!m)
		return NULL;
	*m = (struct image){.path = strdup(path), .identity = *identity};
	if (!m->path) {
		l->images.n--;
		return NULL;
	}
	m->image = st_image_open(path, &e);
	if (m->image)
		give_bits(l, m, least);
	if (m->image && l->log &&
	    (m->id = st_codelog_find(l->log, st_image_build_id(m->image), &e)) < 0) {
		m->unread = is_locked(l, &e);
		m->id = 0;
	}
	return m;
}

/* Of a mapping that has no bits yet. */
static struct image *
codelogger_image_of(struct st_codelogger *l, const char *path, const struct st_map *map,
                    uint64_t least)
{
	struct identity identity = identity_of(path, map);
	for (size_t i = l->images.n; i-- > 0;)
		if (is_same(&l->images.v[i].identity, &identity) &&
		    !strcmp(l->images.v[i].path, path))
			return &l->images.v[i];
	return add_image_codelogger(l, path, &identity, least);
}

/* Has the process another mapping with bits of the image? */
static bool
has_bits_of(const struct st_results_header *h, uint32_t n_maps, const struct image *m)
{
	const struct st_map *maps = st_results_maps(h);
	for (uint32_t i = n_maps < ST_MAX_MAPS ? n_maps : ST_MAX_MAPS; i-- > 0;)
		if (maps[i].coverage && maps[i].coverage - 1 - m->first < m->bits)
			return true;
	return false;
}

/* Code of the log that is in a mapping. */
struct knowing {
	struct image *image;
	uint8_t *bits;
	uint64_t first; /* bit of link-time address 0 */
	uint64_t end;
};

static void
know(void *arg, const struct st_codelog_block *b)
{
	const struct knowing *k = arg;
	uint64_t at = b->offset;
	k->image->has_code = true;
	for (uint32_t i = 0; i < b->insns && at < k->end; at += b->lengths[i++]) {
		uint64_t bit = k->first + at;
		if (bit / 8 >= ST_COVERAGE_BYTES)
			return;
		__atomic_fetch_or(&k->bits[bit / 8], (uint8_t)(1u << bit % 8), __ATOMIC_RELAXED);
	}
}

/* A block that begins before the mapping has instructions in it only when it is longer than any. */
static void
know_mapping(struct st_codelogger *l, struct image *m, struct st_results_header *h,
             const struct st_map *map)
{
	uint64_t linked = st_image_offset_of_file(m->image, map->pgoff);
	struct knowing k = {.image = m,
	                    .bits = known_of(l, h).seen,
	                    .first = m->first + map->pgoff - linked,
	                    .end = linked + (map->end - map->start)};
	struct st_error e;
	bool known = l->known && m->known_from <= linked && m->known_to >= k.end;
	if (m->id && !known) {
		bool failed = st_codelog_blocks(l->log, m->id, linked, k.end, know, &k, &e);
		m->unread |= failed && is_locked(l, &e);
		m->known_from = linked;
		m->known_to = failed ? 0 : k.end;
	}
	h->control.log_has_code |= m->has_code;
}

void
st_codelogger_image(struct st_codelogger *l, struct st_results_header *h, uint32_t index)
{
	struct st_map copy, *map = &copy;
	char path[PATH_MAX];
	uint64_t behind;
	if (!st_results_copy_map(h, index, map) || !map->path || map->coverage ||
	    !*st_results_copy_text(h, map->path, path, sizeof path) ||
	    __builtin_add_overflow(map->pgoff, map->end - map->start, &behind))
		return;
	struct image *m = codelogger_image_of(l, path, map, behind);
	if (!m || !m->image || behind > m->bits ||
	    st_image_offset_of_file(m->image, map->pgoff) == UINT64_MAX)
		return;
	know_mapping(l, m, h, map);
	h->control.coverage_bits += has_bits_of(h, index, m) ? 0 : m->bits;
	__atomic_store_n(&((struct st_map *)st_results_maps(h))[index].coverage,
	                 m->first + map->pgoff + 1, __ATOMIC_RELEASE);
}

void
st_codelogger_leaders(struct st_codelogger *l, struct st_results_header *h)
{
	struct st_known known = known_of(l, h);
	uint32_t n = __atomic_load_n(&h->maps.n, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < n && i < ST_MAX_MAPS; i++) {
		struct st_map map;
		struct image *m = st_results_copy_map(h, i, &map) ? find_image(l, &map) : NULL;
		if (m && m->image)
			st_codeleaders_tell(l->leaders, h, i, m->image, &known);
	}
}

/* ---- blocks ---- */

/* Where a block is. NULL: in no file. */
static struct image *
place_of(struct st_codelogger *l, const struct st_results_header *h, const struct st_block *b,
         uint64_t *offset)
{
	struct st_map copy, *map = &copy;
	if (!st_results_copy_map(h, b->map, map) || !map->coverage || b->pc < map->start ||
	    b->pc >= map->end)
		return NULL;
	struct image *m = find_image(l, map);
	if (!m || !m->image)
		return NULL;
	*offset = st_image_offset_of_file(m->image, map->pgoff) + (b->pc - map->start);
	return m;
}

/* Finds the lengths of the first `insns` instructions. False: they are not there. */
static bool
decode(struct st_codelogger *l, const struct image *m, uint32_t bytes, uint32_t insns,
       struct st_codelog_block *out)
{
	out->lengths = st_lengths_of(l->lengths, m->image, out->offset, bytes, insns, &out->bytes);
	out->insns = out->lengths ? insns : 0;
	return out->lengths != NULL;
}

static bool
sane(const struct st_block *b)
{
	return b->bytes && b->bytes <= ST_LENGTHS_MOST && b->n_insns <= b->bytes;
}

/* Of an execution that ended early: how many instructions came to their end, at the most. */
static uint32_t
most_partial(const struct st_results_header *h, uint32_t id)
{
	const struct st_partial *p = st_section(h, h->layout.off_partials);
	uint32_t n = h->blocks.n_partials < ST_MAX_PARTIALS ? h->blocks.n_partials
	                                                    : ST_MAX_PARTIALS,
	         most = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t insns = p[i].insns & ~ST_PARTIAL_GOES_ON;
		if (p[i].block == id && p[i].times > 0 && insns > most)
			most = insns;
	}
	return most;
}

/* The image's number in the log, made if need be. 0: there is none. */
static int64_t
codelogger_number_of(struct st_codelogger *l, struct image *m)
{
	if (l->failure.code)
		return 0;
	if (m->id)
		return m->id;
	int64_t id = st_codelog_image(l->log, st_image_build_id(m->image), m->path, &l->failure);
	if (id < 0)
		return 0;
	m->made = true;
	return m->id = id;
}

/* Logs a block that was measured; last: what was executed of it now is all. False: not yet. */
static bool
log_block(struct st_codelogger *l, const struct st_results_header *h, uint32_t id, bool last)
{
	const struct st_block copy = st_results_blocks(h)[id], *b = &copy;
	struct st_codelog_block out = {0};
	uint64_t times = st_results_executions(h, id);
	uint32_t insns = b->n_insns;
	if (!times) {
		if (!last)
			return false;
		insns = most_partial(h, id);
		times = 1;
	}
	struct image *m = sane(b) && insns <= b->n_insns ? place_of(l, h, b, &out.offset) : NULL;
	if (!m) {
		l->generated += last && sane(b);
		return true;
	}
	if (!decode(l, m, b->bytes, insns, &out) || !codelogger_number_of(l, m))
		return true;
	out.times = times;
	st_codelog_add(l->log, m->id, &out);
	l->blocks++;
	l->instructions += insns;
	return true;
}

static struct progress *
progress_of(struct st_codelogger *l, size_t process, uint32_t blocks)
{
	while (l->progress.n <= process)
		if (!ST_PUSH(&l->progress))
			return NULL;
	struct progress *p = &l->progress.v[process];
	if (blocks > p->n) {
		uint8_t *more = realloc(p->blocks, blocks);
		if (!more)
			return NULL;
		memset(more + p->n, UNKNOWN, blocks - p->n);
		p->blocks = more;
		p->n = blocks;
	}
	return p;
}

/* While the program runs, a block is logged when it was seen to be under way a second ago: by now
 * it is over. */
static void
log_process(struct st_codelogger *l, size_t process, const struct st_results_header *h, bool last)
{
	uint32_t n = h->blocks.n < ST_MAX_BLOCKS ? h->blocks.n : ST_MAX_BLOCKS;
	struct progress *p = progress_of(l, process, n);
	for (uint32_t id = ST_FIRST_ID; p && id < n; id++) {
		if (p->blocks[id] >= LOGGING || !(st_results_blocks(h)[id].flags & ST_BLOCK_SEEN))
			continue;
		if (!last && p->blocks[id] == UNKNOWN)
			p->blocks[id] = EXECUTED;
		else if (log_block(l, h, id, last))
			p->blocks[id] = LOGGING;
	}
}

/* The transaction is over: what was under way is in the log, or has to be logged yet. */
static void
settle_codelogger(struct st_codelogger *l, bool logged)
{
	for (size_t i = 0; i < l->progress.n; i++)
		for (uint32_t id = 0; id < l->progress.v[i].n; id++)
			if (l->progress.v[i].blocks[id] == LOGGING)
				l->progress.v[i].blocks[id] = logged ? LOGGED : EXECUTED;
	for (size_t i = 0; i < l->images.n; i++) {
		if (l->images.v[i].made && !logged)
			l->images.v[i].id = 0;
		l->images.v[i].made = false;
	}
}

static void
log_all(struct st_codelogger *l, const struct st_process *processes, size_t n, bool last)
{
	struct st_error e;
	if (!l->log || l->error.code)
		return;
	if (st_codelog_begin_blocks(l->log, &e)) {
		if (!is_locked(l, &e) || last)
			keep(l, &e);
		return;
	}
	uint64_t blocks = l->blocks, instructions = l->instructions;
	l->failure.code = 0;
	for (size_t i = 0; i < n; i++)
		log_process(l, i, processes[i].results, last);
	if (l->failure.code)
		st_codelog_undo_blocks(l->log);
	bool logged = !l->failure.code && !st_codelog_commit_blocks(l->log, &l->failure);
	settle_codelogger(l, logged);
	if (logged)
		return;
	l->blocks = blocks;
	l->instructions = instructions;
	if (!is_locked(l, &l->failure) || last)
		keep(l, &l->failure);
}

void
st_codelogger_flush(struct st_codelogger *l, const struct st_process *processes, size_t n)
{
	log_all(l, processes, n, false);
}

/* ---- the end ---- */

static void
collect(void *arg, const struct st_codelog_block *b)
{
	struct image *m = arg;
	uint64_t at = b->offset;
	for (uint32_t i = 0; i < b->insns; at += b->lengths[i++])
		if (at < m->n_logged)
			m->logged[at / 8] |= (uint8_t)(1u << at % 8);
}

/* Finds out where the log has instructions of the image. False: it has none, or cannot be read. */
static bool
has_logged(struct st_codelogger *l, struct image *m)
{
	struct st_error e;
	if (m->logged || !m->id)
		return m->logged;
	/* Link-time addresses of images that are not position-independent begin above 0. */
	m->n_logged = m->bits + (64 << 20);
	m->logged = calloc(1, m->n_logged / 8 + 1);
	if (m->logged && st_codelog_blocks(l->log, m->id, 0, m->n_logged, collect, m, &e))
		keep(l, &e);
	return m->logged;
}

/* Counts the blocks that were not measured because of the log, and what of them the log does not
 * have. */
static void
check_refused(struct st_codelogger *l, const struct st_results_header *h,
              struct st_codelog_run *run)
{
	const struct st_block *blocks = st_results_blocks(h);
	uint32_t n = h->blocks.n < ST_MAX_BLOCKS ? h->blocks.n : ST_MAX_BLOCKS;
	for (uint32_t id = ST_FIRST_ID; id < n; id++) {
		const struct st_block copy = blocks[id], *b = &copy;
		struct st_codelog_block out = {0};
		if ((b->flags & (ST_BLOCK_SEEN | ST_BLOCK_REFUSED)) != ST_BLOCK_REFUSED || !sane(b))
			continue;
		struct image *m = place_of(l, h, b, &out.offset);
		if (!m || !has_logged(l, m))
			continue;
		run->refused++;
		run->refused_instructions += b->n_insns;
		if (!decode(l, m, b->bytes, b->n_insns, &out))
			continue;
		uint64_t at = out.offset;
		for (uint32_t i = 0; i < out.insns; at += out.lengths[i++])
			if (at >= m->n_logged || !(m->logged[at / 8] >> at % 8 & 1))
				run->wrongly_refused++;
	}
}

void
st_codelogger_finish(struct st_codelogger *l, const struct st_run *r,
                     struct st_codelogger_result *result)
{
	*result = (struct st_codelogger_result){0};
	if (l->log)
		st_codelog_hurry(l->log, false);
	log_all(l, r->processes, r->n_processes, true);
	struct st_codelog_run *run = &result->run;
	run->ended = true;
	run->cpu_ns = (int64_t)((r->cpu_user + r->cpu_system) * 1e9);
	run->blocks = l->blocks;
	run->instructions = l->instructions;
	if (r->n_processes) {
		run->first_ns = r->processes[0].results->plan.budget.first_ns;
		run->until_ns = r->processes[0].results->budget.until_ns;
	}
	for (size_t i = 0; l->log && i < r->n_processes; i++)
		check_refused(l, r->processes[i].results, run);
	struct st_error e;
	if (l->log && !l->error.code && st_codelog_end(l->log, run, &e))
		keep(l, &e);
	result->generated = l->generated;
	for (size_t i = 0; i < l->images.n; i++)
		result->unread += l->images.v[i].unread;
	result->without_room = l->without_room;
	result->error = l->error;
}
