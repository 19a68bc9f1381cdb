/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elf_text.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
fail(const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	return false;
}

static bool
each_section(const char *path, const uint8_t *map, size_t size,
             void (*fn)(const char *, const uint8_t *, size_t, void *), void *arg)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)map;
	bool any = false;

	if (size < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_machine != EM_X86_64)
		return fail(path, "not an x86-64 ELF file");
	if (eh->e_shoff > size || eh->e_shentsize != sizeof(Elf64_Shdr) ||
	    eh->e_shnum > (size - eh->e_shoff) / sizeof(Elf64_Shdr))
		return fail(path, "its section headers are out of bounds");
	for (unsigned i = 0; i < eh->e_shnum; i++) {
		Elf64_Shdr sh;

		memcpy(&sh, map + eh->e_shoff + i * sizeof(sh), sizeof(sh));
		if (!(sh.sh_flags & SHF_EXECINSTR) || sh.sh_type != SHT_PROGBITS)
			continue;
		if (sh.sh_offset > size || sh.sh_size > size - sh.sh_offset)
			return fail(path, "a section is out of bounds");
		fn(path, map + sh.sh_offset, sh.sh_size, arg);
		any = true;
	}
	return any || fail(path, "has no executable section");
}

bool
elf_each_text(const char *path, void (*fn)(const char *path, const uint8_t *p, size_t n, void *arg),
              void *arg)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *map;
	bool ok;

	if (fd < 0)
		return fail(path, "cannot be opened");
	if (fstat(fd, &st) < 0 || st.st_size == 0) {
		close(fd);
		return fail(path, "is empty");
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return fail(path, "cannot be mapped");
	ok = each_section(path, map, (size_t)st.st_size, fn, arg);
	munmap(map, (size_t)st.st_size);
	return ok;
}
