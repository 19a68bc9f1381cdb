/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/attach.h"
#include "control/internal.h"
#include "control/supervisor.h"

enum { ATTACHED, REFUSED, LEFT, DETACHED };
enum { RESULTS, CHANNEL, N_FDS }; /* descriptors of an attached process */

/* From the agent; ATTACHED brings descriptors along. To the agent: one byte, detach. */
struct message {
	int kind;
	bool done; /* DETACHED: nothing of the engine is left */
	size_t threads;
	double begin;
	struct st_error error;                 /* REFUSED */
	unsigned char layout[ST_LAYOUT_BYTES]; /* ATTACHED: of the results */
};

static void
tell_agent(int socket, const struct message *m, const int *fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(N_FDS * sizeof(int))];
	} control = {0};
	struct iovec part = {(void *)m, sizeof *m};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	if (fds) {
		header.msg_control = &control;
		header.msg_controllen = sizeof control;
		struct cmsghdr *c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(N_FDS * sizeof *fds);
		memcpy(CMSG_DATA(c), fds, N_FDS * sizeof *fds);
	}
	ssize_t n = sendmsg(socket, &header, MSG_NOSIGNAL);
	(void)n; /* strobe is gone then, as will be seen */
}

/* Nothing that is sent to strobe's terminal or process group reaches the agent, and it holds none
 * of strobe's files open. */
static void
stand_apart(int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;
	setsid();
	prctl(PR_SET_NAME, "strobe-agent");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (socket != 3)
		dup3(socket, 3, O_CLOEXEC);
	close_range(4, ~0u, 0);
}

/* A runtime that has not begun cannot be left. When strobe is gone, nobody else answers it. */
static void
let_begin(const struct st_attachment *a)
{
	const double patience = 5.0;
	struct st_results_header *r = a->results;
	double end = st_now_raw() + patience;
	while (__atomic_load_n(&r->run.state, __ATOMIC_ACQUIRE) == ST_RUN_STARTING &&
	       st_now_raw() < end && kill(a->pid, 0) == 0) {
		if (r->control.images_done != r->maps.n)
			st_region_seen(r, r->maps.n);
		nanosleep(&(struct timespec){0, 100000}, NULL);
	}
}

/* Until strobe says so, or is gone, or the process has left. */
static void
attend(int socket, struct st_attachment *a)
{
	struct pollfd fds[2] = {{.fd = socket, .events = POLLIN}, {.fd = a->channel}};
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents)
			break;
		if (fds[1].revents) {
			tell_agent(socket, &(struct message){.kind = LEFT}, NULL);
			fds[1].fd = -1;
		}
	}
	/* Unread data would reset the connection before strobe reads the answer (ECONNRESET). */
	char byte;
	if (recv(socket, &byte, 1, MSG_DONTWAIT) != 1) /* strobe is gone: threads wait in vain */
		__atomic_store_n(&a->results->control.deserted, 1, __ATOMIC_RELAXED);
	struct message m = {.kind = DETACHED};
	let_begin(a);
	m.done = fds[1].fd < 0 ? !a->results->control.detach.leaves || st_clear_leftovers(a)
	                       : st_detach(a);
	tell_agent(socket, &m, NULL);
}

static _Noreturn void
be_agent(int socket, pid_t pid, const struct st_run_options *o)
{
	struct st_attachment a;
	struct message m = {.kind = ATTACHED};
	stand_apart(socket);
	if (st_attach(pid, o, &a, &m.error) != 0) {
		m.kind = REFUSED;
		tell_agent(3, &m, NULL);
		_exit(0);
	}
	m.threads = a.threads;
	m.begin = a.begin;
	memcpy(m.layout, a.results->layout_page, sizeof m.layout);
	tell_agent(3, &m, (const int[N_FDS]){[RESULTS] = a.results_fd, [CHANNEL] = a.channel});
	attend(3, &a);
	_exit(0);
}

/* The next message; false when the agent is gone. */
static bool
hear(int socket, struct message *m, int *fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(N_FDS * sizeof(int))];
	} control;
	struct iovec part = {m, sizeof *m};
	struct msghdr header = {.msg_iov = &part,
	                        .msg_iovlen = 1,
	                        .msg_control = &control,
	                        .msg_controllen = sizeof control};
	ssize_t n;
	do
		n = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof *m)
		return false;
	struct cmsghdr *c = CMSG_FIRSTHDR(&header);
	fds[RESULTS] = fds[CHANNEL] = -1;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), N_FDS * sizeof *fds);
	return true;
}

static st_status
map_results(struct st_agent *agent, int fd, const struct message *m, struct st_error *e)
{
	static struct st_results_header like; /* too large for the stack */
	memcpy(like.layout_page, m->layout, sizeof like.layout_page);
	agent->results = st_results_map(fd, &like);
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (!agent->results)
		return st_fail(e, ST_EXIT_FAILED, "cannot map the results: %s", strerror(error));
	return 0;
}

st_status
st_agent_start(struct st_agent *agent, pid_t pid, const struct st_run_options *o,
               struct st_error *e)
{
	int pair[2], fds[N_FDS];
	struct message m = {0};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot make a socket: %s", strerror(errno));
	*agent = (struct st_agent){.pid = fork(), .socket = pair[0], .channel = -1};
	if (agent->pid == 0)
		be_agent(pair[1], pid, o);
	close(pair[1]);
	if (agent->pid < 0) {
		close(pair[0]);
		return st_fail(e, ST_EXIT_FAILED, "cannot fork: %s", strerror(errno));
	}
	bool heard = hear(agent->socket, &m, fds);
	if (heard && m.kind == ATTACHED)
		agent->channel = fds[CHANNEL];
	if (heard && m.kind == ATTACHED && map_results(agent, fds[RESULTS], &m, e) == 0) {
		agent->threads = m.threads;
		agent->begin = m.begin;
		return 0;
	}
	if (!heard)
		st_cause(e, ST_EXIT_FAILED,
		         "strobe-agent, the process that attaches for strobe, was killed: try "
		         "again");
	else if (m.kind == REFUSED)
		*e = m.error;
	st_agent_end(agent);
	return -1;
}

enum st_agent_news
st_agent_wait(const struct st_agent *agent, double seconds)
{
	struct pollfd fds[2] = {{.fd = agent->socket, .events = POLLIN},
	                        {.fd = agent->channel, .events = POLLIN}};
	const struct timespec most = {0, (long)(seconds * 1e9)};
	struct message m;
	int ignored[N_FDS];
	if (ppoll(fds, 2, &most, NULL) < 1)
		return ST_AGENT_NOTHING;
	if (fds[0].revents)
		return hear(agent->socket, &m, ignored) ? ST_AGENT_PROCESS_LEFT : ST_AGENT_DIED;
	return fds[1].revents & POLLIN ? ST_AGENT_RUNTIME_ASKS : ST_AGENT_PROCESS_LEFT;
}

bool
st_agent_end(struct st_agent *agent)
{
	struct message m;
	int ignored[N_FDS];
	bool done = false;
	if (send(agent->socket, "d", 1, MSG_NOSIGNAL) == 1)
		while (hear(agent->socket, &m, ignored))
			if (m.kind == DETACHED)
				done = m.done;
	close(agent->socket);
	if (agent->channel >= 0)
		close(agent->channel); /* the end of it, where the runtime is still there */
	while (waitpid(agent->pid, NULL, 0) < 0 && errno == EINTR)
		;
	return done;
}
