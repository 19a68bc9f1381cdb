/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "server.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Reads until the other end has gone. */
static void
wait_for_end(int fd)
{
	char byte;
	while (recv(fd, &byte, 1, 0) > 0)
		;
}

static void
answer_one(struct server *s, int fd)
{
	ssize_t n = recv(fd, s->asked, sizeof s->asked - 1, 0);
	s->asked[n > 0 ? n : 0] = 0;
	send(fd, s->answer, strlen(s->answer), MSG_NOSIGNAL);
	if (s->keeps)
		wait_for_end(fd);
	close(fd);
}

static void *
serve(void *arg)
{
	struct server *s = arg;
	for (int fd; (fd = accept(s->socket, NULL, NULL)) >= 0;)
		answer_one(s, fd);
	return NULL;
}

static void
start(struct server *s, struct sockaddr *at, socklen_t size)
{
	s->socket = socket(at->sa_family, SOCK_STREAM, 0);
	if (bind(s->socket, at, size) || listen(s->socket, 5) ||
	    getsockname(s->socket, at, &size) || pthread_create(&s->thread, NULL, serve, s))
		abort();
}

uint16_t
server_start(struct server *s, const char *answer, bool keeps)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	*s = (struct server){.answer = answer, .keeps = keeps};
	start(s, (struct sockaddr *)&at, sizeof at);
	return ntohs(at.sin_port);
}

void
server_start_at(struct server *s, const char *path, const char *answer, bool keeps)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	*s = (struct server){.answer = answer, .keeps = keeps};
	if (strlen(path) >= sizeof at.sun_path)
		abort();
	memcpy(at.sun_path, path, strlen(path) + 1);
	start(s, (struct sockaddr *)&at, sizeof at);
}

void
server_stop(struct server *s)
{
	shutdown(s->socket, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->socket);
}
