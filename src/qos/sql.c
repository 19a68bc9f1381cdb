/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * postgresql:[//SERVER ]QUERY and mysql:[//SERVER ]QUERY: the number in the last column of the
 * first row that a query gives; with "; /s" behind it by how much that grows in a second. The
 * server is asked by its own client, which knows all ways to it and all passwords, and stays
 * connected from question to question.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "qos/child.h"
#include "qos/source.h"

static const double patience = 5; /* seconds without an answer */
static const double pause_s = 1;  /* before a client that has ended is started again */
enum { MOST_ARGUMENTS = 16 };

struct server {
	const char *name;
	const char *clients[3];                /* any of them */
	const char *arguments[MOST_ARGUMENTS]; /* first */
	const char *mark;                      /* what makes it print MARK */
	double every;       /* seconds that what it counts is reported; 0: at once */
	const char *secret; /* where a password belongs */
};
static const char MARK[] = "=strobe=";

struct sql {
	const struct server *server;
	char *words[4];
	size_t n_words;
	char *question;
	bool rate;
	struct st_qos_steps steps;     /* of what grows */
	struct st_qos_growing growing; /* where it is reported at once */
	struct st_qos_child child;
	int fd; /* its input, output and messages; -1: it does not run */
	bool asked;
	double started, heard;
	char line[200]; /* what has been read of it */
	size_t n;
	char first[200]; /* line of the answer */
	bool answered;   /* there is one */
};

/* Its processes report what they count but once a second (PGSTAT_MIN_INTERVAL). */
static const struct server postgresql = {
        .name = "postgresql",
        .clients = {"psql"},
        .arguments = {"--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--no-password"},
        .mark = "\\echo =strobe=\n",
        .secret = "PGPASSWORD or ~/.pgpass",
        .every = 1};
static const struct server mysql = {.name = "mysql",
                                    .clients = {"mariadb", "mysql"},
                                    .arguments = {"--batch", "--skip-column-names", "--unbuffered",
                                                  "--force", "--connect-timeout=3"},
                                    .mark = "SELECT '=strobe=';\n",
                                    .secret = "MYSQL_PWD or ~/.my.cnf"};

/* ---- the form ---- */

static void
sql_add_word(struct sql *s, const char *option, const char *from, size_t n)
{
	if (n && asprintf(&s->words[s->n_words], "%s%.*s", option, (int)n, from) >= 0)
		s->n_words++;
}

/* "//[USER@]HOST[:PORT][/DATABASE]" as options of the client; psql takes it as it is. */
static void
take_server(struct sql *s, const char *text, size_t n)
{
	if (s->server == &postgresql) {
		sql_add_word(s, "--dbname=postgresql:", text, n);
		return;
	}
	const char *end = text + n, *at = text + 2, *user = memchr(at, '@', n - 2);
	if (user) {
		sql_add_word(s, "--user=", at, (size_t)(user - at));
		at = user + 1;
	}
	const char *slash = memchr(at, '/', (size_t)(end - at)), *stop = slash ? slash : end;
	const char *colon = memchr(at, ':', (size_t)(stop - at)), *host_end = colon ? colon : stop;
	sql_add_word(s, "--host=", at, (size_t)(host_end - at));
	if (colon)
		sql_add_word(s, "--port=", colon + 1, (size_t)(stop - colon - 1));
	if (slash)
		sql_add_word(s, "--database=", slash + 1, (size_t)(end - slash - 1));
}

/* The query without "; /s" and what ends it; 0: there is none, or something ends in /s that may be
 * meant so. */
static size_t
query_length(const char *text, bool *rate)
{
	size_t n = strlen(text);
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	size_t body = n >= 2 && !memcmp(text + n - 2, "/s", 2) ? n - 2 : n;
	while (body && isspace((unsigned char)text[body - 1]))
		body--;
	*rate = body < n && body && text[body - 1] == ';';
	if (body < n && !*rate)
		return 0;
	if (*rate)
		n = body;
	while (n && (isspace((unsigned char)text[n - 1]) || text[n - 1] == ';'))
		n--;
	return n;
}

static void *
sql_open(const struct server *server, const char *text, struct st_error *e)
{
	size_t to = strncmp(text, "//", 2) ? 0 : strcspn(text, " \t\n");
	const char *query = text + to + strspn(text + to, " \t\n");
	bool rate;
	size_t n = query_length(query, &rate);
	if (!n) {
		st_cause(e, ST_EXIT_USAGE,
		         "--qos %s: needs a query that gives a number, such as '%s:SELECT count(*) "
		         "FROM t; /s', with /s for its growth per second",
		         server->name, server->name);
		return NULL;
	}
	if (st_address_has_password(text, to)) {
		st_cause(e, ST_EXIT_USAGE,
		         "--qos %s: do not give a password here, where every user can read it: put "
		         "it into %s",
		         server->name, server->secret);
		return NULL;
	}
	struct sql *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->server = server;
	s->rate = rate;
	s->fd = -1;
	s->started = -pause_s;
	if (asprintf(&s->question, "%.*s\n;\n%s", (int)n, query, server->mark) < 0) {
		free(s);
		return NULL;
	}
	if (to)
		take_server(s, text, to);
	return s;
}

static void *
postgresql_open(const char *text, struct st_error *e)
{
	return sql_open(&postgresql, text, e);
}

static void *
mysql_open(const char *text, struct st_error *e)
{
	return sql_open(&mysql, text, e);
}

/* ---- the client ---- */

static void
end_client(struct sql *s)
{
	if (s->fd < 0)
		return;
	st_qos_child_end(&s->child);
	close(s->fd);
	s->fd = -1;
	s->asked = false;
}

static int
start_any(struct sql *s, int end)
{
	const char *argv[1 + MOST_ARGUMENTS + 4 + 1];
	size_t n = 1;
	for (size_t i = 0; s->server->arguments[i]; i++)
		argv[n++] = s->server->arguments[i];
	for (size_t i = 0; i < s->n_words; i++)
		argv[n++] = s->words[i];
	argv[n] = NULL;
	int error = ENOENT;
	for (size_t i = 0; s->server->clients[i] && error == ENOENT; i++) {
		argv[0] = s->server->clients[i];
		error = st_qos_child_start(&s->child, argv, &(struct st_qos_ends){end, end, end});
	}
	return error;
}

static bool
start_client(struct sql *s, struct st_qos_poll *p)
{
	int ends[2];
	s->started = p->now;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		st_qos_failed(p, "no socket: %s", strerror(errno));
		return false;
	}
	int error = start_any(s, ends[1]);
	close(ends[1]);
	if (error) {
		close(ends[0]);
		st_qos_failed(p, "%s cannot be started: %s", s->server->clients[0],
		              strerror(error));
		return false;
	}
	s->fd = ends[0];
	return true;
}

/* ---- question and answer ---- */

/* Of a client that has ended already the answer is its end. */
static void
sql_ask(struct sql *s, struct st_qos_poll *p)
{
	size_t n = strlen(s->question);
	s->n = 0;
	s->answered = false;
	s->first[0] = 0;
	s->heard = p->now;
	s->asked = send(s->fd, s->question, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

/* Something that the server says besides. */
static bool
is_aside(const char *line)
{
	return !strncmp(line, "NOTICE:", 7) || !strncmp(line, "WARNING:", 8);
}

/* Returns whether the answer is complete. */
static bool
sql_take_bytes(struct sql *s, const char *bytes, size_t n)
{
	bool whole = false;
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			if (s->n < sizeof s->line - 1)
				s->line[s->n++] = bytes[i];
			continue;
		}
		s->line[s->n] = 0;
		s->n = 0;
		if (is_aside(s->line))
			continue;
		if (!strcmp(s->line, MARK))
			whole = true;
		else if (!s->answered || !strncmp(s->line, "ERROR", 5)) /* mysql cites first */
			memcpy(s->first, s->line, sizeof s->first);
		s->answered = true;
	}
	return whole;
}

/* Reads the answer: 1, 0: it is not complete yet, -1: the client has ended. */
static int
sql_read_answer(struct sql *s, struct st_qos_poll *p)
{
	char bytes[1024];
	double until = st_now_raw() + p->most;
	for (;;) {
		if (!st_qos_wait(s->fd, POLLIN, until, p->stop))
			return 0;
		ssize_t n = recv(s->fd, bytes, sizeof bytes, MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return -1;
		if (sql_take_bytes(s, bytes, (size_t)n))
			return 1;
	}
}

/* By how much what is counted has grown in a second. False: not known yet. */
static bool
rate_of(struct sql *s, double now, double amount, double *rate)
{
	return s->server->every > 0 ? st_qos_stepped(&s->steps, s->server->every, amount, now, rate)
	                            : st_qos_grown(&s->growing, amount, now, rate);
}

/* Of the first row: as SHOW STATUS has a name before it. */
static const char *
last_column(const char *row)
{
	const char *column = row;
	for (; *row; row++)
		if (*row == '\t' || *row == '|')
			column = row + 1;
	return column;
}

static enum st_qos_got
take_answer(struct sql *s, struct st_qos_poll *p)
{
	double value;
	s->asked = false;
	if (!*s->first)
		return st_qos_failed(p, "the query gives no number");
	if (!st_qos_number(last_column(s->first), &value))
		return st_qos_failed(p, "the client says '%.120s'", s->first);
	/* And what is reported is of the time before. */
	p->window = s->rate ? 3 * s->server->every : 0;
	if (s->rate)
		return rate_of(s, p->now, value, &p->value)
		               ? ST_QOS_VALUE
		               : st_qos_nothing(p, "what grows has to be asked for twice");
	p->value = value;
	return ST_QOS_VALUE;
}

static enum st_qos_got
client_ended(struct sql *s, struct st_qos_poll *p)
{
	end_client(s);
	s->steps.n = 0;
	s->growing.known = false;
	if (s->answered && *s->first)
		return st_qos_failed(p, "%.160s", s->first);
	return st_qos_failed(p, "%s ended without an answer", s->server->clients[0]);
}

static enum st_qos_got
sql_poll(void *source, struct st_qos_poll *p)
{
	struct sql *s = source;
	if (s->fd < 0 && p->now - s->started < pause_s)
		return st_qos_nothing(p, "the client is started again in a moment");
	if (s->fd < 0 && !start_client(s, p))
		return ST_QOS_FAILURE;
	if (!s->asked)
		sql_ask(s, p);
	int got = sql_read_answer(s, p);
	if (got > 0)
		return take_answer(s, p);
	if (got < 0)
		return client_ended(s, p);
	if (p->now - s->heard > patience) {
		end_client(s);
		return st_qos_failed(p, "there was no answer for %g s", patience);
	}
	return st_qos_nothing(p, "there is no answer yet");
}

/* A server may wait for its clients before it ends: PostgreSQL does at SIGTERM. */
/* A step is seen as a slope from poll to poll: ten of them to a step, or the steps' distance is
 * no second any more (with 0.7 s a third of the readings were wrong by a fifth and more). */
static double
sql_interval(const void *source)
{
	const struct sql *s = source;
	return s->rate ? s->server->every / 10 : 0;
}

static void
sql_disconnect(void *source)
{
	struct sql *s = source;
	end_client(s);
	s->started = st_now_raw();
}

static void
sql_close(void *source)
{
	struct sql *s = source;
	end_client(s);
	for (size_t i = 0; i < s->n_words; i++)
		free(s->words[i]);
	free(s->question);
	free(s);
}

const struct st_qos_kind st_qos_postgresql = {"postgresql",  "postgresql:QUERY", postgresql_open,
                                              sql_poll,      sql_close,          sql_interval,
                                              sql_disconnect};
const struct st_qos_kind st_qos_mysql = {"mysql",   "mysql:QUERY", mysql_open,    sql_poll,
                                         sql_close, sql_interval,  sql_disconnect};
