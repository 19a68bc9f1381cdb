/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening files that somebody else has named: a FIFO there does not hang, a device is not read.
 * Hosted code only. */
#ifndef STROBE_BASE_REGULAR_H
#define STROBE_BASE_REGULAR_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* To be read. -1 with errno, which is EINVAL when it is not a regular file. */
static inline int
st_open_regular(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* The same as a stream; NULL. */
static inline FILE *
st_fopen_regular(const char *path)
{
	int fd = st_open_regular(path);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (fd >= 0 && !f)
		close(fd);
	return f;
}

#endif
