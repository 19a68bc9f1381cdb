/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What perf script prints: for each sample a line that says which thread, when and which event, and
 * then its stack, the innermost function first. A sample counts one; where the event is a clock,
 * its period is nanoseconds.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "import/functions.h"
#include "import/lines.h"

/* The first line of a sample. */
struct sample {
	char *comm, *event;
	uint64_t pid, tid, period;
	char *rest; /* a frame on the same line, or an empty text */
};

struct perf {
	struct st_import *in;
	struct st_import_functions f;
	const char *event; /* that is read: the first one */
	bool open;         /* in a sample */
	uint32_t thread;
	struct st_import_weight weight;
};

static char *
next_word(char **at)
{
	*at += strspn(*at, " \t");
	char *word = *at;
	*at += strcspn(*at, " \t");
	if (**at)
		*(*at)++ = '\0';
	return word;
}

/* "123", or "123/124". */
static bool
is_thread_word(const char *word, uint64_t *pid, uint64_t *tid)
{
	char *end;
	if (!isdigit((unsigned char)*word))
		return false;
	*pid = *tid = strtoull(word, &end, 10);
	if (*end == '/' && isdigit((unsigned char)end[1]))
		*tid = strtoull(end + 1, &end, 10);
	return !*end && *tid <= INT32_MAX && *pid <= INT32_MAX;
}

/* "12345.678901:". */
static bool
is_time(const char *word)
{
	size_t whole = strspn(word, "0123456789");
	size_t part = word[whole] == '.' ? strspn(word + whole + 1, "0123456789") : 0;
	return whole && part && !strcmp(word + whole + 1 + part, ":");
}

/* "name PID/TID [CPU] TIME: PERIOD EVENT: ...": the name may have blanks. */
static bool
parse_sample(char *line, struct sample *s)
{
	char *at = line, *word;
	*s = (struct sample){.comm = line + strspn(line, " \t"), .period = 1};
	next_word(&at);
	for (char *end = at;; end = at) {
		word = next_word(&at);
		if (!*word)
			return false;
		if (is_thread_word(word, &s->pid, &s->tid))
			break;
		if (end > line)
			end[-1] = ' '; /* a part of the name after all */
	}
	word = next_word(&at);
	if (*word == '[')
		word = next_word(&at);
	if (!is_time(word))
		return false;
	word = next_word(&at);
	if (!st_parse_whole(word, &s->period))
		word = next_word(&at);
	size_t n = strlen(word);
	if (n < 2 || word[n - 1] != ':')
		return false;
	word[n - 1] = '\0';
	s->event = word;
	s->rest = at;
	return true;
}

/* The parenthesis that the image at the end of a frame begins with, which may itself end with
 * " (deleted)". NULL: there is none. */
static char *
image_of_frame(char *frame, size_t n)
{
	static const char deleted[] = " (deleted)";
	const size_t suffix = sizeof deleted - 1;
	size_t end = n - 1; /* without the last parenthesis */
	if (end > suffix && !strncmp(frame + end - suffix, deleted, suffix))
		end -= suffix;
	while (end > 1 && !(frame[end - 1] == '(' && frame[end - 2] == ' '))
		end--;
	return end > 1 ? frame + end - 1 : NULL;
}

/* "ADDRESS FUNCTION+0xOFFSET (IMAGE)". */
static bool
parse_frame(char *line, char **name, char **image)
{
	char *at = line + strspn(line, " \t");
	size_t hex = strspn(at, "0123456789abcdef"), n = strlen(at);
	if (!hex || (at[hex] != ' ' && at[hex] != '\t') || at[n - 1] != ')')
		return false;
	at += hex + 1;
	n -= hex + 1;
	char *open = image_of_frame(at, n);
	if (!open)
		return false;
	at[n - 1] = open[-1] = '\0';
	*image = open + 1;
	*name = at + strspn(at, " \t");
	char *plus = strrchr(*name, '+');
	if (plus && !strncmp(plus, "+0x", 3) && !plus[3 + strspn(plus + 3, "0123456789abcdef")])
		*plus = '\0';
	return **name && **image;
}

bool
st_import_is_perf(const struct st_import *in)
{
	char head[512];
	struct sample s;
	size_t n = 0;
	while (n < in->n && n < sizeof head - 1 && in->bytes[n] != '\n')
		n++;
	if (!n || in->bytes[0] == '{' || memchr(in->bytes, '\0', n))
		return false;
	memcpy(head, in->bytes, n);
	head[n] = '\0';
	return in->bytes[0] == '#' ? st_import_has(in, "# cmdline : ") && st_import_has(in, "perf")
	                           : parse_sample(head, &s);
}

/* Stacks are printed from the inside. */
static st_status
close_sample(struct perf *x)
{
	uint32_t *v = x->f.stack.v;
	for (size_t i = 0, n = x->f.stack.n; i < n / 2; i++) {
		uint32_t function = v[i];
		v[i] = v[n - 1 - i];
		v[n - 1 - i] = function;
	}
	bool open = x->open;
	x->open = false;
	return open ? st_import_stack(&x->f, x->thread, x->weight) : ST_OK;
}

/* False: it is no frame. */
static bool
perf_read_frame(struct perf *x, char *line, st_status *status)
{
	char *name, *image;
	if (!parse_frame(line, &name, &image))
		return false;
	uint32_t function = st_import_function(
	        &x->f, strcmp(image, "[unknown]") ? image : ST_IMPORT_NO_IMAGE, name, NULL, 0);
	uint32_t *slot = function == UINT32_MAX ? NULL : ST_PUSH(&x->f.stack);
	if (slot)
		*slot = function;
	else
		*status = ST_FAILED;
	return true;
}

/* Samples of other events than the first are left out. */
static st_status
open_sample(struct perf *x, struct sample *s, size_t line)
{
	st_status status = ST_OK;
	x->f.stack.n = 0;
	if (!x->event) {
		x->event = st_profile_text(x->in->p, s->event);
		x->f.timed = strstr(s->event, "cpu-clock") || strstr(s->event, "task-clock");
	}
	if (strcmp(x->event, s->event) != 0) {
		st_import_skip(x->in, line);
		return ST_OK;
	}
	x->thread = st_import_thread(&x->f, s->comm, (int64_t)s->tid);
	x->weight = (struct st_import_weight){.count = 1, .ns = x->f.timed ? s->period : 0};
	x->open = true;
	if (x->thread == UINT32_MAX)
		return ST_FAILED;
	if (!*s->rest || !perf_read_frame(x, s->rest, &status))
		return status;
	return status ? ST_FAILED : close_sample(x);
}

static st_status
read_perf_line(struct perf *x, struct st_lines *l, char *copy)
{
	st_status status = ST_OK;
	struct sample s;
	if (!*l->line)
		return close_sample(x);
	if (*l->line == '#')
		return ST_OK;
	strcpy(copy, l->line);
	if (isspace((unsigned char)*l->line) && perf_read_frame(x, copy, &status)) {
		if (!x->open)
			x->f.stack.n = 0; /* of a sample that is left out */
		return status;
	}
	strcpy(copy, l->line);
	if (!parse_sample(copy, &s)) {
		st_import_skip(x->in, l->number);
		return ST_OK;
	}
	return close_sample(x) ? ST_FAILED : open_sample(x, &s, l->number);
}

st_status
st_import_perf(struct st_import *in, struct st_error *e)
{
	struct perf x = {.in = in, .f = {.p = in->p}};
	struct st_lines l = {.in = in};
	char *copy = malloc(in->n + 1);
	st_status status = copy ? ST_OK : ST_FAILED;
	while (!status && st_lines_next(&l))
		status = read_perf_line(&x, &l, copy);
	if (!status)
		status = l.out_of_memory || close_sample(&x) ? ST_FAILED
		                                             : st_import_functions_finish(&x.f);
	if (status)
		status = st_import_no_memory(in, e);
	else if (!x.f.stacks)
		status = st_import_bad(in, in->first, e, "it has no sample with a stack");
	free(copy);
	st_lines_free(&l);
	st_import_functions_free(&x.f);
	return status;
}
