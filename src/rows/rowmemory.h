/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of the sites that encoder and decoder of rows (rowcodec.h) keep. Sites are counted from
 * 1; number 0 is for what is before the first row.
 */
#ifndef STROBE_ROWS_ROWMEMORY_H
#define STROBE_ROWS_ROWMEMORY_H

#include "rows/rowcodec.h"

enum { ST_MEMORY_SITES = 1 << 24, ST_MEMORY_VALUES = STROBE_MOST_COLUMNS };

/* The last value, its last growth, and the growth before that: the one that is expected next. */
struct st_value {
	uint64_t last, grown, expected;
};
/* The state of a site that each row needs. */
struct st_trail {
	struct st_value one; /* if it has just one */
	uint64_t next;       /* name of the site that followed last, or ST_NOBODY */
};
/* Of a site, what is needed only now and then. */
struct st_memory {
	uint64_t key; /* its name, and the epoch above; of another epoch: nothing is remembered */
	uint32_t second; /* the last other than `next` that followed; 0: none */
	uint32_t many;   /* index of its values, if it has not just one */
};
struct st_codec {
	uint64_t epoch;
	struct st_trail *trails;
	struct st_memory *memories;
	uint32_t n_sites;        /* that there is room for, and one more */
	struct st_value *values; /* of this epoch, of sites that have more */
	uint32_t n_values, room_values;
	/* For the rows at hand, by value: whether it is strange, that is, did not grow as expected;
	 * and how strange ones are told. */
	unsigned char *strange, *how;
	size_t room;
};

/* A value that differs from the expected one is stored as a code: ST_AS_BEFORE if it has grown by
 * as much as the value of the column before it; otherwise the index in st_told_bytes of the number
 * of bytes that follow. */
enum { ST_AS_BEFORE };
static const unsigned char st_told_bytes[] = {0, 1, 2, 3, 4, 6, 8};

#define ST_NOBODY UINT64_MAX
/* In a site's name: its rows have not just one value. No tag of a row is so large. */
#define ST_MANY (1ull << 63)

static inline uint64_t
st_name_of(uint64_t tag)
{
	return tag | ((tag & 15) == 1 ? 0 : ST_MANY);
}

static inline uint32_t
st_site_named(uint64_t name)
{
	return (uint32_t)((name & ~ST_MANY) >> 4) + 1;
}

/* Of the site of a row that has one value. */
static inline struct st_trail *
st_trail_of(struct st_trail *trails, uint64_t tag)
{
	/* tag + 15 is 16 times the site's number */
	_Static_assert(sizeof *trails == 2 * 16, "");
	return (struct st_trail *)((char *)trails + 2 * (tag + 15));
}

/* So that there is a memory for each of the sites. */
bool st_know_sites(struct st_codec *c, uint32_t n);
/* Recalls the site of a row, or begins to remember it. Returns its number. 0: no site
 * has that number of values, or memory is exhausted. The tag's site is one of `sites`. */
uint32_t st_recall(struct st_codec *c, uint64_t tag, const strobe_site *sites);
/* Nothing is before the first row. */
void st_begin_rows(struct st_codec *c);
/* Another site follows than last. */
void st_lead_to(struct st_codec *c, uint32_t before, uint64_t name);

#endif
