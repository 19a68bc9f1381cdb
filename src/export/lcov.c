/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Coverage in the format of lcov's tracefiles: for each source file its functions and lines, those
 * that were never executed included. They come from the images' line tables, so only images that
 * have debug information and are unchanged since the run take part.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/lcov.h"
#include "symbol/symbol.h"

struct entry {
	const char *file, *name; /* name: of a function; NULL: a line */
	uint32_t line;
	uint64_t count;
};

struct coverage {
	const struct st_profile *profile;
	bool all; /* also sources of the system, and those that are not here */
	ST_VEC(struct entry) entries;
	ST_VEC(struct st_image *) images; /* their strings are used to the end */
	const char *last_file;
	bool last_wanted;
	bool failed;
};

static bool
wanted(struct coverage *c, const char *file)
{
	if (file != c->last_file) {
		c->last_file = file;
		c->last_wanted = c->all || (strncmp(file, "/usr/", 5) && !access(file, R_OK));
	}
	return c->last_wanted;
}

static void
lcov_add(struct coverage *c, const char *file, uint32_t line, const char *name, uint64_t count)
{
	if (!file || !line || !wanted(c, file))
		return;
	struct entry *e = ST_PUSH(&c->entries);
	if (!e) {
		c->failed = true;
		return;
	}
	*e = (struct entry){file, name, line, count};
}

/* The lines of a function that is in the image, executed or not. */
static void
lcov_add_function(struct coverage *c, struct st_image *image, const struct st_function *f)
{
	struct st_line line, last = {0};
	if (!st_image_function_line(image, f->offset, &line) && line.file)
		lcov_add(c, line.file, line.line, f->name, 0);
	for (uint64_t at = f->offset; at < f->offset + f->size; at++) {
		if (st_image_line(image, at, &line) || !line.file)
			continue;
		if (line.line != last.line || line.file != last.file)
			lcov_add(c, line.file, line.line, NULL, 0);
		last = line;
	}
}

static void
lcov_add_image(struct coverage *c, const struct st_profile_image *in)
{
	struct st_error e;
	size_t n;
	if (strcmp(in->symbols, "full"))
		return;
	struct st_image *image = st_image_open(in->path, &e);
	if (!image)
		return;
	struct st_image **slot = ST_PUSH(&c->images);
	if (!slot || strcmp(st_image_build_id(image), in->build_id)) {
		c->failed |= !slot;
		c->images.n -= slot != NULL;
		st_image_close(image);
		return;
	}
	*slot = image;
	const struct st_function *f = st_image_functions(image, &n);
	for (size_t i = 0; f && i < n; i++)
		if (f[i].source != ST_SYM_PLT)
			lcov_add_function(c, image, &f[i]);
}

static int
by_file(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->file, y->file);
	if (!order)
		order = (x->name == NULL) - (y->name == NULL); /* functions first */
	if (!order)
		order = x->line < y->line ? -1 : x->line > y->line;
	return order || !x->name ? order : strcmp(x->name, y->name);
}

/* Copies of a line or function in several functions or images count together. */
static void
lcov_merge(struct coverage *c)
{
	size_t n = 0;
	if (c->entries.n)
		qsort(c->entries.v, c->entries.n, sizeof *c->entries.v, by_file);
	for (size_t i = 0; i < c->entries.n; i++) {
		const struct entry *e = &c->entries.v[i];
		if (n && !by_file(&c->entries.v[n - 1], e))
			c->entries.v[n - 1].count += e->count;
		else
			c->entries.v[n++] = *e;
	}
	c->entries.n = n;
}

static void
lcov_print_file(FILE *out, const struct entry *e, size_t n)
{
	size_t functions = 0, hit = 0, lines_hit = 0;
	fprintf(out, "SF:%s\n", e->file);
	for (; functions < n && e[functions].name; functions++)
		fprintf(out, "FN:%u,%s\n", e[functions].line, e[functions].name);
	for (size_t i = 0; i < functions; i++) {
		fprintf(out, "FNDA:%llu,%s\n", (unsigned long long)e[i].count, e[i].name);
		hit += e[i].count != 0;
	}
	fprintf(out, "FNF:%zu\nFNH:%zu\n", functions, hit);
	for (size_t i = functions; i < n; i++) {
		fprintf(out, "DA:%u,%llu\n", e[i].line, (unsigned long long)e[i].count);
		lines_hit += e[i].count != 0;
	}
	fprintf(out, "LF:%zu\nLH:%zu\nend_of_record\n", n - functions, lines_hit);
}

static void
lcov_print(FILE *out, const struct coverage *c)
{
	fprintf(out, "TN:\n");
	for (size_t i = 0, end; i < c->entries.n; i = end) {
		for (end = i;
		     end < c->entries.n && !strcmp(c->entries.v[end].file, c->entries.v[i].file);)
			end++;
		lcov_print_file(out, &c->entries.v[i], end - i);
	}
}

st_status
st_export_lcov(const struct st_report *r, FILE *out, bool all, struct st_error *e)
{
	const struct st_profile *p = r->profile;
	struct coverage c = {.profile = p, .all = all};
	if (!p->run.has_functions)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "the profile has no source lines; make one with strobe run -t coverage");
	for (size_t i = 0; i < p->images.n; i++)
		lcov_add_image(&c, &p->images.v[i]);
	for (size_t i = 0; i < p->functions.n; i++) {
		const struct st_profile_function *f = &p->functions.v[i];
		lcov_add(&c, f->file, f->line, f->name, f->calls);
	}
	for (size_t i = 0; i < p->lines.n; i++) {
		const struct st_profile_line *l = &p->lines.v[i];
		lcov_add(&c, l->file, l->line, NULL, l->executions);
	}
	lcov_merge(&c);
	if (!c.failed)
		lcov_print(out, &c);
	free(c.entries.v);
	for (size_t i = 0; i < c.images.n; i++)
		st_image_close(c.images.v[i]);
	free(c.images.v);
	return c.failed ? st_fail(e, ST_EXIT_FAILED, "no memory left to print the profile") : 0;
}
