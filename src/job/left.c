/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/left.h"

#include <math.h>
#include <stdio.h>

void
st_left_add(struct st_left *l, double seconds)
{
	if (isnan(seconds))
		return;
	l->n++;
	l->sum += seconds;
	l->squares += seconds * seconds;
}

/* The mean is uncertain, and each of the runs varies. */
void
st_left_interval(const struct st_left *l, double *least, double *most)
{
	const double n = (double)l->n, left = (double)l->runs, mean = l->sum / n;
	*least = *most = NAN;
	if (l->n < 3)
		return;
	const double variance = fmax(l->squares - l->sum * mean, 0) / (n - 1);
	const double error = 1.96 * sqrt(variance * (left + left * left / n));
	*least = fmax(left * mean - error, 0);
	*most = left * mean + error;
}

static void
left_time(double seconds, char *text, size_t size)
{
	if (seconds < 90)
		snprintf(text, size, "%.0f s", seconds);
	else if (seconds < 90 * 60)
		snprintf(text, size, "%.0f min", seconds / 60);
	else
		snprintf(text, size, "%.1f h", seconds / 3600);
}

const char *
st_left_text(const struct st_left *l, char *text, size_t size)
{
	double least, most;
	char from[24], to[24];
	st_left_interval(l, &least, &most);
	*text = '\0';
	if (isnan(least))
		return text;
	left_time(least, from, sizeof from);
	left_time(most, to, sizeof to);
	snprintf(text, size, "; %s to %s left", from, to);
	return text;
}
