/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Function ranges out of .eh_frame. Stripping leaves it, since exceptions need it, and compilers
 * write one FDE for each contiguous piece of a function.
 */
#include <dwarf.h>
#include <string.h>

#include "symbol/internal.h"

struct frames {
	struct st_image *image;
	Elf_Data *data;
	uint64_t address; /* of the section */
	const unsigned char *ident;
	uint64_t cie; /* of the CIE that was asked for last: where it is, what it says, and its
	                 pointer encoding */
	Dwarf_CIE entry;
	int encoding;
	struct sym_ranges *inner, *signals; /* NULL: not asked for */
	int lsda; /* encoding of the addresses of exception tables; DW_EH_PE_omit: there are none */
	void (*use)(void *context, uint64_t start, uint64_t table); /* NULL: not asked for */
	void *context;
	bool unread; /* the table of a frame cannot be found */
};

enum { UNKNOWN = -1 };

/* Bytes of a pointer in this encoding; 0 when its length varies or it is not known. */
static size_t
pointer_size(int encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	default:
		return 0;
	}
}

static uint64_t
read_pointer(const uint8_t *from, int encoding)
{
	uint64_t value = 0;
	size_t size = pointer_size(encoding);
	memcpy(&value, from, size);
	if (encoding & DW_EH_PE_signed && size && size < 8)
		value = (uint64_t)((int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size));
	return value;
}

/* The letters of the augmentation string say what its data holds, in order; R is the encoding of
 * the FDEs' pointers, L that of the addresses of their exception tables. */
static int
encoding_of(const Dwarf_CIE *cie, int *lsda)
{
	const uint8_t *data = cie->augmentation_data;
	const uint8_t *end = data ? data + cie->augmentation_data_size : NULL;
	int encoding = DW_EH_PE_absptr;
	*lsda = DW_EH_PE_omit;

	if (cie->augmentation[0] != 'z')
		return cie->augmentation[0] ? UNKNOWN : DW_EH_PE_absptr;
	for (const char *letter = cie->augmentation + 1; *letter; letter++) {
		if (*letter == 'S' || *letter == 'B')
			continue;
		if (data >= end)
			return UNKNOWN;
		if (*letter == 'R') {
			encoding = *data;
		} else if (*letter == 'P') {
			size_t size = pointer_size(*data);
			if (!size || size >= (size_t)(end - data))
				return UNKNOWN;
			data += size;
		} else if (*letter == 'L') {
			*lsda = *data;
		} else {
			return UNKNOWN;
		}
		data++;
	}
	return encoding;
}

static int
encoding_at(struct frames *frames, uint64_t cie)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;
	if (frames->cie == cie)
		return frames->encoding;
	frames->cie = cie;
	frames->encoding = UNKNOWN;
	if (cie < frames->data->d_size &&
	    dwarf_next_cfi(frames->ident, frames->data, true, cie, &next, &entry) == 0 &&
	    dwarf_cfi_cie_p(&entry)) {
		frames->entry = entry.cie;
		frames->encoding = encoding_of(&entry.cie, &frames->lsda);
	}
	return frames->encoding;
}

/* Whether the code begins in the middle of a frame. Behind the addresses stands the length of the
 * augmentation's data, if there is one, then the instructions. */
static bool
is_inner(const struct frames *frames, const Dwarf_FDE *fde, size_t pointers)
{
	const uint8_t *at = fde->start + pointers;
	uint64_t length = 0;
	if (frames->entry.augmentation[0] == 'z') {
		for (unsigned shift = 0; at < fde->end && shift < 63; shift += 7) {
			length |= (uint64_t)(*at & 0x7f) << shift;
			if (!(*at++ & 0x80))
				break;
		}
	}
	return length <= (uint64_t)(fde->end - at) &&
	       sym_begins_inside(&frames->entry, at + length, fde->end);
}

/* Where a pointer at `from`, relative to where it stands, or absolute, leads; 0: nowhere. */
static uint64_t
pointer_at(const struct frames *frames, const uint8_t *from, int encoding)
{
	const uint64_t value = read_pointer(from, encoding);
	const int base = encoding & 0x70;
	if (!value || base == DW_EH_PE_absptr)
		return value;
	return base == DW_EH_PE_pcrel
	               ? value + frames->address + (uint64_t)(from - (uint8_t *)frames->data->d_buf)
	               : 0;
}

/* The exception table of a frame: its address follows the length of the augmentation's data, of one
 * byte, since nothing else is there. */
static void
tell_table(struct frames *frames, const Dwarf_FDE *fde, size_t pointers, uint64_t start)
{
	const uint8_t *at = fde->start + pointers;
	const size_t size = pointer_size(frames->lsda);
	if (!frames->use || frames->lsda == DW_EH_PE_omit)
		return;
	if (!size || frames->lsda & DW_EH_PE_indirect || (size_t)(fde->end - at) < 1 + size ||
	    at[0] != size) {
		frames->unread = true;
		return;
	}
	const uint64_t table = pointer_at(frames, at + 1, frames->lsda);
	if (table)
		frames->use(frames->context, start, table);
}

static void
add_frame(struct frames *frames, const Dwarf_FDE *fde, struct sym_ranges *list)
{
	int encoding = encoding_at(frames, fde->CIE_pointer);
	size_t size = encoding == UNKNOWN ? 0 : pointer_size(encoding);
	int base = encoding & 0xf0;

	if (!size || (size_t)(fde->end - fde->start) < 2 * size ||
	    (base != DW_EH_PE_absptr && base != DW_EH_PE_pcrel))
		return;
	uint64_t start = read_pointer(fde->start, encoding);
	if (base == DW_EH_PE_pcrel)
		start += frames->address + (uint64_t)(fde->start - (uint8_t *)frames->data->d_buf);
	/* A length has the size of the pointer, but no sign. */
	uint64_t length = read_pointer(fde->start + size, encoding & 0x07);
	const struct sym_range *code = sym_ranges_find(&frames->image->code, start);
	if (!code)
		return;
	uint64_t end = length < code->end - start ? start + length : code->end;
	tell_table(frames, fde, 2 * size, start);
	ST_IGNORE(sym_ranges_add(list, start, end));
	if (frames->inner && is_inner(frames, fde, 2 * size))
		ST_IGNORE(sym_ranges_add(frames->inner, start, end));
	if (frames->signals && sym_is_signal_frame(&frames->entry))
		ST_IGNORE(sym_ranges_add(frames->signals, start, end));
}

/* Without section headers .eh_frame_hdr still leads there: its first pointer, behind four bytes, is
 * its address. */
static bool
find_by_segment(struct frames *frames)
{
	Elf *elf = frames->image->main.elf;
	GElf_Phdr segment;
	unsigned char header[12];
	size_t n, size;

	if (elf_getphdrnum(elf, &n) != 0)
		return false;
	for (int i = 0; i < (int)n; i++) {
		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_GNU_EH_FRAME)
			continue;
		if (st_image_bytes(frames->image, segment.p_vaddr, header, 12) < 12 ||
		    header[0] != 1 || header[1] != (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
			return false;
		frames->address = segment.p_vaddr + 4 + read_pointer(header + 4, header[1]);
		break;
	}
	const char *content = elf_rawfile(elf, &size);
	for (int i = 0; frames->address && content && i < (int)n; i++) {
		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_LOAD ||
		    frames->address < segment.p_vaddr ||
		    frames->address - segment.p_vaddr >= segment.p_filesz)
			continue;
		uint64_t skip = frames->address - segment.p_vaddr;
		frames->data = elf_getdata_rawchunk(elf, (int64_t)(segment.p_offset + skip),
		                                    segment.p_filesz - skip, ELF_T_BYTE);
		return frames->data != NULL;
	}
	return false;
}

static bool
find_frames(struct frames *frames)
{
	GElf_Shdr header;
	Elf_Scn *section = sym_elf_section(frames->image->main.elf, ".eh_frame", &header);
	if (!section)
		return find_by_segment(frames);
	frames->address = header.sh_addr;
	frames->data = sym_elf_content(section);
	return frames->data != NULL;
}

static void
read_frames(struct frames *frames, struct sym_ranges *list)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off offset = 0, next;

	frames->ident = (const void *)elf_getident(frames->image->main.elf, NULL);
	if (!frames->ident || !find_frames(frames))
		return;
	for (;; offset = next) {
		/* Only written when the length can be read. */
		next = (Dwarf_Off)-1;
		int state =
		        dwarf_next_cfi(frames->ident, frames->data, true, offset, &next, &entry);
		/* An entry that cannot be read is left out when its length tells where the next one
		 * is. */
		if (state > 0 || next <= offset || next == (Dwarf_Off)-1)
			break;
		if (state == 0 && !dwarf_cfi_cie_p(&entry))
			add_frame(frames, &entry.fde, list);
	}
}

void
sym_read_ehframe(struct st_image *image, struct sym_ranges *list, struct sym_ranges *inner,
                 struct sym_ranges *signals)
{
	struct frames frames = {.image = image,
	                        .cie = UINT64_MAX,
	                        .encoding = UNKNOWN,
	                        .inner = inner,
	                        .signals = signals};
	read_frames(&frames, list);
	sym_ranges_settle(list);
	if (inner)
		sym_ranges_settle(inner);
	if (signals)
		sym_ranges_settle(signals);
}

bool
sym_exception_tables(struct st_image *image,
                     void (*use)(void *context, uint64_t start, uint64_t table), void *context)
{
	struct sym_ranges ignored = {0};
	struct frames frames = {.image = image,
	                        .cie = UINT64_MAX,
	                        .encoding = UNKNOWN,
	                        .use = use,
	                        .context = context};
	read_frames(&frames, &ignored);
	sym_ranges_free(&ignored);
	return !frames.unread;
}

/* Most programs have a table that leads to it; static ones do not. */
static bool
ehframe_has_table(struct st_image *image)
{
	Elf *elf = image->main.elf;
	GElf_Phdr segment;
	size_t n;
	if (elf_getphdrnum(elf, &n) != 0)
		return false;
	for (int i = 0; i < (int)n; i++)
		if (gelf_getphdr(elf, i, &segment) && segment.p_type == PT_GNU_EH_FRAME)
			return true;
	return false;
}

bool
st_image_lone_frames(struct st_image *image, uint64_t *offset, uint64_t *bytes)
{
	GElf_Shdr header;
	if (ehframe_has_table(image) || !sym_elf_section(image->main.elf, ".eh_frame", &header))
		return false;
	*offset = header.sh_addr;
	*bytes = header.sh_size;
	return true;
}
