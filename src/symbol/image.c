/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening and closing images; addresses and bytes by the program headers. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/sum.h"
#include "symbol/linetable.h"
#include "symbol/typeread.h"
#include "symbol/units.h"
#include "symbol/vdso.h"

static st_status
image_check_header(const struct st_image *image, struct st_error *e)
{
	GElf_Ehdr header;
	if (!gelf_getehdr(image->main.elf, &header))
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s is damaged: its ELF header cannot be read; copy or build it again",
		        image->path);
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is an ELF file for another machine, strobe reads 64-bit x86-64",
		               image->path);
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is an ELF file, but neither a program nor a shared library",
		               image->path);
	return 0;
}

/* The PT_LOAD header number *i or the next one; *i goes behind it. */
static bool
next_load(const struct st_image *image, size_t *i, GElf_Phdr *segment)
{
	size_t n;
	if (elf_getphdrnum(image->main.elf, &n) != 0)
		return false;
	while (*i < n)
		if (gelf_getphdr(image->main.elf, (int)(*i)++, segment) &&
		    segment->p_type == PT_LOAD)
			return true;
	return false;
}

static st_status
check_segments(const struct st_image *image, struct st_error *e)
{
	size_t size = 0, loads = 0, i = 0;
	GElf_Phdr segment;

	if (!elf_rawfile(image->main.elf, &size))
		return st_fail(e, ST_EXIT_FAILED, "%s cannot be read: %s", image->path,
		               elf_errmsg(-1));
	for (; next_load(image, &i, &segment); loads++)
		if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
			return st_fail(e, ST_EXIT_FAILED,
			               "%s is damaged: it ends before its segments do; copy or "
			               "build it again",
			               image->path);
	if (!loads)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is damaged or no program: it has no segment to load; copy or "
		               "build it again",
		               image->path);
	return 0;
}

static uint64_t
image_end_of(uint64_t start, uint64_t size)
{
	return size > UINT64_MAX - start ? UINT64_MAX : start + size;
}

static void
find_code(struct st_image *image)
{
	GElf_Shdr header;
	GElf_Phdr segment;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(image->main.elf, s));)
		if (gelf_getshdr(s, &header) && (header.sh_flags & SHF_EXECINSTR) &&
		    (header.sh_flags & SHF_ALLOC))
			ST_IGNORE(sym_ranges_add(&image->code, header.sh_addr,
			                         image_end_of(header.sh_addr, header.sh_size)));
	sym_ranges_settle(&image->code);
	for (size_t i = 0; !image->code.n && next_load(image, &i, &segment);)
		if (segment.p_flags & PF_X)
			ST_IGNORE(sym_ranges_add(&image->code, segment.p_vaddr,
			                         image_end_of(segment.p_vaddr, segment.p_filesz)));
	sym_ranges_settle(&image->code);
}

/* The checksum of the whole content, for a file that nobody gave a build-id. */
static char *
content_id(const struct st_image *image)
{
	size_t size;
	char *content = elf_rawfile(image->main.elf, &size), *id;
	if (!content)
		return NULL;
	uLong crc = crc32_z(crc32(0, NULL, 0), (const void *)content, size);
	return asprintf(&id, "crc32:%08lx-%zu", crc, size) < 0 ? NULL : id;
}

static st_status
open_main(struct st_image *image, struct st_error *e)
{
	size_t size;
	if (strcmp(image->path, "[vdso]") != 0)
		return image->copied ? sym_elf_copy(&image->main, image->path, e)
		                     : sym_elf_open(&image->main, image->path, e);
	void *copy = sym_vdso_copy(&size);
	if (!copy || sym_elf_from_memory(&image->main, copy, size) != 0)
		return st_fail(e, ST_EXIT_FAILED, "this kernel gives processes no vDSO to read");
	return 0;
}

static st_status
image_open_image(struct st_image *image, struct st_error *e)
{
	if (open_main(image, e) != 0 || image_check_header(image, e) != 0 ||
	    check_segments(image, e) != 0)
		return -1;
	find_code(image);
	image->build_id = sym_build_id(image->main.elf);
	if (!image->build_id)
		image->build_id = content_id(image);
	return image->build_id
	               ? 0
	               : st_fail(e, ST_EXIT_FAILED, "out of memory while reading %s", image->path);
}

static struct st_image *
open_any(const char *path, bool copied, struct st_error *e)
{
	struct st_image *image = calloc(1, sizeof *image);
	if (image)
		image->path = strdup(path);
	if (!image || !image->path) {
		free(image);
		st_cause(e, ST_EXIT_FAILED, "out of memory while reading %s", path);
		return NULL;
	}
	image->copied = copied;
	if (image_open_image(image, e) == 0)
		return image;
	st_image_close(image);
	return NULL;
}

struct st_image *
st_image_open(const char *path, struct st_error *e)
{
	return open_any(path, false, e);
}

struct st_image *
st_image_copy(const char *path, struct st_error *e)
{
	return open_any(path, true, e);
}

void
st_image_close(struct st_image *image)
{
	if (!image)
		return;
	sym_unwind_free(image);
	sym_types_free(image->types);
	sym_linetable_free(image->lines);
	sym_units_free(image->units);
	sym_dwarf_close(image);
	sym_elf_close(&image->mini);
	sym_elf_close(&image->debug);
	sym_elf_close(&image->main);
	sym_ranges_free(&image->code);
	sym_table_free(&image->functions);
	sym_table_free(&image->complete);
	free(image->names.v);
	free(image->slots);
	sym_parts_free(image->parts);
	sym_symbols_free(image);
	sym_strings_free(image);
	free(image->build_id);
	free(image->path);
	free(image);
}

const char *
st_image_path(const struct st_image *image)
{
	return image->path;
}

const char *
st_image_build_id(const struct st_image *image)
{
	return image->build_id;
}

const char *
st_image_quality(struct st_image *image)
{
	const struct sym_elf *debug = sym_debug_file(image);
	if (sym_has_dwarf(&image->main) || sym_has_dwarf(debug))
		return "full";
	if (sym_elf_has_section(&image->main, ".symtab") || sym_elf_has_section(debug, ".symtab") ||
	    sym_mini_file(image)->elf)
		return "symbols";
	return "stripped";
}

uint64_t
st_image_offset_of_file(const struct st_image *image, uint64_t file_offset)
{
	GElf_Phdr segment;
	for (size_t i = 0; next_load(image, &i, &segment);)
		if (file_offset >= segment.p_offset &&
		    file_offset - segment.p_offset < segment.p_filesz)
			return segment.p_vaddr + (file_offset - segment.p_offset);
	return UINT64_MAX;
}

uint64_t
st_image_file_offset(const struct st_image *image, uint64_t offset)
{
	GElf_Phdr segment;
	for (size_t i = 0; next_load(image, &i, &segment);)
		if (offset >= segment.p_vaddr && offset - segment.p_vaddr < segment.p_filesz)
			return segment.p_offset + (offset - segment.p_vaddr);
	return UINT64_MAX;
}

uint64_t
st_image_code_end(const struct st_image *image)
{
	uint64_t end = 0;
	GElf_Phdr segment;
	for (size_t i = 0; next_load(image, &i, &segment);) {
		uint64_t behind = image_end_of(segment.p_offset, segment.p_filesz);
		if (segment.p_flags & PF_X && behind > end)
			end = behind;
	}
	return end;
}

uint64_t
st_image_offset_of_code(const struct st_image *image, uint64_t file_offset)
{
	const uint64_t page = 4096;
	GElf_Phdr segment;
	for (size_t i = 0; next_load(image, &i, &segment);) {
		uint64_t skipped = segment.p_offset % page, begin = segment.p_offset - skipped;
		if (segment.p_flags & PF_X && file_offset >= begin &&
		    file_offset - begin < skipped + segment.p_filesz)
			return segment.p_vaddr - skipped + (file_offset - begin);
	}
	return UINT64_MAX;
}

uint64_t
st_image_sum(struct st_image *image, uint64_t pgoff, uint64_t n)
{
	size_t size = 0;
	const char *content = elf_rawfile(image->main.elf, &size);
	if (!content || pgoff > size)
		return 0;
	return st_sum((const uint8_t *)content + pgoff, size - pgoff < n ? size - pgoff : n, n);
}

const uint8_t *
sym_image_code(const struct st_image *image, uint64_t offset, uint64_t n)
{
	size_t size;
	const char *content = elf_rawfile(image->main.elf, &size);
	GElf_Phdr segment;
	for (size_t i = 0; content && next_load(image, &i, &segment);) {
		uint64_t skip = offset - segment.p_vaddr;
		if (offset >= segment.p_vaddr && skip < segment.p_filesz)
			return n <= segment.p_filesz - skip
			               ? (const uint8_t *)content + segment.p_offset + skip
			               : NULL;
	}
	return NULL;
}

size_t
st_image_bytes(struct st_image *image, uint64_t offset, void *out, size_t n)
{
	size_t size, done = 0;
	const char *content = elf_rawfile(image->main.elf, &size);
	GElf_Phdr segment;

	/* The bytes may go on in the segment that follows: then the search starts again for the
	 * rest. */
	if (n > UINT64_MAX - offset)
		n = UINT64_MAX - offset;
	for (size_t i = 0; content && done < n && next_load(image, &i, &segment);) {
		uint64_t skip = offset + done - segment.p_vaddr;
		if (offset + done < segment.p_vaddr || skip >= segment.p_filesz)
			continue;
		size_t there = segment.p_filesz - skip;
		size_t part = there < n - done ? there : n - done;
		memcpy((char *)out + done, content + segment.p_offset + skip, part);
		done += part;
		i = 0;
	}
	return done;
}
