/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data of an image shared by site.c and exits.c. */
#ifndef STROBE_PROBE_PLANNER_H
#define STROBE_PROBE_PLANNER_H

#include "probe/leads.h"
#include "probe/site.h"

/* A part of a function that stands elsewhere. */
struct probe_part {
	uint64_t whole; /* entry of the function */
	const struct st_function *part;
};

/* The code of the function whose points were asked for last: points.c. */
struct probe_inside {
	const struct st_function *f;
	uint8_t refusal; /* of all points */
	uint8_t *code;   /* of the function, */
	uint8_t *marks;  /* and for each byte what begins there */
};
void probe_inside_free(struct probe_inside *inside);

struct st_probe_planner {
	struct st_image *image;
	struct st_code_range *ranges;
	size_t n_ranges;
	bool has_frames;
	uint8_t refusal;              /* of all functions of the image */
	struct st_probe_role_of role; /* of those whose names say nothing */
	bool forbids;
	uint64_t *resolvers, *labels;
	size_t n_resolvers, n_labels;
	struct probe_leads *leads;
	struct probe_part *parts; /* ordered by function, when exits have been asked for */
	size_t n_parts;
	bool has_parts;
	struct probe_inside inside;
};

/* Is it entered with the return address at the stack pointer, as far as unwind information knows?
 */
bool probe_is_entry(const struct st_probe_planner *p, const struct st_function *f);

/* Of all of its names the role that forbids most. */
struct st_probe_role_of probe_role_of(const struct st_probe_planner *p,
                                      const struct st_function *f);
/* Reasons that no byte of the function changes. */
uint8_t probe_refusal_of_kind(const struct st_probe_planner *p, const struct st_function *f,
                              const struct st_probe_site *site);
/* Judges the bytes at site->at, and claims them if they take a probe. */
void probe_judge_bytes(struct st_probe_planner *p, struct st_probe_site *site);

/* Takes an island for a short jump at `at`; 0: there is none. under: the bytes that are there. */
uint64_t probe_take_island(const struct st_probe_planner *p, uint64_t at,
                           uint8_t under[ST_PROBE_JUMP_LENGTH]);

#endif
