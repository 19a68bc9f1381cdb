/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qos/qos.h"
#include "control/supervisor.h"

void
st_supervisor_follow_qos(struct st_supervisor *s)
{
	const struct st_budget_plan *b = &s->options->budget;
	if (!s->options->qos)
		return;
	if (st_jobs_asked_to_end())
		st_qos_disconnect(s->options->qos);
	double ticks = st_qos_budget(s->options->qos) * (double)b->ticks_per_second;
	uint64_t amount = (uint64_t)(ticks * ST_BUDGET_UNITS);
	amount = amount < b->most ? amount : b->most;
	if (s->pool.here)
		__atomic_store_n(&s->pool.here->amount, amount, __ATOMIC_RELAXED);
	for (size_t i = 0; i < s->n_processes; i++) {
		struct st_results_header *h = (struct st_results_header *)s->processes[i].results;
		if (!s->processes[i].gone)
			__atomic_store_n(&h->control.budget_amount, amount, __ATOMIC_RELAXED);
	}
}
