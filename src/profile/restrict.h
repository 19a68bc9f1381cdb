/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Restricts a profile that was loaded: to some of its processes, or to what is not start-up. Totals
 * and shares are then those of what remains. */
#ifndef STROBE_PROFILE_RESTRICT_H
#define STROBE_PROFILE_RESTRICT_H

#include "base/status.h"
#include "profile/profile.h"

/* Keeps the processes that are chosen, by index. Blocks, lines and the tables of tools are counts
 * of all processes together, and are left out. 0, or -1 with *e: the profile does not tell the
 * counts of its processes apart. The profile can only be freed then. */
st_status st_profile_restrict_processes(struct st_profile *p, const bool *chosen,
                                        struct st_error *e);
/* Leaves out the dynamic linker (ld.so): its functions, and the sampled stacks that begin in it, as
 * those of the start-up of a program do. 0, or -1 with *e, as above. */
st_status st_profile_restrict_loader(struct st_profile *p, struct st_error *e);

/* Inside: keeps the contexts (functions) that are marked, and renumbers what refers to them; with
 * functions: only those that are counted or that a context has. -1: no memory. */
st_status st_restrict_contexts(struct st_profile *p, const bool *kept);
st_status st_restrict_functions(struct st_profile *p);

#endif
