/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/probe_processes.h"

#include <sys/wait.h>
#include <unistd.h>

#include "wire/control.h"
#include "wire/results/header.h"

static void
put_process(struct st_profile *profile, const struct st_probing *p, const char *command)
{
	struct st_profile_process *out = ST_PUSH(&profile->processes);
	if (!out) {
		profile->out_of_memory = true;
		return;
	}
	*out = (struct st_profile_process){
	        .pid = p->pid,
	        .ppid = p->attached ? 0 : getpid(),
	        .command = st_profile_text(profile, command),
	        .state = !p->attached ? ST_RUN_EXITED
	                 : p->own_end ? ST_RUN_CACHE
	                              : ST_RUN_DETACHED,
	        .exit = !p->attached && WIFEXITED(p->status) ? WEXITSTATUS(p->status) : 0,
	        .signal = !p->attached && WIFSIGNALED(p->status) ? WTERMSIG(p->status) : 0,
	        .exited = !p->attached && WIFEXITED(p->status),
	        .core_dumped = !p->attached && WIFSIGNALED(p->status) && WCOREDUMP(p->status),
	        .wall_ns = (int64_t)(p->seconds * 1e9)};
}

void
st_trace_put_processes(struct st_profile *profile, const struct st_probes *p, const char *command)
{
	const struct st_probe_area *a = p->process.area;
	put_process(profile, &p->process, command);
	for (uint32_t i = 0; a && i < a->n_records && i < ST_PROBE_MOST_RECORDS; i++) {
		struct st_profile_thread *out = ST_PUSH(&profile->threads);
		if (!out) {
			profile->out_of_memory = true;
			return;
		}
		*out = (struct st_profile_thread){.tid = a->records[i].tid,
		                                  .name = "",
		                                  .state = ST_THREAD_ENDED,
		                                  .end_ns = -1};
	}
}
