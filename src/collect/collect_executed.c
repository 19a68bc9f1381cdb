/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that a process has executed in its own place: what of them was not measured, and why. */
#include "collect/collect.h"
#include "control/run.h"
#include "wire/results/header.h"

/* NULL: not known. */
static const char *
reason_of_executed(const struct st_process *process)
{
	if (process->alone_why)
		return process->alone_why;
	switch (process->results ? process->results->run.exec_alone : ST_EXEC_FOLLOWED) {
	case ST_EXEC_PRIVILEGED:
		return "it has privileges of its own: set-uid, or file capabilities";
	case ST_EXEC_SANDBOXED:
		return "a seccomp sandbox forbids what the engine needs";
	default:
		return NULL;
	}
}

void
st_collect_note_executed(struct st_profile *p, const struct st_run *run)
{
	for (size_t i = 0; i < p->processes.n && i < run->n_processes; i++) {
		const struct st_profile_process *in = &p->processes.v[i];
		if (in->state != ST_RUN_EXECED || st_profile_became(p, i) < p->processes.n)
			continue;
		const char *why = p->run.exit < 0 ? NULL : reason_of_executed(&run->processes[i]);
		st_profile_note(p,
		                "process %lld executed another program (execve), which ran "
		                "natively%s%s",
		                (long long)in->pid, why ? ": " : "", why ? why : "");
	}
}
