/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/run.h"

enum { BYTES = 2 * ST_SEEN_BYTES };

int
st_known_make(struct st_known *known, struct st_error *e)
{
	void *p = MAP_FAILED;
	known->fd = memfd_create("strobe", MFD_CLOEXEC);
	if (known->fd >= 0 && ftruncate(known->fd, BYTES) == 0)
		p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, known->fd,
		         0);
	if (p == MAP_FAILED) {
		st_fail(e, ST_EXIT_FAILED, "cannot make shared memory: %s", strerror(errno));
		st_known_free(known);
		return -1;
	}
	known->seen = p;
	known->leaders = known->seen + ST_SEEN_BYTES;
	return 0;
}

void
st_known_free(struct st_known *known)
{
	if (known->seen)
		munmap(known->seen, BYTES);
	if (known->fd >= 0)
		close(known->fd);
	*known = (struct st_known){.fd = -1};
}
