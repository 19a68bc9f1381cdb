/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The DWARF of an image, wherever it is. */
#include <unistd.h>

#include "symbol/internal.h"

bool
sym_has_dwarf(const struct sym_elf *file)
{
	return sym_elf_has_section(file, ".debug_info") ||
	       sym_elf_has_section(file, ".zdebug_info");
}

Dwarf *
sym_dwarf(struct st_image *image)
{
	if (image->dwarf_sought)
		return image->dwarf;
	image->dwarf_sought = true;
	const struct sym_elf *file = &image->main;
	if (!sym_has_dwarf(file))
		file = sym_debug_file(image);
	if (!sym_has_dwarf(file))
		return NULL;
	image->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (image->dwarf)
		sym_set_alternate(image, image->dwarf, file->path);
	return image->dwarf;
}

void
sym_dwarf_close(struct st_image *image)
{
	dwarf_end(image->dwarf);
	if (!image->alternate)
		return;
	dwarf_end(image->alternate);
	close(image->alternate_fd);
}
