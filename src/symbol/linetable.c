/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/linetable.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "symbol/lineprogram.h"

struct unit {
	struct sym_line_header header;
	const char **paths; /* by file, those that were asked for */
	uint32_t n_paths;
};

/* Rows between two addresses, from one place of a program on; decoded when first asked for. */
struct sequence {
	uint64_t start, end;
	uint64_t reach; /* the largest end of this and of all before it */
	const uint8_t *program;
	struct sym_line_state *rows;
	size_t n_rows;
	uint32_t unit;
	bool read;
};

struct sym_linetable {
	struct unit *units;
	size_t n_units, room_units;
	struct sequence *sequences;
	size_t n_sequences, room_sequences;
	struct sym_line_strings strings;
};

static st_status
add_sequence(struct sym_linetable *t, const struct sequence *s)
{
	struct sequence *v = sym_grow(t->sequences, t->n_sequences, &t->room_sequences, sizeof *v);
	if (!v)
		return -1;
	t->sequences = v;
	v[t->n_sequences++] = *s;
	return 0;
}

/* Where the sequences of the unit begin and end. Those of functions that the linker dropped begin
 * where there is no code. */
static st_status
index_unit(struct st_image *image, struct sym_linetable *t)
{
	const struct sym_line_header *h = &t->units[t->n_units - 1].header;
	struct sym_bytes program = h->program;
	struct sym_line_state state;
	struct sequence s = {.unit = (uint32_t)t->n_units - 1, .program = program.at};
	bool first = true;
	sym_line_start(&state);
	for (enum sym_line_event e; (e = sym_line_next(h, &program, &state)) != SYM_LINE_END;) {
		if (first)
			s.start = state.address;
		first = false;
		if (e != SYM_LINE_END_SEQUENCE)
			continue;
		s.end = state.address;
		if (s.start < s.end && sym_ranges_find(&image->code, s.start) &&
		    add_sequence(t, &s) != 0)
			return -1;
		s.program = program.at;
		first = true;
		sym_line_start(&state);
	}
	return 0;
}

static st_status
linetable_read_units(struct st_image *image, struct sym_linetable *t, const Elf_Data *section)
{
	struct sym_bytes bytes = {section->d_buf, (uint8_t *)section->d_buf + section->d_size,
	                          false};
	struct sym_line_header h;
	while (sym_line_unit(&bytes, &h)) {
		struct unit *v = sym_grow(t->units, t->n_units, &t->room_units, sizeof *v);
		if (!v)
			return -1;
		t->units = v;
		v[t->n_units++] = (struct unit){.header = h};
		if (index_unit(image, t) != 0)
			return -1;
	}
	return bytes.bad ? -1 : 0;
}

static int
linetable_by_start(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->program < y->program ? -1 : x->program > y->program;
}

static void
linetable_order(struct sym_linetable *t)
{
	uint64_t reach = 0;
	st_order(t->sequences, t->n_sequences, sizeof *t->sequences, linetable_by_start);
	for (size_t i = 0; i < t->n_sequences; i++) {
		if (t->sequences[i].end > reach)
			reach = t->sequences[i].end;
		t->sequences[i].reach = reach;
	}
}

static const Elf_Data *
content(Elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = sym_elf_section(elf, name, &header);
	return section ? sym_elf_content(section) : NULL;
}

static struct sym_linetable *
linetable_read_table(struct st_image *image)
{
	const struct sym_elf *file =
	        sym_has_dwarf(&image->main) ? &image->main : sym_debug_file(image);
	const Elf_Data *lines = file->elf ? content(file->elf, ".debug_line") : NULL;
	struct sym_linetable *t = lines ? calloc(1, sizeof *t) : NULL;
	if (!t)
		return NULL;
	if (linetable_read_units(image, t, lines) != 0) {
		sym_linetable_free(t);
		return NULL;
	}
	const Elf_Data *strings = content(file->elf, ".debug_line_str");
	if (strings) {
		t->strings.line_str = strings->d_buf;
		t->strings.line_str_size = strings->d_size;
	}
	strings = content(file->elf, ".debug_str");
	if (strings) {
		t->strings.str = strings->d_buf;
		t->strings.str_size = strings->d_size;
	}
	linetable_order(t);
	return t;
}

struct sym_linetable *
sym_linetable(struct st_image *image)
{
	if (!image->lines_sought)
		image->lines = linetable_read_table(image);
	image->lines_sought = true;
	return image->lines;
}

void
sym_linetable_free(struct sym_linetable *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_units; i++)
		free(t->units[i].paths);
	for (size_t i = 0; i < t->n_sequences; i++)
		free(t->sequences[i].rows);
	free(t->units);
	free(t->sequences);
	free(t);
}

/* Of several rows at one address the last one holds. */
static void
linetable_read_rows(const struct sym_linetable *t, struct sequence *s)
{
	const struct sym_line_header *h = &t->units[s->unit].header;
	struct sym_bytes program = {s->program, h->program.end, false};
	struct sym_line_state state;
	size_t room = 0;
	s->read = true;
	sym_line_start(&state);
	while (sym_line_next(h, &program, &state) == SYM_LINE_ROW) {
		if (s->n_rows && s->rows[s->n_rows - 1].address == state.address)
			s->n_rows--;
		struct sym_line_state *v = sym_grow(s->rows, s->n_rows, &room, sizeof *v);
		if (!v)
			return;
		s->rows = v;
		v[s->n_rows++] = state;
	}
}

static const struct sym_line_state *
linetable_find_row(const struct sequence *s, uint64_t address)
{
	size_t low = 0, high = s->n_rows;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->rows[low - 1] : NULL;
}

/* Directory 0 is the compilation directory: what is relative is relative to it. */
static const char *
make_path(struct st_image *image, const struct sym_linetable *t, const struct unit *u,
          uint32_t file)
{
	uint64_t directory, none;
	const char *name =
	        sym_line_name(&u->header, u->header.files, file, &t->strings, &directory);
	if (!name || *name == '/')
		return name;
	const char *root = sym_line_name(&u->header, u->header.directories, 0, &t->strings, &none);
	const char *folder =
	        sym_line_name(&u->header, u->header.directories, directory, &t->strings, &none);
	if (!folder || !root)
		return name;
	if (*folder == '/' || directory == 0)
		return sym_string_print(image, "%s/%s", folder, name);
	return sym_string_print(image, "%s/%s/%s", root, folder, name);
}

static const char *
linetable_path_of(struct st_image *image, struct sym_linetable *t, uint32_t unit, uint32_t file)
{
	struct unit *u = &t->units[unit];
	enum { MOST_FILES = 1 << 20 };
	if (file >= MOST_FILES)
		return NULL;
	if (file >= u->n_paths) {
		const char **v = reallocarray(u->paths, file + 8, sizeof *v);
		if (!v)
			return NULL;
		memset(v + u->n_paths, 0, (file + 8 - u->n_paths) * sizeof *v);
		u->paths = v;
		u->n_paths = file + 8;
	}
	if (!u->paths[file])
		u->paths[file] = make_path(image, t, u, file);
	return u->paths[file];
}

/* The number of sequences that begin at an address or before it. */
static size_t
linetable_count_until(const struct sym_linetable *t, uint64_t address)
{
	size_t low = 0, high = t->n_sequences;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->sequences[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *
sym_linetable_file(struct st_image *image, struct sym_linetable *t, uint64_t address, uint32_t file)
{
	size_t low = linetable_count_until(t, address);
	while (low > 0 && t->sequences[--low].reach > address)
		if (t->sequences[low].end > address)
			return linetable_path_of(image, t, t->sequences[low].unit, file);
	return NULL;
}

st_status
sym_linetable_find(struct st_image *image, struct sym_linetable *t, uint64_t address,
                   struct st_line *line)
{
	size_t low = linetable_count_until(t, address);
	while (low > 0 && t->sequences[--low].reach > address) {
		struct sequence *s = &t->sequences[low];
		if (s->end <= address)
			continue;
		if (!s->read)
			linetable_read_rows(t, s);
		const struct sym_line_state *row = linetable_find_row(s, address);
		const char *path = row ? linetable_path_of(image, t, s->unit, row->file) : NULL;
		if (!path)
			continue;
		*line = (struct st_line){path, row->line, row->column};
		return 0;
	}
	return -1;
}
