/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which compilation unit holds which addresses. */
#include <dwarf.h>
#include <stdlib.h>

#include "symbol/declarations.h"
#include "symbol/scopes.h"

static st_status
add_range(struct sym_units *units, uint64_t start, uint64_t end)
{
	struct sym_unit_range *v =
	        sym_grow(units->ranges, units->ranges_n, &units->ranges_room, sizeof *v);
	if (!v)
		return -1;
	units->ranges = v;
	v[units->ranges_n++] =
	        (struct sym_unit_range){.start = start, .end = end, .unit = units->n - 1};
	return 0;
}

/* Functions that the linker dropped still have ranges, at 0 or another place without code. */
static st_status
add_unit(struct st_image *image, struct sym_units *units, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	struct sym_unit *v = sym_grow(units->v, units->n, &units->room, sizeof *v);
	if (!v)
		return -1;
	units->v = v;
	v[units->n++] = (struct sym_unit){.die = *die};
	for (ptrdiff_t next = 0; (next = dwarf_ranges(die, next, &base, &start, &end)) > 0;)
		if (start < end && sym_ranges_find(&image->code, start) &&
		    add_range(units, start, end) != 0)
			return -1;
	return 0;
}

static int
units_by_start(const void *a, const void *b)
{
	const struct sym_unit_range *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static void
units_read_units(struct st_image *image, struct sym_units *units, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    add_unit(image, units, &die) != 0)
			break;
	if (units->ranges_n)
		qsort(units->ranges, units->ranges_n, sizeof *units->ranges, units_by_start);
	uint64_t reach = 0;
	for (size_t i = 0; i < units->ranges_n; i++) {
		if (units->ranges[i].end > reach)
			reach = units->ranges[i].end;
		units->ranges[i].reach = reach;
	}
}

struct sym_units *
sym_units(struct st_image *image)
{
	Dwarf *dwarf = image->units ? NULL : sym_dwarf(image);
	if (!dwarf)
		return image->units;
	image->units = calloc(1, sizeof *image->units);
	if (image->units)
		units_read_units(image, image->units, dwarf);
	return image->units;
}

void
sym_units_free(struct sym_units *units)
{
	if (!units)
		return;
	for (size_t i = 0; i < units->n; i++) {
		free(units->v[i].rows);
		free(units->v[i].paths);
		sym_scopes_free(units->v[i].scopes);
		sym_declarations_free(units->v[i].declarations);
	}
	free(units->v);
	free(units->ranges);
	free(units);
}

bool
sym_units_at(struct sym_units *units, uint64_t address,
             bool (*use)(struct sym_unit *unit, void *context), void *context)
{
	size_t low = 0, high = units->ranges_n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (units->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 0 && units->ranges[--low].reach > address)
		if (units->ranges[low].end > address &&
		    use(&units->v[units->ranges[low].unit], context))
			return true;
	return false;
}

bool
sym_entry_of(Dwarf_Die *die, uint64_t *entry)
{
	Dwarf_Addr base, start, end;
	if (dwarf_entrypc(die, &start) != 0 && dwarf_ranges(die, 0, &base, &start, &end) <= 0)
		return false;
	*entry = start;
	return true;
}
