/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_CHECK_BOUNDS_H
#define STROBE_CHECK_BOUNDS_H

#include "check/check.h"

/* Lets the interval of a relative change begin at -100 % at the least, unless a cost is negative.
 */
void st_finding_bound(struct st_finding *f);

#endif
