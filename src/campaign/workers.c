/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "campaign/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "campaign/slurm.h"

/* Limits of all starts of workers that replace killed ones, and of calls of sbatch. */
enum { MOST_RESTARTS = 20, MOST_SUBMISSIONS = 10 };

static const double worker_patience = 20; /* s until a worker that does not end is killed */
static const double slurm_interval = 5;   /* s between two questions */
static const double slurm_longest = 60;   /* the same while Slurm does not answer */
static const double slurm_patience = 600; /* a restart of slurmctld takes minutes */

st_status
st_workers_place_read(struct st_workers_place *p, const char *text, struct st_error *e)
{
	const char *colon = strchrnul(text, ':');
	const size_t n = (size_t)(colon - text);
	char *end = NULL;
	*p = (struct st_workers_place){.slurm = n == 5 && !strncmp(text, "slurm", n)};
	if (!p->slurm && (n != 5 || strncmp(text, "local", n) != 0))
		return st_fail(e, ST_EXIT_USAGE,
		               "--on takes local, local:N, slurm or slurm:PARTITION, not '%s'",
		               text);
	if (!*colon)
		return ST_OK;
	if (p->slurm)
		p->partition = colon + 1;
	else
		p->workers = strtoul(colon + 1, &end, 10);
	if (p->slurm ? !*p->partition
	             : end == colon + 1 || *end || !p->workers || p->workers > CPU_SETSIZE)
		return st_fail(e, ST_EXIT_USAGE, "--on %.5s: takes %s after the colon, not '%s'",
		               text,
		               p->slurm ? "a partition"
		                        : "a number of workers from 1 to the number of CPUs",
		               colon + 1);
	return ST_OK;
}

st_status
st_workers_place_check(const struct st_workers_place *p, const cpu_set_t *cpus, struct st_error *e)
{
	cpu_set_t own;
	if (p->slurm || (!cpus && sched_getaffinity(0, sizeof own, &own)))
		return ST_OK;
	const size_t all = (size_t)CPU_COUNT(cpus ? cpus : &own);
	return p->workers <= all
	               ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED,
	                         "--on local:%zu needs a CPU for each worker, but strobe may use "
	                         "only %zu: use local:%zu, or local for all but one",
	                         p->workers, all, all);
}

/* The last CPUs work, so that the first, which serve most interrupts, are left to strobe. */
static st_status
pool_choose_cpus(struct st_workers *p, const cpu_set_t *cpus, struct st_error *e)
{
	const size_t all = (size_t)CPU_COUNT(cpus), wanted = p->place->workers;
	p->n = wanted ? wanted : all > 1 ? all - 1 : 1;
	if (st_workers_place_check(p->place, cpus, e))
		return ST_FAILED;
	p->workers = calloc(p->n, sizeof *p->workers);
	if (!p->workers)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the workers");
	cpu_set_t rest = p->before;
	for (int cpu = CPU_SETSIZE - 1, i = (int)p->n; cpu >= 0 && i > 0; cpu--)
		if (CPU_ISSET(cpu, cpus)) {
			p->workers[--i].cpu = cpu;
			CPU_CLR(cpu, &rest);
		}
	if (CPU_COUNT(&rest))
		p->pinned = !sched_setaffinity(0, sizeof rest, &rest);
	return ST_OK;
}

st_status
st_workers_begin(struct st_workers *p, const struct st_campaign *c,
                 const struct st_workers_place *place, const char *strobe, const cpu_set_t *cpus,
                 struct st_error *e)
{
	*p = (struct st_workers){
	        .c = c, .place = place, .strobe = strobe, .patience = slurm_patience};
	if (place->slurm)
		return ST_OK;
	if (sched_getaffinity(0, sizeof p->before, &p->before))
		return st_fail(e, ST_EXIT_FAILED, "cannot read which CPUs may be used: %s",
		               strerror(errno));
	return pool_choose_cpus(p, cpus ? cpus : &p->before, e);
}

/* ---- processes ---- */

static _Noreturn void
worker_become(const struct st_workers *p, const struct st_workers_one *w, pid_t parent,
              const char *log)
{
	char cpu[16];
	char *const argv[] = {(char *)(uintptr_t)p->strobe,
	                      "campaign",
	                      "worker",
	                      "--cpu",
	                      cpu,
	                      p->c->folder,
	                      NULL};
	snprintf(cpu, sizeof cpu, "%d", w->cpu);
	setpgid(0, 0); /* after Ctrl-C, strobe ends the workers */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(ST_EXIT_FAILED);
	if (p->pinned)
		sched_setaffinity(0, sizeof p->before, &p->before); /* part of the machine's key */
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int to = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (null >= 0 && to >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0 &&
	    dup2(to, STDERR_FILENO) >= 0)
		execv(p->strobe, argv);
	_exit(ST_EXIT_FAILED);
}

static st_status
pool_start(struct st_workers *p, struct st_workers_one *w, struct st_error *e)
{
	char *log = st_campaign_path(p->c, "workers.log");
	pid_t parent = getpid(), pid = log ? fork() : -1;
	if (pid == 0)
		worker_become(p, w, parent, log);
	int error = log ? errno : ENOMEM;
	free(log);
	if (pid < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot start a worker: %s", strerror(error));
	w->pid = pid;
	return ST_OK;
}

static st_status
pool_nobody(const struct st_workers *p, struct st_error *e)
{
	char *bad = st_campaign_bad_node(p->c);
	st_cause(e, ST_EXIT_FAILED, "no worker of the campaign is left; %s%s%s",
	         bad ? "node " : "their messages are in ", bad ? bad : p->c->folder,
	         bad               ? ""
	         : p->place->slurm ? "/pilot-*.log"
	                           : "/workers.log");
	free(bad);
	return ST_FAILED;
}

/* A worker that was killed is started again; one that ended had its reasons. */
static st_status
local_attend(struct st_workers *p, struct st_error *e)
{
	const bool begins = !p->restarts;
	size_t alive = 0;
	for (size_t i = 0; i < p->n; i++) {
		struct st_workers_one *w = &p->workers[i];
		int status = 0;
		bool killed = false;
		if (w->pid && waitpid(w->pid, &status, WNOHANG) == w->pid) {
			killed = WIFSIGNALED(status);
			w->pid = 0;
		}
		if ((begins || killed) && !w->pid && p->restarts < MOST_RESTARTS + p->n) {
			p->restarts++;
			if (pool_start(p, w, e))
				return ST_FAILED;
		}
		alive += w->pid != 0;
	}
	return alive ? ST_OK : pool_nobody(p, e);
}

/* Submits pilots if none waits or runs. *final: to ask again would not change the error. The first
 * submission has to succeed at once, since its failure most likely is a mistake of the user. */
static st_status
slurm_ask(struct st_workers *p, bool *final, struct st_error *e)
{
	bool alive;
	*final = false;
	if (st_slurm_alive(p->c, &alive, e))
		return ST_FAILED;
	if (alive)
		return ST_OK;
	if (p->submitted == MOST_SUBMISSIONS) {
		*final = true;
		return pool_nobody(p, e);
	}
	bool bad = false;
	*final = !p->submitted;
	if (st_slurm_submit(p->c, p->place->partition, p->strobe, &bad, e)) {
		*final |= bad;
		return bad ? pool_nobody(p, e) : ST_FAILED;
	}
	p->submitted++;
	return ST_OK;
}

/* The controller of Slurm may be restarted or overloaded: its pilots continue meanwhile. */
static st_status
slurm_attend(struct st_workers *p, struct st_error *e)
{
	struct st_error cause;
	bool final;
	if (st_now_raw() < p->next)
		return ST_OK;
	if (!slurm_ask(p, &final, &cause)) {
		p->failing = 0;
		p->next = st_now_raw() + slurm_interval;
		return ST_OK;
	}
	const double now = st_now_raw();
	if (!p->failing)
		p->failing = now;
	const double failing = now - p->failing;
	if (final) {
		*e = cause;
		return ST_FAILED;
	}
	if (failing >= p->patience)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "Slurm has not answered for %.0f s: %s; the pilots continue, and all "
		        "results are kept",
		        failing, cause.text);
	/* Half of the time that it has failed for: 5 s, then longer and longer. */
	const double pause = failing / 2 < slurm_interval ? slurm_interval : failing / 2;
	p->next = now + (pause < slurm_longest ? pause : slurm_longest);
	return ST_OK;
}

st_status
st_workers_attend(struct st_workers *p, struct st_error *e)
{
	return p->place->slurm ? slurm_attend(p, e) : local_attend(p, e);
}

static void
worker_await(pid_t pid, double deadline)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	while (!waitpid(pid, NULL, WNOHANG)) {
		if (st_now_raw() >= deadline)
			kill(pid, SIGKILL);
		nanosleep(&pause, NULL);
	}
}

void
st_workers_end(struct st_workers *p)
{
	const double deadline = st_now_raw() + worker_patience;
	for (size_t i = 0; i < p->n && p->workers; i++)
		if (p->workers[i].pid) {
			kill(p->workers[i].pid, SIGTERM);
			kill(p->workers[i].pid, SIGCONT); /* it may be suspended */
		}
	for (size_t i = 0; i < p->n && p->workers; i++)
		if (p->workers[i].pid)
			worker_await(p->workers[i].pid, deadline);
	if (p->pinned)
		sched_setaffinity(0, sizeof p->before, &p->before);
	free(p->workers);
	*p = (struct st_workers){0};
}
