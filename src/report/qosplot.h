/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_REPORT_QOSPLOT_H
#define STROBE_REPORT_QOSPLOT_H

#include <stdio.h>

#include "profile/profile.h"

/* The metric over time, with its threshold, and below it the budget, as in figure 6.2 of Arafa,
 * "Time-Aware Dynamic Binary Instrumentation" (PhD thesis, Waterloo 2017). Nothing with fewer than
 * ten readings. */
void st_qos_plot(FILE *out, const struct st_profile *p);

#endif
