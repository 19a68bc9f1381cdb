/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * http://127.0.0.1:PORT/PATH#WHERE: a number in what a server on this machine answers. WHERE is a
 * path into JSON (.requests.rate, .workers[0].load), a regular expression, or left out where the
 * number is all that is answered.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "qos/source.h"

enum { MOST = 1 << 20 }; /* bytes of an answer */

struct http {
	struct st_qos_server server;
	char *question;
	char *json; /* path into JSON; NULL: the regular expression */
	regex_t regex;
	bool has_regex;
	char answer[MOST];
};

static void
http_close(void *source)
{
	struct http *h = source;
	if (h->has_regex)
		regfree(&h->regex);
	free(h->question);
	free(h->json);
	free(h);
}

/* The rest of the address behind the machine's name. */
static const char *
local_host(const char *text, bool *six)
{
	static const char *const names[] = {"//127.0.0.1", "//localhost", "//[::1]"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(text, names[i], strlen(names[i]))) {
			*six = i == 2;
			return text + strlen(names[i]);
		}
	return NULL;
}

static st_status
parse_address(struct http *h, const char *text, struct st_error *e)
{
	const char *at = local_host(text, &h->server.six), *hash = strchr(text, '#');
	h->server.port = 80;
	if (at && *at == ':')
		at = st_qos_port(at + 1, &h->server.port);
	if (!at || (*at && *at != '/' && *at != '#'))
		return st_fail(e, ST_EXIT_USAGE,
		               "--qos takes http://127.0.0.1:PORT/PATH#.JSON.PATH or #REGEX, on "
		               "this machine only, not 'http:%s'",
		               text);
	int n = hash ? (int)(hash - at) : (int)strlen(at);
	if (asprintf(&h->question,
	             "GET %s%.*s HTTP/1.0\r\nHost: localhost:%u\r\nConnection: close\r\n\r\n",
	             *at == '/' ? "" : "/", n, at, h->server.port) < 0)
		h->question = NULL;
	const char *where = hash ? hash + 1 : "";
	if (*where == '.' || *where == '$')
		h->json = strdup(where + (*where == '$'));
	else if (*where && st_qos_regex(&h->regex, where, e))
		return -1;
	h->has_regex = *where && !h->json;
	return 0;
}

static void *
http_open(const char *text, struct st_error *e)
{
	struct http *h = calloc(1, sizeof *h);
	if (h && parse_address(h, text, e)) {
		http_close(h);
		return NULL;
	}
	return h;
}

/* ".a.b[2].c" */
static const json_t *
find_json(const json_t *in, const char *path)
{
	char key[128];
	while (in && *path) {
		size_t n = *path == '.' ? strcspn(path + 1, ".[") : 0;
		if (*path == '[') {
			char *end;
			in = json_array_get(in, strtoul(path + 1, &end, 10));
			path = end;
			if (*path++ != ']')
				return NULL;
			continue;
		}
		if (*path != '.' || n >= sizeof key)
			return NULL;
		memcpy(key, path + 1, n);
		key[n] = 0;
		in = n ? json_object_get(in, key) : in; /* "." is the whole */
		path += 1 + n;
	}
	return in;
}

static enum st_qos_got
from_json(const struct http *h, const char *body, struct st_qos_poll *p)
{
	json_error_t error;
	json_t *root = json_loads(body, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);
	if (!root)
		return st_qos_failed(p, "the answer is not JSON (%.80s)", error.text);
	const json_t *found = find_json(root, h->json);
	bool good = found &&
	            (json_is_number(found) ||
	             (json_is_string(found) && st_qos_number(json_string_value(found), &p->value)));
	if (good && json_is_number(found))
		p->value = json_number_value(found);
	json_decref(root);
	if (good && p->value >= 0)
		return ST_QOS_VALUE;
	return st_qos_failed(p, "the answer has no number that is 0 or more at %s", h->json);
}

static enum st_qos_got
from_body(const struct http *h, const char *body, struct st_qos_poll *p)
{
	if (h->json)
		return from_json(h, body, p);
	if (!h->has_regex)
		return st_qos_number(body, &p->value)
		               ? ST_QOS_VALUE
		               : st_qos_failed(p, "the answer is not a number");
	switch (st_qos_match(&h->regex, body, &p->value)) {
	case ST_QOS_NUMBER:
		return ST_QOS_VALUE;
	case ST_QOS_NO_NUMBER:
		return st_qos_failed(p, "what matches in the answer is not a number");
	default:
		return st_qos_failed(p, "nothing in the answer matches");
	}
}

/* Where the body begins; NULL: the head is not whole. */
static char *
http_body_of(const char *answer)
{
	char *end = strstr(answer, "\r\n\r\n");
	return end ? end + 4 : NULL;
}

/* The rest of the answer behind a name in its head, such as "\ncontent-length:", or NULL. */
static const char *
find_header(const char *answer, const char *body, const char *name)
{
	const char *found = strcasestr(answer, name);
	return found && found < body ? found + strlen(name) : NULL;
}

static bool
is_chunked(const char *answer, const char *body)
{
	const char *coding = find_header(answer, body, "\ntransfer-encoding:");
	const char *word = coding ? strcasestr(coding, "chunked") : NULL;
	return word && word < coding + strcspn(coding, "\r\n");
}

/* A chunk's line: *at is behind it then. False: it is not there, or is none. */
static bool
take_chunk_line(const char **at, const char *end, size_t *bytes)
{
	const char *behind = memmem(*at, (size_t)(end - *at), "\r\n", 2);
	if (!behind || !isxdigit((unsigned char)**at))
		return false;
	*bytes = strtoul(*at, NULL, 16);
	*at = behind + 2;
	return true;
}

/* What a body of n bytes in chunks holds, of which `out`, if it is not NULL, becomes the text: it
 * may be the body. False: the last chunk is missing. */
static bool
join_chunks(const char *body, size_t n, char *out)
{
	const char *at = body, *end = body + n;
	for (size_t bytes; take_chunk_line(&at, end, &bytes); at += bytes + 2) {
		if (!bytes) {
			if (out)
				*out = 0;
			return true;
		}
		if (bytes > n || (size_t)(end - at) < bytes + 2)
			return false;
		if (out)
			out = (char *)memmove(out, at, bytes) + bytes;
	}
	return false;
}

/* The server closes the connection behind it; some keep it open in spite of being asked to. */
static bool
http_is_whole(const char *text, size_t n)
{
	const char *body = http_body_of(text);
	if (!body)
		return false;
	if (is_chunked(text, body))
		return join_chunks(body, n - (size_t)(body - text), NULL);
	const char *length = find_header(text, body, "\ncontent-length:");
	return length && n >= (size_t)(body - text) + strtoul(length, NULL, 10);
}

static enum st_qos_got
http_poll(void *source, struct st_qos_poll *p)
{
	struct http *h = source;
	int status = 0;
	int n = st_qos_talk(&h->server, h->question, h->answer, sizeof h->answer, http_is_whole, p);
	if (n < 0)
		return ST_QOS_FAILURE;
	char *body = http_body_of(h->answer);
	if (sscanf(h->answer, "HTTP/1.%*1[01] %3d", &status) != 1 || !body)
		return st_qos_failed(p, "the answer is not HTTP");
	if (status != 200)
		return st_qos_failed(p, "the server answers with status %d", status);
	if (is_chunked(h->answer, body) && !join_chunks(body, (size_t)(h->answer + n - body), body))
		return st_qos_failed(p, "the answer has no last chunk");
	return from_body(h, body, p);
}

const struct st_qos_kind st_qos_http = {
        "http", "http://127.0.0.1:PORT/PATH#WHERE", http_open, http_poll, http_close, NULL, NULL};
