/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The DWARF of an image, wherever it is. */
#include <dwarf.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/regular.h"
#include "symbol/internal.h"

bool
sym_has_dwarf(const struct sym_elf *file)
{
	return sym_elf_has_section(file, ".debug_info") ||
	       sym_elf_has_section(file, ".zdebug_info");
}

static bool
is_split(Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;
	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, NULL, NULL) == 0)
		if (type == DW_UT_skeleton)
			return true;
	return false;
}

/* libdw looks for .dwo files where they were compiled and, when it has the file itself, beside it.
 */
static Dwarf *
with_file(Dwarf *dwarf, const char *path)
{
	int fd = path ? st_open_regular(path) : -1;
	Dwarf *found = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	if (found && elf_cntl(dwarf_getelf(found), ELF_C_FDREAD) == 0) {
		dwarf_end(dwarf);
		dwarf = found;
	} else {
		dwarf_end(found);
	}
	if (fd >= 0)
		close(fd);
	return dwarf;
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
	if (image->dwarf && is_split(image->dwarf))
		image->dwarf = with_file(image->dwarf, file->path);
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
