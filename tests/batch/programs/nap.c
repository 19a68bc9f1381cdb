/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The task of many.c: takes 5 ms, adds its number to the file in OUT if there is one, and exits
 * with NUMBER % 100. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	const char *out = getenv("OUT");
	const int fd = out ? open(out, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
	char line[32];
	if (argc != 2)
		return 2;
	snprintf(line, sizeof line, "%s\n", argv[1]);
	nanosleep(&pause, NULL);
	if (fd >= 0 && write(fd, line, strlen(line)) < 0)
		return 2;
	return (int)(strtoul(argv[1], NULL, 10) % 100);
}
