/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/attach.h"
#include "control/supervisor.h"

/* The time to wait for children that outlive the program. */
static const double linger_seconds = 1.0;

char *
st_command_of(pid_t pid)
{
	char path[64], text[4096];
	snprintf(path, sizeof path, "/proc/%d/cmdline", st_live_thread(pid));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return strdup(text);
}

st_status
st_supervisor_add(struct st_supervisor *s, struct st_results_header *results, int channel,
                  const char *command)
{
	if (channel >= 0) {
		int *more = realloc(s->channels, (s->n_channels + 1) * sizeof *more);
		if (!more)
			return -1;
		s->channels = more;
	}
	if (s->n_processes == s->room_processes) {
		size_t room = s->room_processes ? 2 * s->room_processes : 8;
		struct st_process *more = realloc(s->processes, room * sizeof *more);
		if (!more)
			return -1;
		s->processes = more;
		s->room_processes = room;
	}
	struct st_process *p = &s->processes[s->n_processes++];
	*p = (struct st_process){.pid = results->layout.pid,
	                         .ppid = results->layout.ppid,
	                         .command = command ? strdup(command)
	                                            : st_command_of((pid_t)results->layout.pid),
	                         .results = results,
	                         .results_size = results->layout.file_size};
	if (s->drain)
		st_drain_add(s->drain, results, results->layout.file_size);
	st_perf_map_prepare(s, p);
	if (channel >= 0)
		s->channels[s->n_channels++] = channel;
	return 0;
}

bool
st_supervisor_add_child(struct st_supervisor *s, struct st_results_header *results, int channel,
                        const char *command)
{
	if (!st_supervisor_add(s, results, channel, command))
		return true;
	munmap(results, results->layout.file_size);
	if (channel >= 0)
		close(channel);
	st_supervisor_leave_alone(s, "no memory left to keep its results");
	return false;
}

struct st_process *
st_supervisor_newest(struct st_supervisor *s, pid_t pid)
{
	for (size_t i = s->n_processes; i-- > 0;)
		if (s->processes[i].pid == (uint32_t)pid)
			return &s->processes[i];
	return NULL;
}

/* A child runs natively, or cannot be seen: the report says so. */
void
st_supervisor_leave_alone(struct st_supervisor *s, const char *why)
{
	s->unfollowed++;
	if (!s->unfollowed_why)
		s->unfollowed_why = strdup(why);
}

static void on_end(struct st_supervisor *s, pid_t pid, int status, const struct rusage *usage);

/* An execve that failed has left the thread traced, and about to be let go at a stop that is still
 * to come: a search in PATH tries the next folder at once. */
void
st_supervisor_let_go(struct st_supervisor *s, pid_t tid)
{
	const struct timespec nap = {0, 1000000};
	struct rusage usage;
	int status;
	for (int tries = 0; tries < 1000; tries++) {
		pid_t got = wait4(tid, &status, __WALL | WNOHANG, &usage);
		if (got == tid && WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, tid, 0, 0);
		else if (got == tid)
			on_end(s, tid, status, &usage);
		if (got != 0)
			return;
		nanosleep(&nap, NULL);
	}
}

static bool
is_native64(pid_t pid)
{
	char path[64];
	unsigned char head[20] = {0};
	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : 0;
	if (fd >= 0)
		close(fd);
	return n < 20 || (head[4] == 2 && head[18] == 62); /* unreadable: taken for one */
}

uint32_t
st_parent_of(pid_t pid)
{
	char path[64], text[512];
	uint32_t parent = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	const char *name_end = strrchr(text, ')'); /* behind it the state, and the parent */
	if (name_end && name_end[1] && name_end[2])
		parent = (uint32_t)strtoul(name_end + 3, NULL, 10);
	return parent;
}

/* That of a process that is stopped at its execve: what it was before, or, for a vfork's child,
 * which had no results of its own, what the kernel says. 0: unknown. */
static uint32_t
parent_of(const struct st_supervisor *s, pid_t pid)
{
	for (size_t i = s->n_processes; i-- > 0;)
		if (s->processes[i].pid == (uint32_t)pid && s->processes[i].ppid)
			return s->processes[i].ppid;
	return st_parent_of(pid);
}

/* Has its execve given it privileges, as strobe's being root allows? */
static bool
is_privileged(pid_t pid)
{
	char path[64];
	Elf64_auxv_t v;
	bool secure = false;
	snprintf(path, sizeof path, "/proc/%d/auxv", pid);
	FILE *f = fopen(path, "re");
	while (f && fread(&v, sizeof v, 1, f) == 1 && v.a_type != AT_NULL)
		secure |= v.a_type == AT_SECURE && v.a_un.a_val;
	if (f)
		fclose(f);
	return secure;
}

/* What the process has become runs natively, from here on. */
static void
leave_program_alone(struct st_supervisor *s, pid_t pid, const char *why)
{
	struct st_process *before = st_supervisor_newest(s, pid);
	struct timespec used;
	clockid_t clock;
	if (pid != s->main_pid || !before || before->alone_why) {
		st_supervisor_leave_alone(s, why);
		return;
	}
	before->alone_why = strdup(why);
	struct st_results_header *results = (struct st_results_header *)before->results;
	if (!clock_getcpuclockid(pid, &clock) && !clock_gettime(clock, &used))
		results->run.left_ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* A followed process has become another program: the engine goes in again. */
static void
on_exec_event(struct st_supervisor *s, pid_t pid)
{
	struct st_injected in;
	struct st_error e = {.text = "it is not a 64-bit x86 program"};
	if (s->n_execs)
		s->n_execs--;
	st_supervisor_meet(s, pid);
	char *command = st_command_of(pid); /* once it runs it may have ended before one looks */
	const bool native64 = is_native64(pid), privileged = native64 && is_privileged(pid);
	if (privileged)
		st_cause(&e, 0, "it has privileges of its own: set-uid, or file capabilities");
	const struct st_run_options options = st_region_continued(s, pid);
	if (privileged || !native64 || st_inject(pid, &options, &s->pool, NULL, &in, &e) != 0) {
		leave_program_alone(s, pid, e.text);
		ptrace(PTRACE_DETACH, pid, 0, 0);
		free(command);
		return;
	}
	in.results->layout.ppid = parent_of(s, pid);
	if (st_supervisor_add_child(s, in.results, in.channel, command)) {
		s->processes[s->n_processes - 1].executed = true;
		st_perf_map_forget(&s->processes[s->n_processes - 1]);
	}
	free(command);
}

static void
serve_channel(struct st_supervisor *s, size_t channel)
{
	if (st_supervisor_take(s, s->channels[channel]))
		return;
	close(s->channels[channel]);
	s->channels[channel] = s->channels[--s->n_channels];
}

static void
stop_too(const struct st_supervisor *s, pid_t pid, int signo)
{
	const struct st_run_options *o = s->options;
	if (o->pause)
		o->pause(o->progress_arg, true);
	st_jobs_stopped(pid, signo);
	if (o->pause)
		o->pause(o->progress_arg, false);
}

static void
on_stop_supervisor(struct st_supervisor *s, pid_t pid, int status)
{
	int event = status >> 16;
	if (event == PTRACE_EVENT_EXEC)
		on_exec_event(s, pid);
	else if (event == PTRACE_EVENT_STOP)
		ptrace(PTRACE_DETACH, pid, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
	else if (ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status)) != 0 && pid == s->main_pid)
		stop_too(s, pid, WSTOPSIG(status)); /* it is not traced: job control */
}

static void
on_end(struct st_supervisor *s, pid_t pid, int status, const struct rusage *usage)
{
	if (pid == s->main_pid) {
		s->main_ended = true;
		s->main_status = status;
		s->ended = st_now_raw();
		st_jobs_end();
		s->usage = *usage;
	}
	for (size_t i = s->n_processes; i-- > 0;) {
		struct st_process *p = &s->processes[i];
		if (p->pid != (uint32_t)pid)
			continue;
		p->exited = WIFEXITED(status);
		p->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
		p->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		p->core_dumped = WIFSIGNALED(status) && WCOREDUMP(status);
		return;
	}
}

static void
reap(struct st_supervisor *s)
{
	int status;
	struct rusage usage;
	pid_t pid;
	while ((pid = wait4(-1, &status, __WALL | WNOHANG | WUNTRACED, &usage)) > 0) {
		if (WIFSTOPPED(status))
			on_stop_supervisor(s, pid, status);
		else
			on_end(s, pid, status, &usage);
	}
}

static void
on_child_signal(int signo)
{
	(void)signo; /* it has interrupted the poll */
}

static void
poll_once(struct st_supervisor *s, const sigset_t *during)
{
	/* Stacks must be fetched before their ring is full. */
	struct timespec tick = {0, s->drain || s->options->qos ? 20000000
	                           : s->options->on_stack      ? 50000000
	                                                       : 100000000};
	double most = st_region_next(s, st_now_raw());
	if (most * 1e9 < (double)tick.tv_nsec)
		tick.tv_nsec = (long)(most * 1e9);
	struct pollfd fds[64];
	size_t n = s->n_channels < 64 ? s->n_channels : 64;
	for (size_t i = 0; i < n; i++)
		fds[i] =
		        (struct pollfd){.fd = s->channels[s->n_channels - n + i], .events = POLLIN};
	size_t first = s->n_channels - n;
	if (ppoll(fds, n, &tick, during) <= 0)
		return;
	for (size_t i = n; i-- > 0;)
		if (fds[i].revents)
			serve_channel(s, first + i);
}

void
st_supervisor_drain(struct st_supervisor *s)
{
	for (size_t i = 0; s->options->on_stack && i < s->n_processes; i++)
		if (!s->processes[i].gone)
			st_stacks_drain(s->options,
			                (struct st_results_header *)s->processes[i].results);
	if (s->drain)
		st_drain_wake(s->drain);
}

void
st_supervisor_meet(const struct st_supervisor *s, pid_t pid)
{
	if (s->options->on_process)
		s->options->on_process(s->options->process_arg, pid);
}

void
st_supervisor_tick(struct st_supervisor *s, double now)
{
	const struct st_run_options *o = s->options;
	if (o->on_turn)
		o->on_turn(o->turn_arg, s->processes, s->n_processes);
	if (!o->on_second || now - s->last_second < 1)
		return;
	s->last_second = now;
	o->on_second(o->second_arg, s->processes, s->n_processes);
}

/* A followed child's end, if the kernel did not tell us because it is not our child. */
static void
complete_children(struct st_supervisor *s)
{
	for (size_t i = 0; i < s->n_processes; i++) {
		struct st_process *p = &s->processes[i];
		if (p->exited || p->signal)
			continue;
		p->exited = p->results->run.state == ST_RUN_EXITED;
		p->exit_code = p->exited ? p->results->run.exit_code : 0;
		p->signal = p->results->run.state == ST_RUN_KILLED
		                    ? (int)p->results->run.fatal_signal
		                    : 0;
		p->running = p->results->run.state == ST_RUN_CACHE && !p->gone &&
		             kill((pid_t)p->pid, 0) == 0;
	}
}

/* Gives back the address space of what was never used. */
static void
trim(struct st_supervisor *s, struct st_process *p)
{
	const struct st_results_header *h = p->results;
	if (s->drain)
		st_drain_end(s->drain, h);
	p->results = st_results_shrink((struct st_results_header *)h, &p->results_size);
	if (p->results != h && s->options->on_stack)
		s->options->on_moved(s->options->stack_arg, h, p->results);
}

/* Has another program taken its place? */
static bool
is_replaced(const struct st_supervisor *s, size_t i)
{
	for (size_t k = s->n_processes; k-- > i + 1;)
		if (s->processes[k].pid == s->processes[i].pid)
			return true;
	return false;
}

/* A build makes thousands of processes: those that have ended keep no more than they need. */
static void
retire_ended(struct st_supervisor *s)
{
	for (size_t i = 0; i < s->n_processes; i++) {
		struct st_process *p = &s->processes[i];
		if (p->gone)
			continue;
		p->gone = (kill((pid_t)p->pid, 0) != 0 && errno == ESRCH) ||
		          (p->results->run.state == ST_RUN_EXECED && is_replaced(s, i));
		if (p->gone)
			trim(s, p);
	}
}

void
st_supervisor_wait(struct st_supervisor *s)
{
	sigset_t block, during;
	struct sigaction wake = {.sa_handler = on_child_signal}, old;
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, &during);
	sigdelset(&during, SIGCHLD);
	sigaction(SIGCHLD, &wake, &old);
	for (;;) {
		reap(s);
		double now = st_now_raw();
		bool alone = s->n_channels == 0 && s->n_execs == 0;
		if (s->main_ended &&
		    (alone || now - s->ended > linger_seconds || st_jobs_interrupted()))
			break;
		st_supervisor_drain(s);
		retire_ended(s);
		st_region_tick(s, now);
		st_supervisor_tick(s, now);
		st_supervisor_charge(s);
		st_supervisor_follow_qos(s);
		if (s->options->progress)
			s->options->progress(s->options->progress_arg, s->processes, s->n_processes,
			                     now - s->begin);
		poll_once(s, &during);
	}
	sigaction(SIGCHLD, &old, NULL);
	st_supervisor_drain(s);
	complete_children(s);
	for (size_t i = 0; s->drain && i < s->n_processes; i++)
		st_drain_end(s->drain, s->processes[i].results);
	/* One that still runs may take more slots while its results are read. */
	for (size_t i = 0; i < s->n_processes; i++)
		if (!s->processes[i].gone && !s->processes[i].running)
			trim(s, &s->processes[i]);
	for (size_t i = 0; i < s->n_channels; i++)
		close(s->channels[i]);
	free(s->channels);
}
