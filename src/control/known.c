/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sys/mman.h>
#include <unistd.h>

#include "control/internal.h"

enum { BYTES = 2 * ST_COVERAGE_BYTES };

st_status
st_known_make(struct st_known *known, struct st_error *e)
{
	known->seen = st_memory_make(BYTES, &known->fd, e);
	if (!known->seen)
		return -1;
	known->leaders = known->seen + ST_COVERAGE_BYTES;
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
