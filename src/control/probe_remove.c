/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking probes out of a process that goes on with the others. */
#include "control/probe.h"
#include "control/threads.h"

/* The bytes become the program's. A thread in a stub goes on there, and one that was on its way to
 * it finds them at the entry. */
static void
restore_wanted(const struct st_probing *p, const bool *wanted)
{
	for (size_t i = p->patches.n; i-- > 0;)
		if (wanted[p->patches.v[i].function])
			st_probing_restore(p, &p->patches.v[i]);
}

bool
st_probing_remove(struct st_probing *p, const bool *wanted, double patience)
{
	struct st_error ignored;
	struct st_threads ts = {0};
	const bool stopped = !st_threads_stop(&ts, p->pid, patience, &ignored);
	if (stopped && st_probing_is_in(p))
		restore_wanted(p, wanted);
	if (stopped)
		st_threads_release(&ts);
	if (ts.ended && !p->attached) {
		p->own_end = true;
		p->status = ts.status;
		getrusage(RUSAGE_CHILDREN, &p->usage);
	}
	st_threads_free(&ts);
	return stopped;
}
