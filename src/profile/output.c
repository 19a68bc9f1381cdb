/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STREAM_BUFFER = 1 << 16 };

static const char *
way_out(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "; make room there or name another place with -o";
	case EFBIG:
		return "; raise the limit on file sizes (ulimit -f)";
	default:
		return "; name another place with -o";
	}
}

st_status
st_output_flush(struct st_error *e)
{
	int earlier = errno; /* the cause, if a write has failed just now */
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return ST_OK;
	int cause = errno ? errno : earlier;
	return st_fail(e, ST_EXIT_FAILED, "cannot write to standard output: %s",
	               strerror(cause ? cause : EIO));
}

st_status
st_output_failed(const char *path, int error, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "cannot write the result to %s: %s%s", path,
	               strerror(error), way_out(error));
}

static st_status
create_temporary(struct st_output *o, struct st_error *e)
{
	const char *slash = strrchr(o->final, '/');
	int dir = slash ? (int)(slash - o->final) + 1 : 0;
	if (asprintf(&o->temporary, "%.*s.strobe-XXXXXX", dir, o->final) < 0) {
		o->temporary = NULL;
		return st_output_failed(o->path, ENOMEM, e);
	}
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd < 0) {
		free(o->temporary);
		o->temporary = NULL;
		return st_output_failed(o->path, errno, e);
	}
	mode_t mask = umask(0);
	umask(mask);
	fchmod(o->fd, 0666 & ~mask);
	return 0;
}

/* Is it something that can be executed? Not by its permissions alone, since on some file systems
 * all files have them. */
static bool
is_program(const char *path, const struct stat *st)
{
	char head[4] = "";
	if (!S_ISREG(st->st_mode) || !(st->st_mode & 0111) || !st->st_size)
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : 0;
	if (fd >= 0)
		close(fd);
	return fd < 0 || (n >= 2 && !memcmp(head, "#!", 2)) ||
	       (n == sizeof head && !memcmp(head, "\177ELF", sizeof head));
}

/* In a folder where everybody may make files, a link of somebody else is a trap: the rule of
 * /proc/sys/fs/protected_symlinks, which is not in force everywhere. */
static bool
is_trap(const char *path)
{
	struct stat link, folder;
	const char *slash = strrchr(path, '/');
	if (lstat(path, &link) || !S_ISLNK(link.st_mode) || link.st_uid == geteuid())
		return false;
	char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	bool known = parent && !stat(parent, &folder);
	free(parent);
	return !known || ((folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH) &&
	                  folder.st_uid != link.st_uid);
}

static st_status
open_output(struct st_output *o, const char *path, struct st_error *e)
{
	struct stat st;
	*o = (struct st_output){.path = path, .fd = -1};
	if (!*path)
		return st_output_failed("''", ENOENT, e);
	bool there = stat(path, &st) == 0;
	if (there && S_ISDIR(st.st_mode))
		return st_output_failed(path, EISDIR, e);
	if (there && access(path, W_OK))
		return st_output_failed(path, errno, e);
	if (is_trap(path))
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is a symbolic link that another user has put there: give -o "
		               "another file",
		               path);
	if (there && is_program(path, &st))
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is a program, which a result would replace: give -o another "
		               "file",
		               path);
	/* The link of a pipe's descriptor leads to no path. */
	bool regular = there && S_ISREG(st.st_mode);
	o->final = regular ? realpath(path, NULL) : strdup(path);
	if (!o->final)
		return st_output_failed(path, errno, e);
	if (!there || regular)
		return create_temporary(o, e);
	return 0;
}

st_status
st_output_check(const char *path, struct st_error *e)
{
	struct st_output o;
	int status = open_output(&o, path, e);
	st_output_abandon(&o);
	return status;
}

st_status
st_output_check_input(const char *path, const char *input, struct st_error *e)
{
	struct stat out, in;
	if (stat(path, &out) || stat(input, &in) || !S_ISREG(out.st_mode) ||
	    out.st_dev != in.st_dev || out.st_ino != in.st_ino)
		return 0;
	return st_fail(e, ST_EXIT_USAGE,
	               "the output would replace %s, which is the input: give -o another file",
	               input);
}

st_status
st_output_begin(struct st_output *o, const char *path, struct st_error *e)
{
	if (open_output(o, path, e)) {
		st_output_abandon(o);
		return -1;
	}
	if (o->temporary)
		return 0;
	o->fd = open(o->final, O_WRONLY | O_CLOEXEC);
	if (o->fd >= 0)
		return 0;
	int error = errno;
	st_output_abandon(o);
	return st_output_failed(path, error, e);
}

/* 0, or why not all of them are there. */
static int
output_append(const struct st_output *o, const void *bytes, size_t n)
{
	/* Beyond a limit on file sizes: an error to report, not a signal to die of. */
	struct sigaction ignore = {.sa_handler = SIG_IGN}, size_before, pipe_before;
	int error = 0;
	sigaction(SIGXFSZ, &ignore, &size_before);
	sigaction(SIGPIPE, &ignore, &pipe_before);
	for (size_t done = 0; done < n && !error;) {
		ssize_t wrote = write(o->fd, (const char *)bytes + done, n - done);
		if (wrote >= 0)
			done += (size_t)wrote;
		else if (errno != EINTR)
			error = errno;
	}
	sigaction(SIGXFSZ, &size_before, NULL);
	sigaction(SIGPIPE, &pipe_before, NULL);
	return error;
}

st_status
st_output_write(struct st_output *o, const void *bytes, size_t n, struct st_error *e)
{
	int error = output_append(o, bytes, n);
	return error ? st_output_failed(o->path, error, e) : 0;
}

static ssize_t
on_bytes(void *cookie, const char *bytes, size_t n)
{
	struct st_output *o = cookie;
	if (!o->error)
		o->error = output_append(o, bytes, n);
	return o->error ? 0 : (ssize_t)n;
}

st_status
st_output_stream(struct st_output *o, FILE **out, struct st_error *e)
{
	const cookie_io_functions_t functions = {.write = on_bytes};
	*out = fopencookie(o, "w", functions);
	if (!*out)
		return st_output_failed(o->path, errno, e);
	setvbuf(*out, NULL, _IOFBF, STREAM_BUFFER);
	return 0;
}

st_status
st_output_close(struct st_output *o, FILE *out, struct st_error *e)
{
	bool failed = ferror(out);
	failed |= fclose(out) != 0;
	if (!failed)
		return 0;
	return st_output_failed(o->path, o->error ? o->error : EIO, e);
}

st_status
st_output_commit(struct st_output *o, struct st_error *e)
{
	int error = 0;
	if (close(o->fd))
		error = errno;
	o->fd = -1;
	if (!error && o->temporary) {
		if (rename(o->temporary, o->final)) {
			error = errno;
		} else {
			free(o->temporary);
			o->temporary = NULL;
		}
	}
	const char *path = o->path;
	st_output_abandon(o);
	return error ? st_output_failed(path, error, e) : 0;
}

void
st_output_abandon(struct st_output *o)
{
	if (o->fd >= 0)
		close(o->fd);
	if (o->temporary)
		unlink(o->temporary);
	free(o->temporary);
	free(o->final);
	*o = (struct st_output){.fd = -1};
}

st_status
st_output_bytes(const char *path, const void *bytes, size_t n, struct st_error *e)
{
	struct st_output o;
	if (st_output_begin(&o, path, e))
		return -1;
	if (!st_output_write(&o, bytes, n, e))
		return st_output_commit(&o, e);
	st_output_abandon(&o);
	return -1;
}

st_status
st_output_text(const char *path, const char *text, struct st_error *e)
{
	return st_output_bytes(path, text, strlen(text), e);
}
