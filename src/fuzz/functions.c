/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/functions.h"

#include <stdlib.h>

#include "symbol/symbol.h"

struct st_fuzz_functions {
	const struct st_fuzz_places *places;
	ST_VEC(struct st_image *) images; /* NULL: cannot be read */
};

struct st_fuzz_functions *
st_fuzz_functions_new(const struct st_fuzz_places *places)
{
	struct st_fuzz_functions *f = calloc(1, sizeof *f);
	if (f)
		f->places = places;
	return f;
}

void
st_fuzz_functions_free(struct st_fuzz_functions *f)
{
	for (size_t i = 0; f && i < f->images.n; i++)
		if (f->images.v[i])
			st_image_close(f->images.v[i]);
	if (f)
		free(f->images.v);
	free(f);
}

static struct st_image *
fuzz_image_of(struct st_fuzz_functions *f, uint32_t number)
{
	struct st_error ignored; /* an image that cannot be read has unknown functions */
	while (f->images.n <= number) {
		struct st_image **new = ST_PUSH(&f->images);
		if (!new)
			return NULL;
		*new = st_image_open(f->places->images.v[f->images.n - 1], &ignored);
	}
	return f->images.v[number];
}

static const struct st_function *
function_of(struct st_fuzz_functions *f, const struct st_fuzz_place *p)
{
	struct st_image *image = fuzz_image_of(f, p->image);
	uint64_t offset = image ? st_image_offset_of_file(image, p->offset) : UINT64_MAX;
	return offset == UINT64_MAX ? NULL : st_image_function(image, offset);
}

const char *
st_fuzz_function_name(struct st_fuzz_functions *f, const struct st_fuzz_place *p)
{
	const struct st_function *function = function_of(f, p);
	return function ? function->name : "[unknown]";
}

static uint64_t
id_of_function(uint64_t entry, uint32_t image)
{
	return entry * 64 + image;
}

void
st_fuzz_path_function(struct st_fuzz_functions *f, uint32_t path, struct st_fuzz_hottest *out)
{
	const struct st_fuzz_place *p = &f->places->paths.v[path].function;
	const struct st_function *function = function_of(f, p);
	*out = (struct st_fuzz_hottest){
	        function ? function->name : "[unknown]", f->places->images.v[p->image], 1,
	        id_of_function(function ? function->whole : UINT64_MAX, p->image)};
}

/* More work in a function. */
struct growth {
	uint32_t image;
	uint64_t entry; /* UINT64_MAX: of no function */
	uint64_t more;
	const char *name;
};

struct growths {
	ST_VEC(struct growth) list;
	struct st_hashmap map;
	uint64_t all;
};

static st_status
add_growth(struct st_fuzz_functions *f, struct growths *g, uint32_t place, uint64_t more)
{
	const struct st_function *function = function_of(f, &f->places->list.v[place]);
	const uint64_t entry = function ? function->whole : UINT64_MAX;
	const uint32_t image = f->places->list.v[place].image,
	               hash = st_hash_number(entry * 64 + image);
	uint32_t found = ST_HASHMAP_FIND(
	        &g->map, hash, at, g->list.v[at].image == image && g->list.v[at].entry == entry);
	g->all += more;
	if (found == ST_HASHMAP_NONE) {
		struct growth *new = ST_PUSH(&g->list);
		if (!new || st_hashmap_add(&g->map, hash, (uint32_t)(g->list.n - 1)))
			return ST_FAILED;
		*new = (struct growth){image, entry, 0, function ? function->name : "[unknown]"};
		found = (uint32_t)(g->list.n - 1);
	}
	g->list.v[found].more += more;
	return ST_OK;
}

/* Both lists of counts are in the order of places. */
static st_status
add_growths(struct st_fuzz_functions *f, struct growths *g, const struct st_fuzz_execution *x,
            const struct st_fuzz_execution *before)
{
	size_t k = 0;
	for (size_t i = 0; i < x->counts.n; i++) {
		const struct st_fuzz_count *now = &x->counts.v[i];
		while (before && k < before->counts.n && before->counts.v[k].place < now->place)
			k++;
		uint64_t old =
		        before && k < before->counts.n && before->counts.v[k].place == now->place
		                ? before->counts.v[k].times
		                : 0;
		if (now->times > old && add_growth(f, g, now->place, now->times - old))
			return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_fuzz_hottest(struct st_fuzz_functions *f, const struct st_fuzz_execution *x,
                const struct st_fuzz_execution *before, struct st_fuzz_hottest *out)
{
	struct growths g = {0};
	const struct growth *most = NULL;
	st_status status = add_growths(f, &g, x, before);
	*out = (struct st_fuzz_hottest){.name = "[unknown]", .image = ""};
	for (size_t i = 0; i < g.list.n; i++)
		if (!most || g.list.v[i].more > most->more)
			most = &g.list.v[i];
	if (most && !status)
		*out = (struct st_fuzz_hottest){most->name, f->places->images.v[most->image],
		                                (double)most->more / (double)g.all,
		                                id_of_function(most->entry, most->image)};
	free(g.list.v);
	st_hashmap_free(&g.map);
	return status;
}
