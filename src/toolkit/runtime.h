/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runtime's ELF image, which is embedded in strobe: control injects it, tools are linked to it.
 */
#ifndef STROBE_TOOLKIT_RUNTIME_H
#define STROBE_TOOLKIT_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct st_runtime_image {
	size_t size;          /* of text, data and bss in memory; page aligned */
	size_t text_size;     /* page aligned */
	uint64_t entry;       /* offset of the first instruction */
	unsigned char *bytes; /* text and data as they lie in memory, but for what depends on the
	                         address; malloc'ed */
	size_t file_size;     /* bytes of `bytes`; what is behind is zero */
};
st_status st_runtime_image_load(struct st_runtime_image *image, struct st_error *e);
/* Its data, all between text and file_size, for one address of the image; malloc'ed. NULL: out of
 * memory. */
unsigned char *st_runtime_image_data(const struct st_runtime_image *image, uint64_t address);

/* Where the runtime has a function of the tool API, from its beginning. 0, or -1: it has none of
 * that name. */
st_status st_runtime_symbol(const char *name, uint64_t *offset);

#endif
