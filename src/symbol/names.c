/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All names of the functions of an image, and the search among them. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/internal.h"
#include "symbol/pattern.h"

/* Whether the first bytes of a name are the function's own, but for a version. */
static bool
is_shown(const struct st_function *f, const char *raw, size_t length)
{
	size_t own = f->source == ST_SYM_PLT ? strlen(f->raw_name) : strcspn(f->raw_name, "@");
	return own == length && !memcmp(f->raw_name, raw, length);
}

static st_status
names_add(struct st_image *image, struct sym_names *names, const struct st_function *f,
          const char *raw, enum st_symbol_source source, bool untyped, bool ifunc)
{
	struct st_symbol *v = sym_grow(names->v, names->n, &names->room, sizeof *v);
	if (!v)
		return -1;
	names->v = v;
	/* A stub keeps its @plt. */
	size_t length = source == ST_SYM_PLT ? strlen(raw) : strcspn(raw, "@");
	if (raw[length])
		raw = sym_string_keep(image, raw, length);
	if (!raw)
		return -1;
	if (*raw)
		v[names->n++] = (struct st_symbol){.start = f->offset,
		                                   .end = f->offset + f->size,
		                                   .entry = sym_whole(image, f),
		                                   .raw_name = raw,
		                                   .source = source,
		                                   .shown = is_shown(f, raw, length),
		                                   .untyped = untyped,
		                                   .ifunc = ifunc};
	return 0;
}

/* Whether its name is from a symbol table: if no symbol of a type has it, a label has. */
static bool
is_of_symbol(const struct st_function *f)
{
	return f->source == ST_SYM_SYMTAB || f->source == ST_SYM_DYNSYM ||
	       f->source == ST_SYM_MINIDEBUG;
}

/* The symbols that stand at the entry of a function, then the functions that have their name from
 * elsewhere. */
static st_status
names_collect(struct st_image *image, struct sym_names *names, const struct sym_candidates *symbols)
{
	const struct sym_functions *table = sym_all_functions(image);
	for (size_t i = 0; i < symbols->n; i++) {
		const struct sym_candidate *c = &symbols->v[i];
		const struct st_function *f = sym_table_find(table, c->start);
		if (f && f->offset == c->start &&
		    names_add(image, names, f, c->name, c->source, c->untyped, c->ifunc) != 0)
			return -1;
	}
	for (size_t i = 0; i < table->n; i++)
		if (names_add(image, names, &table->v[i], table->v[i].raw_name, table->v[i].source,
		              is_of_symbol(&table->v[i]), false) != 0)
			return -1;
	return 0;
}

static int
names_by_start(const void *a, const void *b)
{
	const struct st_symbol *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->shown != y->shown)
		return x->shown ? -1 : 1;
	int order = strcmp(x->raw_name, y->raw_name);
	if (order)
		return order;
	if (x->ifunc != y->ifunc)
		return x->ifunc ? -1 : 1;
	return x->source < y->source ? -1 : x->source > y->source;
}

/* A symbol is often in .symtab and in .dynsym. */
static void
names_settle(struct sym_names *names)
{
	size_t kept = 0;
	if (names->n)
		qsort(names->v, names->n, sizeof *names->v, names_by_start);
	for (size_t i = 0; i < names->n; i++) {
		const struct st_symbol *last = kept ? &names->v[kept - 1] : NULL;
		if (!last || last->start != names->v[i].start ||
		    strcmp(last->raw_name, names->v[i].raw_name))
			names->v[kept++] = names->v[i];
		else
			names->v[kept - 1].untyped &= names->v[i].untyped;
	}
	names->n = kept;
}

static struct sym_names *
all_names(struct st_image *image)
{
	struct sym_names *names = &image->names;
	if (names->built)
		return names;
	if (names_collect(image, names, &sym_symbols(image)->symbols) == 0) {
		names_settle(names);
		names->built = true;
	} else {
		names->n = 0;
	}
	return names->built ? names : NULL;
}

/* A demangled text for the image to keep; NULL when raw is not mangled. The @plt of a stub is no
 * part of the mangled name. */
static const char *
readable(struct st_image *image, const char *raw, char *(*demangle)(const char *name))
{
	size_t length = strcspn(raw, "@");
	char *base = strndup(raw, length), *text = base ? demangle(base) : NULL;
	const char *kept = text ? sym_string_print(image, "%s%s", text, raw + length) : NULL;
	free(text);
	free(base);
	return kept;
}

static void
names_fill(struct st_image *image, struct st_symbol *s)
{
	if (s->name)
		return;
	const char *name = readable(image, s->raw_name, st_demangle);
	const char *plain = name ? readable(image, s->raw_name, st_demangle_plain) : NULL;
	s->name = name ? name : s->raw_name;
	s->plain = plain ? plain : s->name;
	const char *cold = s->entry != s->start ? strstr(s->plain, ".cold") : NULL;
	if (cold && (cold = sym_string_keep(image, s->plain, (size_t)(cold - s->plain))))
		s->plain = cold;
}

const struct st_symbol *
st_image_symbols(struct st_image *image, size_t *n)
{
	struct sym_names *names = all_names(image);
	*n = names ? names->n : 0;
	for (size_t i = 0; i < *n; i++)
		names_fill(image, &names->v[i]);
	return names ? names->v : NULL;
}

const struct st_symbol *
st_image_names_of(struct st_image *image, const struct st_symbol *symbol, size_t *n)
{
	const struct sym_names *names = &image->names;
	size_t first = (size_t)(symbol - names->v), end;
	while (first && names->v[first - 1].start == symbol->start)
		first--;
	for (end = first; end < names->n && names->v[end].start == symbol->start; end++)
		names_fill(image, &names->v[end]);
	*n = end - first;
	return &names->v[first];
}

static bool
names_fits(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || fnmatch(pattern, name, 0) == 0;
}

static bool
is_in_file(struct st_image *image, const struct st_file_pattern *pattern, const struct st_symbol *s)
{
	const char *file = st_image_source(image, s);
	return file && st_file_fits(pattern, file);
}

st_status
st_image_match(struct st_image *image, const char *pattern,
               bool (*use)(const struct st_symbol *symbol, void *context), void *context)
{
	struct sym_names *names = all_names(image);
	struct st_file_pattern of_file;
	bool by_file = st_file_pattern(pattern, &of_file);
	char needle[SYM_NEEDLE];
	if (by_file)
		pattern = of_file.name;
	sym_pattern_needle(pattern, needle);
	for (size_t i = 0; names && i < names->n; i++) {
		struct st_symbol *s = &names->v[i];
		if (!strstr(s->raw_name, needle) && !names_fits(pattern, s->raw_name))
			continue;
		names_fill(image, s);
		if ((names_fits(pattern, s->raw_name) || names_fits(pattern, s->plain) ||
		     names_fits(pattern, s->name)) &&
		    (!by_file || is_in_file(image, &of_file, s)) && !use(s, context))
			break;
	}
	return names ? 0 : -1;
}
