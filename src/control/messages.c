/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Receives the messages of runtimes. They run inside programs of any user, while strobe may be run
 * by root. So a sender is identified by the kernel, may report about itself only, and must be a
 * process of the run.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/supervisor.h"
#include "wire/control.h"

struct received {
	struct st_message m;
	pid_t sender; /* 0: the kernel did not say, or it is not of our namespace */
	int fd;       /* that came along, or -1 */
};

bool
st_messages_prepare(int channel)
{
	const int on = 1;
	return setsockopt(channel, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0;
}

/* Keeps one descriptor. */
static void
take_descriptors(struct received *r, const struct cmsghdr *c)
{
	int fds[8];
	size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
	n = n < sizeof fds / sizeof *fds ? n : sizeof fds / sizeof *fds;
	memcpy(fds, CMSG_DATA(c), n * sizeof *fds);
	for (size_t i = 0; i < n; i++)
		if (r->fd < 0)
			r->fd = fds[i];
		else
			close(fds[i]);
}

static ssize_t
receive_messages(int channel, struct received *r)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec part = {&r->m, sizeof r->m};
	struct msghdr header = {.msg_iov = &part,
	                        .msg_iovlen = 1,
	                        .msg_control = &control,
	                        .msg_controllen = sizeof control};
	*r = (struct received){.fd = -1};
	ssize_t n = recvmsg(channel, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n < 0)
		return n;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS)
			take_descriptors(r, c);
		else if (c->cmsg_type == SCM_CREDENTIALS)
			r->sender = ((const struct ucred *)CMSG_DATA(c))->pid;
	}
	return n;
}

/* ---- forks ---- */

/* That of a process just forked: one that has ended already had its parent's. */
static char *
command_of_child(pid_t pid, const struct st_process *parent)
{
	char *command = st_command_of(pid);
	if ((command && *command) || !parent || !parent->command)
		return command;
	free(command);
	return strdup(parent->command);
}

static void
on_forked(struct st_supervisor *s, const struct received *r)
{
	uint32_t ppid = (pid_t)r->m.pid == r->sender ? r->m.ppid : st_parent_of(r->sender);
	const struct st_process *parent = st_supervisor_newest(s, (pid_t)ppid);
	/* All processes have their sections at the same places, except for the chunks of rows,
	   which lie as in the parent's memory. */
	const struct st_process *like = parent ? parent : &s->processes[0];
	if (r->fd < 0)
		return;
	struct st_results_header *results = st_results_map(r->fd, like->results);
	if (!results) {
		st_supervisor_leave_alone(s, "its results cannot be mapped into strobe");
		return;
	}
	results->layout.pid = (uint32_t)r->sender;
	results->layout.ppid = ppid;
	char *command = command_of_child(r->sender, parent);
	st_supervisor_add_child(s, results, -1, command);
	free(command);
}

/* ---- execve ---- */

static bool
is_thread_of(pid_t pid, pid_t tid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d", pid, tid);
	return access(path, F_OK) == 0;
}

/* The thread that the sender means, by a number of its own namespace; 0: it has none such. */
static pid_t
messages_thread_of(const struct received *r)
{
	char path[64];
	pid_t found = 0;
	if (is_thread_of(r->sender, (pid_t)r->m.tid) && (pid_t)r->m.pid == r->sender)
		return (pid_t)r->m.tid;
	snprintf(path, sizeof path, "/proc/%d/task", r->sender);
	DIR *tasks = opendir(path);
	for (struct dirent *d; tasks && !found && (d = readdir(tasks));) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);
		if (tid > 0 && st_innermost_pid((uint32_t)tid) == r->m.tid)
			found = tid;
	}
	if (tasks)
		closedir(tasks);
	return found;
}

/* Has it become root's, as by a set-uid program, where it was not? */
static bool
is_above(const struct st_process *p, pid_t sender)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d", sender);
	return stat(path, &st) != 0 || (st.st_uid == 0 && p->uid != 0);
}

/* The process of the run whose results the sender uses: its own, or of a vfork's child those of the
 * process whose memory it has; or, of a child whose own were not taken, its parent. NULL: it is
 * none of the run's. *shared: the results are in its memory. */
static struct st_process *
process_of(struct st_supervisor *s, pid_t sender, bool *shared)
{
	struct st_process *p = st_supervisor_newest(s, sender);
	*shared = true;
	if (p)
		return p;
	p = st_supervisor_newest(s, (pid_t)st_parent_of(sender));
	*shared = p && syscall(SYS_kcmp, sender, p->pid, KCMP_VM, 0, 0) <= 0;
	if (p)
		return p;
	for (size_t i = s->n_processes; i-- > 0;) /* a child made as a brother */
		if (!s->processes[i].gone &&
		    syscall(SYS_kcmp, sender, s->processes[i].pid, KCMP_VM, 0, 0) == 0) {
			*shared = true;
			return &s->processes[i];
		}
	return NULL;
}

static bool
seize(struct st_supervisor *s, pid_t sender, pid_t tid)
{
	long failed = ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXEC);
	if (failed && errno == EPERM) {
		st_supervisor_let_go(s, tid);
		failed = ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXEC);
	}
	if (failed)
		return false;
	if (is_thread_of(sender, tid))
		return true;
	ptrace(PTRACE_INTERRUPT, tid, 0, 0); /* the number was another's meanwhile: it is let go */
	return false;
}

/* A child is about to call execve: it is traced from here to its first instruction. */
static void
on_exec(struct st_supervisor *s, const struct received *r)
{
	bool shared;
	struct st_process *p = process_of(s, r->sender, &shared);
	pid_t tid = p && !is_above(p, r->sender) ? messages_thread_of(r) : 0;
	if (tid && seize(s, r->sender, tid))
		s->n_execs++;
	if (!p || !shared)
		return;
	struct st_results_header *results = (struct st_results_header *)p->results;
	__atomic_store_n(&results->control.exec_ack, r->m.ticket, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &results->control.exec_ack, FUTEX_WAKE, 100, NULL, NULL, 0);
}

static void
on_exec_failed(struct st_supervisor *s, const struct received *r)
{
	pid_t tid = messages_thread_of(r);
	if (s->n_execs)
		s->n_execs--;
	if (tid)
		ptrace(PTRACE_INTERRUPT, tid, 0, 0); /* its stop is answered by a detach */
}

/* ---- all of them ---- */

static void
answer(struct st_supervisor *s, const struct received *r)
{
	struct st_process *p = st_supervisor_newest(s, r->sender);
	struct st_results_header *results = p ? (struct st_results_header *)p->results : NULL;
	switch (r->m.kind) {
	case ST_MESSAGE_FORKED:
		on_forked(s, r);
		break;
	case ST_MESSAGE_EXEC:
		on_exec(s, r);
		break;
	case ST_MESSAGE_EXEC_FAILED:
		on_exec_failed(s, r);
		break;
	case ST_MESSAGE_IMAGE:
		if (results)
			st_region_images(s, results);
		break;
	case ST_MESSAGE_LEADERS:
		if (results)
			st_region_leaders(s, results);
		break;
	default:
		break;
	}
}

bool
st_supervisor_take(struct st_supervisor *s, int channel)
{
	struct received r;
	ssize_t n = receive_messages(channel, &r);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0 && r.fd < 0)
		return false;
	if (n == sizeof r.m && r.sender > 0)
		answer(s, &r);
	if (r.fd >= 0)
		close(r.fd);
	return true;
}
