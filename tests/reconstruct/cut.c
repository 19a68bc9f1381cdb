/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cut FILE.rows WINDOW GAP SEED [returning]: cuts a complete path into windows and gaps of so many
 * blocks on average, has what is certain of the gaps worked out from the windows alone, and
 * compares it with what was cut out. Prints how much of that was found; ends with 1 when anything
 * of it is not true.
 */
#include <stdio.h>

#include "reconstruct/read.h"
#include "symbol/unwind.h"

struct thread {
	ST_VEC(struct st_path_row) rows;
	ST_VEC(size_t) edges; /* of what was cut out: first row, row behind the last */
};

struct cut {
	struct st_row_reader *reader;
	struct st_walk walk;
	ST_VEC(struct thread) threads; /* as in the walk */
	unsigned long window, gap;
	uint64_t random;
	ST_VEC(uint32_t) stamps; /* for each place: the gap in which it was seen last */
	ST_VEC(uint32_t) seen;   /* places that were passed in the gap at hand */
	uint32_t number;         /* of that */
	size_t gaps, with_facts, between, entered, left, exact, stayed, wrong;
	size_t spans, passed, known; /* known: of the places that were passed */
};

_Noreturn static void
die(const char *why)
{
	fprintf(stderr, "cut: %s\n", why);
	exit(2);
}

static unsigned long
length(struct cut *c, unsigned long mean)
{
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return 1 + (unsigned long)(c->random >> 33) % (2 * mean - 1);
}

/* ---- reading and cutting ---- */

static void
read_rows(struct cut *c)
{
	struct st_path_row row;
	struct st_error e;
	int more;
	if (st_path_check(c->reader, &e))
		die(e.text);
	while ((more = st_path_next(c->reader, &row, &e)) > 0) {
		uint32_t t = st_walk_thread(&c->walk, row.process, row.pid, row.tid);
		while (t != UINT32_MAX && c->threads.n <= t)
			if (!ST_PUSH(&c->threads))
				die("no memory");
		struct st_path_row *at = t != UINT32_MAX ? ST_PUSH(&c->threads.v[t].rows) : NULL;
		if (!at)
			die("no memory");
		if (row.event == ST_PATH_GAP)
			die("the path is not complete");
		*at = row;
	}
	if (more < 0)
		die(e.text);
}

static bool
is_block(const struct thread *t, size_t row)
{
	return row < t->rows.n && t->rows.v[row].event == ST_PATH_BLOCK;
}

static void
push_edge(struct thread *t, size_t at)
{
	size_t *edge = ST_PUSH(&t->edges);
	if (!edge)
		die("no memory");
	*edge = at;
}

static void
walk_thread(struct cut *c, struct thread *t)
{
	struct st_error e;
	for (size_t at = 0; at < t->rows.n;) {
		size_t end = at + length(c, c->window);
		/* Both ends of a gap are blocks. */
		for (; (at < end || !is_block(t, at - 1)) && at < t->rows.n; at++)
			if (st_path_take(&c->walk, c->reader, &t->rows.v[at], &e))
				die(e.text);
		struct st_path_row gap = t->rows.v[at - 1];
		gap.event = ST_PATH_GAP;
		if (st_path_take(&c->walk, c->reader, &gap, &e))
			die(e.text);
		push_edge(t, at);
		for (end = at + length(c, c->gap); at < t->rows.n; at++)
			if (at >= end && is_block(t, at))
				break;
		push_edge(t, at);
	}
}

/* ---- comparing ---- */

static const struct st_place *
place_of(struct cut *c, const struct st_path_row *row, uint32_t *index)
{
	*index = st_code_place(&c->walk.code, row->image, row->offset);
	if (*index == UINT32_MAX)
		die("no memory");
	return &c->walk.code.places.v[*index];
}

static void
look_at(struct cut *c, const struct thread *t, size_t from, size_t to)
{
	c->number++;
	c->seen.n = 0;
	for (size_t i = from; i < to; i++) {
		uint32_t index;
		if (!is_block(t, i))
			continue;
		place_of(c, &t->rows.v[i], &index);
		while (c->stamps.n <= index)
			if (!ST_PUSH(&c->stamps))
				die("no memory");
		uint32_t *seen = c->stamps.v[index] == c->number ? NULL : ST_PUSH(&c->seen);
		c->stamps.v[index] = c->number;
		if (seen)
			*seen = index;
	}
}

static bool
holds(const struct st_place *p, uint32_t image, uint64_t address)
{
	return p->image == image && address >= p->piece.start && address < p->piece.end;
}

static bool
was_passed(const struct cut *c, uint32_t image, uint64_t address)
{
	for (size_t i = 0; i < c->seen.n; i++)
		if (holds(&c->walk.code.places.v[c->seen.v[i]], image, address))
			return true;
	return false;
}

static void
complain(struct cut *c, const struct thread *t, size_t from, const struct st_fact *f,
         uint64_t address, const char *what)
{
	static const char *const kinds[] = {"between", "entered", "left"};
	if (c->wrong++ < 10)
		fprintf(stderr, "%s %s: %s at 0x%llx, behind row %zu (0x%llx), before 0x%llx\n",
		        kinds[f->kind], f->function->name, what, (unsigned long long)address, from,
		        (unsigned long long)t->rows.v[from - 1].offset,
		        (unsigned long long)t->rows.v[from].offset);
}

/* Stretches of code, joined where one goes on straight behind the other. */
struct stretches {
	ST_VEC(struct st_span_of_code) v;
};

static void
add_stretch(struct stretches *s, uint64_t start, uint64_t end)
{
	struct st_span_of_code *last = s->v.n ? &s->v.v[s->v.n - 1] : NULL;
	if (last && start > last->start && start <= last->end) {
		last->end = end;
		return;
	}
	last = ST_PUSH(&s->v);
	if (!last)
		die("no memory");
	*last = (struct st_span_of_code){start, end};
}

/* The slot of the activation that is there when the gap ends; false: it is not known. */
static bool
slot_after(const struct cut *c, const struct st_gap *g, uint64_t *slot)
{
	const struct st_place *p = &c->walk.code.places.v[g->to.place];
	struct st_image *image = st_code_image(&c->walk.code, p->image);
	return image && st_image_frame(image, p->offset, g->to.sp, g->to.bp, slot);
}

static bool
is_of_activation(struct cut *c, const struct st_path_row *r, const struct st_fact *f, uint64_t slot)
{
	uint32_t index;
	uint64_t other;
	const struct st_place *p = place_of(c, r, &index);
	struct st_image *image = st_code_image(&c->walk.code, f->image);
	return r->event == ST_PATH_BLOCK && p->image == f->image &&
	       st_code_is_same(st_code_function(image, p->offset), f->function) &&
	       st_image_frame(image, p->offset, r->sp, r->bp, &other) && other == slot;
}

/* Whether the activation passed these stretches from a row on, and nothing else. */
static bool
is_whole_way(struct cut *c, const struct thread *t, size_t from, size_t to, const struct st_fact *f,
             const st_spans_of_code *spans, uint64_t slot)
{
	struct stretches ran = {{0}}, told = {{0}};
	uint32_t index;
	for (size_t i = from; i < to; i++)
		if (is_of_activation(c, &t->rows.v[i], f, slot)) {
			const struct st_place *p = place_of(c, &t->rows.v[i], &index);
			add_stretch(&ran, p->piece.start, p->piece.end);
		}
	for (size_t i = 0; i < spans->n; i++)
		add_stretch(&told, spans->v[i].start, spans->v[i].end);
	bool same = ran.v.n == told.v.n;
	for (size_t i = 0; same && i < ran.v.n; i++)
		same = ran.v.v[i].start == told.v.v[i].start && ran.v.v[i].end == told.v.v[i].end;
	free(ran.v.v);
	free(told.v.v);
	return same;
}

/* The row from which on the stack has never been without the slot. */
static size_t
active_since(const struct thread *t, size_t from, size_t to, uint64_t slot)
{
	size_t at = to;
	while (at > from && (!is_block(t, at - 1) || t->rows.v[at - 1].sp <= slot))
		at--;
	return at;
}

/* What was told of the function if it was not left: only when that is so. */
static void
compare_stayed(struct cut *c, const struct thread *t, size_t from, size_t to,
               const struct st_gap *g, const struct st_fact *f)
{
	uint64_t slot;
	if (f->kind != ST_FACT_BETWEEN || f != g->facts.v || !slot_after(c, g, &slot) ||
	    !is_of_activation(c, &t->rows.v[to], f, slot) || active_since(t, from, to, slot) > from)
		return;
	for (size_t i = from; i < to; i++) { /* a tail call, and another call of it */
		uint32_t index;
		if (is_of_activation(c, &t->rows.v[i], f, slot) &&
		    place_of(c, &t->rows.v[i], &index)->offset == f->function->offset)
			return;
	}
	c->stayed++;
	for (size_t i = 0; i < f->stayed.n; i++)
		if (!was_passed(c, f->image, f->stayed.v[i].start))
			complain(c, t, from, f, f->stayed.v[i].start, "stayed and not executed");
	if (f->exact && !is_whole_way(c, t, from, to, f, &f->stayed, slot))
		complain(c, t, from, f, f->function->offset, "stayed another way");
}

static void
compare_entered(struct cut *c, const struct thread *t, size_t from, size_t to,
                const struct st_gap *g, const struct st_fact *f)
{
	uint64_t slot;
	uint32_t index;
	if (f->kind != ST_FACT_ENTERED || !f->exact || f != g->facts.v ||
	    !slot_after(c, g, &slot) || !is_of_activation(c, &t->rows.v[to], f, slot))
		return;
	size_t at = to;
	while (at > from &&
	       !(is_of_activation(c, &t->rows.v[at - 1], f, slot) &&
	         place_of(c, &t->rows.v[at - 1], &index)->offset == f->function->offset))
		at--;
	if (!at-- || !is_whole_way(c, t, at, to, f, &f->ran, slot))
		complain(c, t, from, f, f->function->offset, "entered another way");
}

static void
compare_fact(struct cut *c, const struct thread *t, size_t from, size_t to, const struct st_gap *g,
             const struct st_fact *f)
{
	c->between += f->kind == ST_FACT_BETWEEN;
	c->entered += f->kind == ST_FACT_ENTERED;
	c->left += f->kind == ST_FACT_LEFT;
	c->exact += f->exact;
	for (size_t i = 0; i < f->ran.n; i++) {
		c->spans++;
		if (!was_passed(c, f->image, f->ran.v[i].start))
			complain(c, t, from, f, f->ran.v[i].start, "not executed");
	}
	compare_stayed(c, t, from, to, g, f);
	compare_entered(c, t, from, to, g, f);
}

static bool
is_known(const struct st_gap *g, const struct st_place *p)
{
	for (size_t i = 0; i < g->facts.n; i++)
		for (size_t k = 0; k < g->facts.v[i].ran.n; k++)
			if (holds(p, g->facts.v[i].image, g->facts.v[i].ran.v[k].start))
				return true;
	return false;
}

static void
compare(struct cut *c, const struct thread *t, size_t from, size_t to, const struct st_gap *g)
{
	look_at(c, t, from, to);
	c->gaps++;
	c->with_facts += g->facts.n > 0;
	for (size_t i = 0; i < g->facts.n; i++)
		compare_fact(c, t, from, to, g, &g->facts.v[i]);
	c->passed += c->seen.n;
	for (size_t i = 0; g->facts.n && i < c->seen.n; i++)
		c->known += is_known(g, &c->walk.code.places.v[c->seen.v[i]]);
}

/* The gaps of the walk come in the order of those that were cut out. */
static void
compare_thread(struct cut *c, const struct thread *t, const struct st_path_thread *walked)
{
	size_t at = 0;
	for (size_t i = 0; i + 1 < walked->windows.n; i++)
		if (walked->windows.v[i].end == ST_WINDOW_GAP) {
			if (at + 1 >= t->edges.n)
				die("there are more gaps than were cut out");
			compare(c, t, t->edges.v[at], t->edges.v[at + 1],
			        &walked->windows.v[i].gap);
			at += 2;
		}
}

static void
release(struct cut *c)
{
	for (size_t i = 0; i < c->threads.n; i++) {
		free(c->threads.v[i].rows.v);
		free(c->threads.v[i].edges.v);
	}
	free(c->threads.v);
	free(c->stamps.v);
	free(c->seen.v);
	st_walk_free(&c->walk);
	st_row_reader_close(c->reader);
}

int
main(int argc, char **argv)
{
	struct st_error e;
	struct cut c = {0};
	if (argc < 5)
		die("usage: cut FILE.rows WINDOW GAP SEED [returning]");
	c.window = strtoul(argv[2], NULL, 10);
	c.gap = strtoul(argv[3], NULL, 10);
	c.random = strtoul(argv[4], NULL, 10);
	c.walk.returning = argc > 5;
	c.reader = c.window && c.gap ? st_row_reader_open(argv[1], &e) : NULL;
	if (!c.reader)
		die(c.window && c.gap ? e.text : "lengths are at least 1");
	read_rows(&c);
	for (size_t i = 0; i < c.threads.n; i++)
		walk_thread(&c, &c.threads.v[i]);
	if (st_walk_end(&c.walk))
		die("no memory");
	for (size_t i = 0; i < c.threads.n; i++)
		compare_thread(&c, &c.threads.v[i], c.walk.threads.v[i]);
	printf("%zu gaps, %zu with facts: %zu between, %zu entered, %zu left, %zu exact, %zu "
	       "stayed; "
	       "%zu blocks told, of %zu that ran %zu known; %zu wrong\n",
	       c.gaps, c.with_facts, c.between, c.entered, c.left, c.exact, c.stayed, c.spans,
	       c.passed, c.known, c.wrong);
	int code = c.wrong != 0;
	release(&c);
	return code;
}
