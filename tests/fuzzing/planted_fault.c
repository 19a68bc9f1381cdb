/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fails at a line of two times the letter x, and does not end at one that begins with z. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
main(void)
{
	char line[256];
	while (fgets(line, sizeof line, stdin)) {
		if (strstr(line, "xx"))
			abort();
		while (line[0] == 'z' && line[1] == 'z')
			;
	}
	return 0;
}
