/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening files and memory through libelf. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/internal.h"

/* O_NONBLOCK: the open of a FIFO must not hang. */
static int
elf_open_path(const char *path)
{
	int fd;
	if (sym_held_open(path, &fd))
		return fd;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *meant = fd < 0 && strchr(path, '\\') ? st_image_path_of(path) : NULL;
	if (meant)
		fd = open(meant, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(meant);
	return fd;
}

static int
open_regular(const char *path, struct st_error *e)
{
	struct stat st;
	int fd = elf_open_path(path);
	if (fd < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return st_fail(e, ST_EXIT_FAILED, "%s is not a regular file, so it has no symbols",
		               path);
	}
	return fd;
}

st_status
sym_elf_open(struct sym_elf *file, const char *path, struct st_error *e)
{
	elf_version(EV_CURRENT);
	int fd = open_regular(path, e);
	if (fd < 0)
		return -1;
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	/* Mapped, or read now where it cannot be mapped: a run has hundreds of images, descriptors
	 * are fewer. */
	bool complete = elf && elf_cntl(elf, ELF_C_FDREAD) == 0;
	close(fd);
	if (!complete || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return st_fail(e, ST_EXIT_FAILED, "%s is not an ELF file", path);
	}
	char *copy = strdup(path);
	if (!copy) {
		elf_end(elf);
		return st_fail(e, ST_EXIT_FAILED, "out of memory while reading %s", path);
	}
	*file = (struct sym_elf){.elf = elf, .path = copy};
	return 0;
}

/* What is in a file, with huge pages for large ones; NULL: it cannot be read, or is too large to be
 * kept. */
static void *
read_whole(int fd, size_t size)
{
	const size_t huge = 2 << 20, largest = 256 << 20;
	size_t step = size < 2 * huge ? 4096 : huge;
	if (size > largest)
		return NULL;
	char *memory = aligned_alloc(step, (size + step) / step * step);
	if (memory && step == huge)
		madvise(memory, (size + step) / step * step, MADV_HUGEPAGE);
	for (size_t done = 0; memory && done < size;) {
		ssize_t n = read(fd, memory + done, size - done);
		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		free(memory);
		memory = NULL;
	}
	return memory;
}

st_status
sym_elf_copy(struct sym_elf *file, const char *path, struct st_error *e)
{
	struct stat st;
	int fd = open_regular(path, e);
	if (fd < 0)
		return -1;
	void *memory =
	        fstat(fd, &st) == 0 && st.st_size > 0 ? read_whole(fd, (size_t)st.st_size) : NULL;
	close(fd);
	if (!memory)
		return st_fail(e, ST_EXIT_FAILED, "%s cannot be read into memory", path);
	char *copy = strdup(path);
	if (!copy || sym_elf_from_memory(file, memory, (size_t)st.st_size) != 0) {
		if (!copy)
			free(memory);
		free(copy);
		return st_fail(e, ST_EXIT_FAILED, "%s is not an ELF file", path);
	}
	file->path = copy;
	return 0;
}

st_status
sym_elf_from_memory(struct sym_elf *file, void *memory, size_t size)
{
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory(memory, size);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		free(memory);
		return -1;
	}
	*file = (struct sym_elf){.elf = elf, .memory = memory};
	return 0;
}

void
sym_elf_close(struct sym_elf *file)
{
	elf_end(file->elf);
	free(file->memory);
	free(file->path);
	*file = (struct sym_elf){0};
}

Elf_Scn *
sym_elf_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		const char *found;
		if (gelf_getshdr(s, header) && (found = elf_strptr(elf, names, header->sh_name)) &&
		    !strcmp(found, name))
			return s;
	}
	return NULL;
}

Elf_Scn *
sym_elf_section_of_type(Elf *elf, uint32_t type, GElf_Shdr *header)
{
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
		if (gelf_getshdr(s, header) && header->sh_type == type)
			return s;
	return NULL;
}

bool
sym_elf_has_section(const struct sym_elf *file, const char *name)
{
	GElf_Shdr header;
	return file->elf && sym_elf_section(file->elf, name, &header) &&
	       header.sh_type != SHT_NOBITS && header.sh_size > 0;
}

Elf_Data *
sym_elf_content(Elf_Scn *section)
{
	GElf_Shdr header;
	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
		return NULL;
	if ((header.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0)
		return NULL;
	Elf_Data *data = elf_getdata(section, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}
