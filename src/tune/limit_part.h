/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search that a worker makes. */
#ifndef STROBE_TUNE_LIMIT_PART_H
#define STROBE_TUNE_LIMIT_PART_H

#include "tune/limit.h"

/* Writes what was measured. */
void st_limit_part_write(const struct st_limit *l, FILE *out);
/* Reads it into l, whose description is filled already. ST_FAILED with *e: it is damaged, or it
 * cannot be read. */
st_status st_limit_part_read(struct st_limit *l, const char *path, struct st_error *e);

#endif
