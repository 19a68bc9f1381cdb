/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that a thread has read and written, as the kernel counts them in /proc/thread-self/io. What
 * the thread reads of that file itself is counted from the next time on, and subtracted. */
#include <asm/unistd.h>

#include "rt/lib/sys.h"
#include "rt/probe/probe.h"

enum { READ_ONLY = 0, CLOSE_ON_EXEC = 02000000, IO_TEXT = 256 };

static int64_t
read_io_file(char *to)
{
	static const char path[] = "/proc/thread-self/io";
	const int64_t fd = SYS(__NR_open, path, READ_ONLY | CLOSE_ON_EXEC, 0);
	if (fd < 0)
		return fd;
	const int64_t got = SYS(__NR_read, fd, to, IO_TEXT);
	SYS(__NR_close, fd);
	return got;
}

/* The number behind the name, such as "rchar: 6976". ST_RECORD_ABSENT: there is none. */
static int64_t
number_behind(const char *text, int64_t n, const char name[5])
{
	int64_t value = 0, at = 0;
	while (at + 7 < n && (text[at] != name[0] || text[at + 1] != name[1] ||
	                      text[at + 4] != name[4] || text[at + 5] != ':'))
		at++;
	if (at + 7 >= n)
		return ST_RECORD_ABSENT;
	for (at += 7; at < n && text[at] >= '0' && text[at] <= '9'; at++)
		value = value * 10 + (text[at] - '0');
	return value;
}

void
probe_read_io(struct st_probe_thread *t, int64_t *read, int64_t *written)
{
	char text[IO_TEXT];
	const int64_t got = read_io_file(text);
	*read = *written = ST_RECORD_ABSENT;
	if (got <= 0)
		return;
	*read = number_behind(text, got, "rchar");
	*written = number_behind(text, got, "wchar");
	if (*read != ST_RECORD_ABSENT)
		*read -= (int64_t)t->read_by_probes;
	t->read_by_probes += (uint64_t)got;
}
