/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The disassembly of the hottest blocks, for the page: the images are rarely where it is read. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/basic_blocks.h"
#include "report/disassemble.h"
#include "report/json.h"
#include "report/page.h"
#include "report/places.h"

enum { MOST_BLOCKS = 3000, LONGEST = 4096 /* bytes of a block */ };

/* Texts of its instructions. NULL: no memory. */
static json_t *
instructions(struct st_image *image, const struct st_profile_block *b)
{
	unsigned char bytes[LONGEST];
	char text[ST_INSTRUCTION_TEXT];
	struct st_disassembler d;
	json_t *out = json_array();
	size_t n = st_image_bytes(image, b->offset, bytes, b->bytes < LONGEST ? b->bytes : LONGEST);
	int bad = 0;
	st_disassembler_init(&d, image);
	for (size_t at = 0; at < n && !bad;) {
		at += st_disassemble(&d, bytes + at, n - at, b->offset + at, text);
		bad = json_array_append_new(out, st_json_text(text));
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

/* The object of an image, by its path. */
static json_t *
object_of(json_t *out, const char *path)
{
	json_t *name = st_json_text(path), *found = NULL;
	if (name && !(found = json_object_get(out, json_string_value(name)))) {
		found = json_object();
		if (json_object_set_new(out, json_string_value(name), found))
			found = NULL;
	}
	json_decref(name);
	return found;
}

static int
page_code_add_block(json_t *out, struct st_places *places, const struct st_profile_block *b)
{
	char offset[24];
	struct st_image *image = st_places_image(places, b->image, NULL);
	if (!image)
		return 0;
	json_t *blocks = object_of(out, places->profile->images.v[b->image].path);
	snprintf(offset, sizeof offset, "%" PRIu64, b->offset);
	return json_object_set_new(blocks, offset, instructions(image, b));
}

json_t *
st_page_code(const struct st_profile *p, size_t most)
{
	most = most && most < MOST_BLOCKS ? most : MOST_BLOCKS;
	struct st_report r = {.profile = p, .top_parts = most};
	struct st_basic_blocks blocks;
	struct st_places places;
	json_t *out = json_object();
	int bad = st_basic_blocks_open(&blocks, &r) || st_places_open(&places, p);
	if (!bad) {
		for (size_t i = 0; i < blocks.hottest && !bad; i++)
			bad = page_code_add_block(out, &places, &blocks.v[blocks.order[i]]);
		st_places_close(&places);
	}
	st_basic_blocks_close(&blocks);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}
