/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mini-debuginfo: a symbol table for the stripped functions, an ELF file inside .gnu_debugdata,
 * packed with xz. */
#include <lzma.h>
#include <stdlib.h>

#include "symbol/internal.h"

/* Far above what any distribution ships, and small enough to survive a file made to fill the
 * memory. */
enum { LARGEST = 256 << 20 };

static bool
minidebug_make_room(lzma_stream *stream, uint8_t **text, size_t *room)
{
	if (stream->avail_out)
		return true;
	size_t bigger = *room ? 2 * *room : 256 << 10;
	uint8_t *moved = bigger <= LARGEST ? realloc(*text, bigger) : NULL;
	if (!moved)
		return false;
	stream->next_out = moved + stream->total_out;
	stream->avail_out = bigger - stream->total_out;
	*text = moved;
	*room = bigger;
	return true;
}

/* Returns malloc'ed content, or NULL when it is damaged. */
static uint8_t *
unpack(const Elf_Data *packed, size_t *size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t *text = NULL;
	size_t room = 0;
	lzma_ret state = lzma_stream_decoder(&stream, LARGEST, 0);

	stream.next_in = packed->d_buf;
	stream.avail_in = packed->d_size;
	while (state == LZMA_OK && minidebug_make_room(&stream, &text, &room))
		state = lzma_code(&stream, LZMA_FINISH);
	*size = stream.total_out;
	lzma_end(&stream);
	if (state == LZMA_STREAM_END)
		return text;
	free(text);
	return NULL;
}

const struct sym_elf *
sym_mini_file(struct st_image *image)
{
	GElf_Shdr header;
	if (image->mini_sought)
		return &image->mini;
	image->mini_sought = true;
	Elf_Scn *section = sym_elf_section(image->main.elf, ".gnu_debugdata", &header);
	Elf_Data *packed = section ? sym_elf_content(section) : NULL;
	size_t size;
	uint8_t *text = packed ? unpack(packed, &size) : NULL;
	if (text)
		ST_IGNORE(sym_elf_from_memory(&image->mini, text, size));
	return &image->mini;
}
