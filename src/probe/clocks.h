/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions by which a program reads its clocks, and those that take absolute deadlines: with
 * `hides_pauses` (control/probe.h) they have probes. */
#ifndef STROBE_PROBE_CLOCKS_H
#define STROBE_PROBE_CLOCKS_H

#include "probe/probes.h"

#define ST_PROBE_VDSO_PATH "[vdso]"

bool st_probe_is_vdso(const struct st_probed_image *image);
/* The action for the function; kind ST_PROBE_NOTHING: it is none of these. */
struct st_probe_action st_probe_clock_action(const struct st_probes *p,
                                             const struct st_probed_image *image,
                                             const struct st_function *f);

/* Whether the functions by which the program reads its clocks have their probes. */
bool st_probe_has_clocks(const struct st_probes *p);

/* A function of the program that reads the time stamp counter; NULL: there is none. In a program
 * that contains its C library, its own functions cannot be told from those of the library: NULL. */
const struct st_function *st_probe_counter_reader(struct st_image *image);

#endif
