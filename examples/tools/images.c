/* SPDX-License-Identifier: MIT */
/* In which order, and when, are the program and its libraries loaded? No code is instrumented.
 * strobe run -t ./images.tool -- PROGRAM */
#include <strobe/tool.h>

STROBE_TABLE(loads, "images in the order of loading", STROBE_KEY("order", STROBE_NUMBER),
             STROBE_KEY("path", STROBE_TEXT), STROBE_KEY("address", STROBE_HEX),
             STROBE_SUM("bytes", STROBE_NUMBER), STROBE_SUM("after", STROBE_TICKS));

static uint64_t begun, order;

static void
begin(void)
{
	begun = strobe_ticks();
}

static void
loaded(const strobe_image *image)
{
	uint64_t keys[] = {++order, strobe_text(image->path), image->start};
	strobe_cell_add(strobe_find_cell(&loads, 3, keys), image->end - image->start);
	strobe_cell_add(strobe_find_cell(&loads, 4, keys), strobe_ticks() - begun);
}

STROBE_TOOL(images, .help = "order and time of image loading", .begin = begin,
            .image_loaded = loaded);
