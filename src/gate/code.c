/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate/code.h"

#include <string.h>

#include "report/disassemble.h"
#include "symbol/symbol.h"

enum { MOST_CODE = 1 << 20 };

static struct st_image *
code_image(struct st_gate_images *images, const char *path)
{
	struct st_error e;
	for (size_t i = 0; i < images->v.n; i++)
		if (!strcmp(st_image_path(images->v.v[i]), path))
			return images->v.v[i];
	struct st_image *image = st_image_open(path, &e);
	struct st_image **slot = image ? ST_PUSH(&images->v) : NULL;
	if (slot)
		*slot = image;
	else if (image)
		st_image_close(image);
	return slot ? image : NULL;
}

/* Names an address by its target: a location in the function itself, another function, or data. */
static bool
code_name_address(const struct st_disassembler *d, uint64_t address, char *text)
{
	const struct st_gate_place *p = d->context;
	const struct st_function *f = st_image_function(d->image, address);
	if (address - p->offset < p->size)
		snprintf(text, ST_ADDRESS_TEXT, ".+%llu",
		         (unsigned long long)(address - p->offset));
	else if (f)
		snprintf(text, ST_ADDRESS_TEXT, "%.200s+%llu", f->name,
		         (unsigned long long)(address - f->offset));
	else
		snprintf(text, ST_ADDRESS_TEXT, "data");
	return true;
}

struct code_reader {
	struct st_disassembler d;
	unsigned char *bytes;
	size_t n, at;
	const struct st_gate_place *place;
};

static bool
code_open(struct code_reader *r, struct st_gate_images *images, const struct st_gate_place *p)
{
	struct st_image *image = code_image(images, p->path);
	*r = (struct code_reader){.place = p};
	if (!image || !p->size || p->size > MOST_CODE ||
	    (*p->build_id && strcmp(p->build_id, st_image_build_id(image)) != 0))
		return false;
	r->bytes = malloc(p->size);
	r->n = r->bytes ? st_image_bytes(image, p->offset, r->bytes, p->size) : 0;
	st_disassembler_init(&r->d, image);
	st_disassembler_name(&r->d, code_name_address, p);
	return r->n == p->size;
}

/* Disassembles the next instruction; false: there is none. */
static bool
code_next(struct code_reader *r, char *text)
{
	if (r->at >= r->n)
		return false;
	r->at += st_disassemble(&r->d, r->bytes + r->at, r->n - r->at, r->place->offset + r->at,
	                        text);
	return true;
}

static bool
code_is_equal(struct code_reader *a, struct code_reader *b)
{
	char x[ST_INSTRUCTION_TEXT], y[ST_INSTRUCTION_TEXT];
	for (;;) {
		const bool more_a = code_next(a, x), more_b = code_next(b, y);
		if (!more_a || !more_b)
			return more_a == more_b;
		if (strcmp(x, y) != 0)
			return false;
	}
}

enum st_gate_code
st_gate_compare_code(struct st_gate_images *images,
                     const struct st_gate_place places[ST_GATE_SIDES])
{
	const struct st_gate_place *p = places;
	struct code_reader r[ST_GATE_SIDES] = {0};
	if (*p[0].build_id && !strcmp(p[0].build_id, p[1].build_id))
		return p[0].offset == p[1].offset ? ST_GATE_CODE_SAME : ST_GATE_CODE_CHANGED;
	const bool open = code_open(&r[0], images, &p[0]) && code_open(&r[1], images, &p[1]);
	enum st_gate_code code = ST_GATE_CODE_UNKNOWN;
	if (open)
		code = code_is_equal(&r[0], &r[1]) ? ST_GATE_CODE_SAME : ST_GATE_CODE_CHANGED;
	free(r[0].bytes);
	free(r[1].bytes);
	return code;
}

void
st_gate_images_free(struct st_gate_images *images)
{
	for (size_t i = 0; i < images->v.n; i++)
		st_image_close(images->v.v[i]);
	free(images->v.v);
	*images = (struct st_gate_images){0};
}
