/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of an image: who may say what is there, in which order, and what they are called.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/internal.h"

/*
 * Whether the frame is that of the function one byte behind its start: frames of signal trampolines
 * begin one byte early, because unwinders look for the byte before a return address.
 */
static bool
starts_early(const struct sym_functions *table, const struct sym_range *frame)
{
	const struct st_function *f = sym_table_find(table, frame->start + 1);
	return f && f->offset == frame->start + 1;
}

/* The frames whose start no function covers yet. */
static void
uncovered(const struct sym_functions *table, const struct sym_ranges *frames,
          struct sym_ranges *gaps)
{
	for (size_t i = 0; i < frames->n; i++)
		if (!sym_table_find(table, frames->v[i].start) &&
		    !starts_early(table, &frames->v[i]))
			ST_IGNORE(sym_ranges_add(gaps, frames->v[i].start, frames->v[i].end));
}

static void
fill_from_plt(struct st_image *image, const struct sym_ranges *frames)
{
	struct sym_candidates stubs = {0};
	sym_read_plt(image, &stubs);
	sym_table_fill(&image->functions, &stubs, frames, &image->code);
	sym_candidates_free(&stubs);
}

/* All of DWARF is a long read: with a symbol table only the units that hold code without a name are
 * worth it. */
static void
fill_from_dwarf(struct st_image *image, const struct sym_ranges *frames, bool has_symtab)
{
	struct sym_candidates list = {0};
	struct sym_ranges gaps = {0};
	if (has_symtab)
		uncovered(&image->functions, frames, &gaps);
	if (!has_symtab || gaps.n) {
		sym_read_dwarf_functions(image, has_symtab ? &gaps : NULL, &list);
		sym_table_fill(&image->functions, &list, frames, &image->code);
	}
	sym_candidates_free(&list);
	sym_ranges_free(&gaps);
}

static void
fill_from_frames(struct st_image *image, const struct sym_ranges *frames)
{
	struct sym_candidates list = {0};
	struct sym_ranges gaps = {0};
	uncovered(&image->functions, frames, &gaps);
	for (size_t i = 0; i < gaps.n; i++) {
		uint64_t start = gaps.v[i].start;
		struct sym_candidate c = {
		        .start = start,
		        .size = gaps.v[i].end - start,
		        .name = sym_string_print(image, "func_%" PRIx64, start),
		        .source = ST_SYM_EHFRAME,
		        .rank = SYM_LOCAL,
		};
		ST_IGNORE(sym_candidates_add(&list, &c));
	}
	sym_table_fill(&image->functions, &list, frames, &image->code);
	sym_candidates_free(&list);
	sym_ranges_free(&gaps);
}

/* Builds the functions that symbols and the PLT name, which are cheap to read. */
static void
build_named(struct st_image *image, struct sym_ranges *frames, struct sym_ranges *inner)
{
	struct sym_functions *table = &image->functions;
	sym_read_ehframe(image, frames, inner, NULL);
	sym_table_choose(table, &sym_symbols(image)->symbols);
	sym_table_settle(table, frames, &image->code);
	fill_from_plt(image, frames);
}

static struct sym_functions *
named(struct st_image *image)
{
	struct sym_ranges frames = {0};
	if (!image->functions.built) {
		build_named(image, &frames, NULL);
		sym_ranges_free(&frames);
		image->functions.built = true;
	}
	return &image->functions;
}

/* The whole table: DWARF, local labels and unwind ranges fill what the symbols leave. It is a table
 * of its own, because functions of the first one may have been given out. */
static struct sym_functions *
functions_complete(struct st_image *image)
{
	const struct sym_sources *sources = sym_symbols(image);
	struct sym_ranges frames = {0}, inner = {0};
	struct sym_functions first = image->functions;
	if (image->complete.built)
		return &image->complete;
	image->functions = (struct sym_functions){0};
	build_named(image, &frames, &inner);
	fill_from_dwarf(image, &frames, sources->has_symtab);
	sym_table_fill(&image->functions, &sources->labels, &frames, &image->code);
	fill_from_frames(image, &frames);
	sym_join_parts(image, &image->functions, &inner);
	sym_ranges_free(&inner);
	sym_ranges_free(&frames);
	image->complete = image->functions;
	image->complete.built = true;
	image->functions = first;
	return &image->complete;
}

const struct sym_functions *
sym_all_functions(struct st_image *image)
{
	return functions_complete(image);
}

/* Demangling costs more than all the rest, so a function gets its name when it is first given out.
 */
static void
read_name(struct st_image *image, struct st_function *f)
{
	f->name = f->raw_name;
	/* Symbols of libraries carry a version, stubs an @plt: neither is part of the mangled name.
	 */
	size_t length = strcspn(f->raw_name, "@");
	const char *base = f->raw_name;
	if (!length)
		return;
	if (f->raw_name[length])
		base = sym_string_keep(image, f->raw_name, length);
	char *plain = base ? st_demangle(base) : NULL;
	const char *shown = plain ? plain : base;
	if (shown && f->source == ST_SYM_PLT)
		shown = sym_string_print(image, "%s@plt", shown);
	else if (plain)
		shown = sym_string_keep(image, plain, strlen(plain));
	if (shown)
		f->name = shown;
	free(plain);
}

static void
name_function(struct st_image *image, struct st_function *f)
{
	if (f->name)
		return;
	f->whole = sym_whole(image, f);
	read_name(image, f);
}

/* The first of a table's aliases that begins there or behind. */
static size_t
first_alias(const struct sym_aliases *list, uint64_t start)
{
	size_t low = 0, high = list->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->v[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *
st_image_other_name(struct st_image *image, const struct st_function *f, size_t i)
{
	struct sym_aliases *list =
	        image->complete.built ? &image->complete.aliases : &image->functions.aliases;
	size_t at = first_alias(list, f->offset) + i;
	struct sym_alias *alias = &list->v[at];
	if (at >= list->n || alias->start != f->offset)
		return NULL;
	if (alias->name)
		return alias->name;
	struct st_function named = {.raw_name = alias->raw_name, .source = f->source};
	read_name(image, &named);
	return alias->name = named.name;
}

void
st_image_prepare(struct st_image *image, bool lines)
{
	struct st_line line;
	if (sym_has_symtab(image))
		named(image);
	else
		functions_complete(image);
	if (lines && image->code.n)
		ST_IGNORE(st_image_line(image, image->code.v[0].start, &line));
}

const struct st_function *
st_image_function(struct st_image *image, uint64_t offset)
{
	struct st_function *f = NULL;
	/* Without a symbol table there are only the exported names, which leave most to be filled.
	 */
	if (!image->complete.built && (image->functions.built || sym_has_symtab(image)))
		f = sym_table_find(named(image), offset);
	if (!f)
		f = sym_table_find(functions_complete(image), offset);
	if (f)
		name_function(image, f);
	return f;
}

const struct st_function *
st_image_functions(struct st_image *image, size_t *n)
{
	struct sym_functions *table = functions_complete(image);
	for (size_t i = 0; !table->named && i < table->n; i++)
		name_function(image, &table->v[i]);
	table->named = true;
	*n = table->n;
	return table->v;
}
