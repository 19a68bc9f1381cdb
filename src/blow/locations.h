/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locations within functions that get noise: calls of one function in another, source lines, and
 * basic blocks. A
 * location has an entry in the list of functions (ST_BLOW_IS_INSIDE), whose offset is the address
 * of its instruction, whose calls are visits, and whose time is that of the function around it.
 */
#ifndef STROBE_BLOW_LOCATIONS_H
#define STROBE_BLOW_LOCATIONS_H

#include "blow/blow.h"
#include "probe/points.h"
#include "probe/probes.h"

#define ST_BLOW_BLOCK_PREFIX "block:"

/* What the user has named: "call:CALLER>CALLEE", "block:FUNCTION", "block:FUNCTION+OFFSET", or
 * "FILE:LINE". */
struct st_blow_location {
	const char *text;            /* the user's */
	char *caller;                /* pattern, owned; NULL: it is a line */
	char *callee;                /* the same; NULL: all blocks of the caller, or */
	uint64_t offset;             /* the block at this one; UINT64_MAX: all of them */
	struct st_file_pattern file; /* of a line */
	uint32_t line;
};
/* Whether it is a call, or a block. */
static inline bool
st_blow_location_is_call(const struct st_blow_location *l)
{
	return l->callee != NULL;
}
static inline bool
st_blow_location_is_block(const struct st_blow_location *l)
{
	return l->caller && !l->callee;
}
struct st_blow_locations {
	ST_VEC(struct st_blow_location) list;
	bool after; /* the noise follows the calls */
};

/* Adds a location of --at; the text must outlive it. 0, or -1 with *e. */
st_status st_blow_locations_add(struct st_blow_locations *l, const char *text, struct st_error *e);
/* Fails if noise is to follow lines. */
st_status st_blow_locations_check(const struct st_blow_locations *l, struct st_error *e);
void st_blow_locations_free(struct st_blow_locations *l);

/* An instruction that a location means. */
struct st_blow_found {
	uint32_t image;            /* index in the probes' images */
	uint64_t at, call, around; /* around: of the function that it is in */
	const struct st_blow_location *location;
};
struct st_blow_found_list {
	ST_VEC(struct st_blow_found) list;
};
/* Adds all instructions of the image that the locations mean. -1: memory is exhausted. */
st_status st_blow_locations_find(const struct st_blow_locations *l,
                                 const struct st_probed_image *image,
                                 struct st_blow_found_list *to);
/* Asks for a probe on the instruction. -1: memory is exhausted. */
st_status st_blow_want_location(struct st_wanted_points *to, uint64_t at);
/* The name of the instruction's entry in the list of functions. */
void st_blow_location_name(const struct st_blow_locations *l, const struct st_probes *probes,
                           const struct st_blow_found *found, char *name, size_t room);

/* The entry of the function around an address; 0: there is none. */
uint64_t st_blow_function_around(struct st_image *image, uint64_t at);

#endif
