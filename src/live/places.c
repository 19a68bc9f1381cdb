/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels, which are addresses in one process, to places that processes have in common. */
#include "live/internal.h"

#include <stdio.h>

#include "collect/spans.h"
#include "profile/profile.h"

/* Under way in one process. */
struct finder {
	struct st_live *l;
	struct st_live_process *p;
	const struct st_view *v;
	struct st_span *spans; /* made when first needed */
};

static uint32_t
places_add_image(struct st_live *l, const char *path)
{
	struct st_live_image *new = ST_PUSH(&l->images);
	if (!new)
		return ST_LIVE_NONE;
	new->path = path ? strdup(path) : NULL;
	return (uint32_t)l->images.n - 1;
}

static uint32_t
image_of_path(struct st_live *l, const char *path)
{
	for (uint32_t i = 0; i < l->images.n; i++)
		if (l->images.v[i].path && !strcmp(l->images.v[i].path, path))
			return i;
	return places_add_image(l, path);
}

/* A copy, because the program may write there meanwhile. */
static void
places_read_path(const struct st_view *v, uint32_t map, char path[4096])
{
	uint32_t offset = v->maps[map].path;
	snprintf(path, 4096, "%.4095s", offset ? st_view_string(v, offset) : "");
}

static bool
is_in_memory(const char *path)
{
	static const char in_memory[] = "/memfd:";
	return !*path || !strncmp(path, in_memory, sizeof in_memory - 1);
}

static uint32_t
generated_of(struct finder *f)
{
	if (f->p->generated == ST_LIVE_NONE)
		f->p->generated = places_add_image(f->l, NULL);
	return f->p->generated;
}

static uint32_t
image_of_map(struct finder *f, uint32_t map)
{
	char path[4096];
	if (map < f->p->n_maps && f->p->images[map] != ST_LIVE_NONE)
		return f->p->images[map];
	places_read_path(f->v, map, path);
	uint32_t image = is_in_memory(path) ? generated_of(f) : image_of_path(f->l, path);
	if (map < f->p->n_maps)
		f->p->images[map] = image;
	return image;
}

/* Mappings are known from now on. */
static void
learn_maps(struct finder *f)
{
	uint32_t n = f->v->n_maps;
	uint32_t *more = n > f->p->n_maps ? reallocarray(f->p->images, n, sizeof *more) : NULL;
	if (!more)
		return;
	for (uint32_t i = f->p->n_maps; i < n; i++)
		more[i] = ST_LIVE_NONE;
	f->p->images = more;
	f->p->n_maps = n;
}

static int64_t
map_of_address(struct finder *f, uint64_t address)
{
	if (!f->spans)
		f->spans = st_spans_new(f->v);
	return f->spans ? st_spans_find(f->v, f->spans, address) : -1;
}

static uint32_t
place_in_map(struct finder *f, uint32_t map, uint64_t address)
{
	const struct st_map *m = &f->v->maps[map];
	uint32_t image = image_of_map(f, map);
	bool in_file = image != ST_LIVE_NONE && f->l->images.v[image].path;
	return st_live_item(&f->l->places, image,
	                    in_file ? m->pgoff + (address - m->start) : address);
}

static uint32_t
places_place_of(struct finder *f, uint64_t label)
{
	uint64_t address = label & ((1ul << ST_LABEL_ADDRESS_BITS) - 1);
	uint32_t map = label >> ST_LABEL_ADDRESS_BITS & ST_LABEL_MAPS;
	if (label & ST_LABEL_IS_BLOCK) {
		address = label & ((1ul << ST_BLOCK_ADDRESS_BITS) - 1);
		map = 0;
	}
	if (label >= ST_FIRST_PLACE && map && map <= f->v->n_maps)
		return place_in_map(f, map - 1, address);
	int64_t found = label < ST_FIRST_PLACE ? -1 : map_of_address(f, address);
	return found < 0 ? st_live_item(&f->l->places, ST_LIVE_NONE, address)
	                 : place_in_map(f, (uint32_t)found, address);
}

void
st_live_find_places(struct st_live *l, struct st_live_process *p, const struct st_view *v,
                    uint32_t first)
{
	struct finder f = {.l = l, .p = p, .v = v};
	learn_maps(&f);
	for (uint32_t i = first; i < v->n_labels; i++)
		p->places[i] =
		        places_place_of(&f, __atomic_load_n(&v->labels[i], __ATOMIC_RELAXED));
	free(f.spans);
}
