/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source lines. A unit's table is decoded once and kept as plain rows: the profile asks for every
 * block that ran. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/linetable.h"
#include "symbol/units.h"

static struct sym_row
row_of(Dwarf_Line *line)
{
	struct sym_row row = {0};
	Dwarf_Addr address = 0;
	bool end = false;
	int number = 0, column = 0;

	dwarf_lineaddr(line, &address);
	dwarf_lineendsequence(line, &end);
	row.address = address;
	if (end)
		return row;
	row.file = dwarf_linesrc(line, NULL, NULL);
	if (row.file && !strcmp(row.file, "???"))
		row.file = NULL;
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		row.line = (uint32_t)number;
	if (dwarf_linecol(line, &column) == 0 && column > 0)
		row.column = (uint32_t)column;
	return row;
}

/* libdw has ordered the lines by address, ends of sequences first; of several lines at one address
 * the last one holds. */
static void
lines_read_rows(struct sym_unit *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	unit->rows_read = true;
	if (dwarf_getsrclines(&unit->die, &lines, &n) != 0 || !n)
		return;
	unit->rows = calloc(n, sizeof *unit->rows);
	for (size_t i = 0; unit->rows && i < n; i++) {
		struct sym_row row = row_of(dwarf_onesrcline(lines, i));
		if (unit->rows_n && unit->rows[unit->rows_n - 1].address == row.address)
			unit->rows_n--;
		unit->rows[unit->rows_n++] = row;
	}
}

static const struct sym_row *
lines_find_row(const struct sym_unit *unit, uint64_t address)
{
	size_t low = 0, high = unit->rows_n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (unit->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && unit->rows[low - 1].file ? &unit->rows[low - 1] : NULL;
}

const char *
sym_absolute_path(struct st_image *image, struct sym_unit *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *directory;

	if (file[0] == '/')
		return file;
	for (size_t i = 0; i < unit->paths_n; i++)
		if (unit->paths[i].relative == file)
			return unit->paths[i].absolute;
	struct sym_path path = {.relative = file, .absolute = file};
	directory = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
	if (directory && *directory)
		path.absolute = sym_string_print(image, "%s/%s", directory, file);
	if (!path.absolute)
		return file;
	struct sym_path *v = sym_grow(unit->paths, unit->paths_n, &unit->paths_room, sizeof *v);
	if (!v)
		return path.absolute;
	unit->paths = v;
	v[unit->paths_n++] = path;
	return path.absolute;
}

struct question {
	struct st_image *image;
	uint64_t address;
	struct st_line *answer;
};

static bool
lines_answer(struct sym_unit *unit, void *context)
{
	struct question *question = context;
	if (!unit->rows_read)
		lines_read_rows(unit);
	const struct sym_row *row = lines_find_row(unit, question->address);
	if (!row)
		return false;
	*question->answer = (struct st_line){
	        .file = sym_absolute_path(question->image, unit, row->file),
	        .line = row->line,
	        .column = row->column,
	};
	return true;
}

st_status
st_image_line(struct st_image *image, uint64_t offset, struct st_line *line)
{
	struct sym_linetable *table = sym_linetable(image);
	*line = (struct st_line){0};
	if (table)
		return sym_linetable_find(image, table, offset, line);
	struct sym_units *units = sym_units(image);
	struct question question = {.image = image, .address = offset, .answer = line};
	return units && sym_units_at(units, offset, lines_answer, &question) ? 0 : -1;
}
