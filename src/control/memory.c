/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/internal.h"

void *
st_memory_make(size_t bytes, int *fd, struct st_error *e)
{
	void *p = MAP_FAILED;
	*fd = memfd_create("strobe", MFD_CLOEXEC);
	if (*fd >= 0 && ftruncate(*fd, (off_t)bytes) == 0)
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
	if (p != MAP_FAILED)
		return p;
	st_fail(e, ST_EXIT_FAILED, "cannot make shared memory: %s", strerror(errno));
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return NULL;
}
