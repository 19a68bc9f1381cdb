/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/contexts_seen.h"

bool
st_contexts_seen(const struct st_profile *p, struct st_contexts_seen *s)
{
	*s = (struct st_contexts_seen){
	        .timed = st_profile_statistic(p, "budget_ns") != 0,
	        .cpu_ns = st_profile_statistic(p, "budget_cpu_ns"),
	        .measured_ns = st_profile_statistic(p, "budget_measured_ns"),
	        .entries = st_profile_statistic(p, "unwinds"),
	        .lost = st_profile_statistic(p, "unwinds_lost"),
	};
	return s->timed || s->entries;
}

double
st_contexts_seen_part(const struct st_contexts_seen *s)
{
	return s->cpu_ns ? 100 * (double)s->measured_ns / (double)s->cpu_ns : 100;
}
