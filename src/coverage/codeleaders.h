/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * With --unique and a budget: where in a process' mappings basic blocks may begin, for the runtime
 * to set traps at those that have not been measured (rt/native/breakpoints.h).
 */
#ifndef STROBE_COVERAGE_CODELEADERS_H
#define STROBE_COVERAGE_CODELEADERS_H

#include "control/run.h"
#include "symbol/symbol.h"
#include "wire/results/header.h"

struct st_codeleaders;

/* NULL: no memory. */
struct st_codeleaders *st_codeleaders_new(void);
void st_codeleaders_free(struct st_codeleaders *c);

/* Writes those of a mapping, which comes from the image, into the section `leaders`: all entries,
 * and whatever begins in functions of which something has been measured. */
void st_codeleaders_tell(struct st_codeleaders *c, struct st_results_header *h, uint32_t map,
                         struct st_image *image, const struct st_known *known);

#endif
