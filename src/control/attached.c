/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of a process that was attached: from there to the detach, or to the process's own end. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/frequency.h"
#include "control/agent.h"
#include "control/attach.h"
#include "control/process_cpu.h"
#include "control/supervisor.h"
#include "qos/qos.h"

static const double patience = 5.0; /* seconds, for the runtime to begin */

/* Waits for news for at most that many seconds, and answers the runtime. */
static enum st_agent_news
serve(struct st_supervisor *s, const struct st_agent *agent, double most)
{
	enum st_agent_news news = st_agent_wait(agent, most);
	if (news != ST_AGENT_RUNTIME_ASKS)
		return news;
	return st_supervisor_take(s, agent->channel) ? ST_AGENT_NOTHING : ST_AGENT_PROCESS_LEFT;
}

/* Until the runtime says that it runs. It may ask about the images before. */
static st_status
wait_for_runtime(struct st_supervisor *s, const struct st_agent *agent, struct st_error *e)
{
	const struct st_results_header *r = agent->results;
	double end = st_now_raw() + patience;
	while (__atomic_load_n(&r->run.state, __ATOMIC_ACQUIRE) == ST_RUN_STARTING) {
		uint32_t images = r->control.images_done;
		enum st_agent_news news = serve(s, agent, 0.0001);
		if (news != ST_AGENT_NOTHING || (kill(s->main_pid, 0) != 0 && errno == ESRCH))
			return st_fail(e, ST_EXIT_FAILED, "process %d has ended in the meantime",
			               s->main_pid);
		if (r->control.images_done != images)
			end = st_now_raw() + patience;
		if (st_now_raw() > end)
			return st_fail(e, ST_EXIT_FAILED,
			               "process %d gets no CPU time to be attached: try again",
			               s->main_pid);
	}
	return 0;
}

/* Until it is time to leave, or the process has left us. */
static void
watch(struct st_supervisor *s, const struct st_agent *agent, double seconds,
      struct st_process_cpu *cpu)
{
	double end = seconds > 0 ? st_now_raw() + seconds : 0;
	for (;;) {
		double now = st_now_raw(), left = end ? end - now : 1;
		double tick = s->drain || s->options->qos ? 0.02 : 0.05,
		       next = st_region_next(s, now);
		st_supervisor_drain(s);
		st_region_tick(s, now);
		st_supervisor_tick(s, now);
		st_supervisor_charge(s);
		st_supervisor_follow_qos(s);
		*cpu = st_process_cpu_of(s->main_pid, *cpu);
		if (s->options->progress)
			s->options->progress(s->options->progress_arg, s->processes, s->n_processes,
			                     now - s->begin);
		if (st_attached_interrupted() || left <= 0)
			return;
		st_attached_stop(s->options);
		tick = next < tick ? next : tick;
		if (serve(s, agent, left < tick ? left : tick) != ST_AGENT_NOTHING)
			return;
	}
}

/* Notes the end of a process that was not detached by strobe. */
static void
note_end(struct st_process *p)
{
	/* Its last words may still be on their way into the results. */
	for (int tries = 0;
	     tries < 100 && kill((pid_t)p->pid, 0) == 0 && p->results->run.state == ST_RUN_CACHE;
	     tries++)
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	p->exited = p->results->run.state == ST_RUN_EXITED;
	p->exit_code = p->exited ? p->results->run.exit_code : 0;
	p->signal = p->results->run.state == ST_RUN_KILLED ? (int)p->results->run.fatal_signal : 0;
	p->gone = kill((pid_t)p->pid, 0) != 0 && errno == ESRCH;
}

static void
fill(struct st_run *run, const struct st_supervisor *s, struct st_moment since,
     struct st_process_cpu begin, struct st_process_cpu end)
{
	run->tsc_hz = st_moments_frequency(since, st_moment_now());
	run->seconds = s->ended - s->begin;
	run->cpu_user = end.user - begin.user;
	run->cpu_system = end.system - begin.system;
	run->cpu_controller = st_cpu_time(RUSAGE_SELF) + st_cpu_time(RUSAGE_CHILDREN);
	run->processes = s->processes;
	run->n_processes = s->n_processes;
	run->tmps = s->tmps;
	const struct st_process *p = &s->processes[0];
	run->exit_code = p->signal ? 128 + p->signal : p->exited ? p->exit_code : -1;
}

/* The process is in the engine, and the supervisor knows it. */
static st_status
begin_attachment(struct st_supervisor *s, struct st_agent *agent, struct st_error *e)
{
	const struct st_run_options *o = s->options;
	char name[64];
	st_process_name(s->main_pid, name, sizeof name);
	s->drain = o->rows ? st_drain_new(o->rows) : NULL;
	if (st_supervisor_add(s, agent->results, -1, name) != 0)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	s->processes[0].pid = (uint32_t)s->main_pid;
	st_supervisor_meet(s, s->main_pid);
	if (wait_for_runtime(s, agent, e) != 0)
		return -1;
	if (o->attached)
		o->attached(agent->threads, st_now_raw() - agent->begin);
	if (o->qos)
		st_qos_start(o->qos);
	return 0;
}

static void
finish_rows(struct st_supervisor *s)
{
	if (s->drain)
		st_drain_end(s->drain, s->processes[0].results);
	st_drain_free(s->drain);
}

st_status
st_attach_process(pid_t pid, double seconds, const struct st_run_options *o, struct st_run *run,
                  struct st_error *e)
{
	struct st_agent agent;
	*run = (struct st_run){0};
	if (st_attach_check(pid, e) != 0) /* not by the agent alone: it is about us, too */
		return -1;
	st_limits_lift();
	st_attached_catch(o);
	struct st_moment since = st_moment_now();
	struct st_supervisor s = {.options = o, .main_pid = pid, .begin = since.seconds};
	st_region_begin(&s);
	struct st_process_cpu cpu_begin = st_process_cpu_of(pid, (struct st_process_cpu){0}),
	                      cpu_end = cpu_begin;
	if (st_agent_start(&agent, pid, o, e) != 0)
		return -1;
	bool begun = begin_attachment(&s, &agent, e) == 0;
	if (begun)
		watch(&s, &agent, seconds, &cpu_end);
	s.ended = st_now_raw();
	run->left_to_runtime = !st_agent_end(&agent);
	if (!begun)
		return -1;
	cpu_end = st_process_cpu_of(pid, cpu_end);
	st_supervisor_drain(&s);
	note_end(&s.processes[0]);
	finish_rows(&s);
	if (o->qos)
		st_qos_stop(o->qos);
	fill(run, &s, since, cpu_begin, cpu_end);
	return 0;
}
