/* SPDX-License-Identifier: GPL-3.0-or-later */
/* redis:PORT:FIELD: a field of what Redis' INFO says; FIELD/s: by how much it grows in a second.
 * The path of a socket may stand for the port. The password is that of redis-cli, from the
 * environment: a source is seen by all users, and kept in the result. */
#include <stdlib.h>
#include <string.h>

#include "qos/source.h"

enum { MOST = 64 << 10 };

struct redis {
	struct st_qos_server server;
	char *path, *field, *question;
	bool rate, authenticates;
	struct st_qos_growing grows;
	char answer[MOST];
};

static void
redis_close(void *source)
{
	struct redis *r = source;
	free(r->path);
	free(r->field);
	free(r->question);
	free(r);
}

/* ":FIELD", behind the server; NULL: there is none. */
static const char *
find_field(const char *text, struct st_qos_server *server)
{
	const char *rest = *text == '/' ? strrchr(text, ':') : st_qos_port(text, &server->port);
	return rest && rest[0] == ':' && rest[1] ? rest : NULL;
}

/* False: no memory. */
static bool
make_question(struct redis *r)
{
	const char *password = getenv("REDISCLI_AUTH");
	r->authenticates = password && *password;
	int n = r->authenticates
	                ? asprintf(&r->question, "*2\r\n$4\r\nAUTH\r\n$%zu\r\n%s\r\nINFO\r\n",
	                           strlen(password), password)
	                : asprintf(&r->question, "INFO\r\n");
	if (n < 0)
		r->question = NULL;
	return n >= 0;
}

static void *
redis_open(const char *text, struct st_error *e)
{
	struct st_qos_server server = {0};
	const char *field = find_field(text, &server);
	if (!field) {
		st_cause(e, ST_EXIT_USAGE,
		         "--qos takes redis:PORT:FIELD, such as "
		         "redis:6379:instantaneous_ops_per_sec, or redis:/SOCKET:FIELD, not "
		         "'redis:%s'",
		         text);
		return NULL;
	}
	struct redis *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	if (*text == '/')
		server.path = r->path = strndup(text, (size_t)(field - text));
	size_t n = strlen(++field);
	r->rate = n > 2 && !strcmp(field + n - 2, "/s");
	r->server = server;
	r->field = strndup(field, r->rate ? n - 2 : n);
	if (r->field && (r->path || *text != '/') && make_question(r))
		return r;
	redis_close(r);
	return NULL;
}

/* "$LENGTH\r\n", LENGTH bytes, "\r\n"; or one line. */
static bool
redis_is_whole(const char *text, size_t n)
{
	const char *line = strstr(text, "\r\n");
	if (!line || text[0] != '$')
		return line != NULL;
	return n >= (size_t)(line + 4 - text) + strtoul(text + 1, NULL, 10);
}

/* Behind the answer to AUTH, which is one line. */
static const char *
second(const char *text)
{
	const char *end = strstr(text, "\r\n");
	return end ? end + 2 : NULL;
}

static bool
is_second_whole(const char *text, size_t n)
{
	const char *rest = second(text);
	return rest && redis_is_whole(rest, n - (size_t)(rest - text));
}

/* What INFO said; NULL with p->why. A server that has no password refuses one, and answers. */
static const char *
redis_ask(struct redis *r, struct st_qos_poll *p)
{
	if (st_qos_talk(&r->server, r->question, r->answer, sizeof r->answer,
	                r->authenticates ? is_second_whole : redis_is_whole, p) < 0)
		return NULL;
	const char *rest = r->authenticates ? second(r->answer) : r->answer;
	if (rest && rest[0] == '$')
		return rest;
	st_qos_failed(p, "the server answers '%.*s'%s", (int)strcspn(r->answer, "\r\n"), r->answer,
	              strncmp(r->answer, "-NOAUTH", 7) ? ""
	                                               : ": give the password in REDISCLI_AUTH");
	return NULL;
}

static enum st_qos_got
redis_poll(void *source, struct st_qos_poll *p)
{
	struct redis *r = source;
	size_t n = strlen(r->field);
	double value;
	const char *at = redis_ask(r, p);
	if (!at)
		return ST_QOS_FAILURE;
	do {
		at = strchr(at, '\n');
		at += at != NULL;
	} while (at && (strncmp(at, r->field, n) || at[n] != ':'));
	if (!at || !st_qos_number(at + n + 1, &value))
		return st_qos_failed(p, "INFO has no number called %s", r->field);
	if (r->rate)
		return st_qos_grown(&r->grows, value, p->now, &p->value) ? ST_QOS_VALUE
		                                                         : ST_QOS_NOTHING;
	p->value = value;
	return ST_QOS_VALUE;
}

const struct st_qos_kind st_qos_redis = {
        "redis", "redis:PORT:FIELD", redis_open, redis_poll, redis_close, NULL, NULL};
