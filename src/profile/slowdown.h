/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_PROFILE_SLOWDOWN_H
#define STROBE_PROFILE_SLOWDOWN_H

#include <stddef.h>

struct st_run;

/*
 * How much slower than natively the run was, CPU time over CPU time, the controller's included,
 * estimated from the run itself. rows: of the result, still to be written. At least 1; 1 when
 * nothing is known.
 */
double st_slowdown_estimate(const struct st_run *run, size_t rows);

#endif
