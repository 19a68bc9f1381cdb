/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of places, looked up one at a time when they are shown. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "contexts/choice.h"
#include "live/internal.h"
#include "profile/profile.h"
#include "report/report.h"
#include "symbol/symbol.h"

void
st_live_free_names(struct st_live *l)
{
	for (size_t i = 0; i < l->names.n; i++)
		free(l->names.v[i]);
	for (size_t i = 0; i < l->images.n; i++)
		free(l->images.v[i].path);
	free(l->names.v);
	free(l->images.v);
	free(l->unknown);
}

/* False: not yet. */
static bool
names_open_image(const struct st_live *l, struct st_live_image *image, unsigned *files)
{
	if (image->tried || !image->path)
		return true;
	if (!*files)
		return false;
	--*files;
	image->tried = true;
	image->opened = l->open ? l->open(l->open_arg, image->path) : NULL;
	return true;
}

/* The function, or the one that it is a part of; *inside: bytes from its beginning. */
static const struct st_function *
function_at(const struct st_live_image *image, uint64_t at, int64_t *inside)
{
	uint64_t offset = image->opened ? st_image_offset_of_file(image->opened, at) : UINT64_MAX;
	const struct st_function *f =
	        offset == UINT64_MAX ? NULL : st_image_function(image->opened, offset);
	const struct st_function *whole =
	        f && f->whole != f->offset ? st_image_function(image->opened, f->whole) : NULL;
	if (whole)
		f = whole;
	*inside = f ? (int64_t)(offset - f->offset) : 0;
	return f;
}

/* Without arguments, which would take the place of what else is in the line. */
static char *
names_name_of(const struct st_live *l, const struct st_live_item *place)
{
	char *text = NULL;
	int64_t inside = 0;
	const struct st_live_image *image =
	        place->owner == ST_LIVE_NONE ? NULL : &l->images.v[place->owner];
	const struct st_function *f =
	        image && image->path ? function_at(image, place->at, &inside) : NULL;
	int done;
	if (!image && place->at < ST_FIRST_PLACE)
		done = asprintf(&text, "%s",
		                st_profile_label_name(&(struct st_profile_label){
		                        .image = UINT32_MAX, .offset = place->at}));
	else if (f && l->blocks)
		done = asprintf(&text, "%.*s%+" PRId64, (int)st_choice_plain(f->name), f->name,
		                inside);
	else if (f)
		done = asprintf(&text, "%.*s", (int)st_choice_plain(f->name), f->name);
	else
		done = asprintf(&text, "%s+0x%" PRIx64,
		                image && image->path ? st_base_name(image->path) : "[generated]",
		                place->at);
	return done < 0 ? NULL : text;
}

const char *
st_live_name(struct st_live *l, uint32_t place, unsigned *files)
{
	static char none[] = "?";
	const struct st_live_item *item = &l->places.all.v[place];
	while (l->names.n <= place)
		if (!ST_PUSH(&l->names))
			return none;
	char **name = &l->names.v[place];
	bool known = item->owner == ST_LIVE_NONE ||
	             names_open_image(l, &l->images.v[item->owner], files);
	if (known && !*name) {
		char *text = names_name_of(l, item);
		*name = text ? st_printable(text) : NULL;
		free(text);
	}
	if (known)
		return *name ? *name : none;
	free(l->unknown);
	return l->unknown = names_name_of(l, item);
}
