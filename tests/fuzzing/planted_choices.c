/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matches (a|aa)*$ by trying all ways: of n letters before another one, as many as Fibonacci's
 * number n + 1. */
#include <stdio.h>

__attribute__((noinline)) static int
match_rest(const char *text)
{
	if (*text == '\n' || *text == '\0')
		return 1;
	if (text[0] == 'a' && match_rest(text + 1))
		return 1;
	return text[0] == 'a' && text[1] == 'a' && match_rest(text + 2);
}

int
main(void)
{
	static char line[1 << 20];
	return fgets(line, sizeof line, stdin) && match_rest(line) ? 0 : 1;
}
