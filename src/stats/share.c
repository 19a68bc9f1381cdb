/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>

#include "stats/robust.h"

struct st_interval
st_share(size_t k, size_t n, double level)
{
	const double tail = (1 - level) / 2, yes = (double)k, all = (double)n;
	if (!n)
		return (struct st_interval){0, 0, 1};
	return (struct st_interval){
	        .at = yes / all,
	        .low = k ? gsl_cdf_beta_Pinv(tail, yes, all - yes + 1) : 0,
	        .high = k < n ? gsl_cdf_beta_Pinv(1 - tail, yes + 1, all - yes) : 1,
	};
}
