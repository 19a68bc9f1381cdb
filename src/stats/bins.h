/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The number of bins of equal width for values: the rules have the names that NumPy gives them. */
#ifndef STROBE_STATS_BINS_H
#define STROBE_STATS_BINS_H

#include <stddef.h>

#define ST_BIN_RULES(B)                                                                            \
	B(DOANE, "doane")                                                                          \
	B(AUTO, "auto")                                                                            \
	B(SQRT, "sqrt")                                                                            \
	B(STURGES, "sturges")                                                                      \
	B(RICE, "rice")                                                                            \
	B(SCOTT, "scott")                                                                          \
	B(FD, "fd")

enum st_bin_rule {
#define B(id, name) ST_BINS_##id,
	ST_BIN_RULES(B)
#undef B
	        ST_BINS_COUNT
};

/* Of sorted values; 1 where they do not differ, or the rule has no width (an IQR of 0). */
size_t st_bins(enum st_bin_rule rule, const double *sorted, size_t n);

#endif
