/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of functions that compilers put apart because they are seldom run: foo.cold beside foo,
 * with what link-time optimization adds to either name. The part of a local function belongs to the
 * function of that name in the same source file, which the order of the symbol table tells; where
 * that leaves a choice the debug information does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "symbol/scopes.h"

/* The symbols of an image by name: of those whose names have one hash the last, and for each the
 * one before it. */
struct sym_parts {
	const struct sym_candidates *symbols; /* the image's */
	struct st_hashmap last;               /* of a hash */
	uint32_t *before;                     /* by symbol; ST_HASHMAP_NONE: it is the first */
};

static const char digits[] = "0123456789";
static const char mark[] = ".cold";

/* Where ".cold" stands in a name, and behind it and its number. */
static const char *
cold_mark(const char *name, const char **behind)
{
	for (const char *at = name; (at = strstr(at, mark)); at++) {
		const char *end = at + strlen(mark);
		if (at == name || (*end && *end != '.'))
			continue;
		size_t number = *end ? strspn(end + 1, digits) : 0;
		if (number && (!end[1 + number] || end[1 + number] == '.'))
			end += 1 + number;
		*behind = end;
		return at;
	}
	return NULL;
}

bool
sym_is_cold(const char *name)
{
	const char *behind;
	return cold_mark(name, &behind) != NULL;
}

static size_t
length_of(const char *name)
{
	return (size_t)(strchrnul(name, '@') - name);
}

static st_status
index_name(struct sym_parts *p, uint32_t symbol, uint32_t hash)
{
	p->before[symbol] = ST_HASHMAP_FIND(&p->last, hash, i, true);
	if (p->before[symbol] == ST_HASHMAP_NONE)
		return st_hashmap_add(&p->last, hash, symbol);
	st_hashmap_replace(&p->last, hash, p->before[symbol], symbol);
	return ST_OK;
}

static struct sym_parts *
index_names(struct st_image *image)
{
	struct sym_parts *p = image->parts;
	if (p)
		return p;
	p = image->parts = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	const struct sym_candidates *symbols = p->symbols = &sym_symbols(image)->symbols;
	p->before = reallocarray(NULL, symbols->n + 1, sizeof *p->before);
	for (uint32_t i = 0; p->before && i < symbols->n; i++) {
		const char *name = symbols->v[i].name;
		if (i + 16 < symbols->n)
			__builtin_prefetch(symbols->v[i + 16].name);
		if (index_name(p, i, st_hash_bytes(name, length_of(name))))
			break;
	}
	return p;
}

void
sym_parts_free(struct sym_parts *parts)
{
	if (!parts)
		return;
	st_hashmap_free(&parts->last);
	free(parts->before);
	free(parts);
}

/* The symbol of that name after the given one, or the first; NULL: there is no other. */
static const struct sym_candidate *
next_named(const struct sym_parts *p, const char *name, size_t length,
           const struct sym_candidate *after)
{
	const struct sym_candidate *v = p->symbols->v;
	uint32_t i = after ? p->before[after - v]
	                   : ST_HASHMAP_FIND(&p->last, st_hash_bytes(name, length), at, true);
	for (; i != ST_HASHMAP_NONE; i = p->before[i])
		if (length_of(v[i].name) == length && !strncmp(v[i].name, name, length))
			return &v[i];
	return NULL;
}

/* The part whose function is looked for, and the best that was found. */
struct choice {
	const struct st_function *part;
	uint32_t file; /* that the part came from; 0: unknown */
	const struct sym_candidate *best;
	int score;
	bool rivals; /* another one is as good */
};

static uint64_t
parts_distance(const struct choice *choice, const struct sym_candidate *c)
{
	uint64_t here = choice->part->offset;
	return c->start > here ? c->start - here : here - c->start;
}

static void
consider(struct choice *choice, const struct sym_candidate *c)
{
	bool local = c->rank == SYM_LOCAL;
	int score = !local ? 2 : c->file && c->file == choice->file ? 3 : 1;
	if (choice->best && c->start == choice->best->start)
		return;
	if (score == choice->score)
		choice->rivals = true;
	if (score < choice->score ||
	    (score == choice->score &&
	     parts_distance(choice, c) > parts_distance(choice, choice->best)))
		return;
	if (score > choice->score)
		choice->rivals = false;
	choice->best = c;
	choice->score = score;
}

static void
consider_name(struct choice *choice, const struct sym_parts *p, const char *name)
{
	const struct sym_candidate *c = NULL;
	while ((c = next_named(p, name, strlen(name), c)))
		if (c->start != choice->part->offset)
			consider(choice, c);
}

static uint32_t
parts_file_of(const struct sym_parts *p, const struct st_function *f)
{
	const struct sym_candidate *c = NULL;
	while ((c = next_named(p, f->raw_name, length_of(f->raw_name), c)))
		if (c->start == f->offset && c->file)
			return c->file;
	return 0;
}

/* The names that the whole of "P.cold.1S" may have: PS, P, and P before link-time optimization made
 * it private. */
static void
consider_names(struct choice *choice, const struct sym_parts *p)
{
	const char *raw = choice->part->raw_name, *behind, *at = cold_mark(raw, &behind);
	size_t n = at ? (size_t)(at - raw) : 0, rest = at ? length_of(behind) : 0;
	char *name = n ? malloc(n + rest + 1) : NULL;
	if (!name)
		return;
	memcpy(name, raw, n);
	memcpy(name + n, behind, rest);
	name[n + rest] = '\0';
	consider_name(choice, p, name);
	name[n] = '\0';
	if (!choice->best)
		consider_name(choice, p, name);
	char *private = strstr(name, ".lto_priv");
	if (!choice->best && private && private != name) {
		*private = '\0';
		consider_name(choice, p, name);
	}
	free(name);
}

static uint64_t
find_whole(struct st_image *image, const struct st_function *f)
{
	struct choice choice = {.part = f};
	struct sym_parts *p = index_names(image);
	if (p) {
		choice.file = parts_file_of(p, f);
		consider_names(&choice, p);
	}
	if (choice.best && !choice.rivals)
		return choice.best->start;
	uint64_t entry = sym_scope_entry(image, f->offset);
	if (entry != UINT64_MAX)
		return entry;
	return choice.best ? choice.best->start : f->offset;
}

/* Whether the entry of a function, and not of a part, is at an address. */
static bool
entry_of_whole(struct st_image *image, uint64_t address)
{
	const struct st_function *f = NULL;
	/* What is in the table of symbols is in the complete one, too, which may not be needed. */
	if (image->functions.built)
		f = sym_table_find(&image->functions, address);
	if (!f || f->offset != address)
		f = sym_table_find(sym_all_functions(image), address);
	return f && f->offset == address && !sym_is_cold(f->raw_name);
}

uint64_t
sym_whole(struct st_image *image, const struct st_function *f)
{
	if (f->whole)
		return f->whole;
	if (f->source == ST_SYM_PLT || !sym_is_cold(f->raw_name))
		return f->offset;
	/* The result must be the entry of a function, and not of a part. */
	uint64_t entry = find_whole(image, f);
	return entry_of_whole(image, entry) ? entry : f->offset;
}

size_t
st_image_parts(struct st_image *image, const struct st_function *whole,
               const struct st_function **parts, size_t room)
{
	const struct sym_functions *table = sym_all_functions(image);
	size_t n = 0;
	for (size_t i = 0; i < table->n; i++) {
		const struct st_function *f = &table->v[i];
		if (f->offset == whole->offset || (!f->whole && !sym_is_cold(f->raw_name)))
			continue;
		f = st_image_function(image, f->offset);
		if (!f || f->whole != whole->offset)
			continue;
		if (n < room)
			parts[n] = f;
		n++;
	}
	return n;
}
