/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images of two profiles: the rules are in match.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/match.h"

/* The name by which a rule knows an image. */
struct image_key {
	const char *text;
	size_t n; /* bytes; 0: the rule does not know it */
};

struct image_entry {
	struct image_key key;
	uint32_t side, index;
};

static struct image_key
key_by_build(const struct st_match_image *image)
{
	return (struct image_key){image->build_id, strlen(image->build_id)};
}

static struct image_key
key_by_role(const struct st_match_image *image)
{
	static const char role[] = "program";
	return (struct image_key){role, image->is_program ? sizeof role - 1 : 0};
}

static struct image_key
key_by_file(const struct st_match_image *image)
{
	const char *name = st_base_name(image->path);
	return (struct image_key){name, strlen(name)};
}

/* Up to the first number after ".so.". */
static struct image_key
key_by_library(const struct st_match_image *image)
{
	const char *name = st_base_name(image->path), *so = strstr(name, ".so.");
	if (!so || !isdigit((unsigned char)so[4]))
		return (struct image_key){name, 0};
	return (struct image_key){name, (size_t)(so + 4 - name) + strspn(so + 4, "0123456789")};
}

static int
compare_image_keys(const struct image_key *a, const struct image_key *b)
{
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return memcmp(a->text, b->text, a->n);
}

static int
compare_image_entries(const void *a, const void *b)
{
	const struct image_entry *x = a, *y = b;
	int order = compare_image_keys(&x->key, &y->key);
	if (order)
		return order;
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Entries of one key are one image when both sides have some. */
static void
number_equal_images(struct st_match *m, const struct image_entry *entries, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && !compare_image_keys(&entries[i].key, &entries[end].key);)
			end++;
		if (!entries[i].key.n || entries[i].side == entries[end - 1].side)
			continue;
		for (size_t k = i; k < end; k++)
			m->image[entries[k].side][entries[k].index] = (uint32_t)m->n_images;
		m->n_images++;
	}
}

static size_t
list_unmatched_images(const struct st_match *m, const struct st_match_side sides[ST_SIDES],
                      struct image_key (*key)(const struct st_match_image *),
                      struct image_entry *entries)
{
	size_t n = 0;
	for (uint32_t side = 0; side < ST_SIDES; side++)
		for (uint32_t i = 0; i < sides[side].n_images; i++)
			if (m->image[side][i] == UINT32_MAX)
				entries[n++] =
				        (struct image_entry){key(&sides[side].images[i]), side, i};
	return n;
}

static void
number_unmatched_images(struct st_match *m, const struct st_match_side sides[ST_SIDES])
{
	for (int side = 0; side < ST_SIDES; side++)
		for (size_t i = 0; i < sides[side].n_images; i++)
			if (m->image[side][i] == UINT32_MAX)
				m->image[side][i] = (uint32_t)m->n_images++;
}

st_status
st_match_images(struct st_match *m, const struct st_match_side sides[ST_SIDES])
{
	static struct image_key (*const rules[])(const struct st_match_image *) = {
	        key_by_build, key_by_role, key_by_file, key_by_library};
	size_t all = sides[ST_A].n_images + sides[ST_B].n_images;
	struct image_entry *entries = malloc((all + 1) * sizeof *entries);
	for (int side = 0; side < ST_SIDES; side++) {
		size_t bytes = (sides[side].n_images + 1) * sizeof *m->image[side];
		m->image[side] = malloc(bytes);
		if (m->image[side])
			memset(m->image[side], 0xff, bytes);
	}
	if (!entries || !m->image[ST_A] || !m->image[ST_B]) {
		free(entries);
		return ST_FAILED;
	}
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		size_t n = list_unmatched_images(m, sides, rules[i], entries);
		qsort(entries, n, sizeof *entries, compare_image_entries);
		number_equal_images(m, entries, n);
	}
	number_unmatched_images(m, sides);
	free(entries);
	return ST_OK;
}
