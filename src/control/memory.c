/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/internal.h"

int
st_memory_file(uint64_t bytes)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int fd = memfd_create("strobe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || (ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, seals) == 0))
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

void *
st_memory_make(size_t bytes, int *fd, struct st_error *e)
{
	void *p = MAP_FAILED;
	*fd = st_memory_file(bytes);
	if (*fd >= 0)
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
	if (p != MAP_FAILED)
		return p;
	st_cause(e, ST_EXIT_FAILED, "cannot make shared memory: %s", strerror(errno));
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return NULL;
}
