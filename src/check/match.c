/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of two profiles: the rules are in match.h. */
#include "check/match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

bool
st_match_is_name(const char *name, const char *image, uint64_t offset)
{
	enum { LONGEST = 24 };
	char place[LONGEST];
	snprintf(place, sizeof place, "func_%" PRIx64, offset);
	if (!strcmp(name, place))
		return false;
	if (!image)
		return strncmp(name, "+0x", 3) != 0;
	size_t n = strlen(st_base_name(image));
	snprintf(place, sizeof place, "+0x%" PRIx64, offset);
	return strncmp(name, st_base_name(image), n) != 0 || strcmp(name + n, place) != 0;
}

struct match_entry {
	const struct st_match_function *function;
	const char *build; /* its image's build-id, "": unknown */
	uint32_t image;    /* number of the image, the same on both sides; ST_NO_IMAGE: none */
	uint32_t side, index;
};

/* By image and name; code without a name goes by its build and offset. */
static int
compare_match_names(const struct match_entry *x, const struct match_entry *y)
{
	const struct st_match_function *a = x->function, *b = y->function;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (!a->name != !b->name)
		return a->name ? -1 : 1;
	int order = a->name ? strcmp(a->name, b->name) : strcmp(x->build, y->build);
	if (!order)
		order = a->artificial - b->artificial;
	if (!order && !a->name)
		order = (a->offset > b->offset) - (a->offset < b->offset);
	return order ? order : (a->inside > b->inside) - (a->inside < b->inside);
}

static int
compare_match_places(const struct match_entry *x, const struct match_entry *y)
{
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	if (x->function->offset != y->function->offset)
		return x->function->offset < y->function->offset ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int
compare_match_entries(const void *a, const void *b)
{
	int order = compare_match_names(a, b);
	return order ? order : compare_match_places(a, b);
}

/* Orders functions with one name and image by file. The folder is not compared. */
static int
compare_match_files(const struct match_entry *x, const struct match_entry *y)
{
	return strcmp(st_base_name(x->function->file), st_base_name(y->function->file));
}

static int
compare_match_by_file(const void *a, const void *b)
{
	const struct match_entry *x = a, *y = b;
	int order = x->side == y->side ? compare_match_files(x, y) : 0;
	return order ? order : compare_match_places(x, y);
}

/* Functions of one name and image: those of A, then those of B. */
struct match_group {
	struct match_entry *a, *b, *end;
	bool one_build, files; /* all are of one, all files are known */
	bool single;           /* one each: the function may have moved to another file */
	bool apart;            /* they have no name, and no build says where they are */
};

static struct match_group
match_group_of(struct match_entry *first, size_t n_a, size_t n_b)
{
	struct match_group g = {.a = first,
	                        .b = first + n_a,
	                        .end = first + n_a + n_b,
	                        .one_build = *first->build != 0,
	                        .files = true,
	                        .single = n_a == 1 && n_b == 1,
	                        .apart = !first->function->name && !*first->build};
	for (const struct match_entry *x = first; x < g.end; x++) {
		g.one_build &= !strcmp(x->build, first->build);
		g.files &= x->function->file != NULL;
	}
	if (!g.one_build && g.files)
		qsort(first, n_a + n_b, sizeof *first, compare_match_by_file);
	return g;
}

/* Which comes first of one of A's and one of B's; 0: they are one. */
static int
match_order(const struct match_group *g, const struct match_entry *a, const struct match_entry *b)
{
	if (g->apart)
		return -1;
	if (g->one_build)
		return (a->function->offset > b->function->offset) -
		       (a->function->offset < b->function->offset);
	return g->files && !g->single ? compare_match_files(a, b) : 0;
}

static void
number_match_group(struct st_match *m, const struct match_group *g)
{
	const struct match_entry *a = g->a, *b = g->b;
	while (a < g->b || b < g->end) {
		int order = a == g->b ? 1 : b == g->end ? -1 : match_order(g, a, b);
		uint32_t number = (uint32_t)m->n_functions++;
		if (order <= 0)
			m->function[ST_A][a++->index] = number;
		if (order >= 0)
			m->function[ST_B][b++->index] = number;
	}
}

static void
number_matched_functions(struct st_match *m, struct match_entry *entries, size_t n)
{
	qsort(entries, n, sizeof *entries, compare_match_entries);
	for (size_t i = 0, n_a, n_b; i < n; i += n_a + n_b) {
		n_a = n_b = 0;
		for (size_t k = i; k < n && !compare_match_names(&entries[i], &entries[k]); k++) {
			n_a += entries[k].side == ST_A;
			n_b += entries[k].side == ST_B;
		}
		struct match_group g = match_group_of(&entries[i], n_a, n_b);
		number_match_group(m, &g);
	}
}

static struct match_entry
match_entry_of(const struct st_match *m, const struct st_match_side *s, uint32_t side,
               uint32_t index)
{
	const struct st_match_function *f = &s->functions[index];
	struct match_entry x = {f, "", ST_NO_IMAGE, side, index};
	if (f->image != ST_NO_IMAGE) {
		x.build = s->images[f->image].build_id;
		x.image = m->image[side][f->image];
	}
	return x;
}

st_status
st_match_make(struct st_match *m, const struct st_match_side sides[ST_SIDES])
{
	size_t n = 0, all = sides[ST_A].n_functions + sides[ST_B].n_functions;
	*m = (struct st_match){0};
	if (st_match_images(m, sides))
		return ST_FAILED;
	struct match_entry *entries = malloc((all + 1) * sizeof *entries);
	for (uint32_t side = 0; entries && side < ST_SIDES; side++) {
		const struct st_match_side *s = &sides[side];
		m->function[side] = malloc((s->n_functions + 1) * sizeof *m->function[side]);
		for (uint32_t i = 0; m->function[side] && i < s->n_functions; i++)
			entries[n++] = match_entry_of(m, s, side, i);
	}
	bool complete = m->function[ST_A] && m->function[ST_B];
	if (complete)
		number_matched_functions(m, entries, n);
	free(entries);
	return complete ? ST_OK : ST_FAILED;
}

void
st_match_free(struct st_match *m)
{
	for (int side = 0; side < ST_SIDES; side++) {
		free(m->function[side]);
		free(m->image[side]);
	}
	*m = (struct st_match){0};
}
