/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats the values of rows: raw numbers of one process become locations, names and times. */
#ifndef STROBE_COLLECT_SHOWER_H
#define STROBE_COLLECT_SHOWER_H

#include "base/hashmap.h"
#include "collect/collect.h"
#include "collect/spans.h"

struct st_known_place {
	uint64_t address, offset;
	uint32_t image;
};

struct st_shower {
	struct st_collect *c;
	const struct st_view *v;
	double tsc_hz;
	struct st_span *spans;
	ST_VEC(struct st_known_place) places;
	struct st_hashmap index; /* of places, by address */
};

/* 0, or -1 when memory is exhausted; to be closed in both cases. */
st_status st_shower_open(struct st_shower *s, struct st_collect *c, const struct st_view *v,
                         double tsc_hz);
void st_shower_close(struct st_shower *s);

/* Fills a value, of a place only image and offset; of registers, the first of those that
 * st_shower_registers gives. 0, or -1 when memory is exhausted. */
st_status st_shower_value(struct st_shower *s, const struct st_profile_column *column, uint64_t raw,
                          struct st_profile_value *value);
/* The same of an address that code of a mapping had, which may be gone. */
st_status st_shower_place(struct st_shower *s, uint32_t map, uint64_t address,
                          struct st_profile_value *value);
/* The line that a value of that type is shown as. ST_FAILED: it is not known. */
st_status st_collect_line(struct st_image *image, enum strobe_type type, uint64_t offset,
                          struct st_line *line);
/* Names of the registers that a value of that type stands for; returns how many. */
enum { ST_MOST_REGISTERS = 32 };
size_t st_shower_registers(struct st_shower *s, enum strobe_type type, uint64_t raw,
                           const char *names[ST_MOST_REGISTERS]);

#endif
