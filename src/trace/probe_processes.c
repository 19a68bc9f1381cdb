/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/probe_processes.h"

#include <sys/wait.h>
#include <unistd.h>

#include "wire/control.h"
#include "wire/results/header.h"

/* The program's own process, whose end was seen. */
static void
put_program(struct st_profile *profile, const struct st_probing *p, const char *command)
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

/* The index of the process, which begins to be one of the profile's here. */
static uint32_t
process_of_record(struct st_profile *profile, size_t first, const struct st_probing *p,
                  uint32_t pid, const char *command)
{
	for (size_t i = first; i < profile->processes.n; i++)
		if (profile->processes.v[i].pid == pid)
			return (uint32_t)i;
	struct st_profile_process *out = ST_PUSH(&profile->processes);
	if (!out) {
		profile->out_of_memory = true;
		return 0;
	}
	/* Of a child of fork, the parent may be any of these; what a process has become has its own
	 * number for one. */
	*out = (struct st_profile_process){.pid = pid,
	                                   .ppid = pid == (uint32_t)p->pid ? 0 : p->pid,
	                                   .command = st_profile_text(profile, command),
	                                   .state = ST_RUN_EXITED,
	                                   .wall_ns = 0};
	return (uint32_t)profile->processes.n - 1;
}

static void
put_threads(struct st_profile *profile, size_t first, const struct st_probing *p,
            const char *command)
{
	const struct st_probe_area *a = p->area;
	for (uint32_t i = 0; a && i < a->n_records && i < ST_PROBE_MOST_RECORDS; i++) {
		const uint32_t process =
		        process_of_record(profile, first, p, a->records[i].pid, command);
		struct st_profile_thread *out = ST_PUSH(&profile->threads);
		if (!out) {
			profile->out_of_memory = true;
			return;
		}
		*out = (struct st_profile_thread){.process = process,
		                                  .tid = a->records[i].tid,
		                                  .name = "",
		                                  .state = ST_THREAD_ENDED,
		                                  .end_ns = -1};
	}
}

/* The process that was started has executed those that have its number: the last one has its end.
 */
static void
put_ends(struct st_profile *profile)
{
	const size_t n = profile->processes.n;
	struct st_profile_process *last = n ? &profile->processes.v[0] : NULL;
	for (size_t i = 1; i < n; i++) {
		struct st_profile_process *next = &profile->processes.v[i];
		if (next->pid != last->pid)
			continue;
		next->state = last->state;
		next->ppid = last->ppid;
		next->exit = last->exit;
		next->signal = last->signal;
		next->exited = last->exited;
		next->core_dumped = last->core_dumped;
		last->state = ST_RUN_EXECED;
		last->exit = last->signal = 0;
		last->exited = last->core_dumped = false;
		last = next;
	}
}

void
st_trace_put_processes(struct st_profile *profile, const struct st_probes *p, const char *command)
{
	const struct st_probes *each;
	put_program(profile, &p->process, command);
	for (size_t i = 0; (each = st_probes_each(p, i)); i++)
		put_threads(profile, i ? profile->processes.n : 0, &each->process,
		            each->process.command ? each->process.command : command);
	if (!p->process.attached)
		put_ends(profile);
}
