/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_COLLECT_SLOWDOWN_H
#define STROBE_COLLECT_SLOWDOWN_H

#include <stddef.h>

#include "profile/profile.h"

struct st_run;

/*
 * How much slower than natively the run was, CPU time over CPU time, the controller's included,
 * estimated from the run itself. rows: of the result, still to be written. At least 1; all 0 when
 * the ends of what it may be are too far apart to say anything.
 */
struct st_slowdown st_slowdown_estimate(const struct st_run *run, size_t rows);

#endif
