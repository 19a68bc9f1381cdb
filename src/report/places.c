/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/places.h"

#include <stdlib.h>
#include <string.h>

st_status
st_places_open(struct st_places *places, const struct st_profile *profile)
{
	size_t n = profile->images.n;
	*places = (struct st_places){.profile = profile};
	places->opened = calloc(n ? n : 1, sizeof *places->opened);
	return places->opened ? 0 : -1;
}

void
st_places_close(struct st_places *places)
{
	for (size_t i = 0; places->opened && i < places->profile->images.n; i++)
		st_image_close(places->opened[i].image);
	free(places->opened);
}

static void
places_open_image(const struct st_profile_image *image, struct st_opened *opened)
{
	if (!strcmp(image->path, ST_ANON_IMAGE)) {
		st_cause(&opened->why, ST_EXIT_FAILED, "generated code is gone with the program");
		return;
	}
	opened->image = st_image_open(image->path, &opened->why);
	if (!opened->image || !strcmp(st_image_build_id(opened->image), image->build_id))
		return;
	st_cause(&opened->why, ST_EXIT_FAILED, "%s is not the file that ran (its build-id differs)",
	         image->path);
	st_image_close(opened->image);
	opened->image = NULL;
}

struct st_image *
st_places_image(struct st_places *places, uint32_t image, const char **why)
{
	struct st_opened *opened = &places->opened[image];
	if (!opened->tried)
		places_open_image(&places->profile->images.v[image], opened);
	opened->tried = true;
	if (why)
		*why = opened->why.text;
	return opened->image;
}

/* The profile's line, by the order of its array; SIZE_MAX: it has none such. */
static size_t
find_line(const struct st_profile *p, uint32_t function, const struct st_line *line)
{
	size_t low = 0, high = p->lines.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct st_profile_line *l = &p->lines.v[mid];
		int order = l->function != function ? (l->function < function ? -1 : 1)
		                                    : strcmp(l->file, line->file);
		if (order < 0 || (!order && l->line < line->line))
			low = mid + 1;
		else
			high = mid;
	}
	if (low == p->lines.n)
		return SIZE_MAX;
	const struct st_profile_line *l = &p->lines.v[low];
	return l->function == function && l->line == line->line && !strcmp(l->file, line->file)
	               ? low
	               : SIZE_MAX;
}

static void
places_add_block(const struct st_profile *p, struct st_image *image,
                 const struct st_profile_block *b, uint64_t *offsets)
{
	enum { LONGEST = 1 << 20 }; /* no engine makes longer ones, but anyone may make a file */
	struct st_line line, last = {0};
	if (b->bytes > LONGEST)
		return;
	for (uint64_t at = b->offset; at < b->offset + b->bytes; at++) {
		if (st_image_line(image, at, &line) || !line.file ||
		    (line.file == last.file && line.line == last.line))
			continue;
		size_t i = find_line(p, b->function, &line);
		if (i != SIZE_MAX && at < offsets[i])
			offsets[i] = at;
		last = line;
	}
}

void
st_places_of_lines(struct st_places *places, uint32_t function, uint64_t *offsets)
{
	const struct st_profile *p = places->profile;
	for (size_t i = 0; i < p->lines.n; i++)
		offsets[i] = UINT64_MAX;
	for (size_t i = 0; i < p->blocks.n; i++) {
		const struct st_profile_block *b = &p->blocks.v[i];
		if (function != UINT32_MAX && b->function != function)
			continue;
		struct st_image *image = st_places_image(places, b->image, NULL);
		if (image)
			places_add_block(p, image, b, offsets);
	}
}
