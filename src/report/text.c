/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct st_style
st_style_of(FILE *stream)
{
	struct st_style style = {0};
	struct winsize size;
	int fd = fileno(stream);
	if (fd < 0 || !isatty(fd))
		return style;
	style.width = 80;
	const char *columns = getenv("COLUMNS");
	unsigned long asked = columns ? strtoul(columns, NULL, 10) : 0;
	if (asked >= 20 && asked < 10000)
		style.width = asked;
	else if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= 20)
		style.width = size.ws_col;
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	style.colour = !(no_color && *no_color) && term && strcmp(term, "dumb");
	return style;
}

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

const char *
st_size(char buffer[ST_NUMBER_SIZE], uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB", "PB"};
	double value = (double)bytes;
	size_t unit = 0;
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

char *
st_printable(const char *text)
{
	char *copy = strdup(text);
	for (char *c = copy; c && *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return copy;
}

/* Bytes after the first of a UTF-8 character. */
static bool
continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t
st_columns(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += !continues(*text);
	return n;
}

void
st_shorten(char *text, size_t columns)
{
	if (st_columns(text) <= columns || columns < 4)
		return;
	char *end = text;
	for (size_t n = 0; *end; end++)
		if (!continues(*end) && n++ == columns - 3)
			break;
	memcpy(end, "...", 4); /* at least four characters are cut, so there is room */
}
