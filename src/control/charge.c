/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charges the CPU time of strobe itself to the time budget: it is a part of the cost of measuring.
 */
#include "control/supervisor.h"

/* The CPU time that has been charged to processes already: for rows, and for the search for
 * leaders. */
static uint64_t
told(const struct st_supervisor *s, size_t *living)
{
	uint64_t ns = s->leaders_ns;
	for (size_t i = 0; i < s->n_processes; i++) {
		ns += s->processes[i].results->control.drained_ns;
		*living += !s->processes[i].gone;
	}
	return ns;
}

/* The remaining processes are charged for the part that an ended one did not pay. */
static void
take_back(struct st_supervisor *s)
{
	for (size_t i = 0; i < s->n_processes; i++) {
		struct st_control *c =
		        &((struct st_results_header *)s->processes[i].results)->control;
		if (!s->processes[i].gone || !c->debt_ns)
			continue;
		uint64_t left = c->debt_ns < s->shared_ns ? c->debt_ns : s->shared_ns;
		c->controller_ns -= left < c->controller_ns ? left : c->controller_ns;
		s->shared_ns -= left;
		c->debt_ns = 0;
	}
}

void
st_supervisor_charge(struct st_supervisor *s)
{
	size_t living = 0;
	/* If runs share a log, symbols would take a third to a half of a short run's budget, and
	   the log would be complete two runs later: docs/notes/budget-account.md. */
	if (!s->options->budget.period_ns || s->options->unique || s->options->keeps_contexts)
		return;
	take_back(s);
	uint64_t charged = told(s, &living) + s->shared_ns,
	         own = st_cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (!living || own <= charged)
		return;
	uint64_t each = (own - charged) / living;
	for (size_t i = 0; i < s->n_processes; i++) {
		const struct st_process *p = &s->processes[i];
		if (p->gone)
			continue;
		struct st_control *c = &((struct st_results_header *)p->results)->control;
		__atomic_fetch_add(&c->debt_ns, each, __ATOMIC_RELAXED);
		c->controller_ns += each;
	}
	s->shared_ns += each * living;
}
