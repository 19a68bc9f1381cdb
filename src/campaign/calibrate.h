/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration of a node: the same work as A and as B, in pairs. */
#ifndef STROBE_CAMPAIGN_CALIBRATE_H
#define STROBE_CAMPAIGN_CALIBRATE_H

#include <stddef.h>

/* The largest difference of A and B that the 99 % interval of the median of the pairs' ratios
 * holds, as a share: 0.02 for 2 %. ratios: B / A, which are put in order. */
double st_noise_bound(double *ratios, size_t n);
/* Measures pairs on this CPU until the bound is at most `limit`, three times at most. Returns the
 * smallest bound. */
double st_node_noise(double limit);

#endif
