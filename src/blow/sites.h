/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Static probes (USDT) and source lines of the program as progress points: each pass of one is a
 * unit of work. */
#ifndef STROBE_BLOW_SITES_H
#define STROBE_BLOW_SITES_H

#include "blow/points.h"
#include "probe/points.h"
#include "probe/probes.h"

/* An instruction that is a static probe, or the first one of a line in a function, which the user
 * has named. */
struct st_blow_site {
	const char *image; /* path; it lives as long as the probes */
	uint64_t offset;
	size_t name; /* index in the names of the points */
};
struct st_blow_sites {
	ST_VEC(struct st_blow_site) list;
};

/* Adds the static probes and lines of the image that are named. -1: memory is exhausted. */
st_status st_blow_sites_add(struct st_blow_sites *s, const struct st_blow_points *p,
                            const struct st_probed_image *image, struct st_wanted_points *to);
/* Whether the instruction is one of them. */
bool st_blow_sites_have(const struct st_blow_sites *s, const char *image, uint64_t offset);
/* The entry in the list of functions of the point; ST_BLOW_NONE: it is none of these. */
uint32_t st_blow_sites_entry(const struct st_blow_sites *s, const struct st_blow_points *p,
                             const struct st_blow *b, const char *image, uint64_t offset);
/* Whether each name has an instruction that takes a probe and was passed. -1 with *e. */
st_status st_blow_sites_check(const struct st_blow_sites *s, const struct st_blow_points *p,
                              const struct st_probes *probes, struct st_error *e);
/* Adds the passes of each thread to the run. -1: memory is exhausted. */
st_status st_blow_sites_end(const struct st_blow_sites *s, const struct st_blow_points *p,
                            const struct st_probes *probes, const struct st_blow *b,
                            uint64_t (*paid_ns)(const void *arg, int64_t tid), const void *arg,
                            struct st_blow_run *run);

#endif
