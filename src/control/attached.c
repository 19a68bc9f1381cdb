/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of a process that was attached: from there to the detach, or to the process's own end. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "control/agent.h"
#include "control/attach.h"
#include "control/drain.h"
#include "control/session.h"

static volatile sig_atomic_t interrupted;

static void
on_interrupt(int signo)
{
	(void)signo;
	interrupted = 1;
}

/* From here on signals end the watching, not us. */
static void
catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = on_interrupt};
	struct sigaction old;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

struct cpu {
	double user, system;
};

/* CPU time of a process that is not our child, by the kernel's tick. */
static struct cpu
cpu_of(pid_t pid, struct cpu before)
{
	char path[64], text[1024];
	unsigned long user, system;
	double hz = (double)sysconf(_SC_CLK_TCK);
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = 0;
	const char *end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
	                   &system) != 2)
		return before;
	return (struct cpu){(double)user / hz, (double)system / hz};
}

/* Answers the runtime's questions until it lets the process go on. */
static int
get_ready(struct st_session *s, struct st_agent *agent, struct st_error *e)
{
	enum st_agent_news news;
	while ((news = st_agent_wait(agent, 2, e)) == ST_AGENT_NOTHING)
		st_session_serve(s);
	if (news == ST_AGENT_READY && s->options->attached)
		s->options->attached(agent->threads, agent->seconds);
	if (news == ST_AGENT_DIED)
		st_fail(e, ST_EXIT_FAILED, "the process that attaches for strobe was killed");
	return news == ST_AGENT_REFUSED || news == ST_AGENT_DIED ? -1 : 0;
}

/* Until it is time to leave, or the process has left us. */
static void
watch(struct st_session *s, struct st_agent *agent, double seconds, struct cpu *cpu)
{
	struct st_error ignored;
	double end = seconds > 0 ? st_now_raw() + seconds : 0;
	for (;;) {
		double now = st_now_raw(), left = end ? end - now : 1;
		st_session_serve(s);
		st_session_drain(s);
		if (s->drain)
			st_drain_wake(s->drain);
		*cpu = cpu_of(s->main_pid, *cpu);
		if (s->options->progress)
			s->options->progress(s->options->progress_arg, s->processes[0].results,
			                     now - s->begin);
		if (interrupted || left <= 0)
			return;
		const int tick = s->drain || s->options->on_image ? 10 : 50;
		int ms = left * 1000 < tick ? (int)(left * 1000) + 1 : tick;
		if (st_agent_wait(agent, ms, &ignored) != ST_AGENT_NOTHING)
			return;
	}
}

/* What is known of a process that went away by itself. */
static void
note_end(struct st_process *p)
{
	/* Its last words may still be on their way into the results. */
	for (int tries = 0;
	     tries < 100 && kill((pid_t)p->pid, 0) == 0 && p->results->state == ST_RUN_CACHE;
	     tries++)
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	p->exited = p->results->state == ST_RUN_EXITED;
	p->exit_code = p->exited ? p->results->exit_code : 0;
	p->signal = p->results->state == ST_RUN_KILLED ? (int)p->results->fatal_signal : 0;
	p->gone = kill((pid_t)p->pid, 0) != 0 && errno == ESRCH;
}

static void
fill(struct st_run *run, const struct st_session *s, uint64_t tsc_begin, struct cpu begin,
     struct cpu end)
{
	run->tsc_hz = (double)(__builtin_ia32_rdtsc() - tsc_begin) / (st_now_raw() - s->begin);
	run->seconds = s->ended - s->begin;
	run->cpu_user = end.user - begin.user;
	run->cpu_system = end.system - begin.system;
	run->cpu_controller = st_cpu_time(RUSAGE_SELF) + st_cpu_time(RUSAGE_CHILDREN);
	run->processes = s->processes;
	run->n_processes = s->n_processes;
	const struct st_process *p = &s->processes[0];
	run->exit_code = p->signal ? 128 + p->signal : p->exited ? p->exit_code : -1;
}

int
st_attach_process(pid_t pid, double seconds, const struct st_run_options *o, struct st_run *run,
                  struct st_error *e)
{
	struct st_agent agent;
	*run = (struct st_run){0};
	if (st_attach_check(pid, e) != 0) /* not by the agent alone: it is about us, too */
		return -1;
	st_limits_lift();
	catch_signals();
	struct st_session s = {.options = o, .main_pid = pid, .begin = st_now_raw()};
	uint64_t tsc_begin = __builtin_ia32_rdtsc();
	struct cpu begin = cpu_of(pid, (struct cpu){0}), end = begin;
	if (st_agent_start(&agent, pid, o, e) != 0)
		return -1;
	char name[64];
	st_process_name(pid, name, sizeof name);
	s.drain = o->rows ? st_drain_new(o->rows) : NULL;
	if (st_session_add(&s, agent.results, agent.channel, name) != 0)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	s.processes[0].pid = (uint32_t)pid;
	if (get_ready(&s, &agent, e) != 0) {
		st_agent_end(&agent);
		return -1;
	}
	watch(&s, &agent, seconds, &end);
	s.ended = st_now_raw();
	run->left_to_runtime = !st_agent_end(&agent);
	for (size_t i = 0; i < s.n_channels; i++)
		close(s.channels[i]); /* the runtime's signal, should the agent not have come that
		                         far */
	free(s.channels);
	end = cpu_of(pid, end);
	st_session_drain(&s);
	note_end(&s.processes[0]);
	if (s.drain)
		st_drain_end(s.drain, s.processes[0].results);
	st_drain_free(s.drain);
	fill(run, &s, tsc_begin, begin, end);
	return 0;
}
