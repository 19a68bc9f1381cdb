/* SPDX-License-Identifier: GPL-3.0-or-later */
/* redis:PORT:FIELD: a field of what Redis' INFO says; FIELD/s: by how much it grows in a second. */
#include <stdlib.h>
#include <string.h>

#include "qos/source.h"

enum { MOST = 64 << 10 };

struct redis {
	uint16_t port;
	char *field;
	bool rate;
	struct st_qos_growing grows;
	char answer[MOST];
};

static void *
redis_open(const char *text, struct st_error *e)
{
	uint16_t port;
	const char *field = st_qos_port(text, &port);
	if (!field || field[0] != ':' || !field[1]) {
		st_fail(e, ST_EXIT_USAGE,
		        "--qos takes redis:PORT:FIELD, such as "
		        "redis:6379:instantaneous_ops_per_sec, not 'redis:%s'",
		        text);
		return NULL;
	}
	struct redis *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	size_t n = strlen(++field);
	r->rate = n > 2 && !strcmp(field + n - 2, "/s");
	r->port = port;
	r->field = strndup(field, r->rate ? n - 2 : n);
	return r;
}

/* "$LENGTH\r\n", so many bytes, "\r\n"; or one line. */
static bool
is_whole(const char *text, size_t n)
{
	const char *line = strstr(text, "\r\n");
	if (!line || text[0] != '$')
		return line != NULL;
	return n >= (size_t)(line + 4 - text) + strtoul(text + 1, NULL, 10);
}

static enum st_qos_got
redis_poll(void *source, struct st_qos_poll *p)
{
	struct redis *r = source;
	size_t n = strlen(r->field);
	double value;
	if (st_qos_talk(false, r->port, "INFO\r\n", r->answer, sizeof r->answer, is_whole, p) < 0)
		return ST_QOS_FAILURE;
	if (r->answer[0] != '$')
		return st_qos_failed(p, "the server answers '%.60s'", r->answer);
	const char *at = r->answer;
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

static void
redis_close(void *source)
{
	struct redis *r = source;
	free(r->field);
	free(r);
}

const struct st_qos_kind st_qos_redis = {"redis",    "redis:PORT:FIELD", redis_open,
                                         redis_poll, redis_close,        NULL};
