/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/choose.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "tools/traced.h"
#include "trace/changed.h"
#include "trace/reduce.h"

struct st_trace_chooser {
	const struct st_trace_request *request;
	/* Of the image that was asked for last. */
	const struct st_image *image;
	bool image_is_chosen;
	ST_VEC(uint64_t) entries; /* of functions that the patterns fit, ascending */
};

struct st_trace_chooser *
st_trace_chooser_new(const struct st_trace_request *r)
{
	struct st_trace_chooser *c = calloc(1, sizeof *c);
	if (c)
		c->request = r;
	return c;
}

void
st_trace_chooser_free(struct st_trace_chooser *c)
{
	if (!c)
		return;
	free(c->entries.v);
	free(c);
}

static bool
fits_image(struct st_patterns *patterns, const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	bool fits = false;
	for (size_t i = 0; i < patterns->n; i++)
		if (!fnmatch(patterns->text[i], strchr(patterns->text[i], '/') ? path : base, 0)) {
			patterns->matched[i]++;
			fits = true;
		}
	return fits;
}

static bool
add_entry(const struct st_symbol *symbol, void *context)
{
	struct st_trace_chooser *c = context;
	uint64_t *entry = ST_PUSH(&c->entries);
	if (entry)
		*entry = symbol->entry;
	return entry != NULL;
}

static int
chosen_order(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void
look_at_image(struct st_trace_chooser *c, struct st_image *image, const char *path)
{
	struct st_patterns *functions = &c->request->session->region.functions,
	                   *images = &c->request->session->region.images;
	c->image = image;
	const bool fits = !images->n || fits_image(images, path);
	c->image_is_chosen = fits && !functions->n;
	c->entries.n = 0;
	for (size_t i = 0; fits && i < functions->n; i++) {
		const size_t before = c->entries.n;
		if (st_image_match(image, functions->text[i], add_entry, c))
			continue;
		functions->matched[i] += c->entries.n - before;
	}
	if (c->entries.n)
		qsort(c->entries.v, c->entries.n, sizeof *c->entries.v, chosen_order);
}

struct bare_name {
	char text[512];
};

/* C++ names lose their arguments. */
static struct bare_name
bare_name_of(const char *name)
{
	struct bare_name bare;
	const size_t n = strlen(name), args = strcspn(name, "(");
	const size_t keep = args && n && name[n - 1] == ')' ? args : n;
	const size_t length = keep < sizeof bare.text ? keep : sizeof bare.text - 1;
	memcpy(bare.text, name, length);
	bare.text[length] = '\0';
	return bare;
}

bool
st_trace_is_named(const struct st_function *f, const char *name)
{
	const struct bare_name bare = bare_name_of(f->name);
	return !strcmp(bare.text, name);
}

bool
st_trace_fits_name(const struct st_function *f, const char *pattern)
{
	const struct bare_name bare = bare_name_of(f->name);
	return !strcmp(bare.text, pattern) || !strcmp(f->name, pattern) ||
	       !fnmatch(pattern, bare.text, 0) || !fnmatch(pattern, f->name, 0);
}

/* The patterns of --exclude, and names that are none of a function. */
static bool
is_left_out(const struct st_trace_chooser *c, const struct st_function *f)
{
	const struct st_patterns *excluded = c->request->excluded;
	const struct bare_name bare = bare_name_of(f->name);
	if (traced_is_no_function(bare.text) ||
	    (c->request->own && traced_is_of_compiler(bare.text)))
		return true;
	for (size_t i = 0; excluded && i < excluded->n; i++)
		if (traced_fits(bare_name_of(excluded->text[i]).text, bare.text))
			return true;
	return false;
}

bool
st_trace_chosen(struct st_trace_chooser *c, struct st_image *image, const char *path,
                const struct st_function *f)
{
	if (c->image != image)
		look_at_image(c, image, path);
	if (f->whole != f->offset || f->source == ST_SYM_PLT || f->source == ST_SYM_PERFMAP)
		return false;
	if (!c->image_is_chosen &&
	    (!c->entries.n ||
	     !bsearch(&f->offset, c->entries.v, c->entries.n, sizeof *c->entries.v, chosen_order)))
		return false;
	struct st_trace_changed *changed = c->request->changed;
	if (is_left_out(c, f) || (changed && !st_trace_has_changed(changed, image, path, f)))
		return false;
	struct st_trace_reduction *reduction = c->request->reduction;
	return !reduction || !st_trace_leaves_out(reduction, image, path, f);
}
