/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A question to a server on this machine, and its answer, within a time. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "qos/source.h"

const char *
st_qos_port(const char *text, uint16_t *port)
{
	char *end;
	if (*text < '0' || *text > '9')
		return NULL;
	unsigned long number = strtoul(text, &end, 10);
	*port = (uint16_t)number;
	return number >= 1 && number <= UINT16_MAX ? end : NULL;
}

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_un path;
};

/* The length of the address; 0: the path is too long. */
static socklen_t
address_of(const struct st_qos_server *to, union address *a)
{
	memset(a, 0, sizeof *a);
	if (to->path) {
		a->path.sun_family = AF_UNIX;
		size_t n = strlen(to->path);
		if (n >= sizeof a->path.sun_path)
			return 0;
		memcpy(a->path.sun_path, to->path, n + 1);
		return sizeof a->path;
	}
	if (to->six) {
		a->six.sin6_family = AF_INET6;
		a->six.sin6_port = htons(to->port);
		a->six.sin6_addr = in6addr_loopback;
		return sizeof a->six;
	}
	a->four.sin_family = AF_INET;
	a->four.sin_port = htons(to->port);
	a->four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof a->four;
}

/* A socket on its way to the server; -1. */
static int
begin_connect(const struct st_qos_server *to)
{
	union address a;
	socklen_t size = address_of(to, &a);
	if (!size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, &a.any, size) == 0 || errno == EINPROGRESS)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Questions are short: they fit into a socket's buffer. */
static bool
talk_ask(int fd, const char *question, double until, int stop)
{
	int error = 0;
	socklen_t size = sizeof error;
	size_t n = strlen(question);
	if (!st_qos_wait(fd, POLLOUT, until, stop)) {
		errno = ETIMEDOUT;
		return false;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) || error) {
		errno = error;
		return false;
	}
	return send(fd, question, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static int
talk_read_answer(int fd, char *answer, size_t size, st_qos_whole *whole, double until,
                 struct st_qos_poll *p)
{
	size_t n = 0;
	while (n < size - 1) {
		if (!st_qos_wait(fd, POLLIN, until, p->stop)) {
			st_qos_failed(p, "there was no whole answer in time");
			return -1;
		}
		ssize_t got = recv(fd, answer + n, size - 1 - n, 0);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0) {
			st_qos_failed(p, "%s", strerror(errno));
			return -1;
		}
		n += (size_t)got;
		answer[n] = 0;
		if (got == 0 || whole(answer, n))
			break;
	}
	return (int)n;
}

int
st_qos_talk(const struct st_qos_server *to, const char *question, char *answer, size_t size,
            st_qos_whole *whole, struct st_qos_poll *p)
{
	double until = st_now_raw() + p->most;
	int fd = begin_connect(to);
	answer[0] = 0;
	if (fd < 0 || !talk_ask(fd, question, until, p->stop)) {
		int error = errno;
		if (to->path)
			st_qos_failed(p, "%s: %s", to->path, strerror(error));
		else
			st_qos_failed(p, "port %u: %s", to->port, strerror(error));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	int n = talk_read_answer(fd, answer, size, whole, until, p);
	close(fd);
	return n;
}
