/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions of one result are which of another, for the page: it compares by numbers and
 * matches nothing itself.
 *
 * Each function of a result, in its table or in its trees of contexts, gets a number of the result
 * as `id`. `matches` of the page has for each pair of results, a before b, the ids of a's functions
 * by the ids of b's (-1: a does not have it), and the paths of a's images by those of b's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "check/match.h"
#include "report/json.h"
#include "report/page.h"

struct result {
	ST_VEC(struct st_match_function) functions; /* by id */
	ST_VEC(struct st_match_image) images;
	struct st_hashmap ids, image_ids;
	bool out_of_memory;
};

/* ---- functions and images of a result, each once ---- */

static uint32_t
page_match_image_of(struct result *r, const char *path, const char *build_id, bool is_program)
{
	uint32_t hash = st_hash_text(path);
	uint32_t found =
	        ST_HASHMAP_FIND(&r->image_ids, hash, i, !strcmp(r->images.v[i].path, path));
	if (found != ST_HASHMAP_NONE)
		return found;
	struct st_match_image *image = ST_PUSH(&r->images);
	if (!image || st_hashmap_add(&r->image_ids, hash, (uint32_t)r->images.n - 1)) {
		r->out_of_memory = true;
		return ST_NO_IMAGE;
	}
	*image = (struct st_match_image){path, build_id ? build_id : "", is_program};
	return (uint32_t)r->images.n - 1;
}

/* A path that two builds have had says nothing of the build. */
static void
list_images(struct result *r, const json_t *images)
{
	for (size_t i = 0; i < json_array_size(images); i++) {
		const json_t *image = json_array_get(images, i);
		const char *path = json_string_value(json_object_get(image, "path"));
		const char *build_id = json_string_value(json_object_get(image, "build_id"));
		const bool is_program = json_is_true(json_object_get(image, "program"));
		size_t n = r->images.n;
		uint32_t id =
		        path ? page_match_image_of(r, path, build_id, is_program) : ST_NO_IMAGE;
		if (id < n && strcmp(r->images.v[id].build_id, build_id ? build_id : "") != 0)
			r->images.v[id].build_id = "";
	}
}

/* The name of a block is that of its function and how far into it the block begins. */
static int64_t
inside_of(const char *name, const char *function)
{
	return name && function ? strtoll(name + strlen(function), NULL, 10) : 0;
}

static struct st_match_function
page_match_function_of(struct result *r, const json_t *in)
{
	const char *path = json_string_value(json_object_get(in, "image"));
	const char *name = json_string_value(json_object_get(in, "name"));
	const char *function = json_string_value(json_object_get(in, "function"));
	if (function && (!name || strncmp(name, function, strlen(function)) != 0))
		function = NULL;
	struct st_match_function f = {
	        .name = function ? function : name,
	        .file = json_string_value(json_object_get(in, "file")),
	        .image = path ? page_match_image_of(r, path, NULL, false) : ST_NO_IMAGE,
	        .offset = (uint64_t)json_integer_value(json_object_get(in, "offset")),
	        .inside = inside_of(name, function)};
	if (f.name && !st_match_is_name(f.name, path, f.offset - (uint64_t)f.inside))
		f.name = NULL;
	return f;
}

static bool
page_match_is_function(const struct st_match_function *a, const struct st_match_function *b)
{
	return a->image == b->image && a->offset == b->offset && a->inside == b->inside &&
	       !a->name == !b->name && (!a->name || !strcmp(a->name, b->name));
}

/* The same function may come several times, with its file or without. */
static void
page_match_add_function(struct result *r, json_t *in)
{
	struct st_match_function f = page_match_function_of(r, in);
	uint32_t hash = st_hash_numbers(f.name ? st_hash_text(f.name) : 0, f.offset);
	uint32_t id =
	        ST_HASHMAP_FIND(&r->ids, hash, i, page_match_is_function(&r->functions.v[i], &f));
	if (id == ST_HASHMAP_NONE) {
		struct st_match_function *slot = ST_PUSH(&r->functions);
		id = (uint32_t)r->functions.n - 1;
		if (!slot || st_hashmap_add(&r->ids, hash, id)) {
			r->out_of_memory = true;
			return;
		}
		*slot = f;
	} else if (!r->functions.v[id].file)
		r->functions.v[id].file = f.file;
	r->out_of_memory |= json_object_set_new(in, "id", json_integer(id)) != 0;
}

/* Trees are as deep as the reader of JSON lets them be. */
static void
add_trees(struct result *r, const json_t *trees)
{
	for (size_t i = 0; i < json_array_size(trees); i++) {
		json_t *node = json_array_get(trees, i);
		page_match_add_function(r, node);
		add_trees(r, json_object_get(node, "children"));
	}
}

static void
page_match_add_threads(struct result *r, const json_t *threads)
{
	for (size_t i = 0; i < json_array_size(threads); i++) {
		const json_t *thread = json_array_get(threads, i);
		const json_t *functions = json_object_get(thread, "functions");
		add_trees(r, json_object_get(thread, "ksf"));
		for (size_t k = 0; k < json_array_size(functions); k++)
			page_match_add_function(r, json_array_get(functions, k));
		page_match_add_threads(r, functions);
	}
}

static void
read_result(struct result *r, const json_t *entry)
{
	const json_t *result = json_object_get(entry, "result");
	const json_t *paths = json_object_get(entry, "paths");
	const json_t *functions = json_object_get(result, "functions");
	list_images(r, json_object_get(result, "images"));
	for (size_t i = 0; i < json_array_size(functions); i++)
		if (json_is_object(json_array_get(functions, i)))
			page_match_add_function(r, json_array_get(functions, i));
	page_match_add_threads(r, json_object_get(paths ? paths : result, "threads"));
}

static void
free_results(struct result *results, size_t n)
{
	for (size_t i = 0; results && i < n; i++) {
		free(results[i].functions.v);
		free(results[i].images.v);
		st_hashmap_free(&results[i].ids);
		st_hashmap_free(&results[i].image_ids);
	}
	free(results);
}

/* ---- pairs of results ---- */

/* By number the index of that which has it on a side, UINT32_MAX: none; of several the first. */
static uint32_t *
by_number(const uint32_t *numbers, size_t n, size_t n_numbers)
{
	uint32_t *index = malloc((n_numbers + 1) * sizeof *index);
	if (!index)
		return NULL;
	memset(index, 0xff, (n_numbers + 1) * sizeof *index);
	for (size_t i = n; i-- > 0;)
		index[numbers[i]] = (uint32_t)i;
	return index;
}

static json_t *
page_match_functions_json(const struct st_match *m, const struct result *a, const struct result *b)
{
	uint32_t *of_a = by_number(m->function[ST_A], a->functions.n, m->n_functions);
	json_t *out = json_array();
	int bad = !of_a;
	for (size_t i = 0; i < b->functions.n && !bad; i++) {
		uint32_t id = of_a[m->function[ST_B][i]];
		bad = json_array_append_new(out,
		                            json_integer(id == UINT32_MAX ? -1 : (json_int_t)id));
	}
	free(of_a);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
images_json(const struct st_match *m, const struct result *a, const struct result *b)
{
	uint32_t *of_a = by_number(m->image[ST_A], a->images.n, m->n_images);
	json_t *out = json_object();
	int bad = !of_a;
	for (size_t i = 0; i < b->images.n && !bad; i++) {
		uint32_t index = of_a[m->image[ST_B][i]];
		if (index != UINT32_MAX)
			bad = json_object_set_new(out, b->images.v[i].path,
			                          st_json_text(a->images.v[index].path));
	}
	free(of_a);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
page_match_pair_json(const struct result *results, size_t a, size_t b)
{
	struct st_match m;
	struct st_match_side sides[ST_SIDES];
	json_t *out = NULL;
	for (int side = 0; side < ST_SIDES; side++) {
		const struct result *r = &results[side == ST_A ? a : b];
		sides[side] = (struct st_match_side){r->images.v, r->images.n, r->functions.v,
		                                     r->functions.n};
	}
	if (!st_match_make(&m, sides))
		out = json_pack("{s:I, s:I, s:o, s:o}", "a", (json_int_t)a, "b", (json_int_t)b,
		                "functions",
		                page_match_functions_json(&m, &results[a], &results[b]), "images",
		                images_json(&m, &results[a], &results[b]));
	st_match_free(&m);
	return out;
}

static json_t *
pairs_json(const struct result *results, size_t n)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t b = 1; b < n; b++)
		for (size_t a = 0; a < b && !bad; a++)
			bad = json_array_append_new(out, page_match_pair_json(results, a, b));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

int
st_page_match(json_t *page)
{
	const json_t *entries = json_object_get(page, "results");
	size_t n = json_array_size(entries);
	struct result *results = calloc(n + 1, sizeof *results);
	int bad = !results;
	for (size_t i = 0; i < n && n > 1 && !bad; i++) {
		read_result(&results[i], json_array_get(entries, i));
		bad = results[i].out_of_memory;
	}
	if (!bad)
		bad = json_object_set_new(page, "matches", pairs_json(results, n));
	free_results(results, n);
	return bad;
}
