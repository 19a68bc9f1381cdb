/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of a program that the selection of a campaign looks at, and what it says of them.
 */
#ifndef STROBE_BLOW_LISTED_H
#define STROBE_BLOW_LISTED_H

#include <stdio.h>

#include "blow/contexts.h"
#include "blow/locations.h"
#include "blow/run.h"
#include "trace/trace.h"

struct st_blow_calls;
struct st_trace_chooser;

struct st_blow_listing {
	const struct st_blow_how *how;
	struct st_probes *probes;
	struct st_trace_chooser *chooser, *callers; /* callers NULL: none are chosen */
	struct st_blow_found_list found;            /* locations within functions */
	struct st_blow_written written;             /* if there are to be contexts */
	struct st_blow_calls *calls;                /* NULL: the code has not been read */
};

/* -1: memory is exhausted. The caller ends it in any case. */
st_status st_blow_listing_begin(struct st_blow_listing *l, const struct st_blow_how *how,
                                struct st_probes *probes);
/* Whether the function is looked at. Selections also time progress points, which other options may
 * leave out. */
bool st_blow_is_listed(const struct st_blow_listing *l, const struct st_probed_image *image,
                       const struct st_function *f);
/* Writes a line for each of these functions, with the calls and times of the trace of the probes;
 * -1: memory is exhausted. */
st_status st_blow_list(struct st_blow_listing *l, const struct st_trace *t, FILE *out);
void st_blow_listing_end(struct st_blow_listing *l);
/* Fails if a name of the file of --corpus fits no function. */
st_status st_blow_check_names(const struct st_blow_how *how, struct st_error *e);

#endif
