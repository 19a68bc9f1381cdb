/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the metric comes from. A source is polled by a thread of strobe's own, so it may wait a
 * little, but never for longer than it is told; the program knows nothing of it.
 */
#ifndef STROBE_QOS_SOURCE_H
#define STROBE_QOS_SOURCE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "qos/monitor.h"

/* A poll: what it may do, and what came of it. */
struct st_qos_poll {
	double now;    /* seconds, of a clock that never goes back */
	double most;   /* seconds: it may take so long */
	int stop;      /* readable: it comes back at once; -1: there is none */
	double value;  /* of ST_QOS_VALUE */
	double window; /* seconds until it tells all of a change; 0: it does at once */
	char why[200]; /* of ST_QOS_FAILURE, and why there may be nothing: half a sentence */
};

struct st_qos_kind {
	const char *name, *form; /* "cmd", "cmd:COMMAND" */
	/* text: what follows "NAME:". NULL and *e when it is not of the form. */
	void *(*open)(const char *text, struct st_error *e);
	enum st_qos_got (*poll)(void *source, struct st_qos_poll *p);
	void (*close)(void *source);
	/* Seconds from poll to poll at the most; 0: any. Or NULL. */
	double (*interval)(const void *source);
	void (*disconnect)(void *source); /* ends a connection, until a second later; or NULL */
};

extern const struct st_qos_kind st_qos_command, st_qos_file, st_qos_rate, st_qos_growth,
        st_qos_http, st_qos_redis, st_qos_postgresql, st_qos_mysql, st_qos_slot;
/* All of them; NULL at the end. */
extern const struct st_qos_kind *const st_qos_kinds[];
/* The kind of the source "NAME:...", and in *rest what follows the colon. NULL: there is none. */
const struct st_qos_kind *st_qos_kind_of(const char *source, const char **rest);

/* Fills p->why. */
__attribute__((format(printf, 2, 3))) enum st_qos_got st_qos_failed(struct st_qos_poll *p,
                                                                    const char *format, ...);
/* The same of nothing. */
__attribute__((format(printf, 2, 3))) enum st_qos_got st_qos_nothing(struct st_qos_poll *p,
                                                                     const char *format, ...);

/* ---- number.c ---- */

/* A number that is 0 or more at the beginning of text, blanks before it left out. */
bool st_qos_number(const char *text, double *value);
/* Compiles a regular expression. 0, or -1 with *e. */
st_status st_qos_regex(regex_t *regex, const char *text, struct st_error *e);
/* The number in its first group, or in all that matches. */
enum st_qos_match { ST_QOS_NO_MATCH, ST_QOS_NO_NUMBER, ST_QOS_NUMBER };
enum st_qos_match st_qos_match(const regex_t *regex, const char *text, double *value);

/* The last reading of a growing value, from which its rate per second is computed. */
struct st_qos_growing {
	double amount, time;
	bool known;
};
/* False: it is the first amount, or less than the last. */
bool st_qos_grown(struct st_qos_growing *g, double amount, double now, double *rate);

/* ---- steps.c ---- */

enum { ST_QOS_MOST_READINGS = 64 }; /* twenty come in a second at most */

/* A growing value that is reported in steps, every few seconds. All zero at first. */
struct st_qos_steps {
	struct st_qos_reading {
		double time, amount;
	} readings[ST_QOS_MOST_READINGS]; /* of the window, and the last before it */
	size_t n;
};

/*
 * Its growth per second: the mean of the last `every` seconds less the mean of those before. It
 * is free of the steps, as it gives each the weight of a triangle of twice that width: a step that
 * comes a little early or late changes little, where in the growth over a window it is in or
 * out. False: not known yet, or less than before.
 */
bool st_qos_stepped(struct st_qos_steps *s, double every, double amount, double now, double *rate);

/* ---- wait.c ---- */

/* Waits until the descriptor has one of the events: 1, 0: it had none in time or is to stop. */
int st_qos_wait(int fd, short events, double until, int stop);

/* ---- talk.c ---- */

/* Is an answer complete? */
typedef bool st_qos_whole(const char *text, size_t n);
/* A server on this machine. */
struct st_qos_server {
	const char *path; /* of a socket; NULL: it is at the port */
	uint16_t port;
	bool six; /* of IPv6 */
};
/* Sends a question to a server and reads the answer, up to size - 1 bytes and a NUL. The number of
 * bytes, or -1 with p->why. */
int st_qos_talk(const struct st_qos_server *to, const char *question, char *answer, size_t size,
                st_qos_whole *whole, struct st_qos_poll *p);
/* A port number; the rest of the text, or NULL. */
const char *st_qos_port(const char *text, uint16_t *port);

#endif
