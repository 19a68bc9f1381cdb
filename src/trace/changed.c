/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/changed.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/text.h"
#include "check/match.h"
#include "profile/profile.h"

struct build_file {
	char *path;
	struct st_image *image;
};

struct st_trace_changed {
	ST_VEC(struct build_file) files; /* of the other build */
	char *of;                        /* the program of which the one file is a build; NULL */
	/* Of the image that was asked for last. */
	const struct st_image *image;
	ST_VEC(uint64_t) entries; /* of functions that have changed, ascending */
	bool all;                 /* they could not be compared: memory is exhausted */
	bool fits;                /* some image had a counterpart */
};

/* ---- the other build ---- */

static st_status
add_file(struct st_trace_changed *c, const char *path, struct st_image *image)
{
	struct build_file *new = ST_PUSH(&c->files);
	if (new) {
		*new = (struct build_file){strdup(path), image};
		return new->path ? ST_OK : ST_FAILED;
	}
	st_image_close(image);
	return ST_FAILED;
}

/* Files that are gone, or are other ones now, are left out. */
static st_status
add_files_of_profile(struct st_trace_changed *c, const char *path, struct st_error *e)
{
	struct st_profile *p = st_profile_load(path, e);
	if (!p)
		return ST_FAILED;
	st_status status = ST_OK;
	for (size_t i = 0; i < p->images.n && !status; i++) {
		const struct st_profile_image *known = &p->images.v[i];
		struct st_error why;
		struct st_image *image =
		        known->path[0] == '/' ? st_image_open(known->path, &why) : NULL;
		if (image && !strcmp(st_image_build_id(image), known->build_id))
			status = add_file(c, known->path, image);
		else if (image)
			st_image_close(image);
	}
	st_profile_free(p);
	if (status)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	return c->files.n ? ST_OK
	                  : st_fail(e, ST_EXIT_FAILED,
	                            "none of the files that %s is about is still as it was: "
	                            "--changed-since needs a copy of the other build",
	                            path);
}

static bool
is_build(const char *path)
{
	char magic[4] = {0};
	FILE *in = fopen(path, "re");
	const bool is = in && fread(magic, 1, sizeof magic, in) == sizeof magic &&
	                !memcmp(magic, "\177ELF", sizeof magic);
	if (in)
		fclose(in);
	return is;
}

static st_status
add_build(struct st_trace_changed *c, const char *path, const char *of, struct st_error *e)
{
	if (!is_build(path))
		return add_files_of_profile(c, path, e);
	struct st_image *image = st_image_open(path, e);
	if (!image)
		return ST_FAILED;
	c->of = of ? strdup(of) : NULL;
	return add_file(c, path, image) || (of && !c->of)
	               ? st_fail(e, ST_EXIT_FAILED, "out of memory")
	               : ST_OK;
}

struct st_trace_changed *
st_trace_changed_open(const char *path, const char *of, struct st_error *e)
{
	struct st_trace_changed *c = calloc(1, sizeof *c);
	if (!c) {
		st_cause(e, ST_EXIT_FAILED, "out of memory");
		return NULL;
	}
	if (!add_build(c, path, of, e))
		return c;
	st_trace_changed_close(c);
	return NULL;
}

void
st_trace_changed_close(struct st_trace_changed *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->files.n; i++) {
		free(c->files.v[i].path);
		st_image_close(c->files.v[i].image);
	}
	free(c->files.v);
	free(c->entries.v);
	free(c->of);
	free(c);
}

static struct st_image *
counterpart_of(const struct st_trace_changed *c, const char *path)
{
	if (c->of)
		return strcmp(c->of, path) ? NULL : c->files.v[0].image;
	for (size_t i = 0; i < c->files.n; i++)
		if (!strcmp(st_base_name(c->files.v[i].path), st_base_name(path)))
			return c->files.v[i].image;
	return NULL;
}

/* ---- the functions of both ---- */

struct build_side {
	struct st_image *image;
	const struct st_function *functions;
	size_t n;
	struct st_match_function *matched; /* the same, as they are matched */
};

/* Of functions of one name the files tell which is which; for others they need not be read. */
static st_status
find_files_of_twins(struct build_side *s)
{
	struct st_hashmap names = {0};
	st_status status = ST_OK;
	for (size_t i = 0; i < s->n && !status; i++) {
		const char *name = s->matched[i].name;
		if (!name)
			continue;
		const uint32_t hash = st_hash_bytes(name, strlen(name));
		const uint32_t at =
		        ST_HASHMAP_FIND(&names, hash, k, !strcmp(s->matched[k].name, name));
		struct st_line line;
		if (at == ST_HASHMAP_NONE)
			status = st_hashmap_add(&names, hash, (uint32_t)i);
		else if (!st_image_line(s->image, s->functions[i].offset, &line))
			s->matched[i].file = line.file;
		if (at != ST_HASHMAP_NONE && !s->matched[at].file &&
		    !st_image_line(s->image, s->functions[at].offset, &line))
			s->matched[at].file = line.file;
	}
	st_hashmap_free(&names);
	return status;
}

static st_status
read_build_side(struct build_side *s)
{
	s->functions = st_image_functions(s->image, &s->n);
	s->matched = calloc(s->n + 1, sizeof *s->matched);
	if (!s->matched)
		return ST_FAILED;
	for (size_t i = 0; i < s->n; i++) {
		const struct st_function *f = &s->functions[i];
		const bool has_name = f->source != ST_SYM_EHFRAME && f->whole == f->offset &&
		                      f->source != ST_SYM_PLT;
		s->matched[i] = (struct st_match_function){.name = has_name ? f->name : NULL,
		                                           .offset = f->offset};
	}
	return find_files_of_twins(s);
}

/* For each function of the second side the index on the first one + 1 of the same, or 0. malloc'ed;
 * NULL: no memory. */
static size_t *
match_builds(const struct build_side sides[2])
{
	struct st_match_image images[2];
	struct st_match_side to_match[2];
	struct st_match m;
	for (unsigned i = 0; i < 2; i++) {
		/* That they are builds of one file has been decided. */
		images[i] = (struct st_match_image){.path = "build",
		                                    .build_id = st_image_build_id(sides[i].image)};
		to_match[i] = (struct st_match_side){&images[i], 1, sides[i].matched, sides[i].n};
	}
	const st_status status = st_match_make(&m, to_match);
	size_t *number_to_old = status ? NULL : calloc(m.n_functions + 1, sizeof *number_to_old),
	       *old_of = status ? NULL : calloc(sides[1].n + 1, sizeof *old_of);
	if (number_to_old && old_of) {
		for (size_t i = 0; i < sides[0].n; i++)
			number_to_old[m.function[ST_A][i]] = i + 1;
		for (size_t i = 0; i < sides[1].n; i++)
			old_of[i] = number_to_old[m.function[ST_B][i]];
	} else {
		free(old_of);
		old_of = NULL;
	}
	free(number_to_old);
	st_match_free(&m);
	return old_of;
}

static st_status
add_changed(struct st_trace_changed *c, const struct build_side sides[2], const size_t *old_of)
{
	for (size_t i = 0; i < sides[1].n; i++) {
		const struct st_function *f = &sides[1].functions[i];
		if (f->whole != f->offset || f->source == ST_SYM_PLT)
			continue;
		if (old_of[i] &&
		    st_image_same_code(sides[0].image, &sides[0].functions[old_of[i] - 1],
		                       sides[1].image, f))
			continue;
		uint64_t *entry = ST_PUSH(&c->entries);
		if (!entry)
			return ST_FAILED;
		*entry = f->offset;
	}
	return ST_OK;
}

static void
compare_builds(struct st_trace_changed *c, struct st_image *image, const char *path)
{
	struct build_side sides[2] = {{.image = counterpart_of(c, path)}, {.image = image}};
	c->image = image;
	c->entries.n = 0;
	c->all = false;
	if (!sides[0].image)
		return;
	c->fits = true;
	size_t *old_of = read_build_side(&sides[0]) || read_build_side(&sides[1])
	                         ? NULL
	                         : match_builds(sides);
	c->all = !old_of || add_changed(c, sides, old_of);
	free(old_of);
	free(sides[0].matched);
	free(sides[1].matched);
}

static int
changed_order(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

bool
st_trace_has_changed(struct st_trace_changed *c, struct st_image *image, const char *path,
                     const struct st_function *f)
{
	if (c->image != image)
		compare_builds(c, image, path);
	return c->all || (c->entries.n && bsearch(&f->offset, c->entries.v, c->entries.n,
	                                          sizeof *c->entries.v, changed_order));
}

bool
st_trace_changed_fits_nothing(const struct st_trace_changed *c)
{
	return !c->fits;
}
