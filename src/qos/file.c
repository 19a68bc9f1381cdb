/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file:PATH:REGEX and rate:PATH:REGEX: what is added to a log from now on: the number in the last
 * line that matches, or how many lines do in a second. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qos/source.h"

enum { CHUNK = 64 << 10, MOST_CHUNKS = 256 /* a poll */ };

struct file {
	char *path;
	regex_t regex;
	bool counts; /* lines, else their numbers */
	uint64_t device, inode, offset;
	bool seen;  /* the file: device and inode are known */
	bool begun; /* polled before: a file that appears is read from its beginning */
	double lines;
	struct st_qos_growing rate;
	size_t n;               /* of a line that is not whole yet */
	char buffer[CHUNK + 1]; /* it, and what follows */
};

static void *
file_open_file(const char *text, bool counts, struct st_error *e)
{
	const char *colon = strchr(text, ':');
	const char *name = counts ? "rate" : "file";
	if (!colon || colon == text) {
		st_cause(e, ST_EXIT_USAGE, "--qos takes %s:PATH:REGEX, not '%s:%s'", name, name,
		         text);
		return NULL;
	}
	struct file *f = calloc(1, sizeof *f);
	if (!f || st_qos_regex(&f->regex, colon + 1, e)) {
		free(f);
		return NULL;
	}
	f->path = strndup(text, (size_t)(colon - text));
	f->counts = counts;
	return f;
}

static void *
file_open(const char *text, struct st_error *e)
{
	return file_open_file(text, false, e);
}

static void *
rate_open(const char *text, struct st_error *e)
{
	return file_open_file(text, true, e);
}

/* Its lines up to the last newline; what is behind it stays. */
static enum st_qos_got
take_lines(struct file *f, struct st_qos_poll *p)
{
	enum st_qos_got got = ST_QOS_NOTHING;
	char *line = f->buffer, *end = f->buffer + f->n, *newline;
	while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
		double value;
		*newline = 0;
		enum st_qos_match match = st_qos_match(&f->regex, line, &value);
		f->lines += match != ST_QOS_NO_MATCH;
		if (match == ST_QOS_NUMBER) {
			p->value = value;
			got = ST_QOS_VALUE;
		} else if (match == ST_QOS_NO_NUMBER && !f->counts) {
			got = st_qos_failed(p, "what matches in '%.60s' is not a number", line);
		}
		line = newline + 1;
	}
	f->n = (size_t)(end - line);
	if (f->n == CHUNK) /* such a line is none of those that are looked for */
		f->n = 0;
	memmove(f->buffer, line, f->n);
	return got;
}

static enum st_qos_got
read_added(struct file *f, int fd, struct st_qos_poll *p)
{
	enum st_qos_got got = ST_QOS_NOTHING;
	for (int chunks = 0; chunks < MOST_CHUNKS; chunks++) {
		ssize_t n = pread(fd, f->buffer + f->n, CHUNK - f->n, (off_t)f->offset);
		if (n <= 0)
			break;
		f->offset += (uint64_t)n;
		f->n += (size_t)n;
		enum st_qos_got now = take_lines(f, p);
		got = now != ST_QOS_NOTHING ? now : got;
	}
	return got;
}

/* Another file has its name, or it has been emptied: it is read from its beginning. */
static void
find_place(struct file *f, const struct stat *st)
{
	bool same = f->seen && f->device == st->st_dev && f->inode == st->st_ino;
	if (!f->begun)
		f->offset = (uint64_t)st->st_size;
	else if (!same || (uint64_t)st->st_size < f->offset)
		f->offset = f->n = 0;
	f->device = st->st_dev;
	f->inode = st->st_ino;
	f->seen = true;
}

static enum st_qos_got
file_poll(void *source, struct st_qos_poll *p)
{
	struct file *f = source;
	struct stat st;
	int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		int error = fd < 0 ? errno : EINVAL;
		if (fd >= 0)
			close(fd);
		f->begun = true;
		return error == ENOENT ? st_qos_nothing(p, "there is no such file")
		       : fd < 0        ? st_qos_failed(p, "%s", strerror(error))
		                       : st_qos_failed(p, "it is not a regular file");
	}
	find_place(f, &st);
	f->begun = true;
	enum st_qos_got got = read_added(f, fd, p);
	close(fd);
	if (f->counts)
		return st_qos_grown(&f->rate, f->lines, p->now, &p->value) ? ST_QOS_VALUE
		                                                           : ST_QOS_NOTHING;
	return got != ST_QOS_NOTHING ? got : st_qos_nothing(p, "no line that matches was added");
}

static void
file_close(void *source)
{
	struct file *f = source;
	regfree(&f->regex);
	free(f->path);
	free(f);
}

const struct st_qos_kind st_qos_file = {
        "file", "file:PATH:REGEX", file_open, file_poll, file_close, NULL, NULL};
const struct st_qos_kind st_qos_rate = {
        "rate", "rate:PATH:REGEX", rate_open, file_poll, file_close, NULL, NULL};
