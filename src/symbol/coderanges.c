/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers the questions of code that changes code: all of it in ranges, the unwind information of
 * each, and which data may hold addresses of code. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbol/internal.h"

/* Everything that ends a range, and how far each list has been followed. */
struct dividing {
	struct st_image *image;
	const struct sym_functions *functions;
	struct sym_ranges frames, inner, signals;
	size_t next_function, next_frame;
	ST_VEC(struct st_code_range) out;
};

static bool
starts_range(const struct sym_ranges *list, uint64_t start)
{
	const struct sym_range *r = sym_ranges_find(list, start);
	return r && r->start == start;
}

static uint8_t
frame_of(const struct dividing *d, const struct sym_range *frame, uint64_t at)
{
	if (!frame)
		return ST_FRAME_NONE;
	if (frame->start != at)
		return ST_FRAME_GOES_ON;
	if (starts_range(&d->signals, at))
		return ST_FRAME_SIGNAL;
	return starts_range(&d->inner, at) ? ST_FRAME_INNER : ST_FRAME_ENTRY;
}

/* The next place from `at` on where one of the list begins or ends. The one around `at` is in *in.
 */
static uint64_t
coderanges_next_frame(struct dividing *d, uint64_t at, const struct sym_range **in)
{
	while (d->next_frame < d->frames.n && d->frames.v[d->next_frame].end <= at)
		d->next_frame++;
	const struct sym_range *r =
	        d->next_frame < d->frames.n ? &d->frames.v[d->next_frame] : NULL;
	*in = r && r->start <= at ? r : NULL;
	return !r ? UINT64_MAX : *in ? r->end : r->start;
}

static uint64_t
coderanges_next_function(struct dividing *d, uint64_t at, const struct st_function **in)
{
	const struct st_function *v = d->functions->v;
	while (d->next_function < d->functions->n &&
	       v[d->next_function].offset + v[d->next_function].size <= at)
		d->next_function++;
	const struct st_function *f =
	        d->next_function < d->functions->n ? &v[d->next_function] : NULL;
	*in = f && f->offset <= at ? f : NULL;
	return !f ? UINT64_MAX : *in ? f->offset + f->size : f->offset;
}

static bool
coderanges_divide(struct dividing *d, const struct sym_range *section)
{
	for (uint64_t at = section->start, end; at < section->end; at = end) {
		const struct sym_range *frame;
		const struct st_function *f;
		uint64_t a = coderanges_next_frame(d, at, &frame),
		         b = coderanges_next_function(d, at, &f);
		end = a < b ? a : b;
		end = end < section->end ? end : section->end;
		struct st_code_range *r = ST_PUSH(&d->out);
		if (!r)
			return false;
		*r = (struct st_code_range){.start = at,
		                            .end = end,
		                            .function = f ? f->offset : 0,
		                            .frame = frame_of(d, frame, at)};
	}
	return true;
}

size_t
st_image_code_ranges(struct st_image *image, struct st_code_range **out, bool *has_frames)
{
	struct dividing d = {.image = image, .functions = sym_all_functions(image)};
	bool whole = true;
	sym_read_ehframe(image, &d.frames, &d.inner, &d.signals);
	for (size_t i = 0; whole && i < image->code.n; i++)
		whole = coderanges_divide(&d, &image->code.v[i]);
	*has_frames = d.frames.n > 0;
	sym_ranges_free(&d.frames);
	sym_ranges_free(&d.inner);
	sym_ranges_free(&d.signals);
	if (whole && d.out.n) {
		*out = d.out.v;
		return d.out.n;
	}
	free(d.out.v);
	*out = NULL;
	return 0;
}

static int
coderanges_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

size_t
st_image_resolvers(struct st_image *image, uint64_t **out)
{
	const struct sym_candidates *list = &sym_symbols(image)->symbols;
	ST_VEC(uint64_t) found = {0};
	size_t n;
	const struct st_slot *slots = st_image_slots(image, &n);
	for (size_t i = 0; i < list->n; i++) {
		uint64_t *v = list->v[i].ifunc ? ST_PUSH(&found) : NULL;
		if (v)
			*v = list->v[i].start;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t *v = slots[i].resolver ? ST_PUSH(&found) : NULL;
		if (v)
			*v = slots[i].resolver;
	}
	if (found.n)
		qsort(found.v, found.n, sizeof *found.v, coderanges_order);
	*out = found.v;
	return found.n;
}

size_t
st_image_labels(struct st_image *image, uint64_t **out)
{
	const struct sym_sources *sources = sym_symbols(image);
	ST_VEC(uint64_t) found = {0};
	for (size_t i = 0; i < sources->labels.n; i++) {
		uint64_t *v = ST_PUSH(&found);
		if (v)
			*v = sources->labels.v[i].start;
	}
	for (size_t i = 0; i < sources->symbols.n; i++) {
		bool label = sources->symbols.v[i].rank == SYM_LABEL;
		uint64_t *v = label ? ST_PUSH(&found) : NULL;
		if (v)
			*v = sources->symbols.v[i].start;
	}
	if (found.n)
		qsort(found.v, found.n, sizeof *found.v, coderanges_order);
	*out = found.v;
	return found.n;
}

bool
st_image_defines(struct st_image *image, const char *raw_name)
{
	const struct sym_candidates *list = &sym_symbols(image)->symbols;
	size_t n = strlen(raw_name);
	for (size_t i = 0; i < list->n; i++) {
		const char *name = list->v[i].name;
		if (!strncmp(name, raw_name, n) && (!name[n] || name[n] == '@'))
			return true;
	}
	return false;
}

bool
st_image_has_section(const struct st_image *image, const char *name)
{
	return sym_elf_has_section(&image->main, name);
}

static bool
coderanges_is_code(const struct st_image *image, uint64_t address)
{
	return sym_ranges_find(&image->code, address) != NULL;
}

static void
use_addends(struct st_image *image, Elf_Data *data, void (*use)(void *context, uint64_t address),
            void *context)
{
	GElf_Rela rela;
	size_t n = data->d_size / sizeof(Elf64_Rela);
	for (size_t i = 0; i < n && gelf_getrela(data, (int)i, &rela); i++)
		if (GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE &&
		    coderanges_is_code(image, (uint64_t)rela.r_addend))
			use(context, (uint64_t)rela.r_addend);
}

static void
use_words(struct st_image *image, Elf_Data *data, void (*use)(void *context, uint64_t address),
          void *context)
{
	for (size_t i = 0; i + 8 <= data->d_size; i += 8) {
		uint64_t word;
		memcpy(&word, (const char *)data->d_buf + i, sizeof word);
		if (word && coderanges_is_code(image, word))
			use(context, word);
	}
}

bool
st_image_is_fixed(const struct st_image *image)
{
	GElf_Ehdr header;
	return gelf_getehdr(image->main.elf, &header) && header.e_type == ET_EXEC;
}

/* Words of a file that can be loaded anywhere are no addresses, unless packed relocations say so.
 */
static bool
words_are_addresses(const struct st_image *image)
{
	return st_image_is_fixed(image) || sym_elf_has_section(&image->main, ".relr.dyn");
}

void
st_image_code_addresses(struct st_image *image, void (*use)(void *context, uint64_t address),
                        void *context)
{
	GElf_Shdr header;
	bool words = words_are_addresses(image);
	for (Elf_Scn *s = NULL; (s = elf_nextscn(image->main.elf, s));) {
		if (!gelf_getshdr(s, &header) || !(header.sh_flags & SHF_ALLOC) ||
		    header.sh_flags & SHF_EXECINSTR)
			continue;
		if (header.sh_type != SHT_RELA && header.sh_type != SHT_PROGBITS)
			continue;
		Elf_Data *data = sym_elf_content(s);
		if (!data || !data->d_buf)
			continue;
		if (header.sh_type == SHT_RELA)
			use_addends(image, data, use, context);
		else if (words)
			use_words(image, data, use, context);
	}
}
