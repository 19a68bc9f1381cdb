/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server on this machine that says the same to all who ask. */
#ifndef STROBE_TESTS_QOS_SERVER_H
#define STROBE_TESTS_QOS_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct server {
	const char *answer;
	bool keeps; /* the connection open */
	int socket;
	pthread_t thread;
	char asked[400]; /* by the last one */
};

/* Returns its port. */
uint16_t server_start(struct server *s, const char *answer, bool keeps);
/* The same at the path of a socket. */
void server_start_at(struct server *s, const char *path, const char *answer, bool keeps);
void server_stop(struct server *s);

#endif
