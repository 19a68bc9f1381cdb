/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mem/images.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

struct st_alloc_area *
st_mem_area(struct st_probes *probes)
{
	struct st_probe_area *a = probes->process.area;
	if (!a)
		return NULL;
	if (!a->allocations) {
		const uint64_t at = __atomic_fetch_add(
		        &a->used, (sizeof(struct st_alloc_area) + 7) & ~7ull, __ATOMIC_RELAXED);
		struct st_alloc_area *mem = (void *)((char *)a + at);
		mem->n_nodes = ST_ALLOC_FIRST_NODE;
		mem->n_contexts = 1;
		__atomic_store_n(&a->allocations, (uint32_t)(at / 8), __ATOMIC_RELEASE);
	}
	return (void *)((char *)a + (uint64_t)a->allocations * 8);
}

/* ---- unwind information ---- */

/* Where the file has .eh_frame_hdr, and the segment around that, or around out->lone, by its
 * program headers. */
static void
find_unwind_information(const char *path, uint64_t bias, struct st_alloc_image *out)
{
	Elf64_Ehdr h;
	Elf64_Phdr segments[64] = {0};
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : pread(fd, &h, sizeof h, 0);
	const size_t n =
	        got == (ssize_t)sizeof h && h.e_phentsize == sizeof *segments ? h.e_phnum : 0;
	got = n && n <= 64 ? pread(fd, segments, n * sizeof *segments, (off_t)h.e_phoff) : -1;
	if (fd >= 0)
		close(fd);
	if (got != (ssize_t)(n * sizeof *segments))
		return;
	for (size_t i = 0; i < n; i++)
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			out->frames = segments[i].p_vaddr;
	const uint64_t information = out->frames ? out->frames : out->lone;
	for (size_t i = 0; i < n && information; i++)
		if (segments[i].p_type == PT_LOAD &&
		    information - segments[i].p_vaddr < segments[i].p_filesz) {
			out->low = bias + segments[i].p_vaddr;
			out->high = out->low + segments[i].p_filesz;
		}
	out->frames = out->high && out->frames ? out->frames + bias : 0;
	out->lone += bias;
	out->lone_end += bias;
}

/* An earlier image at these addresses is gone. */
static void
tell_of_image(struct st_alloc_area *a, const struct st_probed_image *image)
{
	struct st_alloc_image new = {.from = image->from, .to = image->to};
	uint64_t bytes = 0;
	if (st_image_lone_frames(image->image, &new.lone, &bytes))
		new.lone_end = new.lone + bytes;
	find_unwind_information(image->path, image->bias, &new);
	for (uint32_t i = 0; i < a->n_images; i++)
		if (a->images[i].from < new.to &&new.from < a->images[i].to)
			a->images[i].to = 0;
	if (a->n_images == ST_ALLOC_IMAGES)
		return;
	a->images[a->n_images] = new;
	__atomic_store_n(&a->n_images, a->n_images + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&a->version, a->version + 1, __ATOMIC_RELEASE);
}

/* ---- allocation functions ---- */

static const struct known {
	const char *name;
	enum st_alloc_kind kind;
} known[] = {
#define K(kind, name) {name, ST_ALLOC_##kind},
        ST_ALLOC_FUNCTIONS(K)
#undef K
};

struct finding {
	struct st_mem_images *images;
	const struct known *of;
};

static bool
note_allocation_function(const struct st_symbol *symbol, void *arg)
{
	const struct finding *f = arg;
	struct st_mem_images *images = f->images;
	if (strcmp(symbol->raw_name, f->of->name) || symbol->untyped || symbol->ifunc ||
	    symbol->source == ST_SYM_PLT)
		return true;
	for (size_t i = 0; i < images->functions.n; i++)
		if (images->functions.v[i].offset == symbol->start)
			return true;
	struct st_mem_function *to = ST_PUSH(&images->functions);
	uint64_t *offset = ST_PUSH(&images->offsets);
	if (!to || !offset) {
		images->out_of_memory = true;
		return false;
	}
	*to = (struct st_mem_function){symbol->start, f->of->kind};
	*offset = symbol->start;
	images->n_found++;
	return true;
}

void
st_mem_mapped(void *arg, const struct st_probed_image *image)
{
	struct st_mem_images *images = arg;
	struct st_alloc_area *a = st_mem_area(images->probes);
	images->functions.n = images->offsets.n = 0;
	if (a)
		tell_of_image(a, image);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct finding f = {images, &known[i]};
		if (st_image_defines(image->image, known[i].name) &&
		    st_image_match(image->image, known[i].name, note_allocation_function, &f))
			images->out_of_memory = true;
	}
}

size_t
st_mem_wanted(void *arg, const struct st_probed_image *image, const uint64_t **offsets)
{
	const struct st_mem_images *images = arg;
	(void)image;
	*offsets = images->offsets.v;
	return images->offsets.n;
}

struct st_probe_action
st_mem_choose(void *arg, const struct st_probed_image *image, const struct st_function *f)
{
	const struct st_mem_images *images = arg;
	(void)image;
	for (size_t i = 0; i < images->functions.n; i++)
		if (images->functions.v[i].offset == f->offset)
			return (struct st_probe_action){ST_PROBE_ALLOC,
			                                images->functions.v[i].kind};
	return (struct st_probe_action){ST_PROBE_NOTHING, 0};
}

void
st_mem_images_free(struct st_mem_images *images)
{
	free(images->functions.v);
	free(images->offsets.v);
}
