/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Static probes, as sys/sdt.h writes them: notes in the section .note.stapsdt. */
#include <string.h>

#include "symbol/internal.h"

enum { STAPSDT_TYPE = 3, ADDRESSES = 3 * sizeof(uint64_t) };

/* The text at *at, and behind it; NULL: it does not end before `end`. */
static const char *
next_note_text(struct st_image *image, const char **at, const char *end)
{
	const char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));
	if (!nul)
		return NULL;
	*at = nul + 1;
	return sym_string_keep(image, text, (size_t)(nul - text));
}

/* base: where .stapsdt.base is now; its old address is in the note. 0: there is none. */
static bool
read_note(struct st_image *image, const char *desc, size_t size, uint64_t base,
          struct st_static_probe *out)
{
	uint64_t words[3];
	if (size < ADDRESSES)
		return false;
	memcpy(words, desc, sizeof words);
	const char *at = desc + ADDRESSES, *end = desc + size;
	const uint64_t moved = base ? base - words[1] : 0;
	*out = (struct st_static_probe){.address = words[0] + moved,
	                                .semaphore = words[2] ? words[2] + moved : 0};
	out->provider = next_note_text(image, &at, end);
	out->name = out->provider ? next_note_text(image, &at, end) : NULL;
	out->arguments = out->name ? next_note_text(image, &at, end) : NULL;
	return out->arguments != NULL;
}

st_status
st_image_static_probes(struct st_image *image, struct st_static_probes *out)
{
	GElf_Shdr header;
	Elf_Scn *section = sym_elf_section(image->main.elf, ".note.stapsdt", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	const uint64_t base =
	        sym_elf_section(image->main.elf, ".stapsdt.base", &header) ? header.sh_addr : 0;
	GElf_Nhdr note;
	size_t name, desc;
	for (size_t at = 0, next; data && (next = gelf_getnote(data, at, &note, &name, &desc)) > 0;
	     at = next) {
		const char *bytes = data->d_buf;
		struct st_static_probe probe;
		if (note.n_type != STAPSDT_TYPE || note.n_namesz != sizeof "stapsdt" ||
		    memcmp(bytes + name, "stapsdt", sizeof "stapsdt") ||
		    !read_note(image, bytes + desc, note.n_descsz, base, &probe))
			continue;
		struct st_static_probe *new = ST_PUSH(out);
		if (!new)
			return ST_FAILED;
		*new = probe;
	}
	return ST_OK;
}
