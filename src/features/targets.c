/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the functions of an image by name. */
#include "features/targets.h"

#include <stdlib.h>

#include "base/text.h"

struct finding {
	struct st_targets *targets;
	bool no_memory;
};

static bool
note_function_named(const struct st_symbol *symbol, void *arg)
{
	struct finding *f = arg;
	if (symbol->untyped || symbol->ifunc || symbol->source == ST_SYM_PLT ||
	    symbol->entry != symbol->start)
		return true;
	uint64_t *slot = ST_PUSH(&f->targets->entries);
	f->no_memory = !slot;
	if (slot)
		*slot = symbol->start;
	return slot != NULL;
}

static int
ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

st_status
st_targets_find(struct st_targets *t, struct st_image *image, const char *pattern)
{
	struct finding f = {t, false};
	if (st_image_match(image, pattern, note_function_named, &f) || f.no_memory)
		return ST_FAILED;
	if (t->entries.n)
		qsort(t->entries.v, t->entries.n, sizeof *t->entries.v, ascending);
	size_t n = 0;
	for (size_t i = 0; i < t->entries.n; i++)
		if (!n || t->entries.v[n - 1] != t->entries.v[i])
			t->entries.v[n++] = t->entries.v[i];
	t->entries.n = n;
	return ST_OK;
}

void
st_targets_free(struct st_targets *t)
{
	free(t->entries.v);
	*t = (struct st_targets){0};
}

static bool
note_inlined_place(void *arg, const struct st_inlined_at *place)
{
	enum { MOST_NAMED = 3 };
	struct st_inlined_note *note = arg;
	if (!note->n)
		st_append(note->text, sizeof note->text, "%s, into %s", place->name, place->into);
	else
		st_append(note->text, sizeof note->text, ", %s", place->into);
	return ++note->n < MOST_NAMED;
}

void
st_inlined_note_take(struct st_inlined_note *note, struct st_image *image, const char *pattern)
{
	if (image && !note->n)
		st_image_inlined_places(image, pattern, note_inlined_place, note);
}

st_status
st_targets_missing(const struct st_inlined_note *note, const char *program, const char *pattern,
                   struct st_error *e)
{
	if (note->n)
		return st_fail(e, ST_EXIT_FAILED,
		               "'%s' cannot be measured, because the compiler has inlined it into "
		               "its callers (%s): compile it with __attribute__((noinline)), or "
		               "name a caller",
		               pattern, note->text);
	return st_fail(e, ST_EXIT_FAILED,
	               "no function of '%s' or of its libraries is called '%s': strobe trace "
	               "--dry-run lists them",
	               program, pattern);
}
