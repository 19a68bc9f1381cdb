/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A question to a server on this machine, and its answer, within a time. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

/* A socket on its way to the port; -1. */
static int
begin_connect(bool six, uint16_t port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} to = {.any.sa_family = six ? AF_INET6 : AF_INET};
	if (six) {
		to.six.sin6_port = htons(port);
		to.six.sin6_addr = in6addr_loopback;
	} else {
		to.four.sin_port = htons(port);
		to.four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, &to.any, six ? sizeof to.six : sizeof to.four) == 0 || errno == EINPROGRESS)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Questions are short: they fit into a socket's buffer. */
static bool
ask(int fd, const char *question, double until, int stop)
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
read_answer(int fd, char *answer, size_t size, st_qos_whole *whole, double until,
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
st_qos_talk(bool six, uint16_t port, const char *question, char *answer, size_t size,
            st_qos_whole *whole, struct st_qos_poll *p)
{
	double until = st_qos_now() + p->most;
	int fd = begin_connect(six, port);
	answer[0] = 0;
	if (fd < 0 || !ask(fd, question, until, p->stop)) {
		st_qos_failed(p, "port %u: %s", port, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	int n = read_answer(fd, answer, size, whole, until, p);
	close(fd);
	return n;
}
