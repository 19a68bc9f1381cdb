/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>

const char *
st_number(char buffer[ST_NUMBER_SIZE], uint64_t value)
{
	char digits[24], *out = buffer;
	int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buffer;
}

struct st_count
st_counted(uint64_t n, const char *one, const char *many)
{
	struct st_count count;
	char number[ST_NUMBER_SIZE];
	snprintf(count.text, sizeof count.text, "%s %s", st_number(number, n), n == 1 ? one : many);
	return count;
}
