/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/wholefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BUFFER = 1 << 16 };

static st_status
whole_too_large(size_t most, struct st_error *why)
{
	const bool giga = most >= (size_t)1 << 30, mega = most >= (size_t)1 << 20;
	const size_t n = giga ? most >> 30 : mega ? most >> 20 : most;
	errno = EFBIG;
	return st_fail(why, ST_EXIT_FAILED, "it has more than %zu %s", n,
	               giga   ? "GiB"
	               : mega ? "MiB"
	                      : "bytes");
}

static st_status
whole_errno(struct st_error *why)
{
	const int error = errno;
	st_cause(why, ST_EXIT_FAILED, "%s",
	         error == ENOMEM ? "no memory is left" : strerror(error));
	errno = error;
	return ST_FAILED;
}

/* Without O_NONBLOCK, opening a pipe waits for a process that writes to it. */
static st_status
whole_open(const char *path, size_t most, bool *pipe, int *fd, struct st_error *why)
{
	struct stat st;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0 || fstat(*fd, &st))
		return whole_errno(why);
	*pipe = S_ISFIFO(st.st_mode);
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return whole_errno(why);
	}
	if (!*pipe && !S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return st_fail(why, ST_EXIT_FAILED, "it is neither a regular file nor a pipe");
	}
	if (!*pipe && st.st_size > 0 && (unsigned long long)st.st_size > most)
		return whole_too_large(most, why);
	return ST_OK;
}

/* The first read of a pipe returns 0 if no process has it open for writing, and fails if such a
 * process has not written yet: then the next reads wait. */
static st_status
whole_await_writer(int fd, char *bytes, size_t room, size_t *n, struct st_error *why)
{
	const ssize_t got = read(fd, bytes, room);
	if (!got) {
		errno = EINVAL;
		return st_fail(why, ST_EXIT_FAILED, "it is a pipe that no process writes to");
	}
	if ((got < 0 && errno != EAGAIN) || fcntl(fd, F_SETFL, 0))
		return whole_errno(why);
	*n = got > 0 ? (size_t)got : 0;
	return ST_OK;
}

/* Makes the buffer larger, but not larger than `most` bytes, one more to see that there are more,
 * and the NUL. */
static st_status
whole_grow(char **bytes, size_t *room, size_t most, struct st_error *why)
{
	const size_t wanted = *room ? 2 * *room : FIRST_BUFFER;
	const size_t next = wanted < most + 2 ? wanted : most + 2;
	char *grown = realloc(*bytes, next);
	if (!grown)
		return whole_errno(why);
	*bytes = grown;
	*room = next;
	return ST_OK;
}

static st_status
whole_read_all(int fd, bool pipe, size_t most, char **bytes, size_t *n, struct st_error *why)
{
	size_t room = 0;
	ssize_t got = 1;
	if (whole_grow(bytes, &room, most, why) ||
	    (pipe && whole_await_writer(fd, *bytes, room - 1, n, why)))
		return ST_FAILED;
	while (got) {
		if (*n > most)
			return whole_too_large(most, why);
		if (*n == room - 1 && whole_grow(bytes, &room, most, why))
			return ST_FAILED;
		got = read(fd, *bytes + *n, room - 1 - *n);
		if (got < 0 && errno != EINTR)
			return whole_errno(why);
		*n += got > 0 ? (size_t)got : 0;
	}
	(*bytes)[*n] = '\0';
	return ST_OK;
}

st_status
st_whole_read(char **bytes, size_t *n, const char *path, size_t most, struct st_error *why)
{
	const bool standard = !strcmp(path, "-");
	bool pipe = false;
	int fd = STDIN_FILENO;
	*bytes = NULL;
	*n = 0;
	st_status status = standard ? ST_OK : whole_open(path, most, &pipe, &fd, why);
	if (!status)
		status = whole_read_all(fd, pipe, most, bytes, n, why);
	const int error = errno;
	if (status) {
		free(*bytes);
		*bytes = NULL;
	}
	if (!standard && fd >= 0)
		close(fd);
	errno = error;
	return status;
}
