/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Restricts a profile that was loaded to some of its processes, or leaves out its start-up. Totals
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
/* Leaves out the dynamic linker (ld.so): its functions, and the sampled stacks that begin in it,
 * which are those of the start-up of programs. 0, or -1 with *e, as above. */
st_status st_profile_restrict_loader(struct st_profile *p, struct st_error *e);

/* Internal: keeps the contexts that are marked, and renumbers the references. -1: no memory. */
st_status st_restrict_contexts(struct st_profile *p, const bool *kept);
/* Internal: keeps the functions that have a count or a context, and renumbers the references. -1:
 * no memory. */
st_status st_restrict_functions(struct st_profile *p);
/* Internal: the new number of something that had the number `old`; UINT32_MAX: it is left out. */
static inline uint32_t
st_restrict_number(const uint32_t *numbers, size_t n, uint32_t old)
{
	return old < n ? numbers[old] : UINT32_MAX;
}
/* Internal: keeps the rows of a list whose field refers to something that is kept. */
#define ST_RESTRICT_ROWS(p, list, field, numbers, n_numbers)                                       \
	do {                                                                                       \
		size_t kept_ = 0;                                                                  \
		for (size_t i_ = 0; i_ < (p)->list.n; i_++) {                                      \
			const uint32_t new_ =                                                      \
			        st_restrict_number((numbers), (n_numbers), (p)->list.v[i_].field); \
			if (new_ == UINT32_MAX)                                                    \
				continue;                                                          \
			(p)->list.v[kept_] = (p)->list.v[i_];                                      \
			(p)->list.v[kept_++].field = new_;                                         \
		}                                                                                  \
		(p)->list.n = kept_;                                                               \
	} while (0)

#endif
