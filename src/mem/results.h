/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the shared memory of a run to struct st_mem. */
#ifndef STROBE_MEM_RESULTS_H
#define STROBE_MEM_RESULTS_H

#include "mem/mem.h"
#include "mem/watch.h"
#include "probe/probes.h"

/* Texts of images are not copied: probes have to outlive *m. -1: memory is exhausted. The caller
 * frees in both cases. */
st_status st_mem_of_area(struct st_mem *m, const struct st_probes *probes,
                         const struct st_mem_watch *watch);

#endif
