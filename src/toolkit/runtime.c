/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runtime's ELF image, embedded by runtime_blob.S. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/runtime.h"

extern const unsigned char st_runtime_blob[], st_runtime_blob_end[];

static size_t
page_up(size_t n)
{
	return (n + 4095) & ~(size_t)4095;
}

/* The blob's bytes at an address that its headers speak of. */
static const unsigned char *
blob_at(uint64_t address)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;
	memcpy(&h, st_runtime_blob, sizeof h);
	for (unsigned i = 0; i < h.e_phnum; i++) {
		memcpy(&p, st_runtime_blob + h.e_phoff + i * sizeof p, sizeof p);
		if (p.p_type == PT_LOAD && address - p.p_vaddr < p.p_filesz)
			return st_runtime_blob + p.p_offset + (address - p.p_vaddr);
	}
	abort(); /* the runtime was linked wrongly: no run can begin */
}

static uint64_t
blob_value(int64_t wanted)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;
	Elf64_Dyn tag;
	memcpy(&h, st_runtime_blob, sizeof h);
	for (unsigned i = 0; i < h.e_phnum; i++) {
		memcpy(&p, st_runtime_blob + h.e_phoff + i * sizeof p, sizeof p);
		for (uint64_t k = 0; p.p_type == PT_DYNAMIC && k < p.p_filesz; k += sizeof tag) {
			memcpy(&tag, st_runtime_blob + p.p_offset + k, sizeof tag);
			if (tag.d_tag == wanted)
				return tag.d_un.d_val;
		}
	}
	abort();
}

static const unsigned char *
blob_dynamic(int64_t wanted)
{
	return blob_at(blob_value(wanted));
}

st_status
st_runtime_symbol(const char *name, uint64_t *offset)
{
	const unsigned char *symbols = blob_dynamic(DT_SYMTAB);
	const char *strings = (const char *)blob_dynamic(DT_STRTAB);
	uint32_t hash[2]; /* buckets, symbols */
	memcpy(hash, blob_dynamic(DT_HASH), sizeof hash);
	for (uint32_t i = 1; i < hash[1]; i++) {
		Elf64_Sym s;
		memcpy(&s, symbols + i * sizeof s, sizeof s);
		if (s.st_shndx == SHN_UNDEF || strcmp(strings + s.st_name, name))
			continue;
		*offset = s.st_value;
		return 0;
	}
	return -1;
}

st_status
st_runtime_image_load(struct st_runtime_image *image, struct st_error *e)
{
	const unsigned char *blob = st_runtime_blob;
	Elf64_Ehdr h;
	memcpy(&h, blob, sizeof h);
	*image = (struct st_runtime_image){.entry = h.e_entry};
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < h.e_phnum; i++) {
			Elf64_Phdr p;
			memcpy(&p, blob + h.e_phoff + i * sizeof p, sizeof p);
			if (p.p_type != PT_LOAD)
				continue;
			if (pass == 1) {
				memcpy(image->bytes + p.p_vaddr, blob + p.p_offset, p.p_filesz);
				continue;
			}
			if (p.p_flags & PF_X)
				image->text_size = page_up(p.p_vaddr + p.p_memsz);
			if (page_up(p.p_vaddr + p.p_filesz) > image->file_size)
				image->file_size = page_up(p.p_vaddr + p.p_filesz);
			if (page_up(p.p_vaddr + p.p_memsz) > image->size)
				image->size = page_up(p.p_vaddr + p.p_memsz);
		}
		if (pass == 0 && !(image->bytes = calloc(1, image->file_size)))
			return st_fail(e, ST_EXIT_FAILED, "out of memory");
	}
	return 0;
}

unsigned char *
st_runtime_image_data(const struct st_runtime_image *image, uint64_t address)
{
	size_t bytes = image->file_size - image->text_size;
	unsigned char *data = malloc(bytes);
	if (!data)
		return NULL;
	memcpy(data, image->bytes + image->text_size, bytes);
	const unsigned char *table = blob_dynamic(DT_RELA);
	uint64_t size = blob_value(DT_RELASZ);
	for (uint64_t i = 0; i < size; i += sizeof(Elf64_Rela)) {
		Elf64_Rela rela;
		memcpy(&rela, table + i, sizeof rela);
		uint64_t at = rela.r_offset - image->text_size, value;
		if (ELF64_R_TYPE(rela.r_info) != R_X86_64_RELATIVE || at > bytes - 8)
			abort(); /* the runtime was linked wrongly: its text is the same everywhere
			          */
		value = address + (uint64_t)rela.r_addend;
		memcpy(data + at, &value, 8);
	}
	return data;
}
