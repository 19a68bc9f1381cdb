/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images of the program's code, and the rules of places, which are kept until mappings change. */
#include "rt/maps.h"
#include "rt/program.h"
#include "rt/tool/tool.h"
#include "rt/unwind/unwind.h"

enum { MOST_IMAGES = 64, KEPT_ROWS = 1024, MOST_SEGMENTS = 64, MOST_MADE = 16 };
enum { LOAD = 1, EH_FRAME = 0x6474e550, EXECUTABLE = 1, POSITION_INDEPENDENT = 3 };

/* As in elf.h. */
struct elf_header {
	uint8_t magic[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, segments, sections;
	uint32_t flags;
	uint16_t bytes, segment_bytes, n_segments, others[3];
};
struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_bytes, bytes, alignment;
};

static struct {
	struct unwind_image images[MOST_IMAGES];
	uint32_t n_images, version;
	struct made {
		uint32_t map;
		struct cfi_table table;
	} made[MOST_MADE];
	uint32_t n_made;
	struct kept {
		uint64_t pc; /* 0: none */
		bool found;
		struct cfi_row row;
	} * rows;
} known;

bool
cfi_read(void *to, uint64_t from, size_t bytes)
{
	return rt_copy_guarded(to, (const void *)from, bytes) == 0;
}

void
unwind_forget(void)
{
	known.n_images = known.n_made = 0;
}

/* Forgets mappings that are gone. */
static bool
images_begin(void)
{
	if (known.rows && known.version == maps_version())
		return true;
	if (!known.rows)
		known.rows = rt_map_table(KEPT_ROWS * sizeof *known.rows);
	for (uint32_t i = 0; known.rows && i < KEPT_ROWS; i++)
		known.rows[i].pc = 0;
	known.n_images = 0;
	known.version = maps_version();
	return known.rows != NULL;
}

static bool
image_is_elf(const struct elf_header *h)
{
	static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1};
	return memcmp(h->magic, magic, sizeof magic) == 0 &&
	       h->segment_bytes == sizeof(struct elf_segment) && h->n_segments <= MOST_SEGMENTS;
}

/* Takes what the header says; false when the code at pc is none of its. */
static bool
take_header(struct unwind_image *image, uint64_t at, uint64_t pc)
{
	struct elf_header h;
	struct elf_segment s;
	uint64_t base = 0, table = 0;
	bool has_base = false, has_code = false;
	if (!cfi_read(&h, at, sizeof h) || !image_is_elf(&h))
		return false;
	for (unsigned i = 0; i < h.n_segments; i++) {
		if (!cfi_read(&s, at + h.segments + i * sizeof s, sizeof s))
			return false;
		if (s.type == LOAD && !has_base) { /* the first has the header */
			base = at + s.offset - s.address;
			has_base = true;
		}
		has_code |= s.type == LOAD && s.flags & EXECUTABLE && has_base &&
		            pc - (base + s.address) < s.bytes;
		if (s.type == EH_FRAME)
			table = s.address;
	}
	if (!has_code)
		return false;
	image->begin = h.entry ? base + h.entry : 0;
	if (table)
		cfi_open(&image->table, base + table);
	return true;
}

static uint64_t
image_offset(const struct map *m)
{
	const struct st_map *maps =
	        (const void *)((const char *)rt.results + rt.results->layout.off_maps);
	return maps[m->index].pgoff + (m->start - maps[m->index].start);
}

/* The controller says where .eh_frame is, when no table leads to it. What is made of it stays. */
static void
make_table(struct cfi_table *table, uint32_t map)
{
	uint64_t from, end;
	struct cfi_table none;
	for (uint32_t i = 0; i < known.n_made; i++)
		if (known.made[i].map == map)
			*table = known.made[i].table;
	if (table->n || known.n_made == MOST_MADE || !entries_frames(map, &from, &end))
		return;
	uint32_t n = cfi_make(&none, from, end, NULL, 0);
	struct cfi_entry *entries = n ? rt_map_table(n * sizeof *entries) : NULL;
	if (!entries)
		return;
	cfi_make(table, from, end, entries, n);
	known.made[known.n_made++] = (struct made){map, *table};
}

const struct unwind_image *
unwind_image_at(uint64_t pc)
{
	if (!images_begin())
		return NULL;
	for (uint32_t i = 0; i < known.n_images; i++)
		if (pc - known.images[i].start < known.images[i].end - known.images[i].start)
			return &known.images[i];
	const struct map *m = maps_find(pc);
	if (!m)
		return NULL;
	struct unwind_image *image = &known.images[known.n_images % MOST_IMAGES];
	if (known.n_images < MOST_IMAGES)
		known.n_images++;
	*image = (struct unwind_image){.start = m->start, .end = m->end};
	/* Most images are as far from beginning to end in memory as in their file. */
	if (!m->anonymous && !take_header(image, m->start - image_offset(m), pc))
		take_header(image, maps_header(pc), pc);
	if (!image->table.n)
		make_table(&image->table, m->index);
	return image;
}

const struct cfi_row *
unwind_row_at(uint64_t pc)
{
	if (!images_begin())
		return NULL;
	struct kept *k = &known.rows[(pc * 0x9e3779b97f4a7c15ull >> 32) % KEPT_ROWS];
	if (k->pc != pc) {
		const struct unwind_image *image = unwind_image_at(pc);
		k->found = image && cfi_find(&image->table, pc, &k->row);
		k->pc = pc;
	}
	return k->found ? &k->row : NULL;
}
