/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/parse.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Digits at the beginning. */
static st_status
parse_digits(const char *text, uint64_t *number, char **end)
{
	if (*text < '0' || *text > '9')
		return ST_FAILED;
	errno = 0;
	*number = strtoull(text, end, 10);
	return errno ? ST_FAILED : ST_OK;
}

st_status
st_parse_whole(const char *text, uint64_t *number)
{
	char *end;
	return parse_digits(text, number, &end) || *end ? ST_FAILED : ST_OK;
}

st_status
st_parse_between(const char *text, long low, long high, long *number)
{
	char *end;
	errno = 0;
	*number = strtol(text, &end, 10);
	return errno || end == text || *end || *number < low || *number > high ? ST_FAILED : ST_OK;
}

st_status
st_parse_size(const char *text, uint64_t *number)
{
	static const char units[] = "kKmMgG";
	uint64_t digits;
	char *end;
	if (parse_digits(text, &digits, &end))
		return ST_FAILED;
	const char *unit = *end ? strchr(units, *end) : NULL;
	const unsigned shift = unit ? 10 * (unsigned)((unit - units) / 2 + 1) : 0;
	*number = digits << shift;
	return *(unit ? end + 1 : end) || *number >> shift != digits ? ST_FAILED : ST_OK;
}

st_status
st_parse_real(const char *text, double *number, const char **end)
{
	char *behind;
	*number = strtod(text, &behind);
	*end = behind;
	return behind != text && isfinite(*number) ? ST_OK : ST_FAILED;
}

st_status
st_parse_time(const char *text, double *seconds)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}, {"", 1}};
	const char *end;
	double number;
	if (st_parse_real(text, &number, &end))
		return ST_FAILED;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(end, units[i].name)) {
			*seconds = number * units[i].seconds;
			return ST_OK;
		}
	return ST_FAILED;
}
