/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/contexts_lists.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

static bool
is_listed(const struct st_context_label *l)
{
	return l->count && !l->root;
}

static void
contexts_lists_describe(const struct st_contexts *c, struct st_listed_function *f)
{
	const struct st_context_label *l = &c->labels[f->label];
	if (l->in_function == UINT32_MAX) {
		f->offset = l->offset;
		return;
	}
	const struct st_profile_function *in = &c->profile->functions.v[l->in_function];
	f->offset = in->offset;
	f->file = in->file;
	f->line = in->line;
}

static void
contexts_lists_add_label(const struct st_contexts *c, struct st_listed_function *f, uint32_t label)
{
	const struct st_context_label *l = &c->labels[label];
	if (l->offset == f->offset) {
		f->count = l->count;
		f->file = l->file;
		f->line = l->line;
		f->column = l->column;
	}
	if (c->mode == ST_CONTEXT_FUNC) {
		f->instructions = l->instructions;
		f->measured = c->with_instructions;
		return;
	}
	f->blocks++;
	f->instructions += l->count * l->insns;
	f->measured &= l->insns != 0;
}

static st_status
list_functions(struct st_context_lists *l)
{
	const struct st_contexts *c = l->c;
	uint32_t *number = calloc(c->n_labels + 1, sizeof *number);
	for (uint32_t i = 0; number && i < c->n_labels; i++) {
		uint32_t *known = &number[c->labels[i].function];
		if (!is_listed(&c->labels[i]))
			continue;
		if (!*known) {
			struct st_listed_function *f = ST_PUSH(&l->functions);
			if (!f)
				break;
			*known = (uint32_t)l->functions.n;
			f->label = i;
			f->measured = true;
			contexts_lists_describe(c, f);
		}
		contexts_lists_add_label(c, &l->functions.v[*known - 1], i);
	}
	free(number);
	return number ? 0 : -1;
}

uint32_t
st_lists_block(const struct st_contexts *c, uint32_t i)
{
	while (i < c->n_labels && !is_listed(&c->labels[i]))
		i++;
	return i;
}

st_status
st_lists_open(struct st_context_lists *l, const struct st_contexts *c, bool braces)
{
	*l = (struct st_context_lists){.c = c, .image = UINT32_MAX, .braces = braces};
	return st_places_open(&l->places, c->profile) || list_functions(l) ? -1 : 0;
}

void
st_lists_close(struct st_context_lists *l)
{
	st_places_close(&l->places);
	free(l->functions.v);
}

/* ---- code ---- */

/* The label of a block that begins there; NULL: none does. */
static const struct st_context_label *
find_block(const struct st_context_lists *l, uint64_t offset)
{
	const struct st_contexts *c = l->c;
	size_t low = 0, high = c->mode == ST_CONTEXT_FUNC ? 0 : c->n_labels;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct st_context_label *at = &c->labels[mid];
		bool before =
		        at->in_image != l->image ? at->in_image < l->image : at->offset < offset;
		if (before)
			low = mid + 1;
		else
			high = mid;
	}
	const struct st_context_label *found = low < c->n_labels ? &c->labels[low] : NULL;
	return found && c->mode != ST_CONTEXT_FUNC && found->in_image == l->image &&
	                       found->offset == offset && is_listed(found)
	               ? found
	               : NULL;
}

/* A function by its name, as calls and jumps reach it, a block by its own, and what is neither by
 * the function around it. */
static bool
name_address(const struct st_disassembler *d, uint64_t address, char *text)
{
	const struct st_context_lists *l = d->context;
	const struct st_function *f = st_image_function(d->image, address);
	const struct st_context_label *block = find_block(l, address);
	const int most = ST_ADDRESS_TEXT - 64;
	if (f && f->offset == address && f->whole == address)
		snprintf(text, ST_ADDRESS_TEXT, "%.*s", most, f->name);
	else if (block && l->braces)
		snprintf(text, ST_ADDRESS_TEXT, "{%.*s%+" PRId64 " at %" PRIu32 ",%" PRIu32 "}",
		         most, block->name, block->inside, block->line, block->column);
	else if (block)
		snprintf(text, ST_ADDRESS_TEXT, "%.*s%+" PRId64, most, block->name, block->inside);
	else if (f)
		snprintf(text, ST_ADDRESS_TEXT, "%.*s+%" PRIu64, most, f->name,
		         address - f->offset);
	return f || block;
}

static struct st_image *
contexts_lists_open_image(struct st_context_lists *l, uint32_t index, const char **why)
{
	struct st_image *image = st_places_image(&l->places, index, why);
	if (image && l->image != index) {
		l->image = index;
		st_disassembler_init(&l->code, image);
		st_disassembler_name(&l->code, name_address, l);
	}
	return image;
}

struct writer {
	struct st_context_lists *l;
	struct st_image *image;
	st_insn_writer *write;
	void *context;
	bool begun;
};

/* Whether there was any code. */
static bool
write_range(struct writer *w, uint64_t offset, uint64_t length, const char *part)
{
	enum { MOST = 16 << 20 };
	char text[ST_INSTRUCTION_TEXT];
	size_t size = length < MOST ? (size_t)length : MOST;
	unsigned char *bytes = malloc(size + 1);
	size = bytes ? st_image_bytes(w->image, offset, bytes, size) : 0;
	for (size_t at = 0; at < size;) {
		size_t n = st_disassemble(&w->l->code, bytes + at, size - at, offset + at, text);
		const struct st_listed_insn in = {offset + at, at, text, at ? NULL : part,
		                                  !w->begun};
		w->write(w->context, &in);
		w->begun = true;
		at += n;
	}
	free(bytes);
	return size != 0;
}

const char *
st_lists_block_code(struct st_context_lists *l, uint32_t label, st_insn_writer *write,
                    void *context)
{
	const struct st_context_label *block = &l->c->labels[label];
	const char *why = "it belongs to no image";
	struct writer w = {.l = l, .write = write, .context = context};
	if (block->in_image != UINT32_MAX)
		w.image = contexts_lists_open_image(l, block->in_image, &why);
	if (!w.image)
		return why;
	if (!block->bytes)
		return "the profile does not say how long its blocks are";
	return write_range(&w, block->offset, block->bytes, NULL) ? NULL
	                                                          : "the file has no code there";
}

const char *
st_lists_function_code(struct st_context_lists *l, const struct st_listed_function *f,
                       st_insn_writer *write, void *context)
{
	uint32_t index = l->c->labels[f->label].in_image;
	const struct st_function *parts[16];
	const char *why = "it belongs to no image";
	struct writer w = {.l = l, .write = write, .context = context};
	if (index != UINT32_MAX)
		w.image = contexts_lists_open_image(l, index, &why);
	if (!w.image)
		return why;
	const struct st_function *in = st_image_function(w.image, f->offset);
	if (!in || in->offset != f->offset)
		return "its size is not known";
	if (!write_range(&w, in->offset, in->size, NULL))
		return "the file has no code there";
	size_t n = st_image_parts(w.image, in, parts, sizeof parts / sizeof *parts);
	for (size_t i = 0; i < n && i < sizeof parts / sizeof *parts; i++)
		write_range(&w, parts[i]->offset, parts[i]->size, parts[i]->name);
	return NULL;
}
