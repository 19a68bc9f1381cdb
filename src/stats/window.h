/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights of the points of a moving average: the symmetric windows that SciPy has under the same
 * names (Harris, Proceedings of the IEEE 66 (1978), 51). */
#ifndef STROBE_STATS_WINDOW_H
#define STROBE_STATS_WINDOW_H

#include <stddef.h>

#define ST_WINDOWS(W)                                                                              \
	W(BOXCAR, "boxcar")                                                                        \
	W(TRIANG, "triang")                                                                        \
	W(BLACKMAN, "blackman")                                                                    \
	W(HAMMING, "hamming")                                                                      \
	W(BARTLETT, "bartlett")                                                                    \
	W(PARZEN, "parzen")                                                                        \
	W(BOHMAN, "bohman")                                                                        \
	W(BLACKMANHARRIS, "blackmanharris")                                                        \
	W(NUTTALL, "nuttall")                                                                      \
	W(BARTHANN, "barthann")

enum st_window {
#define W(id, name) ST_WINDOW_##id,
	ST_WINDOWS(W)
#undef W
	        ST_WINDOW_COUNT
};

/* The weight of point i of m. */
double st_window_at(enum st_window window, size_t i, size_t m);

#endif
