/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two halves of an annotated function. */
#ifndef STROBE_REPORT_ANNOTATE_H
#define STROBE_REPORT_ANNOTATE_H

#include "report/branches.h"
#include "report/places.h"
#include "report/report.h"

/* A function to print, and where to look for what the profile does not hold. */
struct st_annotation {
	const struct st_report *r;
	struct st_places *places;
	FILE *out;
	uint32_t function;
	const struct st_branches *branches;
};

/* The name, the location and the totals. */
void st_annotate_head(const struct st_annotation *a);
void st_annotate_source(const struct st_annotation *a);
void st_annotate_code(const struct st_annotation *a);

enum { ST_MAX_PARTS = 16 };
/* The cold parts of the function; none when the image cannot be had. */
size_t st_annotation_parts(const struct st_annotation *a, const struct st_function **parts);

/* Prints the functions that were inlined at a place: " innermost, from file.c:12 middle, from
 * file.c:34"; nothing when none was. */
void st_print_inlined(struct st_image *image, uint64_t offset, FILE *out);

#endif
