/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <poll.h>

#include "qos/source.h"

int
st_qos_wait(int fd, short events, double until, int stop)
{
	struct pollfd fds[] = {{.fd = fd, .events = events}, {.fd = stop, .events = POLLIN}};
	for (;;) {
		double left = until - st_now_raw();
		int ms = left > 0 ? (int)(left * 1e3) + 1 : 0;
		int n = poll(fds, 2, ms);
		if (n < 0 && errno == EINTR)
			continue;
		return n > 0 && fds[0].revents && !fds[1].revents;
	}
}
