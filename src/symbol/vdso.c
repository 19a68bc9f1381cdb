/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The vdso: an ELF file that the kernel puts into every process and that lies on no disk. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "symbol/vdso.h"

/* Nothing tells its size: it is as long as what its headers speak of. */
static size_t
extent(const unsigned char *start)
{
	const Elf64_Ehdr *header = (const void *)start;
	const Elf64_Phdr *segments = (const void *)(start + header->e_phoff);
	size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	for (int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_offset + segments[i].p_filesz > end)
			end = segments[i].p_offset + segments[i].p_filesz;
	return end;
}

void *
sym_vdso_copy(size_t *size)
{
	const unsigned char *start = (const void *)getauxval(AT_SYSINFO_EHDR);
	if (!start)
		return NULL;
	*size = extent(start);
	void *copy = malloc(*size);
	return copy ? memcpy(copy, start, *size) : NULL;
}
