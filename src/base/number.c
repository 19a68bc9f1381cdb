/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"

#include <inttypes.h>
#include <stdbool.h>
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

struct st_grouped
st_grouped(uint64_t n)
{
	struct st_grouped grouped = {0};
	st_number(grouped.text, n);
	return grouped;
}

const char *
st_size(char buffer[ST_NUMBER_SIZE], uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
	double value = (double)bytes;
	size_t unit = 0;
	if (bytes == 1) {
		snprintf(buffer, ST_NUMBER_SIZE, "1 byte");
		return buffer;
	}
	for (; value >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
		value /= 1024;
	bool whole = value >= 99.95 || value - (double)(int)value < 0.05;
	snprintf(buffer, ST_NUMBER_SIZE, "%.*f %s", whole ? 0 : 1, value, units[unit]);
	return buffer;
}

const char *
st_duration(char buffer[ST_NUMBER_SIZE], int64_t ns)
{
	double seconds = (double)ns / 1e9;
	if (seconds < 0)
		snprintf(buffer, ST_NUMBER_SIZE, "-");
	else if (ns > 0 && ns < 1000)
		snprintf(buffer, ST_NUMBER_SIZE, "%d ns", (int)ns);
	else if (ns > 0 && ns < 1000000)
		snprintf(buffer, ST_NUMBER_SIZE, "%.1f us", seconds * 1e6);
	else if (seconds < 1)
		snprintf(buffer, ST_NUMBER_SIZE, "%.1f ms", seconds * 1e3);
	else if (seconds < 60)
		snprintf(buffer, ST_NUMBER_SIZE, "%.3f s", seconds);
	else
		snprintf(buffer, ST_NUMBER_SIZE, "%" PRId64 " min %.1f s", (int64_t)(seconds / 60),
		         seconds - 60 * (double)(int64_t)(seconds / 60));
	return buffer;
}
